package cell

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/agent/telemetry"
	"assay/plan"
	"assay/probes"
	"assay/result"
	"assay/runner"
	"assay/runner/metrics"
)

func TestOverCapacity(t *testing.T) {
	cell := plan.Point{ID: "d", Phase: plan.PhaseDecode, Concurrency: 4, Context: 1000}
	cases := []struct {
		name     string
		point    plan.Point
		kvTokens int64
		want     string
	}{
		{"fits exactly", cell, 4 * 1024, ""},
		{"one token short", cell, 4*1024 - 1, "4 × (1000 + 24) = 4096 tokens, the engine has 4095: 1 too few"},
		{"the engine does not say", cell, 0, ""},
		{"prefill is one at a time", plan.Point{Phase: plan.PhasePrefill, Context: 1000}, 10, ""},
	}
	for _, c := range cases {
		got := ""
		if r := OverCapacity(c.point, 24, c.kvTokens); r != nil {
			got = r.Evidence
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// engineSaid are samples of a window: running and waiting requests.
func engineSaid(pairs ...[2]float64) (samples []probes.Sample) {
	for _, p := range pairs {
		samples = append(samples, probes.Sample{Series: telemetry.SeriesRunning, Value: p[0]}, probes.Sample{Series: telemetry.SeriesWaiting, Value: p[1]})
	}
	return samples
}

// of repeats a sample.
func of(n int, running, waiting float64) [][2]float64 {
	out := make([][2]float64, n)
	for i := range out {
		out[i] = [2]float64{running, waiting}
	}
	return out
}

// TestCellStates: each state of a decode cell and the reasons that go with it, of which several may apply.
func TestCellStates(t *testing.T) {
	both := func(a, b [][2]float64) []probes.Sample { return engineSaid(append(a, b...)...) }
	good := &metrics.Summary{RequestsIssued: 40}
	cases := []struct {
		name    string
		point   plan.Point
		state   result.PointState
		active  float64
		samples []probes.Sample
		cell    *metrics.Summary
		unready string
		want    result.PointState
		reasons string
	}{
		{"all run", plan.Point{Concurrency: 16}, "", 15.99, engineSaid(of(30, 16, 0)...), good, "", result.PointValid, ""},
		{"no engine metrics", plan.Point{Concurrency: 16}, "", 15.99, nil, good, "", result.PointValid, ""},
		{"waiting all the time", plan.Point{Concurrency: 16}, "", 16, engineSaid(of(30, 9, 7)...), good, "", result.PointQueued, "queue_seen underfilled_by_server"},
		{"waiting in over 5 %", plan.Point{Concurrency: 16}, "", 16, both(of(2, 16, 1), of(37, 16, 0)), good, "", result.PointQueued, "queue_seen"},
		{"waiting in 5 %", plan.Point{Concurrency: 16}, "", 16, both(of(2, 16, 1), of(38, 16, 0)), good, "", result.PointValid, ""},
		{"waiting once", plan.Point{Concurrency: 16}, "", 16, both(of(1, 16, 1), of(9, 16, 0)), good, "", result.PointValid, ""},
		{"fewer run", plan.Point{Concurrency: 16}, "", 16, engineSaid(of(30, 15, 0)...), good, "", result.PointQueued, "underfilled_by_server"},
		{"nearly all run", plan.Point{Concurrency: 100}, "", 100, engineSaid(of(30, 98, 0)...), good, "", result.PointValid, ""},
		{"the client had fewer in flight", plan.Point{Concurrency: 16}, "", 14, engineSaid(of(30, 14, 0)...), good, "", result.PointValid, ""},
		{"one of two runs", plan.Point{Concurrency: 2}, "", 2, engineSaid(of(30, 1, 0)...), good, "", result.PointQueued, "underfilled_by_server"},
		{"fewer run twice", plan.Point{Concurrency: 2}, "", 2, both(of(2, 0, 0), of(8, 2, 0)), good, "", result.PointQueued, "underfilled_by_server"},
		{"fewer run twice, and enough on average", plan.Point{Concurrency: 100}, "", 100, both(of(2, 97, 0), of(28, 100, 0)), good, "", result.PointValid, ""},
		{"fewer run once", plan.Point{Concurrency: 2}, "", 2, both(of(1, 0, 0), of(9, 2, 0)), good, "", result.PointValid, ""},
		{"a single stream between two requests", plan.Point{Concurrency: 1}, "", 1, both(of(4, 0, 0), of(26, 1, 0)), good, "", result.PointValid, ""},
		{"never steady, nothing held back", plan.Point{Concurrency: 16}, "", 16, engineSaid(of(30, 16, 0)...), good, "streams with a token 14/16", result.PointNotValid, "warmup_timeout"},
		{"never steady for a queue", plan.Point{Concurrency: 16}, "", 16, engineSaid(of(30, 9, 3)...), good, "running 9/16, waiting 3", result.PointQueued, "queue_seen underfilled_by_server warmup_timeout"},
		{"streams fail", plan.Point{Concurrency: 16}, "", 16, engineSaid(of(30, 16, 0)...), &metrics.Summary{RequestsIssued: 40, RequestsFailed: 1}, "", result.PointNotValid, "errors"},
		{"a failure among many", plan.Point{Concurrency: 16}, "", 16, engineSaid(of(30, 16, 0)...), &metrics.Summary{RequestsIssued: 100, RequestsFailed: 1}, "", result.PointValid, ""},
		{"a bad cell stays bad", plan.Point{Concurrency: 16}, result.PointNotValid, 16, engineSaid(of(30, 9, 7)...), good, "", result.PointNotValid, "queue_seen underfilled_by_server"},
		{"only decode cells", plan.Point{Phase: plan.PhasePrefill}, "", 1, engineSaid(of(30, 0, 7)...), nil, "", result.PointValid, ""},
		{"only a matrix", plan.Point{Phase: plan.PhaseSweep, Concurrency: 16}, "", 16, engineSaid(of(30, 9, 7)...), nil, "", result.PointValid, ""},
	}
	for _, c := range cases {
		out := result.Point{State: result.PointValid}
		if c.state != "" {
			out.State = c.state
		}
		if c.point.Phase == "" {
			c.point.Phase = plan.PhaseDecode
		}
		if c.point.Phase != plan.PhaseSweep {
			c.point.Context = 8192
		}
		told := runner.Reading{Metrics: metrics.Summary{ActiveMean: &c.active}, Cell: c.cell}
		Judge(c.point, "", runner.Measurement{Unready: c.unready}, told, c.samples, &out)
		var codes []string
		for _, r := range out.Reasons {
			codes = append(codes, r.Code)
			if r.Text == "" || r.Evidence == "" {
				t.Errorf("%s: %+v says too little", c.name, r)
			}
		}
		if got := strings.Join(codes, " "); out.State != c.want || got != c.reasons {
			t.Errorf("%s: %s [%s], want %s [%s]", c.name, out.State, got, c.want, c.reasons)
		}
	}
}

// TestFailedStreamsCount: streams that failed make a cell not valid also where the few of the window's own requests that did are told already.
func TestFailedStreamsCount(t *testing.T) {
	active := 16.0
	for failed, want := range map[int]result.PointState{1: result.PointValid, 6: result.PointNotValid} {
		out := result.Point{State: result.PointValid, Reasons: []result.Reason{{Code: "errors", Text: "requests failed", Evidence: "1 of 100"}}}
		told := runner.Reading{Metrics: metrics.Summary{ActiveMean: &active}, Cell: &metrics.Summary{RequestsIssued: 116, RequestsFailed: failed}}
		Judge(plan.Point{Phase: plan.PhaseDecode, Context: 8192, Concurrency: 16}, "", runner.Measurement{}, told, nil, &out)
		if out.State != want || len(out.Reasons) != 1 {
			t.Errorf("%d streams failed: %s, %+v", failed, out.State, out.Reasons)
		}
	}
}

// TestEvidenceOfTheEngine: the figures that stand beside the reasons are the samples'.
func TestEvidenceOfTheEngine(t *testing.T) {
	active, out := 4.0, result.Point{State: result.PointValid}
	told := runner.Reading{Metrics: metrics.Summary{ActiveMean: &active}}
	samples := engineSaid([2]float64{2, 3}, [2]float64{3, 1}, [2]float64{4, 0}, [2]float64{4, 0})
	Judge(plan.Point{Phase: plan.PhaseDecode, Context: 8192, Concurrency: 4}, "", runner.Measurement{}, told, samples, &out)
	want := []string{"in 2 of 4 samples of the window, 3 at most", "3.25 running on average of 4.00 in flight; fewer than 3.92 in 2 of 4 samples"}
	var got []string
	for _, r := range out.Reasons {
		got = append(got, r.Evidence)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestContextOff: the prompts' real length stands beside the context, and is a reason where it is another one.
func TestContextOff(t *testing.T) {
	for _, c := range []struct {
		lengths string
		tokens  int64
		want    string
	}{
		{"tokens", 8192, ""}, {"tokens", 8192 + 81, ""}, {"tokens", 8192 + 83, "8275 tokens by the server's count, 8192 asked for (+1.0 %)"},
		{"words", 8600, ""}, {"words", 10486, "10486 tokens by the server's count, 8192 asked for (+28.0 %)"},
		{"tokens", 7000, "7000 tokens by the server's count, 8192 asked for (-14.6 %)"},
	} {
		m := runner.Measurement{Lengths: runner.Lengths{Way: map[string]string{"tokens": "usage", "words": "words"}[c.lengths]}}
		state := result.PointValid
		if c.tokens == 7000 {
			state = result.PointNotValid
		}
		out := result.Point{State: result.PointValid}
		Judge(plan.Point{Phase: plan.PhasePrefill, Context: 8192}, c.lengths, m, runner.Reading{PromptTokens: &c.tokens}, nil, &out)
		got := ""
		for _, r := range out.Reasons {
			got = r.Evidence
		}
		if diff := cmp.Diff(c.want, got); diff != "" || *out.PromptTokens != c.tokens || out.State != state {
			t.Errorf("%s, %d: %s, %s", c.lengths, c.tokens, out.State, diff)
		}
	}
}
