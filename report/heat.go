package report

import (
	"fmt"
	"slices"
	"strings"

	"assay/report/figure"
	"assay/report/point"
	"assay/report/table"
	"assay/result"
	"assay/runner/metrics"
)

// heat is a matrix as a table of contexts × concurrencies, coloured by System TPS.
type heat struct {
	Columns []string
	Rows    []heatRow
	N       int // cells with a figure
}

type heatRow struct {
	Context string
	Cells   []heatCell
}

// heatCell is a measured cell, or the state that says why it has no figure.
type heatCell struct{ Value, Detail, State, Title, Class string }

// heatOf lays the decode cells out; nil when the run has none.
func (v view) heatOf() *heat {
	cells := v.phase("decode")
	if len(cells) == 0 {
		return nil
	}
	h := &heat{}
	var columns []int
	seen := map[int]bool{}
	most := 0.0
	for _, p := range cells {
		if p.Concurrency != nil && !seen[*p.Concurrency] {
			seen[*p.Concurrency] = true
			columns = append(columns, *p.Concurrency)
			h.Columns = append(h.Columns, figure.Whole(float64(*p.Concurrency)))
		}
		if tps, ok := point.SystemTPS(p); ok {
			most = max(most, tps)
			h.N++
		}
	}
	for _, context := range contexts(cells) {
		h.Rows = append(h.Rows, heatRowOf(cells, context, columns, most))
	}
	return h
}

func heatRowOf(cells []result.Point, context int, columns []int, most float64) heatRow {
	row := heatRow{Context: figure.Tokens(context)}
	for _, c := range columns {
		one := heatCell{State: figure.None, Class: "void"}
		for _, p := range cells {
			if p.Context != nil && p.Concurrency != nil && *p.Context == context && *p.Concurrency == c {
				one = heatCellOf(p, most)
			}
		}
		row.Cells = append(row.Cells, one)
	}
	return row
}

func heatCellOf(p result.Point, most float64) heatCell {
	c := heatCell{Title: p.ID}
	for _, r := range p.Reasons {
		c.Title += "; " + r.Text
	}
	if p.State != result.PointValid {
		c.State = figure.Capital(point.StateText(string(p.State)))
	}
	tps, ok := point.SystemTPS(p)
	if !ok {
		c.Class = "void"
		return c
	}
	c.Value = figure.Measure(tps)
	if d := point.Streams(p).TTFTMS; d != nil {
		c.Detail = figure.Measure(d.P50) + " ms TTFT"
	}
	c.Class = fmt.Sprintf("h%d", int(9*tps/max(most, 1e-9)))
	return c
}

// grid is the same as a plain table; nil for no matrix.
func (h *heat) grid() *table.Grid {
	if h == nil {
		return nil
	}
	g := &table.Grid{Corner: "Context", Listed: true}
	for _, c := range h.Columns {
		g.Head = append(g.Head, table.Cell{Text: c})
	}
	for _, r := range h.Rows {
		out := table.Row{Label: r.Context}
		for _, c := range r.Cells {
			parts := slices.DeleteFunc([]string{c.Value, c.State, c.Detail}, func(s string) bool { return s == "" })
			out.Cells = append(out.Cells, table.Cell{Text: strings.Join(parts, ", "), Class: c.Class})
		}
		g.Rows = append(g.Rows, out)
	}
	return g
}

// prefillGrid is a line per prefill point: how fast prompts were read, and how long that took. Nil when there are none.
func (v view) prefillGrid() *table.Grid {
	g := &table.Grid{Corner: "Context", Listed: true, Head: []table.Cell{{Text: "Prompt tok/s", Title: define("prompt_tps")}, {Text: "TTFT P50, ms", Title: define("ttft_ms")}, {Text: "Requests"}, {Text: "State"}}}
	for _, p := range v.phase("prefill") {
		if p.Context == nil {
			continue
		}
		m := func(get func(*metrics.Summary) *float64, form func(float64) string) table.Cell {
			return metricRow(point.InWindow, "", "", "", get, form).Cell(p)
		}
		g.Rows = append(g.Rows, table.Row{Label: figure.Tokens(*p.Context), Cells: []table.Cell{
			m(func(s *metrics.Summary) *float64 { return s.PromptTPS }, figure.Measure), medianCell(point.Streams(p), point.TTFT),
			m(func(s *metrics.Summary) *float64 { return count(s.RequestsCompleted) }, figure.Whole), stateCell(p.State)}})
	}
	if len(g.Rows) == 0 {
		return nil
	}
	return g
}

// measurementRows are the matrix' own table: one line per point, as published matrix pages have it.
func (v view) measurementRows() []row {
	m := func(pop point.Population, label, id string, get func(*metrics.Summary) *float64, form func(float64) string) row {
		return metricRow(pop, label, id, "", get, form)
	}
	median := func(pop point.Population, name, id string, of func(*metrics.Summary) *metrics.Distribution) row {
		return row{Label: name, Metric: id, Cell: func(p result.Point) table.Cell { return medianCell(pop(p), of) }}
	}
	return []row{
		{Label: "Phase", Cell: func(p result.Point) table.Cell { return text(phaseName(p.Phase)) }},
		{Label: "Context", Cell: func(p result.Point) table.Cell {
			return number(intValue(p.Context), func(f float64) string { return figure.Tokens(int(f)) })
		}},
		{Label: "Requests at once", Cell: atOnce},
		{Label: "Status", Cell: func(p result.Point) table.Cell {
			return table.Cell{Text: figure.Capital(point.StateText(string(p.State))), Class: string(p.State)}
		}},
		{Label: "Total tok/s", Metric: "system_tps", Cell: totalCell},
		m(decoding, "Per request tok/s", "tps_per_request", func(s *metrics.Summary) *float64 { return s.TPSPerRequest }, figure.Measure),
		median(point.Streams, "TTFT P50, ms", "ttft_ms", point.TTFT),
		median(decoding, "Time between tokens P50, ms", "tpot_ms", point.TPOT),
		median(decoding, "ITL P50, ms", "itl_ms", point.ITL),
		{Label: "Average active requests", Title: "mean of the engine's running requests over the window, by its own word (engine.running)", Cell: runningCell},
		m(point.InWindow, "In flight", "active_mean", func(s *metrics.Summary) *float64 { return s.ActiveMean }, figure.Measure),
		m(point.InWindow, "Completed requests", "requests_completed", func(s *metrics.Summary) *float64 { return count(s.RequestsCompleted) }, figure.Whole),
		{Label: "Output tokens", Cell: func(p result.Point) table.Cell { return number(eventTokens(p.Metrics), figure.Whole) }},
		m(point.InWindow, "Measured for, s", "duration_s", func(s *metrics.Summary) *float64 { return &s.DurationS }, figure.Tenth),
	}
}

// decoding is the streams of a decode cell; nil for a prefill point, whose one token has no rate.
func decoding(p result.Point) *metrics.Summary {
	if p.Phase == "prefill" {
		return nil
	}
	return point.Streams(p)
}

// runningCell is how many requests the engine ran on average; in flight is what the client sent.
func runningCell(p result.Point) table.Cell {
	running, told := p.Telemetry["engine.running"]
	if !told {
		return table.Cell{Text: figure.None, Title: "the engine did not tell"}
	}
	return table.Cell{Text: figure.Measure(running.Mean)}
}

func phaseName(phase string) string {
	switch phase {
	case "prefill":
		return "Prefill"
	case "decode":
		return "Sustained decode"
	}
	return phase
}

// atOnce is how many requests were in flight: a prefill pass sends one after another.
func atOnce(p result.Point) table.Cell {
	if p.Phase == "prefill" {
		return table.Cell{Text: "1"}
	}
	return number(intValue(p.Concurrency), figure.Whole)
}

// totalCell is prompt tokens/s of a prefill point and System TPS of any other.
func totalCell(p result.Point) table.Cell {
	if p.Phase == "prefill" && p.Metrics != nil {
		return number(p.Metrics.PromptTPS, figure.Measure)
	}
	return systemCell(p)
}

func systemCell(p result.Point) table.Cell {
	tps, ok := point.SystemTPS(p)
	if !ok {
		return table.Cell{Text: figure.None}
	}
	return table.Cell{Text: figure.Measure(tps)}
}

func medianCell(s *metrics.Summary, of func(*metrics.Summary) *metrics.Distribution) table.Cell {
	if s == nil || of(s) == nil {
		return table.Cell{Text: figure.None}
	}
	return table.Cell{Text: figure.Measure(of(s).P50)}
}
