package export

import (
	"assay/report/point"
	"assay/result"
)

// hardware sums what was sampled of the accelerators during a point; empty when nothing was.
func hardware(p result.Point) object {
	power, temp, busy := point.Series(p, "gpu.power_w"), point.Series(p, "gpu.temp_c"), point.Series(p, "gpu.util_pct")
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
