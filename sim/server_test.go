package sim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// chunk is what the tests read of an event.
type chunk struct {
	ID      string
	Choices []struct {
		Text  string
		Delta struct {
			Role, Content    string
			ReasoningContent string `json:"reasoning_content"`
		}
		FinishReason *string `json:"finish_reason"`
		TokenIDs     []int   `json:"token_ids"`
	}
	Usage *usage
	Error *apiError
}

func post(t *testing.T, s *Server, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)).WithContext(t.Context())
	s.Handler().ServeHTTP(w, r)
	return w
}

// events splits a stream into its chunks; done says whether [DONE] ended it.
func events(t *testing.T, r io.Reader) (list []chunk, done bool) {
	t.Helper()
	scan := bufio.NewScanner(r)
	for scan.Scan() {
		data, ok := strings.CutPrefix(scan.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			done = true
			continue
		}
		var c chunk
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			t.Fatalf("event %q: %v", data, err)
		}
		list = append(list, c)
	}
	return list, done
}

// text joins what the chunks said and gives the last finish reason.
func text(list []chunk) (said, finish string) {
	for _, c := range list {
		for _, o := range c.Choices {
			said += o.Text + o.Delta.ReasoningContent + o.Delta.Content
			if o.FinishReason != nil {
				finish = *o.FinishReason
			}
		}
	}
	return said, finish
}

func TestStreamAgreesWithUsageAndTruth(t *testing.T) {
	for _, tc := range []struct {
		name, path, body string
		cfg              Config
		input, output    int
		finish           string
	}{
		{"chat, length", "/v1/chat/completions", `{"model":"sim","stream":true,"stream_options":{"include_usage":true},"max_tokens":7,"ignore_eos":true,"messages":[{"role":"system","content":"be brief"},{"role":"user","content":[{"type":"text","text":"say a b c"}]}]}`, Config{}, 6, 7, "length"},
		{"completions, length", "/v1/completions", `{"stream":true,"stream_options":{"include_usage":true},"max_tokens":5,"ignore_eos":true,"prompt":"one two three"}`, Config{}, 3, 5, "length"},
		{"token ids", "/v1/completions", `{"stream":true,"stream_options":{"include_usage":true},"max_tokens":5,"ignore_eos":true,"prompt":[1,2,3,4]}`, Config{}, 4, 5, "length"},
		{"whole numbers written as floats", "/v1/chat/completions", `{"stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":48.0,"min_tokens":0.0,"seed":5e0,"n":1.0,"ignore_eos":true,"messages":[{"role":"user","content":"a"}]}`, Config{}, 1, 48, "length"},
		{"chunks of four", "/v1/completions", `{"stream":true,"stream_options":{"include_usage":true},"max_tokens":10,"ignore_eos":true,"prompt":"x"}`, Config{ChunkTokens: 4}, 1, 10, "length"},
		{"natural end", "/v1/completions", `{"stream":true,"stream_options":{"include_usage":true},"max_tokens":500,"prompt":"x y"}`, Config{OutputMean: 8}, 2, -1, "stop"},
		{"min tokens", "/v1/completions", `{"stream":true,"stream_options":{"include_usage":true},"max_tokens":30,"min_tokens":30,"prompt":"x y"}`, Config{OutputMean: 8}, 2, 30, "stop"},
		{"reasoning", "/v1/chat/completions", `{"stream":true,"stream_options":{"include_usage":true},"max_tokens":6,"ignore_eos":true,"messages":[{"role":"user","content":"a"}]}`, Config{Reasoning: 4}, 1, 6, "length"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := New(tc.cfg)
			w := post(t, s, tc.path, tc.body)
			if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, "text/event-stream") {
				t.Fatalf("status %d, content type %q: %s", w.Code, got, w.Body)
			}
			list, done := events(t, w.Body)
			said, finish := text(list)
			last := list[len(list)-1]
			if !done || finish != tc.finish || last.Usage == nil || len(last.Choices) != 0 {
				t.Fatalf("done %v, finish %q, last %+v", done, finish, last)
			}
			n := len(strings.Fields(said))
			if tc.output >= 0 && n != tc.output || n == 0 {
				t.Errorf("words %d, want %d", n, tc.output)
			}
			want := usage{Prompt: tc.input, Completion: n, Total: tc.input + n}
			if diff := cmp.Diff(want, *last.Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
			truth := s.Truth()[0]
			sum := 0
			for _, e := range truth.Events {
				sum += e.Tokens
			}
			if truth.ID != last.ID || truth.InputTokens != tc.input || truth.OutputTokens != n || sum != n || truth.End != tc.finish || truth.Status != 200 {
				t.Errorf("truth %+v", truth)
			}
		})
	}
}

func TestContinuousUsageGrowsWithEachEvent(t *testing.T) {
	w := post(t, New(Config{ChunkTokens: 3}), "/v1/chat/completions",
		`{"stream":true,"return_token_ids":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true},"max_tokens":8,"ignore_eos":true,"messages":[{"role":"user","content":"a"}]}`)
	list, _ := events(t, w.Body)
	var grown, ids []int
	for _, c := range list {
		grown = append(grown, c.Usage.Completion)
		for _, o := range c.Choices {
			ids = append(ids, len(o.TokenIDs))
		}
	}
	if diff := cmp.Diff([]int{0, 1, 4, 7, 8, 8}, grown); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{0, 1, 3, 3, 1}, ids); diff != "" {
		t.Error(diff)
	}
}

func TestWholeReplyEqualsStreamedOne(t *testing.T) {
	s := New(Config{Reasoning: 3})
	ask := `"max_tokens":9,"seed":5,"messages":[{"role":"user","content":"hello there"}]}`
	list, _ := events(t, post(t, s, "/v1/chat/completions", `{"stream":true,`+ask).Body)
	streamed, _ := text(list)
	var whole struct {
		Choices []struct {
			Message struct {
				Content   string
				Reasoning string `json:"reasoning_content"`
			}
		}
		Usage usage
	}
	if err := json.Unmarshal(post(t, s, "/v1/chat/completions", "{"+ask).Body.Bytes(), &whole); err != nil {
		t.Fatal(err)
	}
	m := whole.Choices[0].Message
	if m.Reasoning+m.Content != streamed || len(strings.Fields(m.Reasoning)) != 3 || whole.Usage.Completion != 9 {
		t.Errorf("whole %+v, streamed %q", whole, streamed)
	}
	other, _ := events(t, post(t, s, "/v1/chat/completions", `{"stream":true,`+strings.Replace(ask, `"seed":5`, `"seed":6`, 1)).Body)
	if said, _ := text(other); said == streamed {
		t.Error("another seed gave the same text")
	}
}

func TestErrors(t *testing.T) {
	cfg := Config{ContextLen: 10, KVTokens: 10, Refuse: []string{"continuous_usage_stats", "return_token_ids"}}
	for _, tc := range []struct {
		name, path, body string
		status           int
	}{
		{"unknown model", "/v1/completions", `{"model":"nope","prompt":"a"}`, 404},
		{"bad JSON", "/v1/completions", `{"prompt":`, 400},
		{"wrong type", "/v1/completions", `{"prompt":"a","max_tokens":"many"}`, 400},
		{"no whole number", "/v1/completions", `{"prompt":"a","max_tokens":4.5}`, 400},
		{"too large a number", "/v1/completions", `{"prompt":"a","seed":1e19}`, 400},
		{"no prompt", "/v1/completions", `{}`, 400},
		{"no messages", "/v1/chat/completions", `{}`, 400},
		{"unknown role", "/v1/chat/completions", `{"messages":[{"role":"robot","content":"a"}]}`, 400},
		{"odd content", "/v1/chat/completions", `{"messages":[{"role":"user","content":5}]}`, 400},
		{"too long", "/v1/completions", `{"prompt":"1 2 3 4 5 6 7 8 9 10"}`, 400},
		{"max_tokens 0", "/v1/completions", `{"prompt":"a","max_tokens":0}`, 400},
		{"max_tokens above the context", "/v1/completions", `{"prompt":"a","max_tokens":11}`, 400},
		{"min above max", "/v1/completions", `{"prompt":"a","max_tokens":2,"min_tokens":3}`, 400},
		{"stream options without stream", "/v1/completions", `{"prompt":"a","stream_options":{"include_usage":true}}`, 400},
		{"negative temperature", "/v1/completions", `{"prompt":"a","temperature":-1}`, 400},
		{"two choices", "/v1/completions", `{"prompt":"a","n":2}`, 400},
		{"two prompts", "/v1/completions", `{"prompt":["a","b"]}`, 400},
		{"refused option", "/v1/completions", `{"prompt":"a","stream":true,"stream_options":{"continuous_usage_stats":true}}`, 400},
		{"refused field", "/v1/completions", `{"prompt":"a","return_token_ids":true}`, 400},
		{"unknown path", "/v1/embeddings", `{}`, 404},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := post(t, New(cfg), tc.path, tc.body)
			var got struct{ Error apiError }
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatalf("%v: %s", err, w.Body)
			}
			if w.Code != tc.status || got.Error.Code != tc.status || got.Error.Message == "" || got.Error.Type == "" {
				t.Errorf("status %d, error %+v, want %d", w.Code, got.Error, tc.status)
			}
		})
	}
}

func TestLengthIsCutToTheContext(t *testing.T) {
	list, _ := events(t, post(t, New(Config{ContextLen: 10, KVTokens: 10}), "/v1/completions", `{"prompt":"1 2 3 4 5 6 7","stream":true,"max_tokens":9,"ignore_eos":true}`).Body)
	if said, finish := text(list); len(strings.Fields(said)) != 3 || finish != "length" {
		t.Errorf("%q %s", said, finish)
	}
}

func TestSmallPages(t *testing.T) {
	s := New(Config{Model: "m", Token: "secret"})
	for _, tc := range []struct {
		path, token string
		status      int
		holds       string
	}{
		{"/health", "", 200, ""},
		{"/version", "", 200, `"version":"sim-1"`},
		{"/metrics", "", 200, `vllm:num_requests_running{engine="0",model_name="m"} 0`},
		{"/v1/models", "", 401, "Unauthorized"},
		{"/v1/models", "secret", 200, `"id":"m"`},
	} {
		r := httptest.NewRequest(http.MethodGet, tc.path, nil)
		if tc.token != "" {
			r.Header.Set("Authorization", "Bearer "+tc.token)
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.holds) {
			t.Errorf("%s: %d %s", tc.path, w.Code, w.Body)
		}
	}
}

func TestReadyAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{ReadyAfter: 2 * time.Second})
		if w := post(t, s, "/v1/completions", `{"prompt":"a"}`); w.Code != 503 || !bytes.Contains(w.Body.Bytes(), []byte("Loading model")) {
			t.Errorf("at start: %d %s", w.Code, w.Body)
		}
		time.Sleep(2 * time.Second)
		if w := post(t, s, "/v1/completions", `{"prompt":"a"}`); w.Code != 200 {
			t.Errorf("later: %d %s", w.Code, w.Body)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"prompt":"a b","max_tokens":3,"stream":true}`)
	f.Add(`{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}],"min_tokens":2}`)
	f.Add(`{"prompt":[1,2],"seed":-1,"ignore_eos":true}`)
	f.Fuzz(func(t *testing.T, raw string) {
		cfg := Config{ContextLen: 50, KVTokens: 50}
		s := New(cfg)
		for _, path := range []string{"/v1/completions", "/v1/chat/completions"} {
			w := post(t, s, path, raw)
			if w.Code != 200 && w.Code != 400 && w.Code != 404 {
				t.Fatalf("%s: status %d", path, w.Code)
			}
		}
	})
}
