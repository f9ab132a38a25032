package export

import (
	"maps"
	"slices"
	"strings"

	"assay/result"
)

// hardware sums what was sampled of the accelerators during a point; empty when nothing was.
func hardware(p result.Point) object {
	power, temp, busy := gpus(p, ".power_w"), gpus(p, ".temp_c"), gpus(p, ".util_pct")
	o := object{}
	if n := max(len(power), len(temp), len(busy)); n > 0 {
		o.add("gpu_count", n)
	}
	if len(power) > 0 {
		o.add("power_total_avg_w", sum(power, func(t result.Telemetry) float64 { return t.Mean }))
		o.add("power_total_max_w", sum(power, func(t result.Telemetry) float64 { return t.Max }))
	}
	if len(temp) > 0 {
		o.add("temp_avg_c", sum(temp, func(t result.Telemetry) float64 { return t.Mean })/float64(len(temp)))
		o.add("temp_max_c", highest(temp))
	}
	if len(busy) > 0 {
		o.add("gpu_util_avg_pct", sum(busy, func(t result.Telemetry) float64 { return t.Mean })/float64(len(busy)))
		o.add("gpu_util_max_pct", highest(busy))
	}
	return o
}

// gpus are the series of all accelerators with a suffix, in the order of their names, so that sums are the same each time.
func gpus(p result.Point, suffix string) []result.Telemetry {
	var out []result.Telemetry
	for _, name := range slices.Sorted(maps.Keys(p.Telemetry)) {
		if strings.HasPrefix(name, "gpu") && strings.HasSuffix(name, suffix) {
			out = append(out, p.Telemetry[name])
		}
	}
	return out
}

func sum(all []result.Telemetry, of func(result.Telemetry) float64) float64 {
	total := 0.0
	for _, t := range all {
		total += of(t)
	}
	return total
}

func highest(all []result.Telemetry) float64 {
	most := all[0].Max
	for _, t := range all {
		most = max(most, t.Max)
	}
	return most
}
