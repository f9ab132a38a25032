package told

import (
	"strings"

	"assay/report/figure"
	"assay/report/point"
	"assay/report/table"
	"assay/result"
)

// Note stands above the table.
const Note = "What the client that measured the run printed of the whole time, and what its own requests give by the same formula. Where there is no metric beside it, " +
	"its formula is another one; docs/clients.md says which."

// Grid has a line for each figure that another client printed of these points; nil for a run that assay measured.
func Grid(points []result.Point) *table.Grid {
	g := &table.Grid{Corner: "Figure", Listed: true, Head: []table.Cell{{Text: "told"}, {Text: "assay"}, {Text: "unit"}, {Text: "metric"}}}
	for _, p := range points {
		if p.Imported == nil {
			continue
		}
		for _, f := range p.Imported.Figures {
			g.Rows = append(g.Rows, row(point.Label(p), f, len(points) > 1))
		}
	}
	if len(g.Rows) == 0 {
		return nil
	}
	return g
}

func row(label string, f result.Figure, several bool) table.Row {
	out := table.Row{Label: f.Name, Title: f.Formula + "; of " + f.Population}
	if several {
		out.Label = label + " " + f.Name
	}
	own := figure.None
	if f.Assay != nil {
		own = written(*f.Assay, f.Unit)
	}
	metric := strings.TrimSpace(f.Metric + " " + f.Statistic)
	if f.Metric == "" {
		metric = figure.None
	}
	for _, text := range []string{written(f.Value, f.Unit), own, f.Unit, metric} {
		out.Cells = append(out.Cells, table.Cell{Text: text})
	}
	return out
}

// written writes counts whole.
func written(v float64, unit string) string {
	if unit == "" || unit == "tokens" {
		return figure.Whole(v)
	}
	return figure.Measure(v)
}
