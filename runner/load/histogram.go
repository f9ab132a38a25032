package load

import (
	"math"
	"runtime/metrics"
	"slices"

	"assay/runner/load/stream"
)

// histogram counts delays by buckets.
type histogram struct {
	counts []int64
	upUS   func(bucket int) float64 // the longest delay a bucket holds, in microseconds
}

// readDelays is the histogram of how late reads were.
func readDelays(c stream.Counts) histogram {
	return histogram{counts: c.Delays[:], upUS: stream.DelayUS}
}

// runtimeHistogram takes one of the Go runtime's, in seconds. Its last bucket has no upper bound and is told by its lower one.
func runtimeHistogram(s metrics.Sample) histogram {
	if s.Value.Kind() != metrics.KindFloat64Histogram {
		return histogram{}
	}
	told := s.Value.Float64Histogram()
	h := histogram{counts: make([]int64, len(told.Counts)), upUS: func(i int) float64 {
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

// since is what was counted after another look at the same histogram.
func (h histogram) since(before histogram) histogram {
	counts := slices.Clone(h.counts)
	for i, n := range before.counts {
		counts[i] -= n
	}
	return histogram{counts: counts, upUS: h.upUS}
}

// lag gives the percentiles as upper bounds: each is the longest delay that the bucket of its sample holds.
func (h histogram) lag() Lag {
	var n int64
	for _, c := range h.counts {
		n += c
	}
	return Lag{P50: h.at((n + 1) / 2), P99: h.at(n - n/100), Max: h.at(n)}
}

// at is the delay of the sample of a rank, from 1; 0 when there is none.
func (h histogram) at(rank int64) float64 {
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
