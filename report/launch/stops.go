package launch

import (
	"fmt"
	"strings"

	"assay/report/figure"
	"assay/report/table"
	"assay/result"
)

const (
	stopsNote  = "Asked to end, each has its grace; then it is killed. What ended before anybody asked says so."
	memoryNote = "Memory in use before the servers were started and after they were stopped."
)

// stopsGrid has a line for each end of a server or router; nil without one.
func stopsGrid(stops []result.Stop) *table.Grid {
	if len(stops) == 0 {
		return nil
	}
	g := &table.Grid{Corner: "What", Listed: true}
	for _, head := range []string{"Ended", "Asked by", "Took, s", "Exit code", "Out of memory", "In words"} {
		g.Head = append(g.Head, table.Cell{Text: head})
	}
	for _, s := range stops {
		g.Rows = append(g.Rows, table.Row{Label: strings.TrimSpace(s.Role + " " + s.Name), Cells: []table.Cell{
			ending(s), {Text: orNone(spaced(s.AskedBy))}, took(s), exitCode(s), memoryKilled(s), sentence(s),
		}})
	}
	return g
}

func spaced(s string) string { return strings.ReplaceAll(s, "_", " ") }

func orNone(s string) string {
	if s == "" {
		return figure.None
	}
	return s
}

func ending(s result.Stop) table.Cell {
	c := table.Cell{Text: spaced(s.How)}
	switch s.How {
	case result.StopByItself, result.StopStuck:
		c.Class = "fail"
	case result.StopKilled:
		c.Class = "warn"
	}
	return c
}

func took(s result.Stop) table.Cell {
	if s.AskedUS == 0 {
		return table.Cell{Text: figure.None}
	}
	return table.Cell{Text: figure.Hundred(s.TookS), Title: "asked at " + figure.Instant(s.AskedUS)}
}

func exitCode(s result.Stop) table.Cell {
	if s.ExitCode == nil {
		return table.Cell{Text: figure.None}
	}
	return table.Cell{Text: fmt.Sprint(*s.ExitCode), Title: s.Signal}
}

func memoryKilled(s result.Stop) table.Cell {
	if s.OOMKilled {
		return table.Cell{Text: "yes", Class: "fail", Title: "the kernel killed it for want of memory"}
	}
	return table.Cell{Text: "no"}
}

// sentence is what the runtime and whoever stopped it say.
func sentence(s result.Stop) table.Cell {
	text := s.Text
	if s.Restarts > 0 {
		text += fmt.Sprintf("; restarted %d times", s.Restarts)
	}
	if s.Engine != "" {
		text += "; the engine: " + s.Engine
	}
	if s.Error != nil {
		text += "; " + s.Error.Text
	}
	return table.Cell{Text: orNone(strings.TrimPrefix(text, "; ")), Class: "wrap"}
}

// memoryGrid has a line for each accelerator whose memory was looked at; nil without one.
func memoryGrid(r *result.Release) *table.Grid {
	if r == nil || len(r.Devices) == 0 {
		return nil
	}
	g := &table.Grid{Corner: "Accelerator", Listed: true, Head: []table.Cell{{Text: "Before"}, {Text: "After"}}}
	held := map[string]bool{}
	for _, m := range r.Marks {
		held[m.Device] = true
	}
	for _, d := range r.Devices {
		after := inUse(d.AfterBytes)
		if held[d.Device] {
			after.Class = "fail"
		}
		g.Rows = append(g.Rows, table.Row{Label: d.Device, Cells: []table.Cell{inUse(d.BeforeBytes), after}})
	}
	return g
}

func inUse(n *int64) table.Cell {
	if n == nil {
		return table.Cell{Text: figure.None, Title: "its driver does not tell"}
	}
	return table.Cell{Text: figure.Size(*n)}
}

// markText is why a machine takes no more runs: what, with the programs that hold it.
func markText(m result.Mark) string {
	text := m.Text
	if m.Evidence != "" {
		text += " (" + m.Evidence + ")"
	}
	if m.Hint != "" {
		text += ": " + m.Hint
	}
	return text
}
