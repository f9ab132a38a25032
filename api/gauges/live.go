package gauges

import (
	"math"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"assay/probes"
)

// staleUS is the age, µs, from which a sample tells nothing of now: its source hangs.
const staleUS = 30e6

// Live is the latest sample of each series of the run that is under way.
type Live struct {
	Samples []probes.Sample
	NowUS   int64
}

// Describe is part of prometheus.Collector.
func (l Live) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(l, out) }

// Collect is part of prometheus.Collector. Only series that SeriesTable lists, and the engine's, are told.
func (l Live) Collect(out chan<- prometheus.Metric) {
	s := newSink(out)
	kinds := probes.SeriesTable()
	for _, x := range l.Samples {
		if l.NowUS-x.AtUS > staleUS || math.IsNaN(x.Value) {
			continue
		}
		help, told := describe(kinds, x.Series)
		if !told {
			continue
		}
		name, scale, labels := metricOf(x.Series)
		kind := prometheus.GaugeValue
		if probes.IsCounter(x.Series) {
			kind = prometheus.CounterValue
		}
		s.put(name, help, kind, x.Value*scale, labels)
	}
}

// describe says what a series is; false for one that nothing describes.
func describe(kinds []probes.Series, series string) (string, bool) {
	if name, ok := strings.CutPrefix(series, "engine."); ok {
		return "While a run is under way: what the engine tells as " + name + ".", name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") == ""
	}
	for _, k := range kinds {
		if k.Is(series) {
			return "While a run is under way: " + k.Text + ".", true
		}
	}
	return "", false
}

// metricOf gives a series its name, the factor to the base unit of that, and its device as a label: "gpu3.power_w" is
// assay_gpu_power_watts{gpu="3"}, "disk.sda.busy_pct" is assay_disk_busy_ratio{disk="sda"}.
func metricOf(series string) (name string, scale float64, labels []string) {
	head, quantity, _ := strings.Cut(series, ".")
	kind := strings.TrimRight(head, "0123456789")
	if device, rest, ok := strings.Cut(quantity, "."); ok {
		quantity, labels = rest, []string{kind, device}
	} else if kind != head {
		labels = []string{kind, head[len(kind):]}
	}
	quantity, scale = baseUnit(quantity)
	if probes.IsCounter(series) {
		quantity = strings.TrimSuffix(quantity, "_total") + "_total"
	}
	return "assay_" + kind + "_" + quantity, scale, labels
}

// baseUnit turns the unit of a series into the one that Prometheus takes, and gives the factor to it.
func baseUnit(quantity string) (name string, scale float64) {
	for _, u := range []struct {
		suffix, unit string
		scale        float64
	}{
		{"_bytes_per_s", "_bytes_per_second", 1}, {"_bytes", "_bytes", 1}, {"_pct", "_ratio", 0.01}, {"_usage", "_usage_ratio", 1}, {"_mhz", "_hertz", 1e6},
		{"_gbps", "_bytes_per_second", 1e9 / 8}, {"_gts", "_transfers_per_second", 1e9}, {"_w", "_watts", 1}, {"_c", "_celsius", 1}, {"_j", "_joules", 1}, {"_ms", "_seconds", 0.001}, {"_s", "_seconds", 1},
	} {
		if base, ok := strings.CutSuffix(quantity, u.suffix); ok {
			return base + u.unit, u.scale
		}
	}
	return quantity, 1
}
