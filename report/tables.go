package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"assay/fault"
	"assay/report/figure"
	"assay/report/machine"
	"assay/report/plain"
)

// titled is a table with its name and what a reader must know of it.
type titled struct {
	Name, Note string
	Grid       *grid
}

// What the populations are, in the words under their tables.
const (
	windowNote = "Over the measuring window: throughput of the token events inside it, TTFT of the requests sent inside it, ITL of the gaps that end inside it, the rest of the requests that finish inside it."
	drainNote  = "From the first issue to the end of the drain, the population MLPerf counts: every measured request."
	cellNote   = "Latencies of a decode cell are of every stream under way in it: also those begun before its window and those that its end cut off."
)

// tables are those of the run's protocol, in the order in which published pages have them; formats of plain text write them all.
func (v view) tables() []titled {
	var all []titled
	switch v.protocol {
	case "matrix":
		all = []titled{
			{"Prefill", "Prompt tokens/s by context length, with a cold cache.", v.prefillGrid()},
			{"Sustained decode", "System tokens/s and median TTFT; rows are context lengths, columns simultaneous requests.", v.heatOf().grid()},
			{"All measurements", "Latencies are medians. " + cellNote, v.transposed(v.measurementRows())},
		}
	case "serve":
		all = []titled{
			{"Cells", windowNote, v.transposed(v.cellRows())},
			{"Window and percentiles", "Two populations: the whole window, and the requests wholly inside it.", v.grid(v.windowRows(), true)},
			{"Run data", windowNote, v.grid(v.runRows(), true)},
		}
	default:
		all = []titled{{"Run data", windowNote, v.grid(v.runRows(), true)}, {"Issue to drain", drainNote, v.drainGrid()}}
	}
	return slices.DeleteFunc(all, func(t titled) bool { return t.Grid == nil })
}

// lines are the rows of a table as texts, under a heading line.
func (g grid) lines() [][]string {
	head := []string{g.Corner}
	for _, c := range g.Head {
		head = append(head, c.Text)
	}
	out := [][]string{head}
	for _, r := range g.Rows {
		line := make([]string, len(head))
		line[0] = r.Label
		for i, c := range r.Cells {
			line[i+1] = c.Text
		}
		out = append(out, line)
	}
	return out
}

// wideCell is the longest text that a column of a terminal's table takes.
const wideCell = 24

// writeTitled writes a table for a terminal, in sheets where it is wide. Rows of long texts stand below it, once where all points have the
// same.
func writeTitled(w io.Writer, t titled) {
	fmt.Fprintf(w, "\n%s\n", strings.ToUpper(t.Name))
	fmt.Fprint(w, machine.Fold("  "+t.Note, "  "))
	if t.Grid.Listed {
		plain.Columns(w, t.Grid.lines(), false)
		return
	}
	narrow, wide := *t.Grid, []gridRow{}
	narrow.Rows = nil
	for _, r := range t.Grid.Rows {
		if slices.ContainsFunc(r.Cells, func(c cell) bool { return utf8.RuneCountInString(c.Text) > wideCell }) {
			wide = append(wide, r)
		} else {
			narrow.Rows = append(narrow.Rows, r)
		}
	}
	sheets := narrow.Sheets()
	if sheets == nil {
		sheets = []grid{narrow}
	}
	for i, sheet := range sheets {
		if i > 0 {
			fmt.Fprintln(w)
		}
		plain.Columns(w, sheet.lines(), false)
	}
	for _, r := range wide {
		writeWide(w, t.Grid.Head, r)
	}
}

func writeWide(w io.Writer, head []cell, r gridRow) {
	if !slices.ContainsFunc(r.Cells, func(c cell) bool { return c.Text != r.Cells[0].Text }) {
		fmt.Fprint(w, machine.Fold(fault.Printable(r.Label+": "+r.Cells[0].Text), "  "))
		return
	}
	fmt.Fprintln(w, fault.Printable(r.Label))
	for i, c := range r.Cells {
		if c.Text != figure.None {
			fmt.Fprint(w, machine.Fold(fault.Printable("  "+head[i].Text+": "+c.Text), "    "))
		}
	}
}
