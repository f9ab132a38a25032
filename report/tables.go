package report

import (
	"slices"

	"assay/report/table"
	"assay/report/told"
)

// What the populations are, in the words under their tables.
const (
	windowNote = "Over the measuring window: throughput of the token events inside it, TTFT of the requests sent inside it, ITL of the gaps that end inside it, the rest of the requests that finish inside it."
	drainNote  = "From the first issue to the end of the drain, the population MLPerf counts: every measured request."
	cellNote   = "Latencies of a decode cell are of every stream under way in it: also those begun before its window and those that its end cut off."
)

// tables are those of the run's protocol, in the order in which published pages have them; formats of plain text write them all.
func (v view) tables() []table.Titled {
	var all []table.Titled
	switch v.protocol {
	case "matrix":
		all = []table.Titled{
			{Name: "Prefill", Note: "Prompt tokens/s by context length, with a cold cache.", Grid: v.prefillGrid()},
			{Name: "Sustained decode", Note: "System tokens/s and median TTFT; rows are context lengths, columns simultaneous requests.", Grid: v.heatOf().grid()},
			{Name: "All measurements", Note: "Latencies are medians. " + cellNote, Grid: v.transposed(v.measurementRows())},
		}
	case "serve":
		all = []table.Titled{
			{Name: "Cells", Note: windowNote, Grid: v.transposed(v.cellRows())},
			{Name: "Window and percentiles", Note: "Two populations: the whole window, and the requests wholly inside it.", Grid: v.grid(v.windowRows(), true)},
			{Name: "Run data", Note: windowNote, Grid: v.grid(v.runRows(), true)},
		}
	default:
		all = []table.Titled{{Name: "Run data", Note: windowNote, Grid: v.grid(v.runRows(), true)}, {Name: "Issue to drain", Note: drainNote, Grid: v.drainGrid()}}
	}
	all = append(all, table.Titled{Name: "Told by the client", Note: told.Note, Grid: told.Grid(v.res.Points)})
	return slices.DeleteFunc(all, func(t table.Titled) bool { return t.Grid == nil })
}
