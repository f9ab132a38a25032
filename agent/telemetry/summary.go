package telemetry

import (
	"strings"
	"time"

	"assay/probes"
	"assay/result"
)

// Within gives the samples that lie in [fromUS, toUS).
func Within(samples []probes.Sample, fromUS, toUS int64) []probes.Sample {
	var in []probes.Sample
	for _, s := range samples {
		if s.AtUS >= fromUS && s.AtUS < toUS {
			in = append(in, s)
		}
	}
	return in
}

// Summarise turns a point's samples into one line per series that has any in the window [fromUS, toUS).
func Summarise(samples []probes.Sample, fromUS, toUS int64) map[string]result.Telemetry {
	w := span{fromUS, toUS}
	bySeries := map[string]track{}
	for _, s := range samples {
		bySeries[s.Series] = append(bySeries[s.Series], s)
	}
	out := map[string]result.Telemetry{}
	for name, all := range bySeries {
		if in := track(Within(all, fromUS, toUS)); len(in) > 0 {
			out[name] = summariseSeries(name, in, all, w)
		}
	}
	for name, t := range out {
		if device, quantity, _ := strings.Cut(name, "."); quantity == "power_w" || quantity == "wall_w" {
			energy(&t, bySeries[name], bySeries[device+".energy_j"], out[device+".util_pct"].Mean >= workingPct, w)
			out[name] = t
		}
	}
	return out
}

// summariseSeries is of the samples in the window; all has those around it too.
func summariseSeries(name string, in, all track, w span) result.Telemetry {
	t := result.Telemetry{Unit: probes.Unit(name), Min: in[0].Value, Max: in[0].Value, N: len(in), SpanS: seconds(in[len(in)-1].AtUS - in[0].AtUS)}
	sum := 0.0
	for _, s := range in {
		t.Min, t.Max = min(t.Min, s.Value), max(t.Max, s.Value)
		sum += s.Value
	}
	t.Mean = sum / float64(len(in))
	t.MaxGapS = seconds(all.maxGapUS(w))
	if probes.IsCounter(name) {
		grown, known := all.growth(w)
		t.Coverage = w.share(known)
		if known > 0 {
			t.Growth = &grown
		}
		return t
	}
	_, known := all.integral(w, gapLimit(name))
	t.Coverage = w.share(known)
	return t
}

// gapLimit is how far apart two samples may be to tell of the time between them. A machine's own meter is read more rarely.
func gapLimit(series string) time.Duration {
	if series == "host.wall_w" {
		return time.Minute
	}
	return 3 * time.Second
}
