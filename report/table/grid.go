package table

// Cell is one value of a table. Title is its hover text, Class its state.
type Cell struct{ Text, Title, Class string }

// Grid is a table: a head and rows of cells.
type Grid struct {
	Corner string
	Head   []Cell
	Rows   []Row
	Listed bool // a line per thing: its columns are few and belong together
}

// Row is a line of a table.
type Row struct {
	Label, Title, Class string
	Span                int // of a heading over all columns
	Cells               []Cell
}

// SheetColumns is how many columns stand beside each other on a sheet of paper in a size that can be read, in a wide font too: 1,175,147,694
// is one of them.
const SheetColumns = 7

// Sheets are the parts of a table that is too wide for paper, each with the names of the rows; none when it fits as it is.
func (g Grid) Sheets() []Grid {
	n := len(g.Head)
	if n <= SheetColumns {
		return nil
	}
	sheets := (n + SheetColumns - 1) / SheetColumns
	each := (n + sheets - 1) / sheets
	var out []Grid
	for from := 0; from < n; from += each {
		out = append(out, g.columns(from, min(from+each, n)))
	}
	return out
}

// columns is the table with only the columns from … to-1.
func (g Grid) columns(from, to int) Grid {
	out := Grid{Corner: g.Corner, Head: g.Head[from:to], Listed: g.Listed}
	for _, r := range g.Rows {
		r.Cells, r.Span = r.Cells[from:to], 1+to-from
		out.Rows = append(out.Rows, r)
	}
	return out
}

// Lines are the rows as texts, under a heading line.
func (g Grid) Lines() [][]string {
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
