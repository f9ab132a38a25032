package launch

import (
	"fmt"

	"assay/report/figure"
	"assay/report/table"
	"assay/result"
)

// Section is all that a result tells of launching.
type Section struct {
	Started []Started
	Tables  []table.Titled // routing, ends, memory of accelerators
	Notes   []string       // what could not be looked at, and what did not come back
}

// Of gathers it from a result.
func Of(r result.Result) Section {
	var s Section
	servers := read(r.Identity.Server).members()
	for n, one := range servers {
		if one.here() {
			s.Started = append(s.Started, one.chapter(serverName(n, len(servers))))
		}
	}
	routers := routersOf(r)
	for n, one := range routers {
		if !one.here() {
			continue
		}
		name := "Router"
		if at := pointsOf(n, r.Points, routers); at != "" {
			name += " at " + at
		}
		s.Started = append(s.Started, one.chapter(name))
	}
	if c := client(r.Identity.Client); c.here() {
		s.Started = append(s.Started, c.chapter("Client"))
	}
	s.table("Routing", routingNote, routingGrid(r.Points, routers))
	s.table("How each ended", stopsNote, stopsGrid(r.Stops))
	s.Notes = routingNotes(r.Points)
	if m := r.GPUMemory; m != nil {
		s.table("Memory of the accelerators", fmt.Sprintf("%s It was waited for %s s.", memoryNote, figure.Hundred(m.WaitedS)), memoryGrid(m))
		for _, mark := range m.Marks {
			s.Notes = append(s.Notes, markText(mark))
		}
	}
	return s
}

// Empty says that the result tells nothing of launching.
func (s Section) Empty() bool { return len(s.Started)+len(s.Tables)+len(s.Notes) == 0 }

func (s *Section) table(name, note string, g *table.Grid) {
	if g != nil {
		s.Tables = append(s.Tables, table.Titled{Name: name, Note: note, Grid: g})
	}
}

func serverName(n, all int) string {
	if all == 1 {
		return "Server"
	}
	return fmt.Sprintf("Server %d of %d", n+1, all)
}

func routersOf(r result.Result) []instance {
	var out []instance
	for _, raw := range r.Identity.Routers {
		out = append(out, read(raw))
	}
	return out
}

// RouterPoints names the points that each router of a result was for; "" where that is open.
func RouterPoints(r result.Result) []string {
	routers := routersOf(r)
	out := make([]string, len(routers))
	for n := range routers {
		out[n] = pointsOf(n, r.Points, routers)
	}
	return out
}
