package point

import (
	"slices"

	"assay/report/plot"
	"assay/result"
)

// Energy sums the energy of a power series over its devices; nil when there is none.
func Energy(p result.Point, key string) *float64 {
	var sum *float64
	for _, t := range Series(p, key) {
		if t.EnergyJ == nil {
			continue
		}
		if sum == nil {
			sum = new(float64)
		}
		*sum += *t.EnergyJ
	}
	return sum
}

// Power is the mean power of a series' devices together, W: the energy of each over the span of its samples, which is a part of the window.
// Nil when there is none, or when one device has no span.
func Power(p result.Point, key string) *float64 {
	var watts *float64
	for _, t := range Series(p, key) {
		if t.EnergyJ == nil || t.SpanS <= 0 {
			return nil
		}
		if watts == nil {
			watts = new(float64)
		}
		*watts += *t.EnergyJ / t.SpanS
	}
	return watts
}

// Series gives the summaries of all devices' series of a key, in the order of their names, so that sums are the same each time.
func Series(p result.Point, key string) []result.Telemetry {
	var names []string
	for name := range p.Telemetry {
		if k, _ := plot.SeriesKey(name); k == key {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var out []result.Telemetry
	for _, name := range names {
		out = append(out, p.Telemetry[name])
	}
	return out
}
