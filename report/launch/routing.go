package launch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/report/figure"
	"assay/report/point"
	"assay/report/table"
	"assay/result"
)

const routingNote = "What was found of the router before each point’s load, and how the load was spread. A session is kept when each of its requests meets the same server. " +
	"Spread is the busiest server over the mean of all: 1 is even. First byte is the median time to the first byte of a small stream, straight from a server, and what the router adds."

// routed tells a point whose requests went through a router.
func routed(p result.Point) bool { return p.Router != "" && p.Router != "none" || p.Routing != nil }

// routingGrid has a line per point that had a router; nil without one, and of a document that tells nothing of them.
func routingGrid(points []result.Point, routers []instance) *table.Grid {
	if !slices.ContainsFunc(points, func(p result.Point) bool { return p.Routing != nil }) {
		return nil
	}
	g := &table.Grid{Corner: "Point", Listed: true}
	for _, head := range []string{"Router", "Pinned by", "Servers", "Sessions kept", "Spread of sessions", "First byte, ms", "Connections", "Large body", "Spread of load"} {
		g.Head = append(g.Head, table.Cell{Text: head})
	}
	for _, p := range points {
		if !routed(p) {
			continue
		}
		row := table.Row{Label: point.Label(p), Title: p.ID, Cells: []table.Cell{{Text: p.Router}, pinnedBy(p, routers)}}
		r := p.Routing
		if r == nil {
			r = &result.Routing{}
		}
		row.Cells = append(row.Cells, table.Cell{Text: counted(r.Servers)}, kept(r.Sessions), spread(r.Sessions), firstByte(r.FirstByte), connections(r.Connections), body(r.Body), load(r.Load))
		g.Rows = append(g.Rows, row)
	}
	return filled(g)
}

// filled leaves out the columns that no line has a value for.
func filled(g *table.Grid) *table.Grid {
	out := &table.Grid{Corner: g.Corner, Listed: g.Listed, Rows: slices.Clone(g.Rows)}
	for i := range out.Rows {
		out.Rows[i].Cells = nil
	}
	for n, head := range g.Head {
		if !slices.ContainsFunc(g.Rows, func(r table.Row) bool { return r.Cells[n].Text != figure.None }) {
			continue
		}
		out.Head = append(out.Head, head)
		for i, r := range g.Rows {
			out.Rows[i].Cells = append(out.Rows[i].Cells, r.Cells[n])
		}
	}
	return out
}

func counted(n int) string {
	if n == 0 {
		return figure.None
	}
	return figure.Whole(float64(n))
}

// pinnedBy is the digest of the router's image or program, shortened.
func pinnedBy(p result.Point, routers []instance) table.Cell {
	i := routerOf(p, routers)
	if i < 0 {
		return table.Cell{Text: figure.None}
	}
	r := routers[i]
	if _, digest, pinned := strings.Cut(r.Image, "@sha256:"); pinned {
		return table.Cell{Text: figure.Short(digest, 12), Title: r.Image}
	}
	if r.BinarySHA256 != "" {
		return table.Cell{Text: figure.Short(r.BinarySHA256, 12), Title: r.program()}
	}
	return table.Cell{Text: figure.None, Title: r.What()}
}

// routerOf finds the router that a point had, by the configuration that was kept of it, else by its kind; -1 when that is open.
func routerOf(p result.Point, routers []instance) int {
	if p.Routing != nil && p.Routing.Config != "" {
		at := slices.IndexFunc(routers, func(r instance) bool {
			return slices.ContainsFunc(r.Files, func(f file) bool { return f.Path == p.Routing.Config })
		})
		if at >= 0 {
			return at
		}
	}
	is := func(r instance) bool { return p.Router != "" && strings.Contains(r.What(), p.Router) }
	if at := slices.IndexFunc(routers, is); at >= 0 && routed(p) {
		return at
	}
	return -1
}

// pointsOf names the points that had a router: "C32 to C384, 6 points".
func pointsOf(router int, points []result.Point, routers []instance) string {
	var labels []string
	for _, p := range points {
		if routerOf(p, routers) == router {
			labels = append(labels, point.Label(p))
		}
	}
	if n := len(labels); n > 2 {
		return fmt.Sprintf("%s to %s, %d points", labels[0], labels[n-1], n)
	}
	return strings.Join(labels, ", ")
}

func kept(s *result.RoutedSessions) table.Cell {
	if s == nil {
		return table.Cell{Text: figure.None}
	}
	c := table.Cell{Text: fmt.Sprintf("%d of %d", s.Sessions-s.Moved, s.Sessions), Title: fmt.Sprintf("%d requests of each, followed by %s", s.Turns, s.By)}
	if s.Moved > 0 {
		c.Class = "fail"
	}
	return c
}

func spread(s *result.RoutedSessions) table.Cell {
	if s == nil {
		return table.Cell{Text: figure.None}
	}
	return table.Cell{Text: figure.Hundred(s.BusiestOverMean), Title: "sessions by server: " + perServer(s.PerServer)}
}

func firstByte(f *result.RoutedFirstByte) table.Cell {
	if f == nil {
		return table.Cell{Text: figure.None}
	}
	return table.Cell{Text: fmt.Sprintf("%s %+.2f", figure.Hundred(f.DirectMS), f.CostMS), Title: fmt.Sprintf("medians of %d tries each, sent in turn", f.Tries)}
}

func connections(c *result.RoutedConnections) table.Cell {
	if c == nil {
		return table.Cell{Text: figure.None}
	}
	out := table.Cell{Text: fmt.Sprintf("%d of %d", c.Held, c.Asked), Title: "open at once and served"}
	if c.Held < c.Asked {
		out.Class = "fail"
	}
	return out
}

func body(b *result.RoutedBody) table.Cell {
	switch {
	case b == nil:
		return table.Cell{Text: figure.None}
	case b.Accepted:
		return table.Cell{Text: figure.Size(b.Bytes) + " passed"}
	}
	return table.Cell{Text: fmt.Sprintf("%s refused, status %d", figure.Size(b.Bytes), b.Status), Class: "fail"}
}

func load(l *result.RoutedLoad) table.Cell {
	if l == nil {
		return table.Cell{Text: figure.None}
	}
	return table.Cell{Text: figure.Hundred(l.BusiestOverMean), Title: strings.ReplaceAll(l.Unit, "_", " ") + " by server: " + perServer(l.PerServer)}
}

func perServer[N int | int64](counts map[string]N) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, name+" "+figure.Whole(float64(counts[name])))
	}
	return strings.Join(out, ", ")
}

// routingNotes are what could not be looked at, each with the points it was said of.
func routingNotes(points []result.Point) []string {
	var texts []string
	at := map[string][]string{}
	for _, p := range points {
		if p.Routing == nil {
			continue
		}
		for _, n := range p.Routing.Notes {
			if at[n] == nil {
				texts = append(texts, n)
			}
			at[n] = append(at[n], point.Label(p))
		}
	}
	for i, n := range texts {
		texts[i] = strings.Join(at[n], ", ") + ": " + n
	}
	return texts
}
