package metrics

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"assay/runner/record"

	"github.com/google/go-cmp/cmp"
)

// random makes a recording of n requests around the window 1 s to 3 s: every outcome, gaps in told counts, several tokens in an event,
// zero-token events, gaps too long for the tables.
func random(seed uint64, n int) record.Recording {
	rng := rand.New(rand.NewPCG(seed, 7))
	var rec record.Recording
	outcomes := Outcomes()
	for i := range n {
		at := rng.Int64N(4_000_000)
		r := record.Request{Index: i, Warmup: rng.IntN(10) == 0, Outcome: record.OK, IntendedUS: at, SentUS: at + rng.Int64N(3000),
			ConnectUS: record.Never, InputTokens: rng.Int64N(500), OutputTokens: record.Never, CachedTokens: rng.Int64N(100), FirstAnswer: -1}
		if rng.IntN(3) == 0 {
			r.Outcome = outcomes[rng.IntN(len(outcomes))].Outcome
		}
		if rng.IntN(2) == 0 {
			r.ConnectUS = rng.Int64N(900)
		}
		t := r.SentUS
		for range rng.IntN(40) {
			t += rng.Int64N(60_000)
			switch rng.IntN(80) {
			case 0:
				t += 400_000
			case 1:
				t += 4_500_000 // longer than the tables
			}
			tokens := rng.Int64N(4) * rng.Int64N(9)
			if rng.IntN(90) == 0 {
				tokens = 63 + rng.Int64N(4) // on both sides of the tables
			}
			r.Events = append(r.Events, record.Event{AtUS: t, Tokens: tokens})
		}
		r.DoneUS = t + rng.Int64N(2000)
		if len(r.Events) > 0 {
			r.FirstAnswer = rng.IntN(len(r.Events)+1) - 1
		}
		if rng.IntN(2) == 0 {
			r.OutputTokens = r.Output()
		}
		if r.Outcome == record.Dropped {
			r.SentUS, r.DoneUS, r.Events, r.FirstAnswer = record.Never, record.Never, nil, -1
		}
		rec.Requests = append(rec.Requests, r)
	}
	return rec
}

// naive describes samples by the plainest means: all of them in one sorted list.
func naive(ms []float64) *Distribution {
	if len(ms) == 0 {
		return nil
	}
	slices.Sort(ms)
	var sum float64
	for _, v := range ms {
		sum += v
	}
	p := func(q float64) float64 { return Percentile(ms, q) }
	return &Distribution{ms[0], sum / float64(len(ms)), p(1), p(5), p(10), p(25), p(50), p(75), p(90), p(95), p(99), p(99.9), ms[len(ms)-1], int64(len(ms))}
}

// reference computes every figure straight from its definition, a pass over the recording for each.
func reference(rec record.Recording, w Window, s Shape) Summary {
	inside := func(us int64) bool { return w.StartUS <= us && us < w.EndUS }
	seconds := float64(w.EndUS-w.StartUS) / 1e6
	var measured, sent, okSent, okEnd []record.Request
	for _, r := range rec.Requests {
		if r.Warmup {
			continue
		}
		measured = append(measured, r)
		if r.SentUS >= 0 && inside(r.SentUS) || r.SentUS < 0 && inside(r.IntendedUS) {
			sent = append(sent, r)
			if r.Outcome == record.OK {
				okSent = append(okSent, r)
			}
		}
		end := r.DoneUS
		if len(r.Events) > 0 {
			end = r.Events[len(r.Events)-1].AtUS
		}
		if r.Outcome == record.OK && inside(end) {
			okEnd = append(okEnd, r)
		}
	}
	out := Summary{Outcomes: map[string]int{}, DurationS: seconds, RequestsIssued: len(sent), RequestsCompleted: len(okEnd)}
	for _, r := range sent {
		out.Outcomes[string(r.Outcome)]++
	}
	out.Censored = out.Outcomes["censored"]
	out.RequestsFailed = len(sent) - out.Outcomes["ok"] - out.Censored
	referenceSent(&out, okSent)
	referenceEnd(&out, okEnd)
	referenceFlow(&out, measured, w, inside)
	out.TPSPerUser, out.TPSPerNode = ptr(*out.SystemTPS/float64(s.Concurrency)), ptr(*out.SystemTPS/float64(s.DecodeNodes))
	return out
}

func referenceSent(out *Summary, okSent []record.Request) {
	var ttft, answer, connect, queue []float64
	var input, wait float64
	for _, r := range okSent {
		queue = append(queue, float64(r.SentUS-r.IntendedUS)/1000)
		if r.ConnectUS >= 0 {
			connect = append(connect, float64(r.ConnectUS)/1000)
		}
		if len(r.Events) > 0 {
			first := float64(r.Events[0].AtUS-r.SentUS) / 1000
			ttft, input, wait = append(ttft, first), input+float64(r.InputTokens), wait+first/1000
		}
		if r.FirstAnswer >= 0 {
			answer = append(answer, float64(r.Events[r.FirstAnswer].AtUS-r.SentUS)/1000)
		}
	}
	out.TTFTMS, out.TTFATMS, out.ConnectMS, out.QueueMS, out.PromptTPS = naive(ttft), naive(answer), naive(connect), naive(queue), ptr(input/wait)
}

func referenceEnd(out *Summary, okEnd []record.Request) {
	var e2e, tpot, speed []float64
	var input, output, cached int64
	for _, r := range okEnd {
		tokens := r.Output()
		input, output, cached = input+r.InputTokens, output+tokens, cached+r.CachedTokens
		n := len(r.Events)
		if n == 0 {
			continue
		}
		e2e = append(e2e, float64(r.Events[n-1].AtUS-r.SentUS)/1000)
		if after, span := float64(tokens-r.Events[0].Tokens), float64(r.Events[n-1].AtUS-r.Events[0].AtUS); n > 1 && after > 0 {
			tpot, speed = append(tpot, span/1000/after), append(speed, after/(span/1e6))
		}
	}
	n := float64(len(okEnd))
	out.E2EMS, out.TPOTMS = naive(e2e), naive(tpot)
	out.TPSPerUserTPOT, out.TPSPerRequest = ptr(1000/out.TPOTMS.Mean), ptr(naive(speed).Mean)
	out.InputTokens, out.OutputTokens, out.CachedTokens = &input, &output, &cached
	out.QPS, out.AvgOutputTokens, out.PrefixHitRate = ptr(n/out.DurationS), ptr(float64(output)/n), ptr(100*float64(cached)/float64(input))
	out.SystemTPSCompleted, out.TotalTPS = ptr(float64(output)/out.DurationS), ptr(float64(input+output)/out.DurationS)
}

func referenceFlow(out *Summary, measured []record.Request, w Window, inside func(int64) bool) {
	var itl []float64
	var tokens, active float64
	for _, r := range measured {
		last := int64(-1)
		for i, e := range r.Events {
			if inside(e.AtUS) {
				tokens += float64(e.Tokens)
			}
			if r.Outcome == record.OK && i > 0 && inside(e.AtUS) {
				for range e.Tokens {
					itl = append(itl, float64(e.AtUS-last)/1000/float64(e.Tokens))
				}
			}
			if i == 0 || e.Tokens > 0 {
				last = e.AtUS
			}
		}
		if r.SentUS >= 0 {
			active += float64(max(0, min(r.DoneUS, w.EndUS)-max(r.SentUS, w.StartUS)))
		}
	}
	out.ITLMS, out.SystemTPS, out.ActiveMean = naive(itl), ptr(tokens/out.DurationS), ptr(active/1e6/out.DurationS)
}

var (
	wide = Window{StartUS: 1_000_000, EndUS: 3_000_000}
	full = Shape{Concurrency: 16, DecodeNodes: 3, Prefill: true}
)

func TestAgainstReference(t *testing.T) {
	for seed := range uint64(30) {
		rec := random(seed, 150)
		if diff := cmp.Diff(reference(rec, wide, full), Summarise(rec, wide, full), closely); diff != "" {
			t.Fatalf("seed %d (-reference +got):\n%s", seed, diff)
		}
	}
}

func TestShiftAndOrderChangeNothing(t *testing.T) {
	rec := random(3, 200)
	want := Summarise(rec, wide, full)
	shifted := record.Recording{}
	const by = 1_000_000_007
	for _, r := range rec.Requests {
		r.IntendedUS += by
		if r.SentUS != record.Never {
			r.SentUS, r.DoneUS = r.SentUS+by, r.DoneUS+by
		}
		r.Events = slices.Clone(r.Events)
		for i := range r.Events {
			r.Events[i].AtUS += by
		}
		shifted.Requests = append(shifted.Requests, r)
	}
	got := Summarise(shifted, Window{StartUS: wide.StartUS + by, EndUS: wide.EndUS + by}, full)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("shifted (-want +got):\n%s", diff)
	}
	slices.Reverse(rec.Requests)
	if diff := cmp.Diff(want, Summarise(rec, wide, full), closely); diff != "" {
		t.Errorf("reversed (-want +got):\n%s", diff)
	}
}

// TestWindowsAddUp splits the time in two: what is counted by instant is counted once.
func TestWindowsAddUp(t *testing.T) {
	rec := random(5, 300)
	whole := Summarise(rec, Window{StartUS: 0, EndUS: 6_000_000}, full)
	a := Summarise(rec, Window{StartUS: 0, EndUS: 2_345_678}, full)
	b := Summarise(rec, Window{StartUS: 2_345_678, EndUS: 6_000_000}, full)
	tokens := func(s Summary) float64 { return *s.SystemTPS * s.DurationS }
	if diff := cmp.Diff(tokens(whole), tokens(a)+tokens(b), closely); diff != "" {
		t.Error("tokens", diff)
	}
	if whole.ITLMS.N != a.ITLMS.N+b.ITLMS.N || whole.TTFTMS.N != a.TTFTMS.N+b.TTFTMS.N || whole.RequestsCompleted != a.RequestsCompleted+b.RequestsCompleted {
		t.Errorf("%d samples, %d and %d", whole.ITLMS.N, a.ITLMS.N, b.ITLMS.N)
	}
	sum := 0
	for _, n := range whole.Outcomes {
		sum += n
	}
	if sum != whole.RequestsIssued || whole.RequestsIssued != whole.Outcomes["ok"]+whole.RequestsFailed+whole.Censored {
		t.Errorf("issued %d, outcomes %v", whole.RequestsIssued, whole.Outcomes)
	}
}

func TestPercentilesAscend(t *testing.T) {
	for seed := range uint64(20) {
		d := Summarise(random(seed, 40), wide, full).ITLMS
		v := []float64{d.Min, d.P1, d.P5, d.P10, d.P25, d.P50, d.P75, d.P90, d.P95, d.P99, d.P999, d.Max}
		if !slices.IsSorted(v) || d.Mean < d.Min || d.Mean > d.Max {
			t.Errorf("seed %d: %+v", seed, d)
		}
	}
}

func BenchmarkSummarise(b *testing.B) {
	for _, events := range []int{1_000_000} {
		b.Run(fmt.Sprint(events), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			var rec record.Recording
			for range events / 1000 {
				r := record.Request{Outcome: record.OK, ConnectUS: record.Never, OutputTokens: 1000, FirstAnswer: -1}
				t := rng.Int64N(1_000_000)
				r.SentUS = t
				for range 1000 {
					t += 8000 + rng.Int64N(9000)
					r.Events = append(r.Events, record.Event{AtUS: t, Tokens: 1 + rng.Int64N(2)})
				}
				r.DoneUS = t
				rec.Requests = append(rec.Requests, r)
			}
			b.ReportAllocs()
			for b.Loop() {
				Summarise(rec, Window{EndUS: 1 << 40}, full)
			}
		})
	}
}
