package runner

import (
	"testing"

	"assay/plan"
	"assay/runner/metrics"
	"assay/runner/record"
)

// TestHeldSlotsAreNotValid: requests that were sent before the window, held their slots in it and came to nothing are in none of its
// figures, and yet it was not measured at its concurrency.
func TestHeldSlotsAreNotValid(t *testing.T) {
	window := metrics.Window{StartUS: 1000, EndUS: 2000}
	sweep, decode := plan.Point{Phase: plan.PhaseSweep}, plan.Point{Phase: plan.PhaseDecode}
	request := func(sent, done int64, o record.Outcome) record.Request {
		return record.Request{SentUS: sent, IntendedUS: sent, DoneUS: done, Outcome: o}
	}
	never := request(500, 1500, record.Refused)
	never.SentUS = record.Never
	for name, c := range map[string]struct {
		point plan.Point
		bad   record.Request
		want  string
		fatal bool
	}{
		"stalled through":     {sweep, request(500, 3000, record.Stalled), "1 of 1: stalled 1; 1 of them were under way in the window", true},
		"cut off at the end":  {sweep, request(500, 3000, record.Censored), "1 of 1: censored 1; 1 of them were under way in the window", true},
		"never sent":          {sweep, never, "1 of 1: refused 1; 1 of them were under way in the window", true},
		"over before":         {sweep, request(500, 900, record.Reset), "1 of 1: reset 1; 0 of them were under way in the window", false},
		"after it":            {sweep, request(2000, 3000, record.Reset), "1 of 1: reset 1; 0 of them were under way in the window", false},
		"inside":              {sweep, request(1000, 3000, record.Reset), "", false},
		"ok":                  {sweep, request(500, 3000, record.OK), "", false},
		"a cell's end":        {decode, request(500, 3000, record.Censored), "", false},
		"a cell's lost start": {decode, request(500, 3000, record.Reset), "1 of 1: reset 1; 1 of them were under way in the window", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := Reading{Metrics: metrics.Summary{RequestsIssued: 50}}
			r.outside.add(&c.bad, window)
			f := r.badOutside(c.point)
			if (f == nil) != (c.want == "") || f != nil && (f.Evidence != c.want || f.fatal != c.fatal) {
				t.Errorf("%+v, want %q", f, c.want)
			}
		})
	}
}

// TestFewHeldSlotsAreListed: one in a hundred is borne.
func TestFewHeldSlotsAreListed(t *testing.T) {
	r := Reading{Metrics: metrics.Summary{RequestsIssued: 200}}
	r.outside.add(&record.Request{SentUS: 5, DoneUS: 30, Outcome: record.Timeout}, metrics.Window{StartUS: 10, EndUS: 20})
	if f := r.badOutside(plan.Point{Phase: plan.PhaseSweep}); f == nil || f.fatal {
		t.Errorf("%+v", f)
	}
}
