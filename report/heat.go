package report

import (
	"fmt"

	"assay/report/figure"
	"assay/report/point"
	"assay/result"
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
		cell := heatCell{State: figure.None, Class: "void"}
		for _, p := range cells {
			if p.Context != nil && p.Concurrency != nil && *p.Context == context && *p.Concurrency == c {
				cell = heatCellOf(p, most)
			}
		}
		row.Cells = append(row.Cells, cell)
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
	if p.Metrics.TTFTMS != nil {
		c.Detail = figure.Measure(p.Metrics.TTFTMS.P50) + " ms TTFT"
	}
	c.Class = fmt.Sprintf("h%d", int(9*tps/max(most, 1e-9)))
	return c
}

// measurementRows are the matrix' own table: one line per point, as published matrix pages have it.
func (v view) measurementRows() []row {
	byID := map[string]row{}
	for _, r := range v.runRows() {
		byID[r.Metric] = r
	}
	latency := func(name, id string) row {
		return row{Label: name, Metric: id, Cell: func(p result.Point) cell { return medianCell(p, id) }}
	}
	named := func(name, id string) row {
		r, ok := byID[id]
		if !ok {
			return row{Label: name, Metric: id, Cell: func(result.Point) cell { return cell{Text: figure.None} }}
		}
		r.Label = name
		return r
	}
	return []row{
		{Label: "Phase", Cell: func(p result.Point) cell { return cell{Text: p.Phase} }},
		{Label: "Context", Cell: func(p result.Point) cell {
			return number(intValue(p.Context), func(f float64) string { return figure.Tokens(int(f)) })
		}},
		{Label: "Requests at once", Cell: func(p result.Point) cell { return number(intValue(p.Concurrency), figure.Whole) }},
		{Label: "State", Cell: func(p result.Point) cell { return stateCell(p.State) }},
		{Label: "Total tok/s", Metric: "system_tps", Cell: totalCell},
		named("Per request tok/s", "tps_per_request"),
		latency("TTFT P50, ms", "ttft_ms"), latency("TPOT P50, ms", "tpot_ms"), latency("ITL P50, ms", "itl_ms"),
		named("Active, mean", "active_mean"), named("Completed", "requests_completed"), named("Output tokens", "output_tokens"),
		named("Measured, s", "duration_s"),
	}
}

// totalCell is prompt tokens/s of a prefill point and System TPS of any other.
func totalCell(p result.Point) cell {
	if p.Phase == "prefill" && p.Metrics != nil {
		return number(p.Metrics.PromptTPS, figure.Measure)
	}
	return systemCell(p)
}

func systemCell(p result.Point) cell {
	tps, ok := point.SystemTPS(p)
	if !ok {
		return cell{Text: figure.None}
	}
	return cell{Text: figure.Measure(tps)}
}

func medianCell(p result.Point, id string) cell {
	if p.Metrics == nil {
		return cell{Text: figure.None}
	}
	for _, b := range blocks() {
		if d := b.Of(p.Metrics); b.ID == id && d != nil {
			return cell{Text: figure.Measure(d.P50)}
		}
	}
	return cell{Text: figure.None}
}
