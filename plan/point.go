package plan

import (
	"fmt"
	"slices"
	"strconv"
)

// Point is one measured setting of a plan, in the order it runs.
type Point struct {
	ID          string  // "c32", "r140", "x2", "prefill-8192", "decode-8192x64"
	Phase       string  // sweep | serve | prefill | decode
	Concurrency int     // 0 when the phase has none
	Rate        float64 // requests/s; 0 when the phase has none
	Speed       float64 // of a replayed trace; 0 when the point replays none
	Context     int     // tokens; 0 when the phase has none
	Router      Router  // Kind "none" when no router of the plan serves it
}

// The phases of a point.
const (
	PhaseSweep   = "sweep"
	PhaseServe   = "serve"
	PhasePrefill = "prefill"
	PhaseDecode  = "decode"
)

// Points lists the plan's points in the order they run: as the plan lists them, and in a matrix the prefill passes of all
// contexts before the decode cells.
func (p Plan) Points() []Point {
	var points []Point
	switch {
	case p.Protocol.Sweep != nil:
		points = p.Protocol.Sweep.points()
	case p.Protocol.Serve != nil:
		points = p.Protocol.Serve.points()
	case p.Protocol.Matrix != nil:
		points = p.Protocol.Matrix.points()
	}
	for i := range points {
		points[i].Router = p.routerFor(points[i])
	}
	return points
}

func (s Sweep) points() []Point {
	points := make([]Point, 0, len(s.Concurrency))
	for _, c := range s.Concurrency {
		points = append(points, Point{ID: "c" + strconv.Itoa(c), Phase: PhaseSweep, Concurrency: c})
	}
	return points
}

func (s Serve) points() []Point {
	points := make([]Point, 0, len(s.Rate)+len(s.Speed))
	for _, x := range s.Speed {
		points = append(points, Point{ID: "x" + strconv.FormatFloat(x, 'f', -1, 64), Phase: PhaseServe, Speed: x})
	}
	for _, r := range s.Rate {
		points = append(points, Point{ID: "r" + strconv.FormatFloat(r, 'f', -1, 64), Phase: PhaseServe, Rate: r})
	}
	return points
}

func (m Matrix) points() []Point {
	points := make([]Point, 0, len(m.prefills())+len(m.Contexts)*len(m.Concurrency))
	for _, n := range m.prefills() {
		points = append(points, Point{ID: fmt.Sprintf("prefill-%d", n), Phase: PhasePrefill, Context: int(n)})
	}
	for _, n := range m.Contexts {
		for _, c := range m.Concurrency {
			id := fmt.Sprintf("decode-%dx%d", n, c)
			points = append(points, Point{ID: id, Phase: PhaseDecode, Concurrency: c, Context: int(n)})
		}
	}
	return points
}

// prefills lists the contexts that have a prefill pass.
func (m Matrix) prefills() []Length {
	if len(m.PrefillContexts) > 0 {
		return m.PrefillContexts
	}
	return m.Contexts
}

// routerFor finds the router whose range holds the point's load.
func (p Plan) routerFor(point Point) Router {
	for _, r := range p.Routers {
		if p.serves(r, point) {
			return r
		}
	}
	return Router{Kind: RouterNone}
}

// serves tells whether a router's range holds the point's load.
func (p Plan) serves(r Router, point Point) bool {
	load := point.Concurrency
	switch point.Phase {
	case PhasePrefill:
		load = 1 // one request at a time
	case PhaseServe:
		load = p.Protocol.Serve.MaxConcurrency
	}
	span, err := parseSpan(r.Points)
	return err == nil && span.holds(load)
}

// IdleRouters says of each router that no point of the plan goes through it: it is never started.
func (p Plan) IdleRouters() []string {
	var idle []string
	for i, r := range p.Routers {
		if r.Kind != RouterNone && !slices.ContainsFunc(p.Points(), func(at Point) bool { return p.serves(r, at) }) {
			idle = append(idle, fmt.Sprintf("routers.%d (%s) is not used: its points are %q, and the plan has none of them", i, r.Kind, r.Points))
		}
	}
	return idle
}
