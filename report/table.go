package report

import (
	"fmt"
	"io"

	"assay/report/figure"
	"assay/report/plain"
	"assay/report/point"
	"assay/report/table"
	"assay/result"
	"assay/runner/metrics"
)

// Table writes the points of a run for a terminal: one line per point, columns that no point has left out.
func Table(w io.Writer, r result.Result) {
	v := newView(r)
	if len(r.Points) == 0 {
		fmt.Fprintln(w, "no points")
		return
	}
	plain.Columns(w, v.tableLines(), true)
}

// tableRows are the terminal table's columns.
func (v view) tableRows() []row {
	m := metricsOf(point.InWindow)
	stat := func(head string, of func(*metrics.Summary) *metrics.Distribution, pick func(metrics.Distribution) float64) row {
		return metricRow(point.Streams, head, "", "optional", func(s *metrics.Summary) *float64 { return point.StatisticOf(of(s), point.Statistic{Of: pick}) }, figure.Measure)
	}
	p50 := func(d metrics.Distribution) float64 { return d.P50 }
	high := func(d metrics.Distribution) float64 { return d.P90 }
	p99 := func(d metrics.Distribution) float64 { return d.P99 }
	return v.shown([]row{
		m("prompt tok/s", "prompt_tps", "optional", func(s *metrics.Summary) *float64 { return s.PromptTPS }, figure.Measure),
		{Label: "tok/s", Metric: "system_tps", Cell: systemCell},
		{Label: "tok/s/user", Class: "optional", Cell: func(p result.Point) table.Cell { return number(point.PerUser(p), figure.Measure) }},
		stat("TTFT p50 ms", point.TTFT, p50), stat("p90", point.TTFT, high), stat("p99", point.TTFT, p99),
		stat("TPOT p50 ms", point.TPOT, p50), stat("p90", point.TPOT, high),
		m("req/s", "qps", "optional", func(s *metrics.Summary) *float64 { return s.QPS }, figure.Measure),
		m("done", "", "", func(s *metrics.Summary) *float64 { return count(s.RequestsCompleted) }, figure.Whole),
		m("failed", "", "", func(s *metrics.Summary) *float64 { return count(s.RequestsFailed) }, figure.Whole),
		{Label: "util %", Metric: "utilization", Class: "optional", Cell: utilizationCell},
		{Label: "state", Cell: func(p result.Point) table.Cell { return stateCell(p.State) }},
	})
}

// utilizationCell leaves out a prefill pass, whose output throughput is none to compare with.
func utilizationCell(p result.Point) table.Cell {
	if _, streams := point.SystemTPS(p); !streams {
		return table.Cell{Text: figure.None}
	}
	return number(p.Metrics.Utilization, figure.Tenth)
}

func (v view) tableLines() [][]string {
	rows := v.tableRows()
	head := []string{"point"}
	for _, r := range rows {
		head = append(head, r.Label)
	}
	lines := [][]string{head}
	for i, p := range v.res.Points {
		name := point.Label(p)
		if i == v.best && len(v.res.Points) > 1 {
			name += " *"
		}
		line := []string{name}
		for _, r := range rows {
			line = append(line, r.Cell(p).Text)
		}
		lines = append(lines, line)
	}
	return lines
}
