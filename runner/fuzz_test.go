package runner

import (
	"encoding/json"
	"testing"

	"assay/plan"
	"assay/runner/metrics"
	"assay/runner/record"
)

// FuzzFigures: whatever times and counts a recording holds that somebody hands in, its figures fit into a document, and its point can
// be judged.
func FuzzFigures(f *testing.F) {
	f.Add(int64(0), int64(30), int64(50), int64(3), int64(4), int64(7), int64(0), int64(300))
	f.Add(int64(-1), int64(-1), int64(0), int64(0), int64(-1), int64(-1), int64(5), int64(5))
	f.Add(int64(1)<<62, int64(1)<<62, int64(1)<<62, int64(1)<<62, int64(1)<<62, int64(1)<<62, int64(-1)<<63, int64(1)<<62)
	f.Add(int64(-1), int64(-64), int64(-5), int64(-2), int64(2), int64(-1), int64(5), int64(8)) // the events' tokens come to what stands for none
	f.Fuzz(func(t *testing.T, sent, first, gap, tokens, in, out, from, to int64) {
		var rec record.Recording
		for i, outcome := range []record.Outcome{record.OK, record.OK, record.Censored, record.Reset, "unheard of"} {
			at := sent + int64(i)*gap
			rec.Requests = append(rec.Requests, record.Request{
				Index: i, IntendedUS: at - gap, SentUS: at, ConnectUS: gap, DoneUS: at + first + gap, Outcome: outcome, InputTokens: in, OutputTokens: out,
				CachedTokens: tokens, FirstAnswer: i % 2, Events: []record.Event{{AtUS: at + first, Tokens: tokens}, {AtUS: at + first + gap, Tokens: 1}},
			})
		}
		w := metrics.Window{StartUS: from, EndUS: to}
		for _, p := range []plan.Point{{Phase: plan.PhaseSweep, Concurrency: 3}, {Phase: plan.PhaseServe, Rate: 2}, {Phase: plan.PhasePrefill, Concurrency: 1}, {Phase: plan.PhaseDecode, Concurrency: 2}} {
			shape := ShapeOf(plan.Plan{}, p)
			sum := metrics.Summarise(rec, w, shape)
			for _, s := range []metrics.Summary{sum, metrics.MLPerf(rec, w, shape)} {
				if _, err := json.Marshal(s); err != nil {
					t.Errorf("%s: %v", p.Phase, err)
				}
			}
			if state, _ := Verdict(p, sum, Measurement{Window: w}); state != Valid && state != NotValid {
				t.Errorf("%s: the point is %q", p.Phase, state)
			}
		}
	})
}
