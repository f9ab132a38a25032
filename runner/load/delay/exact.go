package delay

import "slices"

// Exact gives the percentiles of samples that were all kept, which it sorts.
func Exact(samples []int64) Lag {
	if len(samples) == 0 {
		return Lag{}
	}
	slices.Sort(samples)
	return Lag{P50: Quantile(samples, 0.5), P99: Quantile(samples, 0.99), Max: float64(samples[len(samples)-1])}
}

// Quantile is linear between the closest ranks.
func Quantile(sorted []int64, q float64) float64 {
	rank := q * float64(len(sorted)-1)
	low := int(rank)
	high := min(low+1, len(sorted)-1)
	return float64(sorted[low]) + (rank-float64(low))*float64(sorted[high]-sorted[low])
}
