package report

import (
	"cmp"
	"strings"

	"assay/report/figure"
	"assay/report/point"
	"assay/report/table"
	"assay/result"
)

// grid lays rows out with a column per point; nil when there is nothing to lay out.
func (v view) grid(rows []row, definitions bool) *table.Grid {
	if len(rows) == 0 || len(v.res.Points) == 0 {
		return nil
	}
	g := &table.Grid{Corner: "Point"}
	best, _ := v.bestOf()
	for _, p := range v.res.Points {
		g.Head = append(g.Head, v.head(p, best))
	}
	for _, r := range rows {
		out := table.Row{Label: r.Label, Title: r.Title, Class: strings.TrimPrefix(r.Class, "optional"), Span: 1 + len(v.res.Points)}
		if definitions && r.Metric != "" {
			out.Title = define(r.Metric)
		}
		for _, p := range v.res.Points {
			out.Cells = append(out.Cells, bodyCell(r, p, p.ID == best.ID))
		}
		g.Rows = append(g.Rows, out)
	}
	return g
}

func (v view) head(p, best result.Point) table.Cell {
	c := table.Cell{Text: point.Label(p), Title: p.ID + ", " + point.StateText(string(p.State))}
	if p.ID == best.ID {
		c.Class, c.Title = "best", c.Title+", highest system throughput"
	}
	return c
}

func bodyCell(r row, p result.Point, best bool) table.Cell {
	if r.Class == "group" {
		return table.Cell{}
	}
	c := r.Cell(p)
	if best && r.Metric == "system_tps" && c.Text != figure.None {
		c.Class = "best"
	}
	return c
}

// table lays rows out the way that fits: many points stand below each other.
func (v view) table(rows []row) *table.Grid {
	if len(v.res.Points) > 12 && len(rows) > 0 {
		return v.transposed(rows)
	}
	return v.grid(rows, false)
}

// transposed lays rows out with a line per point.
func (v view) transposed(rows []row) *table.Grid {
	if len(v.res.Points) == 0 {
		return nil
	}
	g := &table.Grid{Corner: "Point", Listed: true}
	for _, r := range rows {
		g.Head = append(g.Head, table.Cell{Text: r.Label, Title: cmp.Or(r.Title, define(r.Metric))})
	}
	best, _ := v.bestOf()
	for _, p := range v.res.Points {
		out := table.Row{Label: point.Label(p), Title: p.ID}
		for _, r := range rows {
			out.Cells = append(out.Cells, bodyCell(r, p, p.ID == best.ID))
		}
		g.Rows = append(g.Rows, out)
	}
	return g
}
