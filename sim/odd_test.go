package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// serve runs s on a port of its own until the test ends.
func serve(t *testing.T, s *Server) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// fetch sends a body and reads the answer to its end.
func fetch(t *testing.T, client *http.Client, url, body string) (resp *http.Response, raw string, err error) {
	t.Helper()
	resp, err = client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

// TestOddStreams asks one server for every fault by the name of its model, over TCP, and looks at the bytes.
func TestOddStreams(t *testing.T) {
	s := New(Config{})
	url := serve(t, s) + "/v1/chat/completions"
	const ask = `{"model":"MODEL","stream":true,"stream_options":{"include_usage":true},"ignore_eos":true,"max_tokens":6,"messages":[{"role":"user","content":"a b"}]}`
	const role, usage, done = `"delta":{"role":`, `"usage":{"prompt_tokens":2,"total_tokens":8,"completion_tokens":6,`, "data: [DONE]\n\n"
	for _, c := range []struct {
		fault  string
		events int      // of tokens
		told   int      // output tokens in the usage
		holds  []string // in this order
		lacks  string
	}{
		{"error_object@2", 2, -1, []string{`{"object":"error","message"`}, "[DONE]"},
		{"error_text@2", 2, -1, []string{`{"error":"simulated`}, "[DONE]"},
		{"error_event@2", 2, -1, []string{"event: error\ndata: {\"message\""}, "[DONE]"},
		{"garbage@2", 6, 6, []string{`"choices":[{` + "\n\n", usage, done}, "error"},
		{"role_alone", 6, 6, []string{role, usage, done}, "error"},
		{"headers_late", 6, 6, []string{role, usage, done}, "error"},
		{"bundle=4", 3, 6, []string{role, usage, done}, "error"},
		{"hidden=4", 2, 6, []string{role, usage, done}, "error"},
		{"empty_delta@2", 6, 6, []string{`"delta":{"content":""},`, usage, done}, "error"},
		{"tool_calls", 6, 6, []string{role, `"tool_calls":[{"index":0,"function":{"arguments":"`, usage, done}, `"delta":{"content":"`},
		{"no_choices", 6, 6, []string{role, `"choices":[]}`, usage, done}, "error"},
		{"usage_none", 6, -1, []string{role, done}, "usage"},
		{"usage_wrong=5", 6, 11, []string{`"completion_tokens":11`, done}, "error"},
		{"usage_late:1ms", 6, 6, []string{usage, done}, "error"},
		{"usage_inside", 6, 6, []string{`"finish_reason":"length"}],` + usage, done}, `"choices":[]`},
		{"no_finish", 6, 6, []string{usage, done}, `"length"`},
		{"no_done", 6, 6, []string{`"length"`, usage}, "[DONE]"},
		{"long_line@1=100000", 6, 6, []string{`"padding":"` + strings.Repeat("x", 100000) + `"`, usage, done}, "error"},
		{"cr", 6, 6, []string{"}\r\rdata: {", "data: [DONE]\r\r"}, "\n"},
		{"crlf", 6, 6, []string{"}\r\n\r\ndata: {", "data: [DONE]\r\n\r\n"}, "\n\n"},
		{"tight", 6, 6, []string{"data:{", "data:[DONE]\n\n"}, "data: "},
		{"comments", 6, 6, []string{": keep-alive\n\ndata: {", done}, "error"},
		{"fields", 6, 6, []string{"event: message\nid: 7\nretry: 3000\ndata: {", done}, "error"},
		{"lines", 6, 6, []string{"data: {\ndata: \"id\"", "\ndata: }\n\n", done}, "error"},
		{"mark", 6, 6, []string{"\ufeffdata: {", done}, "error"},
		{"pieces", 6, 6, []string{role, usage, done}, "error"},
		{"mid_character", 6, 6, []string{"é😀", usage, done}, "error"},
		{"crlf+comments+no_done", 6, 6, []string{": keep-alive\r\n\r\ndata: {"}, "[DONE]"},
		{"page", 0, -1, []string{"<!DOCTYPE html>"}, "data"},
		{"whole", 1, 6, []string{`"object":"chat.completion"`, `"completion_tokens":6`}, "data: "},
		{"ping@1:1ms", 6, 6, []string{": keep-alive\n\n: keep-alive\n\n", usage, done}, "error"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			_, raw, err := fetch(t, http.DefaultClient, url, strings.Replace(ask, "MODEL", "sim+"+c.fault, 1))
			if err != nil {
				t.Fatal(err)
			}
			rest := raw
			for _, want := range c.holds {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("no %.60q in its place in\n%.3000s", want, raw)
				}
				rest = after
			}
			if c.lacks != "" && strings.Contains(raw, c.lacks) {
				t.Errorf("%q in\n%.3000s", c.lacks, raw)
			}
			truth := newest(s)
			if len(truth.Events) != c.events || truth.Told != c.told || len(truth.Faults) != strings.Count(c.fault, "+")+1 {
				t.Errorf("truth %+v", truth)
			}
			for _, e := range truth.Events {
				if e.AfterUS < e.AtUS || e.AtUS < truth.HeadersUS {
					t.Errorf("truth %+v", truth)
				}
			}
		})
	}
}

// newest is the truth of the last request that ended.
func newest(s *Server) Truth {
	list := s.Truth()
	return list[len(list)-1]
}

// TestStatuses: what is answered instead of a stream, and to which requests; each name of a model is counted for itself.
func TestStatuses(t *testing.T) {
	s := New(Config{})
	for _, c := range []struct {
		fault, retry string
		want         []int
	}{
		{"status", "", []int{500, 500, 500}},
		{"status=503:3s/2", "3", []int{200, 503, 200, 503}},
		{"reject:1s/3#3", "1", []int{200, 200, 429, 200, 200, 200}},
	} {
		var got []int
		for range c.want {
			w := post(t, s, "/v1/completions", `{"model":"sim+`+c.fault+`","prompt":"a","max_tokens":1}`)
			got = append(got, w.Code)
			if w.Code != http.StatusOK && w.Header().Get("Retry-After") != c.retry {
				t.Errorf("%s: Retry-After %q", c.fault, w.Header().Get("Retry-After"))
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.fault, diff)
		}
	}
	if w := post(t, s, "/v1/completions", `{"model":"sim+fire","prompt":"a"}`); w.Code != http.StatusNotFound {
		t.Errorf("an unknown fault: %d", w.Code)
	}
}

func TestBrokenConnections(t *testing.T) {
	s := New(Config{})
	url := serve(t, s) + "/v1/completions"
	ask := func(model string) string {
		return `{"model":"` + model + `","stream":true,"ignore_eos":true,"max_tokens":6,"prompt":"a b"}`
	}
	client := &http.Client{Transport: &http.Transport{}}
	if _, _, err := fetch(t, client, url, ask("sim+hangup")); !errors.Is(err, io.EOF) {
		t.Errorf("hangup: %v", err)
	}
	if _, raw, err := fetch(t, client, url, ask("sim+reset@2")); !errors.Is(err, syscall.ECONNRESET) || strings.Count(raw, "data: ") > 2 {
		t.Errorf("reset: %v after %q", err, raw)
	}
	if truth := newest(s); truth.End != "reset" || truth.OutputTokens != 2 {
		t.Errorf("%+v", truth)
	}
}

// TestDeath: all connections are reset, nobody listens for a while, and the cache is empty when the server is back.
func TestDeath(t *testing.T) {
	s := New(Config{StepBase: time.Millisecond})
	url := serve(t, s) + "/v1/completions"
	client := &http.Client{Transport: &http.Transport{}}
	prompt := strings.Repeat("w ", 64)
	stalled, err := client.Post(url, "application/json", strings.NewReader(`{"model":"sim+stall@1:1h","stream":true,"max_tokens":6,"prompt":"a b"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer stalled.Body.Close()
	if _, err := io.ReadFull(stalled.Body, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second finds the first in the cache
		if _, _, err := fetch(t, client, url, `{"stream":true,"ignore_eos":true,"max_tokens":6,"prompt":"`+prompt+`"}`); err != nil {
			t.Fatal(err)
		}
	}
	if newest(s).CachedTokens == 0 {
		t.Error("nothing was cached before")
	}
	died := time.Now()
	if _, _, err := fetch(t, client, url, `{"model":"sim+die@2:30ms","stream":true,"max_tokens":6,"prompt":"`+prompt+`"}`); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the one it died at: %v", err)
	}
	if _, err := io.ReadAll(stalled.Body); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("another stream: %v", err)
	}
	var back error = syscall.ECONNREFUSED
	for errors.Is(back, syscall.ECONNREFUSED) {
		_, _, back = fetch(t, client, url, `{"stream":true,"max_tokens":1,"prompt":"`+prompt+`"}`)
	}
	if away := time.Since(died); back != nil || away < 30*time.Millisecond || newest(s).CachedTokens != 0 {
		t.Errorf("%v after %v, %d tokens cached", back, away, newest(s).CachedTokens)
	}
}

func TestIdleConnectionsAreClosed(t *testing.T) {
	s := New(Config{})
	url := serve(t, s)
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := `{"model":"sim+close_idle:20ms","max_tokens":1,"prompt":"a"}`
	head := fmt.Sprintf("POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", len(body))
	start := time.Now()
	if _, err := conn.Write([]byte(head + body)); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200 OK\r\n") || strings.Contains(string(answer), "Connection: close") || time.Since(start) < 20*time.Millisecond {
		t.Errorf("%v after %v: %s", err, time.Since(start), answer)
	}
}

func TestEachFaultIsKnown(t *testing.T) {
	kinds := FaultKinds()
	for i, f := range Faults() {
		if f.Text == "" || slices.Contains(kinds[:i], f.Kind) {
			t.Errorf("%+v", f)
		}
	}
}
