package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// small has blocks of 4 tokens and steps of 10 ms whatever runs.
func small(blocks int) Config {
	return Config{StepBase: 10 * time.Millisecond, BlockTokens: 4, KVTokens: 4 * blocks, ContextLen: 4 * blocks, NoCache: true}
}

func TestBlocksGrowWithTheSequence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(small(5))
		go post(t, s, "/v1/completions", ask("1 2 3 4 5 6", 10))
		var used []float64
		for range 12 {
			time.Sleep(9 * time.Millisecond)
			used = append(used, scrape(t, s)["vllm:kv_cache_usage_perc"])
			time.Sleep(time.Millisecond)
		}
		// The prompt's step computes 6 tokens, each further one the token before: 6, 7, … 15.
		if diff := cmp.Diff([]float64{.4, .4, .4, .6, .6, .6, .6, .8, .8, .8, 0, 0}, used); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestNoFreeBlock: two requests grow until no block is left; the later one loses its own, waits, and goes on where it was.
func TestNoFreeBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(small(5))
		for i, prompt := range []string{"a b c d e f", "g h i j k l"} {
			go post(t, s, "/v1/completions", ask(prompt, 12-i))
			time.Sleep(time.Millisecond)
		}
		m := map[string]float64{}
		for m["vllm:num_preemptions_total"] == 0 {
			time.Sleep(10 * time.Millisecond)
			m = scrape(t, s)
		}
		if m["vllm:num_requests_running"] != 1 || m["vllm:num_requests_waiting"] != 1 || m["vllm:kv_cache_usage_perc"] != 0.6 {
			t.Errorf("%v", m)
		}
		time.Sleep(time.Second)
		var longest []int64
		for _, truth := range s.Truth() {
			if truth.End != "length" || truth.OutputTokens != len(truth.Events) {
				t.Errorf("%+v", truth)
			}
			longest = append(longest, slices.Max(gaps(truth)[1:]))
		}
		m = scrape(t, s)
		if m["vllm:prompt_tokens_total"] != 12 || m["vllm:generation_tokens_total"] != 23 || m["vllm:kv_cache_usage_perc"] != 0 || m["vllm:num_preemptions_total"] != 1 {
			t.Errorf("at the end: %v", m)
		}
		// The first never waits. The second waits until the first has ended.
		if longest[0] != 10 || longest[1] < 60 {
			t.Errorf("longest gaps %v ms", longest)
		}
	})
}

func TestWaitsForBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(small(3))
		for _, prompt := range []string{"a b c d e f g h", "i j k l m"} {
			go post(t, s, "/v1/completions", ask(prompt, 2))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(10 * time.Millisecond)
		if m := scrape(t, s); m["vllm:num_requests_running"] != 1 || m["vllm:num_requests_waiting"] != 1 || m["vllm:num_preemptions_total"] != 0 {
			t.Errorf("%v", m)
		}
		time.Sleep(time.Second)
	})
}

// TestOneBeginningIsHeldOnce: requests with the same beginning share its blocks while they run.
func TestOneBeginningIsHeldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := small(20)
		cfg.NoCache = false
		s := New(cfg)
		go post(t, s, "/v1/completions", ask("a b c d e f g h 1", 20))
		time.Sleep(11 * time.Millisecond)
		for i := range 3 {
			go post(t, s, "/v1/completions", ask("a b c d e f g h "+strings.Repeat("x", i+2), 2))
		}
		time.Sleep(10 * time.Millisecond)
		if m := scrape(t, s); m["vllm:num_requests_running"] != 4 || m["vllm:kv_cache_usage_perc"] != 6./20 || m["vllm:prefix_cache_hits_total"] != 24 {
			t.Errorf("%v", m)
		}
		time.Sleep(time.Second)
	})
}

// TestSpeculation: a step brings a token and the drafts that were accepted, in one event; the counters tell the same.
func TestSpeculation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			acceptance float64
			low, high  float64 // mean tokens of an event after the first
		}{{0, 1, 1}, {1, 4, 4}, {0.7, 2.3, 2.8}} { // 1 + 0.7 + 0.49 + 0.343 = 2.53
			cfg := stepped()
			cfg.Drafts, cfg.Acceptance = 3, c.acceptance
			s := New(cfg)
			post(t, s, "/v1/completions", ask("a b", 1201))
			truth := s.Truth()[0]
			mean := 1200 / float64(len(truth.Events)-1)
			if truth.Events[0].Tokens != 1 || mean < c.low || mean > c.high {
				t.Errorf("acceptance %v: %v tokens an event, first %d", c.acceptance, mean, truth.Events[0].Tokens)
			}
			for _, gap := range gaps(truth)[1:] {
				if gap != 10 {
					t.Fatalf("acceptance %v: a step of %d ms", c.acceptance, gap)
				}
			}
			m := scrape(t, s)
			steps := float64(len(truth.Events) - 1)
			if m["vllm:spec_decode_num_drafts_total"] != steps || m["vllm:spec_decode_num_draft_tokens_total"] != 3*steps || m["vllm:spec_decode_num_accepted_tokens_total"] != 1200-steps || m["vllm:inter_token_latency_seconds"] != 1200 {
				t.Errorf("acceptance %v: %v", c.acceptance, m)
			}
		}
	})
}

// TestRanks: each rank runs its own requests and tells of them under its own label.
func TestRanks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := stepped()
		cfg.Ranks, cfg.MaxRunning = 2, 2
		s := New(cfg)
		go load(t, s, 5, func(i int) string { return ask(fmt.Sprint("p", i), 10) })
		time.Sleep(50 * time.Millisecond)
		got := map[string]float64{}
		for rank, m := range scrapeRanks(t, s) {
			for _, name := range []string{"running", "waiting"} {
				got[name+rank] = m["vllm:num_requests_"+name]
			}
		}
		if got["running0"] != 2 || got["running1"] != 2 || got["waiting0"]+got["waiting1"] != 1 {
			t.Errorf("%v", got)
		}
		time.Sleep(time.Second)
		if m := scrape(t, s); m["vllm:generation_tokens_total"] != 50 || m["vllm:cache_config_info"] != 2 {
			t.Errorf("over all ranks: %v", m)
		}
	})
}
