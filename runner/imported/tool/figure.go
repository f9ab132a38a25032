package tool

import (
	"slices"
	"strings"

	"assay/result"
)

// Figure is a number as a tool printed it.
type Figure = result.Figure

// meaning is what a figure of a tool is: the metric of the same formula, or none, and where there is none what it is instead.
type meaning struct {
	key        string // the tool's name for it
	metric     string // id of the metric with the same formula; "" for none
	unit       string // of the values below
	scale      float64
	formula    string // in words
	population string
}

// statistic is a tool's name for a part of a distribution, and ours.
type statistic struct{ key, name string }

// of makes the figure of a value in the tool's unit.
func (m meaning) of(name, stat string, v float64) Figure {
	return Figure{Name: name, Metric: m.metric, Statistic: stat, Unit: m.unit, Value: v * m.scale, Formula: m.formula, Population: m.population}
}

// spread makes the figures of a distribution that stands in an object of numbers.
func (m meaning) spread(values map[string]float64, stats []statistic) []Figure {
	var out []Figure
	for _, s := range stats {
		if v, ok := values[s.key]; ok {
			out = append(out, m.of(m.key+"."+s.key, s.name, v))
		}
	}
	return out
}

// known leaves out what is null, as NaN is read.
func known(values map[string]*float64) map[string]float64 {
	out := map[string]float64{}
	for key, v := range values {
		if v != nil {
			out[key] = *v
		}
	}
	return out
}

// percentileNames are a tool's keys of a distribution, by a prefix of the percentiles: p50, p99.
func percentileNames(mean, median, low, high string, percentiles ...string) []statistic {
	out := []statistic{{mean, "mean"}, {median, "p50"}, {low, "min"}, {high, "max"}}
	for _, p := range percentiles {
		out = append(out, statistic{p, p})
	}
	return out
}

// sortFigures orders figures by name.
func sortFigures(all []Figure) {
	slices.SortFunc(all, func(a, b Figure) int { return strings.Compare(a.Name, b.Name) })
}
