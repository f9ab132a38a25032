package field

import (
	"fmt"
	"math"
	"testing"
	"time"

	"assay/plan"
	"assay/runner/record"
)

// What is a token, and how many came: rows about chunks, usage and counts.

// near compares figures that come from the same integers by different sums.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, math.Abs(a), math.Abs(b)) }

// spans gives the sums over requests of last − first event in milliseconds, and of the tokens after the first event.
func spans(rs []record.Request) (ms float64, tokens int64) {
	for _, r := range rs {
		ms += float64(r.Events[len(r.Events)-1].AtUS-r.Events[0].AtUS) / 1000
		tokens += r.OutputTokens - r.Events[0].Tokens
	}
	return ms, tokens
}

// Parsers of reasoning and tool calls release several tokens in one chunk, and ITL came out wrong → a chunk weighs as many
// tokens as the usage grew by, as its ids say, or an even share; the source is named.
func TestField_vllm27485_ChunksAreWeighed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		usage string
		ids   bool
		want  string
	}{{"continuous", false, "usage"}, {"final", true, "ids"}, {"final", false, "estimated"}, {"none", false, "events"}} {
		s := newServer(t, func(a *reply) {
			a.head()
			a.role()
			a.token(1)
			a.token(4)
			a.token(2)
			a.close("stop")
		})
		s.usage, s.ids = c.usage, c.ids
		m := sweep(t, s, 1, 2)
		for _, r := range m.all {
			got := fmt.Sprint(r.Events[0].Tokens, r.Events[1].Tokens, r.Events[2].Tokens, r.OutputTokens)
			want := map[string]string{"usage": "1 4 2 7", "ids": "1 4 2 7", "estimated": "2 2 3 7", "events": "1 1 1 3"}[c.want]
			if r.TokenSource != c.want || got != want {
				t.Errorf("usage %s: tokens %s of source %s, want %s of %s", c.usage, got, r.TokenSource, want, c.want)
			}
		}
		if m.Client.TokenSource != c.want || m.rec.Header.TokenSource != c.want {
			t.Errorf("the result names %q, the recording %q; want %s", m.Client.TokenSource, m.rec.Header.TokenSource, c.want)
		}
	}
}

// Speculative decoding made printed ITL 2.5 times the true one → a gap that brought k tokens counts as k gaps of a kth.
func TestField_sglang12064_SpeculativeGapsAreDivided(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) {
		a.head()
		a.role()
		a.token(1)
		for range 3 {
			a.wait(8 * time.Millisecond)
			a.token(4)
		}
		a.close("length")
	})
	m := sweep(t, s, 1, 3)
	ms, tokens := spans(m.all)
	if tokens != int64(len(m.all))*12 || m.sum.ITLMS.N != tokens || !near(m.sum.ITLMS.Mean*float64(m.sum.ITLMS.N), ms) {
		t.Errorf("%d tokens after the first; ITL of %d samples, mean %v ms, of %v ms in all", tokens, m.sum.ITLMS.N, m.sum.ITLMS.Mean, ms)
	}
	for _, r := range m.all {
		if last := r.Events[3]; last.Tokens != 4 || last.AtUS-r.SentUS < 24_000 { // three waits of the server
			t.Errorf("the last event brought %d tokens after %d µs", last.Tokens, last.AtUS-r.SentUS)
		}
	}
}

// A role-only first chunk made TTFT 5 ms instead of 214 → the first token is the first event with text.
func TestField_vllm3759_RoleChunkIsNoFirstToken(t *testing.T) {
	t.Parallel()
	delayedRole(t, 0)
}

// A server that sends the role before it has prefilled flattered TTFT → same, and the first byte is kept apart.
func TestField_atom1710_RoleBeforePrefillIsNoToken(t *testing.T) {
	t.Parallel()
	delayedRole(t, 20*time.Millisecond)
}

func delayedRole(t *testing.T, before time.Duration) {
	t.Helper()
	const prefill = 300 * time.Millisecond // a busy client may read what came before it together with the token
	s := newServer(t, func(a *reply) {
		a.head()
		a.wait(before)
		a.role()
		a.wait(prefill)
		a.token(1)
		a.token(1)
		a.close("stop")
	})
	m := sweep(t, s, 1, 3)
	apart := 0
	for _, r := range m.all {
		if len(r.Events) != 2 || r.Events[0].AtUS-r.SentUS < prefill.Microseconds() {
			t.Errorf("%d events, the first %d µs after the sending; want 2, and at least %v", len(r.Events), r.Events[0].AtUS-r.SentUS, prefill)
		}
		if r.Events[0].AtUS-r.FirstByteUS >= prefill.Microseconds()/2 {
			apart++
		}
	}
	if apart == 0 || m.sum.TTFTMS.Min < 300 {
		t.Errorf("TTFT from %v ms; the first byte stands apart in %d of %d requests", m.sum.TTFTMS.Min, apart, len(m.all))
	}
	m.timely(t, s)
}

// A trailing usage-only chunk moved the end of the request → E2E ends at the last token; usage and [DONE] stand apart.
func TestField_vllm55508_UsageIsNotTheEnd(t *testing.T) {
	t.Parallel()
	const tail = 500 * time.Millisecond // a busy machine's tokens take a while too
	s := newServer(t, func(a *reply) {
		a.head()
		a.token(1)
		a.token(1)
		a.finish("stop")
		a.wait(tail)
		a.final()
		a.end()
	})
	m := sweep(t, s, 1, 4)
	apart := 0
	for _, r := range m.all {
		if last := r.Events[len(r.Events)-1]; len(r.Events) == 2 && r.DoneUS-last.AtUS >= tail.Microseconds()/2 {
			apart++
		}
	}
	if apart == 0 || m.sum.E2EMS.Min >= 500 {
		t.Errorf("in %d of %d requests the last token is before the usage; the shortest E2E latency is %v ms", apart, len(m.all), m.sum.E2EMS.Min)
	}
}

// Usage in a chunk whose text is empty was not read, and the output length was always max_tokens → usage of any chunk counts.
func TestField_sglang24254_UsageBesideEmptyText(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) {
		a.head()
		a.token(1)
		a.token(1)
		a.event(`{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}],` + a.used(3) + `}`)
		a.end()
	})
	s.usage = "final"
	m := sweep(t, s, 1, 2)
	for _, r := range m.all {
		if r.OutputTokens != 3 || r.InputTokens != promptTokens || len(r.Events) != 2 || r.Outcome != record.OK {
			t.Errorf("%d tokens out, %d in, %d events, %s", r.OutputTokens, r.InputTokens, len(r.Events), r.Outcome)
		}
	}
}

// reasons answers with reasoning in a member of the delta, then content.
func reasons(t *testing.T, member string) measured {
	t.Helper()
	s := newServer(t, func(a *reply) {
		a.head()
		a.role()
		a.delta(member, "hm", 1)
		a.delta(member, " so", 1)
		a.wait(300 * time.Millisecond) // a busy client may read what came before it together with the answer
		a.token(1)
		a.token(1)
		a.close("stop")
	})
	m := sweep(t, s, 1, 3)
	for _, r := range m.all {
		if len(r.Events) != 4 || r.FirstAnswer != 2 || r.OutputTokens != 4 {
			t.Errorf("%s: %d events, the answer begins at %d, %d tokens", member, len(r.Events), r.FirstAnswer, r.OutputTokens)
		}
		if answer := r.Events[2].AtUS - r.SentUS; answer < 300_000 {
			t.Errorf("%s: the first answer token after %d µs, the server took 300,000", member, answer)
		}
	}
	if m.sum.TTFTMS == nil || m.sum.TTFATMS == nil || m.sum.TTFTMS.Min >= m.sum.TTFATMS.Min {
		t.Errorf("%s: TTFT %v, TTFAT %v", member, m.sum.TTFTMS, m.sum.TTFATMS)
	}
	return m
}

// Deltas that held reasoning_content alone gave TTFT and ITL 0 → reasoning is tokens; the first answer is told apart.
func TestField_sglang23949_ReasoningContentIsTokens(t *testing.T) {
	t.Parallel()
	reasons(t, "reasoning_content")
}

// delta.reasoning was ignored, TTFT missing or late → both names are read.
func TestField_guidellm737_ReasoningIsTokens(t *testing.T) {
	t.Parallel()
	reasons(t, "reasoning")
}

// Names that differ between engines, null members and absent ones broke parsing → null is absent, both names are read.
func TestField_mlperfPR314_NullIsAbsent(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) {
		a.head()
		a.event(`{"id":"r","choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":null,"tool_calls":null,"refusal":null},"logprobs":null,"finish_reason":null}],"usage":null,"error":null}`)
		a.event(`{"id":"r","choices":[{"index":0,"delta":{"content":null,"reasoning_content":"a"},"finish_reason":null}],"usage":null}`)
		a.event(`{"id":"r","choices":[{"index":0,"delta":{"content":"b","reasoning":null},"finish_reason":null}]}`)
		a.event(`{"id":"r","choices":[{"index":0,"delta":{"content":null},"finish_reason":"stop"}],"prompt_token_ids":null}`)
		a.end()
	})
	m := sweep(t, s, 1, 2)
	for _, r := range m.all {
		if r.Outcome != record.OK || len(r.Events) != 2 || r.FirstAnswer != 1 || r.FinishReason != "stop" {
			t.Errorf("%s %q, %d events, the answer at %d", r.Outcome, r.Error, len(r.Events), r.FirstAnswer)
		}
	}
}

// Both names of reasoning at once were counted twice, or not at all → one event is one event.
func TestField_mlperfPR361_BothReasoningNamesAreOneEvent(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) {
		a.head()
		a.choice(`"delta":{"reasoning":"a","reasoning_content":"a"}`, 1)
		a.choice(`"delta":{"reasoning":"b","reasoning_content":"b"}`, 1)
		a.close("stop")
	})
	s.usage = "none"
	for _, r := range sweep(t, s, 1, 2).all {
		if len(r.Events) != 2 || r.OutputTokens != 2 || r.FirstAnswer != -1 {
			t.Errorf("%d events, %d tokens, the answer at %d", len(r.Events), r.OutputTokens, r.FirstAnswer)
		}
	}
}

// choices: [] in the usage chunk crashed the client → it is read.
func TestField_sglang14826_EmptyChoices(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) {
		a.head()
		a.event(`{"choices":[]}`)
		a.token(1)
		a.event(`{"choices":[],` + a.used(1) + `}`)
		a.event(`{"choices":null}`)
		a.finish("stop")
		a.end()
	})
	for _, r := range sweep(t, s, 1, 2).all {
		if r.Outcome != record.OK || r.OutputTokens != 1 || len(r.Events) != 1 {
			t.Errorf("%s %q, %d tokens, %d events", r.Outcome, r.Error, r.OutputTokens, len(r.Events))
		}
	}
}

// A first chunk that bundles tokens made the rate of a user 16 % too high → its tokens are taken off.
func TestField_aiperf1279_FirstChunkIsTakenOff(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) {
		a.head()
		a.token(5)
		for range 5 {
			a.wait(4 * time.Millisecond)
			a.token(1)
		}
		a.close("length")
	})
	m := sweep(t, s, 1, 3)
	var rate, tpot float64
	for _, r := range m.all {
		if r.OutputTokens != 10 || r.Events[0].Tokens != 5 {
			t.Fatalf("%d tokens, %d in the first event", r.OutputTokens, r.Events[0].Tokens)
		}
		ms, tokens := spans([]record.Request{r})
		rate += float64(tokens) / ms * 1000 / float64(len(m.all))
		tpot += ms / float64(tokens) / float64(len(m.all))
	}
	if !near(*m.sum.TPSPerRequest, rate) || !near(m.sum.TPOTMS.Mean, tpot) {
		t.Errorf("rate %v, TPOT %v ms; by the recording %v and %v", *m.sum.TPSPerRequest, m.sum.TPOTMS.Mean, rate, tpot)
	}
}

// An empty delta whose usage grows is a token, and the trailing usage is none: the decode rate was wrong both ways.
func TestField_fastdeploy8113_GrowingUsageIsAToken(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) {
		a.head()
		a.role()
		a.token(1)
		a.choice(`"delta":{"content":""}`, 1)
		a.token(1)
		a.close("stop")
	})
	for _, r := range sweep(t, s, 1, 2).all {
		if len(r.Events) != 3 || r.OutputTokens != 3 || r.Events[1].Tokens != 1 {
			t.Errorf("%d events, %d tokens", len(r.Events), r.OutputTokens)
		}
	}
}

// ITL that held TTFT, and role chunks among its samples → n tokens give n − 1 samples, whose sum is last − first.
func TestField_llmperf99_ITLIsGapsAlone(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.paced(5, 50*time.Millisecond, time.Millisecond) })
	m := sweep(t, s, 1, 3)
	ms, tokens := spans(m.all)
	if m.sum.ITLMS.N != 12 || tokens != 12 || !near(m.sum.ITLMS.Mean*12, ms) || m.sum.TTFTMS.Min < 50 {
		t.Errorf("%d samples of %d tokens, sum %v of %v ms; TTFT from %v ms", m.sum.ITLMS.N, tokens, m.sum.ITLMS.Mean*12, ms, m.sum.TTFTMS.Min)
	}
}

// Chunks counted as tokens gave 5.5 for 25 tok/s → the server's usage counts.
func TestField_llamabenchy11_UsageNotChunks(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) {
		a.head()
		a.token(9)
		a.token(11)
		a.close("stop")
	})
	s.usage = "final"
	m := sweep(t, s, 1, 4)
	if *m.sum.OutputTokens != 20*int64(m.sum.RequestsCompleted) || *m.sum.AvgOutputTokens != 20 {
		t.Errorf("%d tokens of %d requests", *m.sum.OutputTokens, m.sum.RequestsCompleted)
	}
}

// Each delta tokenised by itself gave 3 tokens for 2 → no answer is tokenised; the events share what the usage says.
func TestField_llamabenchy18_PiecesAreNoTokens(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) {
		a.head()
		a.delta("content", "Hel", 1)
		a.delta("content", "lo", 0)
		a.delta("content", " world", 1)
		a.close("stop")
	})
	s.usage = "final"
	for _, r := range sweep(t, s, 1, 2).all {
		var sum int64
		for _, e := range r.Events {
			sum += e.Tokens
		}
		if r.OutputTokens != 2 || sum != 2 || len(r.Events) != 3 {
			t.Errorf("%d tokens, %d in %d events", r.OutputTokens, sum, len(r.Events))
		}
	}
}

// Hidden reasoning counted in usage but never streamed inflated the rate → under continuous usage it all lies before the
// first text and is in no rate; without, the counts are named as estimated.
func TestField_genaibench81_HiddenReasoning(t *testing.T) {
	t.Parallel()
	for _, usage := range []string{"continuous", "final"} {
		s := newServer(t, func(a *reply) {
			a.head()
			a.role()
			a.tokens += 90
			a.wait(30 * time.Millisecond)
			for range 10 {
				a.token(1)
			}
			a.close("stop")
		})
		s.usage = usage
		m := sweep(t, s, 1, 2)
		for _, r := range m.all {
			first := r.Events[0].Tokens
			if r.OutputTokens != 100 || len(r.Events) != 10 || (usage == "continuous") != (first == 91) {
				t.Errorf("usage %s: %d tokens, %d in the first of %d events", usage, r.OutputTokens, first, len(r.Events))
			}
		}
		if usage == "final" && (m.Client.TokenSource != "estimated" || !m.noted("even share")) {
			t.Errorf("source %s, notes %q", m.Client.TokenSource, m.Notes)
		}
	}
}

// "ITL" pooled over gaps and as a mean of requests disagree → each is its own figure with its own definition.
func TestField_dynamo12883_PooledAndPerRequestAreTwoFigures(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) {
		if a.n%2 == 0 {
			a.paced(20, 0, time.Millisecond)
		} else {
			a.paced(2, 0, 30*time.Millisecond)
		}
	})
	m := sweep(t, s, 1, 4)
	ms, tokens := spans(m.all)
	var perRequest float64
	for _, r := range m.all {
		one, n := spans([]record.Request{r})
		perRequest += one / float64(n) / float64(len(m.all))
	}
	if !near(m.sum.ITLMS.Mean, ms/float64(tokens)) || !near(m.sum.TPOTMS.Mean, perRequest) {
		t.Errorf("ITL %v and TPOT %v ms; pooled %v, per request %v", m.sum.ITLMS.Mean, m.sum.TPOTMS.Mean, ms/float64(tokens), perRequest)
	}
	if m.sum.TPOTMS.N != 4 || m.sum.ITLMS.N != tokens {
		t.Errorf("%d and %d samples", m.sum.TPOTMS.N, m.sum.ITLMS.N)
	}
}

// Throughput that counted chunks lay below a mean that counted tokens → one throughput, of tokens: what the events of the
// window brought is what the figure says.
func TestField_vllm35471_ThroughputIsOfTokens(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) {
		a.head()
		for range 4 {
			a.wait(3 * time.Millisecond)
			a.token(5)
		}
		a.close("length")
	})
	m := sweep(t, s, 2, 8)
	var tokens int64
	for _, r := range m.rec.Requests {
		for _, e := range r.Events {
			if !r.Warmup && e.AtUS >= m.Window.StartUS && e.AtUS < m.Window.EndUS {
				tokens += e.Tokens
			}
		}
	}
	if tokens < 20 || tokens%5 != 0 || !near(*m.sum.SystemTPS*m.sum.DurationS, float64(tokens)) {
		t.Errorf("%v tok/s over %v s, the window's events brought %d tokens", *m.sum.SystemTPS, m.sum.DurationS, tokens)
	}
}

// Special tokens without text moved TTFT between clients → on the completions endpoint too, growing usage is a token.
func TestField_mlperfPR380_TextlessFirstToken(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) {
		a.head()
		a.choice(`"text":""`, 1)
		a.wait(500 * time.Millisecond) // more than a busy machine needs for the first
		a.choice(`"text":" b"`, 1)
		a.close("stop")
	})
	m := sweep(t, s, 1, 3, completions)
	for i, r := range m.all {
		if len(r.Events) != 2 || r.OutputTokens != 2 || s.seen()[i].path != "/v1/completions" {
			t.Errorf("%d events, %d tokens, asked at %s", len(r.Events), r.OutputTokens, s.seen()[i].path)
		}
	}
	if m.sum.TTFTMS.Min >= 500 {
		t.Errorf("TTFT from %v ms: the first token is the second event", m.sum.TTFTMS.Min)
	}
}

func completions(j *job) { j.Plan.Server.Endpoint = "completions" }

// Lengths came from a tokenizer that a library update had broken (input 2, output 0) → both are the server's counts.
func TestField_mlperfSpec_LengthsAreTheServers(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.good(3) })
	m := sweep(t, s, 2, 6)
	if n := int64(m.sum.RequestsCompleted); n == 0 || *m.sum.InputTokens != promptTokens*n || *m.sum.OutputTokens != 3*n {
		t.Errorf("%d in and %d out of %d requests", *m.sum.InputTokens, *m.sum.OutputTokens, n)
	}
}

// Without a tokenizer token metrics vanished silently → without any count each event is one, and the result says so.
func TestField_mlperfSpec56_NoCountsIsSaid(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.good(3) })
	s.usage = "none"
	m := sweep(t, s, 1, 3)
	if m.Client.TokenSource != "events" || !m.noted("no token counts") || *m.sum.OutputTokens != 3*int64(m.sum.RequestsCompleted) {
		t.Errorf("source %s, notes %q", m.Client.TokenSource, m.Notes)
	}
	if m.sum.InputTokens != nil {
		t.Errorf("%d input tokens were made up", *m.sum.InputTokens)
	}
}

// ignore_eos lost, stop strings, a short context: outputs shorter than asked went unseen → what came is counted, with the
// finish reason, and the result says that it is less than was asked.
func TestField_vllm13333_ShortOutputIsSeen(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.good(2) })
	m := sweep(t, s, 1, 4, func(j *job) { j.Plan.Workload.Sampling = plan.Sampling{MaxTokens: 6, IgnoreEOS: true} })
	for i, r := range m.all {
		if r.OutputTokens != 2 || r.FinishReason != "stop" {
			t.Errorf("%d tokens, finish reason %q", r.OutputTokens, r.FinishReason)
		}
		if body := s.seen()[i].body; body["max_tokens"] != 6.0 || body["ignore_eos"] != true {
			t.Errorf("sent %v", body)
		}
	}
	if !m.noted("stop") || *m.sum.AvgOutputTokens != 2 {
		t.Errorf("notes %q, %v tokens on average", m.Notes, *m.sum.AvgOutputTokens)
	}
}
