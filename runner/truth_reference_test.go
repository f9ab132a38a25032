package runner_test

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"testing"

	"assay/runner/metrics"
	"assay/runner/record"
	"assay/sim"
)

// A second implementation of the metric table, over what the server says it sent. An instant of the server is an interval: it lies
// between the readings before and after the write. So each figure is an interval too, and what the client reports must lie in it.
// Which side of a window's edge something falls on is taken from the client, whose stamps were held against the intervals before.

// span holds a value.
type span struct{ lo, hi float64 }

func exactly(v float64) span { return span{v, v} }

func (s span) times(f float64) span { return span{s.lo * f, s.hi * f} }

// inverse is f divided by any value of s, which is not negative.
func (s span) inverse(f float64) span { return span{f / s.hi, f / s.lo} }

// samples are a distribution, in ms.
type samples struct{ lo, hi []float64 }

func (s *samples) add(v span, times int64) {
	for range times {
		s.lo, s.hi = append(s.lo, v.lo), append(s.hi, v.hi)
	}
}

func (s *samples) mean() span {
	var sum span
	for i := range s.lo {
		sum.lo, sum.hi = sum.lo+s.lo[i], sum.hi+s.hi[i]
	}
	return sum.times(1 / float64(len(s.lo)))
}

// distribution gives every field of a metrics.Distribution. The kth smallest of values in intervals lies between the kth smallest
// lower and the kth smallest upper end.
func (s *samples) distribution() map[string]span {
	slices.Sort(s.lo)
	slices.Sort(s.hi)
	out := map[string]span{"mean": s.mean(), "n": exactly(float64(len(s.lo)))}
	for name, p := range map[string]float64{
		"min": 0, "p1": 1, "p5": 5, "p10": 10, "p25": 25, "p50": 50, "p75": 75, "p90": 90, "p95": 95, "p99": 99, "p999": 99.9, "max": 100,
	} {
		out[name] = span{atRank(s.lo, p), atRank(s.hi, p)}
	}
	return out
}

func atRank(sorted []float64, p float64) float64 {
	rank := p / 100 * float64(len(sorted)-1)
	below := int(rank)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (rank-float64(below))*(sorted[above]-sorted[below])
}

// sent is a token event: when by the server, when by the client, and what it brought.
type sent struct {
	span // µs since the recording's epoch
	at   int64
	n    int64

	late    bool // its stamp is that of a later one
	nowhere bool // or of nothing that was written
}

// sight is a request as both sides saw it.
type sight struct {
	client record.Request
	server sim.Truth
	epoch  int64  // of the client's clock
	events []sent // those that arrived
	answer int    // index of the first that is no reasoning; -1 when none is
}

// flight is the time in µs from the client's own instant of sending to event i.
func (s sight) flight(i int) span {
	return span{s.events[i].lo - float64(s.client.SentUS), s.events[i].hi - float64(s.client.SentUS)}
}

// between is the time in µs from event i to event k.
func (s sight) between(i, k int) span {
	return span{max(0, s.events[k].lo-s.events[i].hi), max(0, s.events[k].hi-s.events[i].lo)}
}

// ended is when the client saw the request finish.
func (s sight) ended() int64 {
	if n := len(s.events); n > 0 && s.client.Outcome == record.OK {
		return s.events[n-1].at
	}
	return s.client.DoneUS
}

// output is what the server had told of by the end: the whole reply, or what arrived of one that was cut off.
func (s sight) output() int64 {
	if s.client.Outcome == record.OK {
		return int64(s.server.OutputTokens)
	}
	var n int64
	for _, e := range s.events {
		n += e.n
	}
	return n
}

// The populations that a summary can be made of.
const (
	overWindow = "window"
	overInside = "inside"
	overIssue  = "issue to drain"
	overCell   = "cell"
)

// reference makes a summary's figures.
type reference struct {
	over   string
	window metrics.Window
	shape  metrics.Shape

	issued, completed, failed, censored     int64
	outcomes                                map[string]span
	tokens, input, output, cached, prompt   int64
	ttft, ttfat, tpot, itl, e2e, conn, wait samples
	rates                                   samples
	active, ttftSum                         span
}

func (f *reference) holds(us int64) bool {
	return f.over == overIssue || us >= f.window.StartUS && us < f.window.EndUS
}

// takes says whether s has a part in any figure.
func (f *reference) takes(s sight) bool {
	switch {
	case s.client.Warmup:
		return false
	case f.over == overInside:
		return f.holds(s.client.SentUS) && f.holds(s.ended())
	case f.over == overCell:
		return s.client.SentUS < f.window.EndUS && s.client.DoneUS >= f.window.StartUS
	}
	return true
}

func (f *reference) add(s sight) {
	if !f.takes(s) {
		return
	}
	good := s.client.Outcome == record.OK || f.over == overCell && s.client.Outcome == record.Censored
	f.addFlow(s, good)
	if f.over == overCell || f.holds(s.client.SentUS) {
		f.addSent(s, good)
	}
	finished := s.client.Outcome == record.OK && f.holds(s.ended())
	if finished {
		f.completed++
		f.input += int64(s.server.InputTokens)
		f.output += s.output()
		f.cached += int64(s.server.CachedTokens)
		f.e2e.add(s.flight(len(s.events)-1).times(1e-3), 1)
	}
	if finished || f.over == overCell && good {
		f.addSpeed(s)
	}
}

func (f *reference) addFlow(s sight, good bool) {
	from, to := f.window.StartUS, f.window.EndUS
	if n := len(s.events); n > 0 {
		last := s.atServer(s.server.Events[n-1].AtUS)
		f.active.lo += float64(max(0, min(to, last)-max(from, s.arrived())))
	}
	f.active.hi += float64(max(0, min(to, s.client.DoneUS)-max(from, s.client.SentUS)))
	for i, e := range s.events {
		if !f.holds(e.at) {
			continue
		}
		f.tokens += e.n
		if i > 0 && good {
			f.itl.add(s.between(i-1, i).times(1e-3/float64(e.n)), e.n)
		}
	}
}

// atServer is an instant of the server on the client's clock.
func (s sight) atServer(us int64) int64 { return us - s.epoch }

func (s sight) arrived() int64 { return s.atServer(s.server.ArrivedUS) }

func (f *reference) addSent(s sight, good bool) {
	f.issued++
	o := string(s.client.Outcome)
	f.outcomes[o] = exactly(f.outcomes[o].lo + 1)
	switch s.client.Outcome {
	case record.OK:
	case record.Censored:
		f.censored++
	default:
		f.failed++
	}
	if !good {
		return
	}
	f.wait.add(exactly(float64(s.client.SentUS-s.client.IntendedUS)/1e3), 1)
	if s.client.ConnectUS != record.Never {
		f.conn.add(exactly(float64(s.client.ConnectUS)/1e3), 1)
	}
	if len(s.events) == 0 {
		return
	}
	first := s.flight(0)
	f.ttft.add(first.times(1e-3), 1)
	f.ttftSum = span{f.ttftSum.lo + first.lo, f.ttftSum.hi + first.hi}
	f.prompt += int64(s.server.InputTokens)
	if s.answer >= 0 {
		f.ttfat.add(s.flight(s.answer).times(1e-3), 1)
	}
}

func (f *reference) addSpeed(s sight) {
	if len(s.events) < 2 {
		return
	}
	last := len(s.events) - 1
	if after := s.output() - s.events[0].n; after > 0 {
		took := s.between(0, last)
		f.tpot.add(took.times(1e-3/float64(after)), 1)
		f.rates.add(took.inverse(1e6*float64(after)), 1)
	}
}

// figures are the values by their keys in the result document: a span, or a map of them.
func (f *reference) figures() map[string]any {
	seconds := float64(f.window.EndUS-f.window.StartUS) / 1e6
	out := map[string]any{
		"requests_issued": exactly(float64(f.issued)), "requests_completed": exactly(float64(f.completed)),
		"requests_failed": exactly(float64(f.failed)), "censored": exactly(float64(f.censored)), "outcomes": f.outcomes,
		"duration_s": exactly(seconds), "input_tokens": exactly(float64(f.input)), "output_tokens": exactly(float64(f.output)),
		"qps": exactly(float64(f.completed) / seconds), "system_tps": exactly(float64(f.tokens) / seconds),
		"system_tps_completed": exactly(float64(f.output) / seconds), "total_tps": exactly(float64(f.input+f.output) / seconds),
		"active_mean": f.active.times(1e-6 / seconds),
	}
	if f.over == overIssue {
		out["system_tps"] = out["system_tps_completed"]
	}
	for key, d := range map[string]*samples{"ttft_ms": &f.ttft, "ttfat_ms": &f.ttfat, "tpot_ms": &f.tpot, "itl_ms": &f.itl, "e2e_ms": &f.e2e, "connect_ms": &f.conn, "queue_ms": &f.wait} {
		if len(d.lo) > 0 {
			out[key] = d.distribution()
		}
	}
	f.quotients(out)
	return out
}

// quotients adds what is there only where something can be divided.
func (f *reference) quotients(out map[string]any) {
	system := out["system_tps"].(span)
	if f.shape.Concurrency > 0 {
		out["tps_per_user"] = system.times(1 / float64(f.shape.Concurrency))
	}
	if f.shape.DecodeNodes > 0 {
		out["tps_per_node"] = system.times(1 / float64(f.shape.DecodeNodes))
	}
	if f.completed > 0 {
		out["avg_output_tokens"] = exactly(float64(f.output) / float64(f.completed))
		out["cached_tokens"] = exactly(float64(f.cached))
	}
	if f.input > 0 {
		out["prefix_hit_rate"] = exactly(100 * float64(f.cached) / float64(f.input))
	}
	if len(f.tpot.lo) > 0 {
		out["tps_per_user_tpot"] = f.tpot.mean().inverse(1000)
		out["tps_per_request"] = f.rates.mean()
	}
	if f.shape.Prefill && len(f.ttft.lo) > 0 {
		out["prompt_tps"] = f.ttftSum.inverse(1e6 * float64(f.prompt))
	}
}

// compare holds every figure of a summary against the reference's.
func compare(t *testing.T, over string, got metrics.Summary, want map[string]any) {
	t.Helper()
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var figures map[string]any
	if err := json.Unmarshal(text, &figures); err != nil {
		t.Fatal(err)
	}
	for key, value := range figures {
		switch expected := want[key].(type) {
		case span:
			within(t, over+": "+key, value.(float64), expected)
		case map[string]span:
			parts := value.(map[string]any)
			for name := range expected {
				v, ok := parts[name].(float64)
				if !ok {
					t.Errorf("%s: %s has no %s", over, key, name)
					continue
				}
				within(t, over+": "+key+" "+name, v, expected[name])
			}
			if len(parts) != len(expected) {
				t.Errorf("%s: %s has %v, the reference %v", over, key, slices.Sorted(maps.Keys(parts)), slices.Sorted(maps.Keys(expected)))
			}
		default:
			t.Errorf("%s: %s is %v, and the reference has none", over, key, value)
		}
	}
	for key := range want {
		if _, ok := figures[key]; !ok {
			t.Errorf("%s: no %s, the reference has %v", over, key, want[key])
		}
	}
}

func within(t *testing.T, name string, got float64, want span) {
	t.Helper()
	slack := 1e-9 * math.Max(1, math.Abs(want.hi))
	if !(got >= want.lo-slack && got <= want.hi+slack) {
		t.Errorf("%s is %v, by the server between %v and %v", name, got, want.lo, want.hi)
	}
}
