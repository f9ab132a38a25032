package runner

import (
	"maps"
	"slices"
	"strings"

	"assay/plan"
	"assay/runner/metrics"
	"assay/runner/record"
)

// outside counts the measured requests that were not sent inside the window, which none of its figures sees.
type outside struct {
	issued int
	bad    map[record.Outcome]int // those that are not ok
	held   int                    // of the bad ones, sent before the window and under way in it: their slots came to nothing
}

func (o *outside) add(q *record.Request, w metrics.Window) {
	sent := q.SentUS
	if sent == record.Never {
		sent = q.IntendedUS
	}
	if w.Holds(sent) {
		return
	}
	o.issued++
	if q.Outcome == record.OK {
		return
	}
	if o.bad == nil {
		o.bad = map[record.Outcome]int{}
	}
	o.bad[q.Outcome]++
	if sent < w.StartUS && q.DoneUS > w.StartUS {
		o.held++
	}
}

// Verdict judges a point by all that its recording tells.
func (r Reading) Verdict(p plan.Point, m Measurement) (state string, reasons []Reason) {
	m.Said = r.Said
	state, reasons = Verdict(p, r.Judged(), m)
	if f := r.badOutside(p); f != nil {
		reasons = append(reasons, f.Reason)
		if f.fatal {
			state = NotValid
		}
	}
	return state, reasons
}

// badOutside says that requests outside the window came to nothing. They matter to its figures where they held slots in it. A decode cell
// is cut off at its end by design, and its errors are counted over all streams.
func (r Reading) badOutside(p plan.Point) *finding {
	o, cell := r.outside, p.Phase == plan.PhaseDecode
	bad := 0
	var counts []string
	for _, outcome := range slices.Sorted(maps.Keys(o.bad)) {
		if cell && outcome == record.Censored {
			continue
		}
		bad += o.bad[outcome]
		counts = append(counts, r.Said.part(string(outcome), o.bad[outcome]))
	}
	if bad == 0 {
		return nil
	}
	fatal := !cell && o.held > 0 && share(o.held, o.held+r.Metrics.RequestsIssued) > maxFailedShare
	return found(fatal, "errors_outside", "requests failed that were sent before the window opened or after it closed",
		"%d of %d: %s; %d of them were under way in the window", bad, o.issued, strings.Join(counts, ", "), o.held)
}
