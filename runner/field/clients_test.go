package field

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/plan"
	"assay/runner"
	"assay/runner/metrics"
	"assay/runner/record"
)

// The streams that four common clients were measured on against a server that knows the truth: 12 requests, 4 at once, 24
// tokens each. What one of them got wrong is exact here, and no time is before the server's own.

const (
	scenarioTokens = 24
	scenarioTTFT   = 30 * time.Millisecond
)

// scenario is a stream, and what must come of it.
type scenario struct {
	name   string
	answer func(*reply)
	usage  string
	failed record.Outcome                        // of those that fail; "" when none does
	fails  func(n int) bool                      // which do
	events int                                   // token events of a good answer; 0: scenarioTokens
	check  func(t *testing.T, r record.Request)  // of each good request; may be nil
	point  func(t *testing.T, s metrics.Summary) // of the figures; may be nil
}

func third(n int) bool { return n%3 == 2 }

// tokensOf writes the tokens of a clean stream, one an event, after the time to the first.
func (a *reply) tokensOf(n int) {
	a.wait(scenarioTTFT)
	for range n {
		a.token(1)
	}
}

// clean is the plain stream.
func clean(a *reply) {
	a.head()
	a.tokensOf(scenarioTokens)
	a.close("length")
}

// breaking is clean but for every third answer, which ends after half of its tokens as told.
func breaking(end func(*reply)) func(*reply) {
	return func(a *reply) {
		if !third(a.n) {
			clean(a)
			return
		}
		a.head()
		a.tokensOf(scenarioTokens / 2)
		end(a)
	}
}

// delayed sends the role after a while and the first token long after.
func delayed(role time.Duration) func(*reply) {
	return func(a *reply) {
		a.head()
		a.wait(role)
		a.role()
		a.tokensOf(scenarioTokens)
		a.close("length")
	}
}

func atLeast(d time.Duration) func(*testing.T, record.Request) {
	return func(t *testing.T, r record.Request) {
		if got := r.Events[0].AtUS - r.SentUS; got < d.Microseconds() {
			t.Errorf("the first token after %d µs, the server took %v", got, d)
		}
	}
}

func scenarios() []scenario {
	errorFrame := `{"error":{"message":"EngineCore encountered an issue","type":"InternalServerError","code":500}}`
	return []scenario{
		{name: "clean", answer: clean, check: atLeast(scenarioTTFT)},
		{name: "role-delayed", answer: delayed(30 * time.Millisecond), check: atLeast(2 * scenarioTTFT)},
		{name: "role-late", answer: delayed(2 * time.Millisecond), check: atLeast(scenarioTTFT)},
		{name: "openai", usage: "final", answer: delayed(0), check: func(t *testing.T, r record.Request) {
			if r.TokenSource != "estimated" || r.FinishReason != "length" {
				t.Errorf("source %s, finish reason %s", r.TokenSource, r.FinishReason)
			}
		}},
		{name: "spec", answer: spec, events: 8, check: func(t *testing.T, r record.Request) {
			for i, n := range specTokens() {
				if r.Events[i].Tokens != int64(n) {
					t.Errorf("event %d brought %d tokens, want %d", i, r.Events[i].Tokens, n)
				}
			}
		}},
		{name: "error-frame", failed: record.ErrorFrame, fails: third, answer: breaking(func(a *reply) { a.event(errorFrame); a.end() })},
		{name: "error-object", failed: record.ErrorFrame, fails: third, answer: breaking(func(a *reply) {
			a.event(`{"object":"error","message":"bad","type":"BadRequestError","code":400}`)
			a.write("0\r\n\r\n")
		})},
		{name: "error-first", failed: record.ErrorFrame, fails: third, answer: func(a *reply) {
			if !third(a.n) {
				clean(a)
				return
			}
			a.head()
			a.event(errorFrame)
			a.end()
		}},
		{name: "truncated", failed: record.Truncated, fails: third, answer: breaking(func(a *reply) { a.c.Close() })},
		{name: "nodone-nofinish", failed: record.Truncated, fails: third, answer: breaking(func(a *reply) { a.write("0\r\n\r\n") })},
		{name: "nodone", answer: func(a *reply) {
			a.head()
			a.tokensOf(scenarioTokens)
			a.finish("length")
			a.final()
			a.write("0\r\n\r\n")
		}},
		{name: "bigline", answer: bigLine, events: 6},
		{name: "crlf", answer: crlf, usage: "final"},
		{name: "reasoning", answer: func(a *reply) { a.think("reasoning_content", scenarioTokens/2) }, check: func(t *testing.T, r record.Request) {
			if r.FirstAnswer != scenarioTokens/2 {
				t.Errorf("the answer begins at event %d", r.FirstAnswer)
			}
			atLeast(2*scenarioTTFT)(t, record.Request{SentUS: r.SentUS, Events: r.Events[r.FirstAnswer:]})
		}},
		{name: "reasoning-only", answer: func(a *reply) { a.think("reasoning", scenarioTokens) }, point: func(t *testing.T, s metrics.Summary) {
			if s.TTFTMS == nil || s.ITLMS == nil || s.TPOTMS == nil || s.TTFATMS != nil {
				t.Errorf("TTFT %v, ITL %v, TPOT %v; to the first answer %v", s.TTFTMS, s.ITLMS, s.TPOTMS, s.TTFATMS)
			}
		}},
		{name: "split-tcp", answer: splitTCP, usage: "final"},
		{name: "zero", answer: zero},
		{name: "stall", failed: record.Stalled, fails: func(n int) bool { return n == 6 }, answer: func(a *reply) {
			if a.n != 6 {
				clean(a)
				return
			}
			a.head()
			a.tokensOf(3)
			a.until(a.server.down)
		}},
	}
}

func specTokens() []int { return []int{1, 5, 2, 4, 3, 3, 5, 1} }

// spec brings several tokens in a chunk.
func spec(a *reply) {
	a.head()
	a.role()
	a.wait(scenarioTTFT)
	for i, n := range specTokens() {
		if i > 0 {
			a.wait(3 * time.Millisecond)
		}
		a.token(n)
	}
	a.close("length")
}

// bigLine has a line of 5 MB among its tokens.
func bigLine(a *reply) {
	a.head()
	a.token(1)
	a.delta("content", strings.Repeat("x", 5<<20), 1)
	for range 4 {
		a.token(1)
	}
	a.close("stop")
}

// crlf ends its lines with CR LF.
func crlf(a *reply) {
	a.head()
	event := func(data string) { a.chunk("data: " + data + "\r\n\r\n") }
	for range scenarioTokens {
		a.tokens++
		event(`{"choices":[{"index":0,"delta":{"content":" t"},"finish_reason":null}]}`)
	}
	event(`{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`)
	event(`{"choices":[],` + a.used(a.tokens) + `}`)
	event("[DONE]")
	a.write("0\r\n\r\n")
}

// think sends n tokens of reasoning, and the rest as content.
func (a *reply) think(member string, n int) {
	a.head()
	a.role()
	a.wait(scenarioTTFT)
	for range n {
		a.delta(member, " r", 1)
	}
	if n < scenarioTokens {
		a.wait(scenarioTTFT)
	}
	for range scenarioTokens - n {
		a.token(1)
	}
	a.close("length")
}

// splitTCP writes every byte by itself.
func splitTCP(a *reply) {
	var body strings.Builder
	for range scenarioTokens {
		a.tokens++
		body.WriteString(strings.Replace(oneToken, `"a"`, `" é"`, 1))
	}
	fmt.Fprintf(&body, "%sdata: {\"choices\":[],%s}\n\n%s", stopped, a.used(a.tokens), doneLine)
	bytewise(body.String())(a)
}

// zero ends every third answer, properly, without a token.
func zero(a *reply) {
	if !third(a.n) {
		clean(a)
		return
	}
	a.head()
	a.role()
	a.close("stop")
}

func TestField_clientsMeasured(t *testing.T) {
	t.Parallel()
	for _, c := range scenarios() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

func (c scenario) run(t *testing.T) {
	s := newServer(t, c.answer)
	if c.usage != "" {
		s.usage = c.usage
	}
	m := sweep(t, s, 4, 12, stallsAfter(c.failed))
	m.timely(t, s)
	seen, bad, out := s.seen(), 0, 0
	for _, a := range seen {
		if c.fails != nil && c.fails(a.n) {
			bad++
		} else {
			out += a.tokens
		}
	}
	n, got := m.outcomes(), 0
	for _, r := range m.all {
		if r.Outcome != record.OK {
			continue
		}
		got += int(r.OutputTokens)
		c.good(t, r)
	}
	if n[record.OK] != len(seen)-bad || n[c.failed] != bad || len(m.all) != len(seen) || got != out {
		t.Errorf("%v with %d tokens in the good ones; the server answered %d, broke %d, and sent %d", n, got, len(seen), bad, out)
	}
	if bad > 0 && (m.state != "not_valid" || !m.has("errors")) {
		t.Errorf("with %d failures the point is %s: %v", bad, m.state, m.reasons)
	}
	if c.point != nil {
		c.point(t, m.sum)
	}
}

// good looks at a request that must be right.
func (c scenario) good(t *testing.T, r record.Request) {
	want := c.events
	if want == 0 {
		want = scenarioTokens
	}
	if c.name == "zero" && r.OutputTokens == 0 {
		want = 0
	}
	if len(r.Events) != want || r.InputTokens != promptTokens {
		t.Errorf("%d events, %d tokens in", len(r.Events), r.InputTokens)
		return
	}
	if c.check != nil {
		c.check(t, r)
	}
}

// Clients printed a concurrency of 512 and held 225 to 388 streams → no slot stays empty: the server lets no request go before
// C of them are there, round after round.
func TestField_clients_LoadIsHeld(t *testing.T) {
	t.Parallel()
	const c, rounds = 64, 12
	var mu sync.Mutex
	round, drain, full := newGate(c), make(chan struct{}), 0
	s := newServer(t, func(a *reply) {
		mu.Lock()
		mine := round
		mine.arrive()
		select {
		case <-mine.open:
			round, full = newGate(c), full+1
		default:
		}
		mu.Unlock()
		select {
		case <-mine.open:
		case <-drain: // the last round need not be full
		}
		a.good(2)
	})
	once := sync.OnceFunc(func() { close(drain) })
	j := newJob(t, s, closedPlan(plan.Sweep{Requests: c * rounds}), closedPoint(c))
	m := measure(t, t.Context(), j, func(p runner.Progress) {
		if p.Stage == "drain" {
			once()
		}
	})
	if m.err != nil || s.peak != c || m.outcomes()[record.OK] != len(m.all) || full < rounds || *m.sum.ActiveMean > c {
		t.Errorf("%d full rounds of %d, %d at once of %d, %v, in flight %v; %v", full, rounds, s.peak, c, m.outcomes(), *m.sum.ActiveMean, m.err)
	}
	m.timely(t, s)
}

// Some clients called the server's tokenizer for each prompt, or read its metrics before the load → the client asks for nothing but
// completions, where the plan wants no prompts of so many tokens.
func TestField_mlperfPR350_NothingButCompletions(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.good(3) })
	m := sweep(t, s, 4, 40)
	for _, a := range append(s.seen(), s.probes...) {
		if a.path != "/v1/chat/completions" {
			t.Errorf("asked %s", a.path)
		}
	}
	if len(s.others) > 0 {
		t.Errorf("asked %v", s.others)
	}
	if got := len(s.probes) + len(s.seen()); got != len(m.rec.Requests) || len(s.probes) != 1 {
		t.Errorf("the server answered %d, of them %d of the probe; recorded are %d", got, len(s.probes), len(m.rec.Requests))
	}
}
