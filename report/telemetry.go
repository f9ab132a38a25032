package report

import (
	"assay/report/plot"
	"assay/report/point"
	"assay/report/sampled"
	"assay/report/table"
	"assay/result"
)

// windows are the points' measuring windows, for the telemetry plots.
func (v view) windows() []plot.Window {
	var out []plot.Window
	for _, p := range v.res.Points {
		if p.Window != nil {
			out = append(out, plot.Window{Name: point.Label(p), FromUS: p.Window.StartedUS, ToUS: p.Window.EndedUS})
		}
	}
	return out
}

// telemetryRows are the points' own summaries of what was sampled.
func (v view) telemetryRows() []row {
	var rows []row
	for _, r := range sampled.Rows(v.res.Points) {
		rows = append(rows, row{Label: r.Label, Title: r.Title, Cell: func(p result.Point) table.Cell {
			c := r.Of(p)
			return table.Cell{Text: c.Text, Title: c.Title}
		}})
	}
	return rows
}
