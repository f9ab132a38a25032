package agent

import (
	"slices"
	"strings"
	"testing"
	"time"

	"assay/plan"
	"assay/result"
	"assay/sim"
)

// warmedUp runs a protocol against a server whose first requests are slow, and gives its point.
func warmedUp(t *testing.T, protocol string) result.Point {
	t.Helper()
	a := newAgent(t)
	stall := sim.Fault{Kind: sim.Stall, Delay: time.Second, First: 5} // the first one asks whether the server is ready, or what it takes
	_, url := startSim(t, sim.Config{Model: "sim", StepBase: 10 * time.Millisecond, Prefill: time.Microsecond, Faults: []sim.Fault{stall}})
	p, err := plan.Parse([]byte(`
apiVersion: assay/v1
name: warm
model: {name: sim}
server: ` + atURL(url) + `
workload: {kind: synthetic, input_len: 16, lengths: words, sampling: {max_tokens: 20, ignore_eos: true}}
protocol: ` + protocol + `
`))
	if err != nil {
		t.Fatal(err)
	}
	r := execute(t, a, submit(t, a, p))
	if r.Run.State != result.Done || len(r.Points) != 1 || r.Points[0].Warmup == nil {
		t.Fatalf("run %s, %v: %+v", r.Run.State, r.Run.Error, r.Points)
	}
	return r.Points[0]
}

// TestWarmupUntilStable: a warm-up waits out a server's slow start, and what was done stands in the result.
func TestWarmupUntilStable(t *testing.T) {
	p := warmedUp(t, "{sweep: {concurrency: 2, requests: 6, warmup: {requests: 2, stable: 0.5, timeout: 1m}}}")
	if w := p.Warmup; w.Stable == nil || !*w.Stable || w.Steps < 4 || w.Requests < 2*w.Steps || w.DurationS < float64(w.Steps) || w.ThroughputSpread == nil || *w.ThroughputSpread > 0.5 || w.TTFTSpread == nil {
		t.Errorf("%+v", w)
	}
	if ttft := p.Metrics.TTFTMS; ttft == nil || ttft.Max > 1000 || p.State != result.PointValid && !onlyBusy(p) {
		t.Errorf("%s %v: the slow start is in the figures: %+v", p.State, p.Reasons, ttft)
	}
}

// TestWarmupThatIsNeverStable is measured all the same, and says so.
func TestWarmupThatIsNeverStable(t *testing.T) {
	p := warmedUp(t, "{sweep: {concurrency: 2, requests: 6, warmup: {stable: 0.000001, timeout: 3s}}}")
	at := slices.IndexFunc(p.Reasons, func(r result.Reason) bool { return r.Code == "warmup_timeout" })
	if at < 0 || p.State != result.PointNotValid || !strings.Contains(p.Reasons[at].Evidence, "3s") || p.Metrics.RequestsIssued != 6 {
		t.Errorf("%s %v", p.State, p.Reasons)
	}
	if w := p.Warmup; w.Stable == nil || *w.Stable || w.DurationS < 3 {
		t.Errorf("%+v", w)
	}
}

// TestWarmupIsTold: also where nobody asked for a stable load.
func TestWarmupIsTold(t *testing.T) {
	sweep := warmedUp(t, "{sweep: {concurrency: 2, requests: 6, warmup: {requests: 6}}}").Warmup
	if sweep.Requests != 6 || sweep.DurationS < 2 || sweep.Stable != nil || sweep.Steps != 0 {
		t.Errorf("sweep: %+v", sweep)
	}
	serve := warmedUp(t, "{serve: {rate: 20, arrival: constant, duration: 2s, window: {warmup: 1s}}}").Warmup
	if serve.Requests < 15 || serve.Requests > 21 || serve.DurationS < 0.5 || serve.DurationS > 1 || serve.Stable != nil {
		t.Errorf("serve: %+v", serve)
	}
}
