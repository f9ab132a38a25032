package report

import (
	"cmp"
	"strings"

	"assay/report/figure"
	"assay/report/point"
	"assay/result"
)

// grid is a table: a head and rows of cells.
type grid struct {
	Corner string
	Head   []cell
	Rows   []gridRow
	Listed bool // a line per point: its columns are few and belong together
}

type gridRow struct {
	Label, Title, Class string
	Span                int // of a heading over all columns
	Cells               []cell
}

// sheetColumns is how many columns stand beside each other on a sheet of paper in a size that can be read.
const sheetColumns = 8

// Sheets are the parts of a table that is too wide for paper, each with the names of the rows; none when it fits as it is.
func (g grid) Sheets() []grid {
	n := len(g.Head)
	if n <= sheetColumns {
		return nil
	}
	sheets := (n + sheetColumns - 1) / sheetColumns
	each := (n + sheets - 1) / sheets
	var out []grid
	for from := 0; from < n; from += each {
		out = append(out, g.columns(from, min(from+each, n)))
	}
	return out
}

// columns is the table with only the columns from … to-1.
func (g grid) columns(from, to int) grid {
	out := grid{Corner: g.Corner, Head: g.Head[from:to], Listed: g.Listed}
	for _, r := range g.Rows {
		r.Cells, r.Span = r.Cells[from:to], 1+to-from
		out.Rows = append(out.Rows, r)
	}
	return out
}

// grid lays rows out with a column per point; nil when there is nothing to lay out.
func (v view) grid(rows []row, definitions bool) *grid {
	if len(rows) == 0 || len(v.res.Points) == 0 {
		return nil
	}
	g := &grid{Corner: "Point"}
	best, _ := v.bestOf()
	for _, p := range v.res.Points {
		g.Head = append(g.Head, v.head(p, best))
	}
	for _, r := range rows {
		out := gridRow{Label: r.Label, Title: r.Title, Class: strings.TrimPrefix(r.Class, "optional"), Span: 1 + len(v.res.Points)}
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

func (v view) head(p, best result.Point) cell {
	c := cell{Text: point.Label(p), Title: p.ID + ", " + point.StateText(string(p.State))}
	if p.ID == best.ID {
		c.Class, c.Title = "best", c.Title+", highest system throughput"
	}
	return c
}

func bodyCell(r row, p result.Point, best bool) cell {
	if r.Class == "group" {
		return cell{}
	}
	c := r.Cell(p)
	if best && r.Metric == "system_tps" && c.Text != figure.None {
		c.Class = "best"
	}
	return c
}

// table lays rows out the way that fits: many points stand below each other.
func (v view) table(rows []row) *grid {
	if len(v.res.Points) > 12 && len(rows) > 0 {
		return v.transposed(rows)
	}
	return v.grid(rows, false)
}

// transposed lays rows out with a line per point.
func (v view) transposed(rows []row) *grid {
	if len(v.res.Points) == 0 {
		return nil
	}
	g := &grid{Corner: "Point", Listed: true}
	for _, r := range rows {
		g.Head = append(g.Head, cell{Text: r.Label, Title: cmp.Or(r.Title, define(r.Metric))})
	}
	best, _ := v.bestOf()
	for _, p := range v.res.Points {
		out := gridRow{Label: point.Label(p), Title: p.ID}
		for _, r := range rows {
			out.Cells = append(out.Cells, bodyCell(r, p, p.ID == best.ID))
		}
		g.Rows = append(g.Rows, out)
	}
	return g
}
