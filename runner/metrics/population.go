package metrics

import "assay/runner/record"

// reach says how a population stands to its window.
type reach int

const (
	touching reach = iota // each figure takes what happens inside the window, of requests that may begin before it or end after it
	inside                // only requests that are sent and finished inside
	whole                 // every measured request, whatever its instants (issue to drain)
	streams               // every request under way inside, also those sent before and those cut off at the end (a decode cell)
)

// population says which requests and events of a recording a figure takes. Requests of the warm-up are in none.
type population struct {
	window Window
	reach  reach
}

// takes tells whether r has a part in any figure.
func (p population) takes(r *record.Request) bool {
	switch {
	case r.Warmup:
		return false
	case p.reach == inside:
		return r.SentUS != record.Never && p.holds(r.SentUS) && p.holds(ended(r))
	case p.reach == streams:
		return r.SentUS != record.Never && r.SentUS < p.window.EndUS && (r.DoneUS == record.Never || r.DoneUS >= p.window.StartUS)
	}
	return true
}

// good tells whether the instants of r may enter a distribution: it is ok, or was cut off where that is how requests end.
func (p population) good(r *record.Request) bool {
	return r.Outcome == record.OK || p.reach == streams && r.Outcome == record.Censored
}

func (p population) holds(us int64) bool {
	return p.reach == whole || p.window.Holds(us)
}

// sent holds the requests sent in the window; one that never was, by its intended instant.
func (p population) sent(r *record.Request) bool {
	if p.reach == streams {
		return true
	}
	if r.SentUS == record.Never {
		return p.holds(r.IntendedUS)
	}
	return p.holds(r.SentUS)
}

// finished holds the ok requests whose last token event is in the window; one without events, by its end.
func (p population) finished(r *record.Request) bool {
	return r.Outcome == record.OK && p.holds(ended(r))
}

// ended is when r finished: an ok request with its last token event, any other at its end.
func ended(r *record.Request) int64 {
	if n := len(r.Events); n > 0 && r.Outcome == record.OK {
		return r.Events[n-1].AtUS
	}
	return r.DoneUS
}

// total is a sum that is unknown as soon as one part is.
type total struct {
	sum     int64
	unknown bool
}

func (t *total) add(n int64) {
	if n == record.Never {
		t.unknown = true
		return
	}
	t.sum += n
}

func (t total) value() *int64 {
	if t.unknown {
		return nil
	}
	return &t.sum
}

// ratio is nil when a is unknown or b gives no ratio.
func ratio(a *float64, b float64) *float64 {
	if a == nil || b <= 0 {
		return nil
	}
	v := *a / b
	return &v
}

func float(n *int64) *float64 {
	if n == nil {
		return nil
	}
	v := float64(*n)
	return &v
}
