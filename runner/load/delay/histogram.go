package delay

import (
	"math"
	"runtime/metrics"
	"slices"

	"assay/runner/load/stream"
)

// Lag is how late the client was at something, in microseconds.
type Lag struct{ P50, P99, Max float64 }

// Histogram counts delays by buckets.
type Histogram struct {
	counts []int64
	upUS   func(bucket int) float64 // the longest delay a bucket holds, in microseconds
}

// OfReads is the histogram of how late reads were.
func OfReads(c stream.Counts) Histogram {
	return Histogram{counts: c.Delays[:], upUS: stream.DelayUS}
}

// OfRuntime takes one of the Go runtime's, in seconds. Its last bucket has no upper bound and is told by its lower one.
func OfRuntime(s metrics.Sample) Histogram {
	if s.Value.Kind() != metrics.KindFloat64Histogram {
		return Histogram{}
	}
	told := s.Value.Float64Histogram()
	h := Histogram{counts: make([]int64, len(told.Counts)), upUS: func(i int) float64 {
		if up := told.Buckets[i+1]; !math.IsInf(up, 1) {
			return 1e6 * up
		}
		return 1e6 * told.Buckets[i]
	}}
	for i, n := range told.Counts {
		h.counts[i] = int64(n)
	}
	return h
}

// Since is what was counted after another look at the same histogram.
func (h Histogram) Since(before Histogram) Histogram {
	counts := slices.Clone(h.counts)
	for i, n := range before.counts {
		counts[i] -= n
	}
	return Histogram{counts: counts, upUS: h.upUS}
}

// Lag gives the percentiles as upper bounds: each is the longest delay that the bucket of its sample holds.
func (h Histogram) Lag() Lag {
	var n int64
	for _, c := range h.counts {
		n += c
	}
	return Lag{P50: h.at((n + 1) / 2), P99: h.at(n - n/100), Max: h.at(n)}
}

// at is the delay of the sample of a rank, from 1; 0 when there is none.
func (h Histogram) at(rank int64) float64 {
	if rank < 1 {
		return 0
	}
	for i, c := range h.counts {
		if rank -= c; rank <= 0 {
			return h.upUS(i)
		}
	}
	return 0
}
