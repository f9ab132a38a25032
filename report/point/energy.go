package point

import (
	"slices"

	"assay/report/plot"
	"assay/result"
)

// Energy sums the energy of a power series over its devices, J; nil when there are none, or when one of them is not known.
func Energy(p result.Point, key string) *float64 {
	var sum float64
	all := Series(p, key)
	for _, t := range all {
		if t.EnergyJ == nil {
			return nil
		}
		sum += *t.EnergyJ
	}
	if len(all) == 0 {
		return nil
	}
	return &sum
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

// TokensPerJoule is the output tokens for each joule that all accelerators used in the window; nil where the document has none.
func TokensPerJoule(p result.Point) *float64 {
	if p.Energy == nil {
		return nil
	}
	return p.Energy.TokensPerJoule
}
