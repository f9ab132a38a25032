package table

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

// Titled is a table with its name and what a reader must know of it.
type Titled struct {
	Name, Note string
	Grid       *Grid
}

// wideCell is the longest text that a column of a terminal's table takes.
const wideCell = 24

// Write writes a table for a terminal, in sheets where it is wide. Rows of long texts stand below it, once where all columns have the same.
func (t Titled) Write(w io.Writer) {
	fmt.Fprintf(w, "\n%s\n", strings.ToUpper(t.Name))
	fmt.Fprint(w, machine.Fold("  "+t.Note, "  "))
	if t.Grid.Listed {
		plain.Columns(w, t.Grid.Lines(), false)
		return
	}
	narrow, wide := *t.Grid, []Row{}
	narrow.Rows = nil
	for _, r := range t.Grid.Rows {
		if slices.ContainsFunc(r.Cells, func(c Cell) bool { return utf8.RuneCountInString(c.Text) > wideCell }) {
			wide = append(wide, r)
		} else {
			narrow.Rows = append(narrow.Rows, r)
		}
	}
	sheets := narrow.Sheets()
	if sheets == nil {
		sheets = []Grid{narrow}
	}
	for i, sheet := range sheets {
		if i > 0 {
			fmt.Fprintln(w)
		}
		plain.Columns(w, sheet.Lines(), false)
	}
	for _, r := range wide {
		writeWide(w, t.Grid.Head, r)
	}
}

func writeWide(w io.Writer, head []Cell, r Row) {
	if !slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Text != r.Cells[0].Text }) {
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
