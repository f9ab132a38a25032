package report

import (
	"fmt"
	"path"
	"strings"

	"assay/plan"
	"assay/report/figure"
	"assay/report/point"
	"assay/report/table"
	"assay/result"
	"assay/runner/metrics"
)

// cellRows are the table of an open loop's points: what was sent, and what came of it.
func (v view) cellRows() []row {
	m := metricsOf(point.InWindow)
	return v.shown([]row{
		m("Input length, tokens", "input_tokens", "", meanInput, figure.Measure),
		m("Output length, tokens", "avg_output_tokens", "", func(s *metrics.Summary) *float64 { return s.AvgOutputTokens }, figure.Measure),
		{Label: "Dataset", Cell: func(result.Point) table.Cell { return text(v.dataset()) }},
		{Label: "(Concurrency, RPS)", Cell: v.offered},
		m("Output tok/s", "system_tps", "", func(s *metrics.Summary) *float64 { return s.SystemTPS }, figure.Hundred),
		m("Output tok/s per decode node", "tps_per_node", "optional", func(s *metrics.Summary) *float64 { return s.TPSPerNode }, figure.Hundred),
		m("Total tok/s", "total_tps", "", func(s *metrics.Summary) *float64 { return s.TotalTPS }, figure.Hundred),
		m("Mean TTFT, ms", "ttft_ms", "", func(s *metrics.Summary) *float64 { return meanOf(s.TTFTMS) }, figure.Hundred),
		m("Mean ITL, ms", "itl_ms", "", func(s *metrics.Summary) *float64 { return meanOf(s.ITLMS) }, figure.Hundred),
		{Label: "State", Cell: func(p result.Point) table.Cell { return stateCell(p.State) }},
	})
}

// meanInput is the mean prompt of the requests that finished.
func meanInput(s *metrics.Summary) *float64 {
	if s.InputTokens == nil || s.RequestsCompleted == 0 {
		return nil
	}
	mean := float64(*s.InputTokens) / float64(s.RequestsCompleted)
	return &mean
}

func meanOf(d *metrics.Distribution) *float64 {
	if d == nil {
		return nil
	}
	return &d.Mean
}

// dataset names what was sent: its kind, and its file where it has one.
func (v view) dataset() string {
	d := v.res.Identity.Dataset
	if d.Path == "" {
		return d.Kind
	}
	return strings.TrimSpace(d.Kind + " " + path.Base(d.Path))
}

// offered is what was asked of the server: the cap of requests in flight and the rate.
func (v view) offered(p result.Point) table.Cell {
	limit, rate := "no limit", figure.None
	if n := point.OpenLoop(v.plan).MaxConcurrency; n > 0 {
		limit = figure.Plain(float64(n))
	}
	if p.Rate != nil {
		rate = figure.Plain(*p.Rate)
	} else if p.Speed != nil {
		rate = "trace × " + figure.Plain(*p.Speed)
	}
	return table.Cell{Text: fmt.Sprintf("(%s, %s)", limit, rate)}
}

// windowRows are the window of an open loop's points with the percentiles of both populations.
func (v view) windowRows() []row {
	cut := point.OpenLoop(v.plan).Window
	same := func(d plan.Duration) func(result.Point) table.Cell {
		return func(result.Point) table.Cell { return text(d.String()) }
	}
	rows := []row{
		{Label: "Warm-up cut off", Cell: same(cut.Warmup)},
		{Label: "Cool-down cut off", Cell: same(cut.Cooldown)},
		metricRow(point.InWindow, "Window, s", "duration_s", "", func(s *metrics.Summary) *float64 { return &s.DurationS }, figure.Hundred),
		{Label: "The whole window", Class: "group"},
	}
	rows = append(rows, populationRows(point.InWindow, "Requests finished in it", "Generated tokens in it")...)
	rows = append(rows, row{Label: "Requests wholly inside", Class: "group"})
	rows = append(rows, populationRows(point.WhollyInside, "Requests", "Their generated tokens")...)
	return v.shown(append(rows,
		row{Label: "As clients mix them", Class: "group"},
		row{Label: "Input wholly inside + generated in the window, tok/s", Class: "optional", Cell: mixedCell}))
}

// populationRows are the counts, throughput and percentiles of one population.
func populationRows(pop point.Population, finished, generated string) []row {
	m := func(label, id string, get func(*metrics.Summary) *float64, form func(float64) string) row {
		return metricRow(pop, label, id, "optional", get, form)
	}
	rows := []row{
		m(finished, "requests_completed", func(s *metrics.Summary) *float64 { return count(s.RequestsCompleted) }, figure.Whole),
		m("Their input tokens", "input_tokens", func(s *metrics.Summary) *float64 { return long(s.InputTokens) }, figure.Whole),
		{Label: generated, Class: "optional", Cell: func(p result.Point) table.Cell { return number(eventTokens(pop(p)), figure.Whole) }},
		m("Output tok/s", "system_tps", func(s *metrics.Summary) *float64 { return s.SystemTPS }, figure.Hundred),
		m("Total tok/s", "total_tps", func(s *metrics.Summary) *float64 { return s.TotalTPS }, figure.Hundred),
	}
	for _, d := range []struct {
		name, id string
		of       func(*metrics.Summary) *metrics.Distribution
	}{{"TTFT, ms", "ttft_ms", point.TTFT}, {"ITL, ms", "itl_ms", point.ITL}} {
		for _, st := range point.LowStatistics() {
			rows = append(rows, row{Label: st.Name + " " + d.name, Metric: d.id, Class: "optional", Cell: func(p result.Point) table.Cell { return statCell(pop(p), d.of, st) }})
		}
	}
	return rows
}

// eventTokens is the tokens of a population's events, which System TPS is made of.
func eventTokens(s *metrics.Summary) *float64 {
	if s == nil || s.SystemTPS == nil {
		return nil
	}
	n := *s.SystemTPS * s.DurationS
	return &n
}

// mixedCell is the total throughput as a client prints it that counts prompts of the requests wholly inside and every token of the window.
func mixedCell(p result.Point) table.Cell {
	tokens := eventTokens(p.Metrics)
	if tokens == nil || p.Inside == nil || p.Inside.InputTokens == nil || p.Metrics.DurationS <= 0 {
		return table.Cell{Text: figure.None}
	}
	return table.Cell{Text: figure.Hundred((*tokens + float64(*p.Inside.InputTokens)) / p.Metrics.DurationS)}
}
