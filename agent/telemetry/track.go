package telemetry

import (
	"time"

	"assay/probes"
)

// track is the samples of one series in the order they were taken.
type track []probes.Sample

// span is a part of time, µs.
type span struct{ from, to int64 }

func (s span) length() int64 { return max(s.to-s.from, 0) }

// share is which part of the span a time is.
func (s span) share(us int64) float64 {
	if s.length() == 0 {
		return 0
	}
	return float64(us) / float64(s.length())
}

// cut is the part of the span that lies in another.
func (s span) cut(by span) span { return span{max(s.from, by.from), min(s.to, by.to)} }

func seconds(us int64) float64 { return float64(us) / 1e6 }

// steps visits what lies between two samples next to each other inside the window.
func (t track) steps(w span, visit func(a, b probes.Sample, in span)) {
	for i := 1; i < len(t); i++ {
		a, b := t[i-1], t[i]
		if in := (span{a.AtUS, b.AtUS}).cut(w); in.length() > 0 {
			visit(a, b, in)
		}
	}
}

// growth is by how much a counter grew inside the window, and the time it tells of. At the edges it grows evenly from sample to sample. A
// counter that fell began anew: what it counted in that step is not known.
func (t track) growth(w span) (grown float64, knownUS int64) {
	t.steps(w, func(a, b probes.Sample, in span) {
		if b.Value < a.Value {
			return
		}
		grown += (b.Value - a.Value) * float64(in.length()) / float64(b.AtUS-a.AtUS)
		knownUS += in.length()
	})
	return grown, knownUS
}

// integral sums a value over the time inside the window, by straight lines between samples no further apart than the limit, and gives the
// time they tell of.
func (t track) integral(w span, limit time.Duration) (sum float64, knownUS int64) {
	t.steps(w, func(a, b probes.Sample, in span) {
		if b.AtUS-a.AtUS > limit.Microseconds() {
			return
		}
		at := func(us int64) float64 {
			return a.Value + (b.Value-a.Value)*float64(us-a.AtUS)/float64(b.AtUS-a.AtUS)
		}
		sum += (at(in.from) + at(in.to)) / 2 * seconds(in.length())
		knownUS += in.length()
	})
	return sum, knownUS
}

// maxGapUS is the longest part of the window without a sample.
func (t track) maxGapUS(w span) int64 {
	last, gap := w.from, int64(0)
	for _, s := range t {
		if s.AtUS <= w.from || s.AtUS >= w.to {
			continue
		}
		gap, last = max(gap, s.AtUS-last), s.AtUS
	}
	return max(gap, w.to-last)
}

// heldUS is the longest time inside the window in which the value did not change.
func (t track) heldUS(w span) (longest int64) {
	since := w.from
	t.steps(w, func(a, b probes.Sample, in span) {
		if b.Value != a.Value {
			since = in.to
			return
		}
		longest = max(longest, in.to-since)
	})
	return longest
}
