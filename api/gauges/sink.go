package gauges

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"assay/fault"
	"assay/probes"
)

// sink takes metrics, each once; labels are pairs of a name and a value.
type sink struct {
	out  chan<- prometheus.Metric
	seen map[string]bool
}

func newSink(out chan<- prometheus.Metric) sink { return sink{out, map[string]bool{}} }

func (s sink) add(name, help string, value float64, labels ...string) {
	s.put(name, help, prometheus.GaugeValue, value, labels)
}

func (s sink) put(name, help string, kind prometheus.ValueType, value float64, labels []string) {
	key := name + "\x00" + strings.Join(labels, "\x00")
	if s.seen[key] {
		return // two of one name, such as interfaces whose addresses were cut: a family that holds one twice is none
	}
	s.seen[key] = true
	var names, values []string
	for i := 0; i+1 < len(labels); i += 2 {
		names, values = append(names, labels[i]), append(values, fault.Printable(labels[i+1]))
	}
	s.out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, value, values...)
}

// info is a series of 1 whose labels tell something; what is not known is "".
func (s sink) info(name, help string, names []string, values ...string) {
	var labels []string
	for i, n := range names {
		labels = append(labels, n, values[i])
	}
	s.add(name, help, 1, labels...)
}

// fact adds a number that is known, in base units.
func fact[T int | int64 | float64](s sink, name, help string, f probes.Fact[T], unit float64, labels ...string) {
	if v, ok := f.Get(); ok {
		s.add(name, help, float64(v)*unit, labels...)
	}
}

// flag adds a switch that is known.
func flag(s sink, name, help string, f probes.Fact[bool], labels ...string) {
	on, ok := f.Get()
	switch {
	case ok && on:
		s.add(name, help, 1, labels...)
	case ok:
		s.add(name, help, 0, labels...)
	}
}

func text(f probes.Fact[string]) string {
	v, _ := f.Get()
	return v
}
