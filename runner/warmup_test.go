package runner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/plan"
	"assay/runner/load"
	"assay/runner/metrics"
	"assay/runner/record"
)

// TestWarmedUp: what counts as a point's warm-up, and what the client knows of it.
func TestWarmedUp(t *testing.T) {
	requests := []record.Request{
		{Warmup: true, Session: load.ProbeSession, SentUS: 1_000_000},
		{Warmup: true, SentUS: 3_000_000}, // requests stand in the order in which they ended
		{Warmup: true, SentUS: 2_000_000},
		{Warmup: true, SentUS: record.Never},
		{SentUS: 4_000_000}, // fills a slot
		{SentUS: 5_000_000}, // opens the window
	}
	yes, no, spread := true, false, 0.04
	open := metrics.Window{StartUS: 5_000_000, EndUS: 9_000_000}
	for _, c := range []struct {
		name string
		all  bool
		p    string
		m    Measurement
		want Warmup
	}{
		{"sweep", false, plan.PhaseSweep, Measurement{Window: open}, Warmup{Requests: 2, DurationS: 3}},
		{"stable sweep", false, plan.PhaseSweep, Measurement{Window: open, Warmup: &load.Warmup{Stable: true, Steps: 5, ThroughputSpread: &spread}},
			Warmup{Requests: 2, DurationS: 3, Stable: &yes, Steps: 5, ThroughputSpread: &spread}},
		{"open loop", true, plan.PhaseServe, Measurement{Window: open}, Warmup{Requests: 3, DurationS: 3}},
		{"cell", true, plan.PhaseDecode, Measurement{Window: open}, Warmup{Requests: 3, DurationS: 3, Stable: &yes}},
		{"cell that was late", true, plan.PhaseDecode, Measurement{Window: open, Unready: "running 3/4"}, Warmup{Requests: 3, DurationS: 3, Stable: &no}},
		{"cell that never opened", true, plan.PhaseDecode, Measurement{Window: metrics.Window{StartUS: 5_000_000, EndUS: 5_000_000}}, Warmup{Requests: 3, DurationS: 3}},
	} {
		s := sentBefore{startUS: 5_000_000, all: c.all}
		for i := range requests {
			s.add(&requests[i])
		}
		if d := cmp.Diff(&c.want, Reading{Warmup: s.warmup()}.WarmedUp(plan.Point{Phase: c.p}, c.m)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	if (&sentBefore{startUS: 1}).warmup() != nil || (Reading{}).WarmedUp(plan.Point{}, Measurement{}) != nil {
		t.Error("a warm-up of nothing")
	}
}

// TestNeverStable: a sweep that was to be stable and was not is not valid.
func TestNeverStable(t *testing.T) {
	m := Measurement{Unready: "the last three of 9 steps …"}
	f := neverStable(plan.Point{Phase: plan.PhaseSweep}, metrics.Summary{}, m)
	if f == nil || !f.fatal || f.Code != "warmup_timeout" || f.Evidence != m.Unready {
		t.Errorf("%+v", f)
	}
	if f := neverStable(plan.Point{Phase: plan.PhaseDecode}, metrics.Summary{}, m); f != nil {
		t.Errorf("a cell has its own rule: %+v", f)
	}
}
