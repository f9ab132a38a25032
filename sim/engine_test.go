package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// stepped has round times, so that tests can count.
func stepped() Config {
	return Config{StepBase: 8 * time.Millisecond, StepPerSeq: 2 * time.Millisecond, Prefill: time.Millisecond, MaxRunning: 4}
}

func ask(prompt string, tokens int) string {
	return fmt.Sprintf(`{"stream":true,"ignore_eos":true,"max_tokens":%d,"prompt":%q}`, tokens, prompt)
}

// gaps are the milliseconds from arrival to the first event and between the events.
func gaps(t Truth) []int64 {
	var out []int64
	last := t.ArrivedUS
	for _, e := range t.Events {
		out = append(out, (e.AtUS-last)/1000)
		last = e.AtUS
	}
	return out
}

func TestStepTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(stepped())
		post(t, s, "/v1/completions", ask("1 2 3 4 5", 4))
		// 8 base + 2 for the one request, the first step with 5 prompt tokens.
		if diff := cmp.Diff([]int64{15, 10, 10, 10}, gaps(s.Truth()[0])); diff != "" {
			t.Errorf("alone (-want +got):\n%s", diff)
		}
	})
}

func TestBatchSlowsEachStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := stepped()
		cfg.BatchTokens = 4 // one of them a's token
		s := New(cfg)
		var wg sync.WaitGroup
		wg.Go(func() { post(t, s, "/v1/completions", ask("a", 4)) })
		time.Sleep(time.Millisecond) // the first is in its step of 8+2+1
		wg.Go(func() { post(t, s, "/v1/completions", ask("b c d e f", 3)) })
		wg.Wait()
		byInput := map[int][]int64{}
		for _, truth := range s.Truth() {
			byInput[truth.InputTokens] = gaps(truth)
		}
		// Second step: one token of a, 3 prompt tokens of the other: 8+2+3. Third: both, the last 2 prompt tokens: 8+4+2. Then 12.
		want := map[int][]int64{1: {11, 13, 14, 12}, 5: {10 + 13 + 14, 12, 10}}
		if diff := cmp.Diff(want, byInput); diff != "" {
			t.Errorf("gaps (-want +got):\n%s", diff)
		}
	})
}

// load sends n requests at once and returns when all ended.
func load(t *testing.T, s *Server, n int, body func(i int) string) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { post(t, s, "/v1/completions", body(i)) })
	}
	wg.Wait()
}

func TestBeyondMaxRunningRequestsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(stepped())
		go func() {
			load(t, s, 6, func(i int) string { return ask(fmt.Sprint("p", i), 10) })
		}()
		time.Sleep(50 * time.Millisecond)
		m := scrape(t, s)
		if m["vllm:num_requests_running"] != 4 || m["vllm:num_requests_waiting"] != 2 {
			t.Errorf("running %v, waiting %v", m["vllm:num_requests_running"], m["vllm:num_requests_waiting"])
		}
		time.Sleep(time.Second)
		m = scrape(t, s)
		if m["vllm:num_requests_running"] != 0 || m["vllm:generation_tokens_total"] != 60 || m["vllm:kv_cache_usage_perc"] != 0 || m["vllm:request_success_total{length}"] != 6 {
			t.Errorf("at the end: %v", m)
		}
	})
}

func TestFullQueueRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := stepped()
		cfg.MaxRunning, cfg.MaxQueued = 1, 1
		s := New(cfg)
		for i := range 3 {
			go post(t, s, "/v1/completions", ask(fmt.Sprint("p", i), 5))
			synctest.Wait()
			time.Sleep(time.Millisecond)
		}
		time.Sleep(11 * time.Millisecond)
		if w := post(t, s, "/v1/completions", ask("late", 5)); w.Code != 503 {
			t.Errorf("status %d", w.Code)
		}
		time.Sleep(time.Second)
	})
}

func TestClientThatLeavesFreesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(stepped())
		ctx, cancel := context.WithTimeout(t.Context(), 45*time.Millisecond)
		defer cancel()
		r := httptest.NewRequest(http.MethodPost, "/v1/completions", strings.NewReader(ask("a", 100))).WithContext(ctx)
		s.Handler().ServeHTTP(httptest.NewRecorder(), r)
		m := scrape(t, s)
		if m["vllm:num_requests_running"] != 0 || m["vllm:kv_cache_usage_perc"] != 0 || m["vllm:request_success_total{abort}"] != 1 {
			t.Errorf("%v", m)
		}
		// 11, 21, 31, 41 ms
		if truth := s.Truth()[0]; truth.End != "gone" || truth.OutputTokens != 4 {
			t.Errorf("%+v", truth)
		}
		time.Sleep(time.Second) // the engine's loop ends with its step
	})
}

func TestPrefixCacheFollowsTheConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := stepped()
		cfg.BlockTokens = 4
		s := New(cfg)
		talk := []map[string]string{{"role": "user", "content": "1 2 3 4 5 6 7 8 9 10"}}
		say := func() (usage, string) {
			b, _ := json.Marshal(map[string]any{"messages": talk, "max_tokens": 6, "ignore_eos": true})
			var got struct {
				Choices []struct{ Message struct{ Content string } }
				Usage   usage
			}
			if err := json.Unmarshal(post(t, s, "/v1/chat/completions", string(b)).Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			return got.Usage, got.Choices[0].Message.Content
		}
		first, answer := say()
		talk = append(talk, map[string]string{"role": "assistant", "content": answer}, map[string]string{"role": "user", "content": "next"})
		second, _ := say()
		again, _ := say()
		talk[0]["content"] = "0 2 3 4 5 6 7 8 9 10"
		other, _ := say()
		got := []int{first.Details.Cached, second.Prompt, second.Details.Cached, again.Details.Cached, other.Details.Cached}
		// The second turn finds prompt and reply less its last token, which was never computed (15: 3 blocks); the same prompt again its
		// 4 whole blocks; another beginning nothing.
		if diff := cmp.Diff([]int{0, 17, 12, 16, 0}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if m := scrape(t, s); m["vllm:prefix_cache_hits_total"] != 28 || m["vllm:prompt_tokens_total"] != 61 || m["vllm:prompt_tokens_by_source_total{local_compute}"] != 33 {
			t.Errorf("%v", m)
		}
	})
}

func TestDefaultSaturates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tps []float64
		for _, c := range []int{1, 8, 32, 64} {
			s := New(Default())
			start := time.Now()
			load(t, s, c, func(i int) string { return ask(fmt.Sprint("p", i), 100) })
			tps = append(tps, float64(100*c)/time.Since(start).Seconds())
		}
		if !(tps[0] > 100 && tps[1] > 6*tps[0] && tps[2] > 2*tps[1] && tps[3] < 1.2*tps[2]) {
			t.Errorf("tokens/s at 1, 8, 32, 64: %v", tps)
		}
	})
}

func TestTruthKeepsTheNewestAndLogsAll(t *testing.T) {
	s := New(Config{TruthRequests: 2})
	var log bytes.Buffer
	s.LogTruth(&log)
	for i := range 5 {
		post(t, s, "/v1/completions", ask(strings.Repeat("w ", i+1), 1))
	}
	var inputs []int
	for _, truth := range s.Truth() {
		inputs = append(inputs, truth.InputTokens)
	}
	if diff := cmp.Diff([]int{4, 5}, inputs); diff != "" || bytes.Count(log.Bytes(), []byte("\n")) != 5 || s.TruthError() != nil {
		t.Errorf("%s\n%s", diff, log.String())
	}
}

func TestValidate(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Error(err)
	}
	if err := (Config{}).Validate(); err != nil {
		t.Error(err)
	}
	for name, cfg := range map[string]Config{
		"negative":    {MaxRunning: -1},
		"time":        {StepBase: -1},
		"small cache": {ContextLen: 100, KVTokens: 50},
		"fault":       {Faults: []Fault{{Kind: "fire"}}},
		"probability": {Acceptance: 1.5},
	} {
		if cfg.Validate() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// scrape reads /metrics the way a client does, summed over the ranks; labels other than engine and model are put behind the name.
func scrape(t *testing.T, s *Server) map[string]float64 {
	t.Helper()
	sum := map[string]float64{}
	for _, rank := range scrapeRanks(t, s) {
		for name, v := range rank {
			sum[name] += v
		}
	}
	return sum
}

func scrapeRanks(t *testing.T, s *Server) map[string]map[string]float64 {
	t.Helper()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	ranks := map[string]map[string]float64{}
	for name, f := range families {
		for _, m := range f.Metric {
			key, rank := name, ""
			for _, l := range m.Label {
				switch l.GetName() {
				case "source", "finished_reason":
					key += "{" + l.GetValue() + "}"
				case "engine":
					rank = l.GetValue()
				}
			}
			if ranks[rank] == nil {
				ranks[rank] = map[string]float64{}
			}
			ranks[rank][key] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return ranks
}
