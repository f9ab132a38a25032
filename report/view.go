package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"assay/plan"
	"assay/probes"
	"assay/report/figure"
	"assay/report/machine"
	"assay/report/point"
	"assay/report/served"
	"assay/result"
)

// view is a result with what several sections and formats ask of it.
type view struct {
	res      result.Result
	plan     plan.Plan
	server   served.Server
	protocol string // sweep | serve | matrix | "" when the plan cannot be read
	best     int    // index of the best point; -1 when no point has a figure
	sut      *probes.SUT
	unpacked bool // no archive is packed of the run
}

func newView(res result.Result) view {
	res.Points = point.Utilized(res.Points)
	v := view{res: res, best: bestPoint(res.Points), sut: res.SUT.Before}
	if v.sut == nil {
		v.sut = res.SUT.After
	}
	_ = json.Unmarshal(res.Identity.Server, &v.server) // what cannot be read stays empty; it is shown as it is among the identity
	v.plan = point.PlanOf(res)
	v.protocol = protocolOf(v.plan.Protocol)
	return v
}

func protocolOf(p plan.Protocol) string {
	switch {
	case p.Matrix != nil:
		return "matrix"
	case p.Serve != nil:
		return "serve"
	case p.Sweep != nil:
		return "sweep"
	}
	return ""
}

// bestPoint is the point with the highest System TPS; a valid one wins over any other.
func bestPoint(points []result.Point) int {
	best := -1
	for i, p := range points {
		if _, ok := point.SystemTPS(p); !ok {
			continue
		}
		if best < 0 || better(p, points[best]) {
			best = i
		}
	}
	return best
}

func better(a, b result.Point) bool {
	if av, bv := a.State == result.PointValid, b.State == result.PointValid; av != bv {
		return av
	}
	x, _ := point.SystemTPS(a)
	y, _ := point.SystemTPS(b)
	return x > y
}

// bestOf gives the best point.
func (v view) bestOf() (result.Point, bool) {
	if v.best < 0 {
		return result.Point{}, false
	}
	return v.res.Points[v.best], true
}

// phase gives the points of a phase, in order.
func (v view) phase(name string) []result.Point {
	var out []result.Point
	for _, p := range v.res.Points {
		if p.Phase == name {
			out = append(out, p)
		}
	}
	return out
}

// title is the headline: which model on what.
func (v view) title() string {
	model := v.modelName()
	if on := v.hardware(); on != "" {
		return model + " on " + on
	}
	return model
}

// modelName is the model's name in the plan; where that takes any model, the one that was served.
func (v view) modelName() string {
	m := v.res.Identity.Model
	if m.Name == plan.AnyModel {
		m.Name = m.Served
	}
	if m.Name == "" || m.Name == plan.AnyModel {
		return v.res.Run.Name
	}
	return m.Name
}

// hardware names the accelerators, or the processors of a machine without any.
func (v view) hardware() string {
	if v.sut == nil {
		return ""
	}
	if s := machine.AcceleratorNames(*v.sut); s != "" {
		return s
	}
	return machine.ProcessorName(v.sut.CPU)
}

// subtitle says machine, engine, load and time in one line.
func (v view) subtitle() string {
	parts := []string{v.machine(), v.engine(), v.load(), v.when()}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

func (v view) machine() string {
	if v.sut == nil {
		return ""
	}
	return strings.TrimSpace(v.sut.System.Vendor.Value + " " + v.sut.System.Product.Value)
}

func (v view) engine() string {
	return strings.TrimSpace(v.plan.Server.Engine + " " + v.server.Version)
}

func (v view) load() string {
	kind, how := v.plan.Workload.Kind, v.protocol
	if kind == "" {
		kind = v.res.Identity.Dataset.Kind
	}
	if extent := v.extent(); extent != "" {
		how += ", " + extent
	} else if n := len(v.res.Points); n > 1 && how != "" {
		how += " of " + figure.Plural(n, "point")
	} else if n == 1 && how != "" {
		how += " at " + point.Label(v.res.Points[0])
	}
	return strings.Trim(kind+", "+how, ", ")
}

func (v view) when() string {
	r := v.res.Run
	if r.StartedUS == 0 {
		return ""
	}
	s := figure.Instant(r.StartedUS)
	if r.EndedUS > r.StartedUS {
		s += ", took " + figure.Span(r.EndedUS-r.StartedUS)
	}
	return s
}

// verdict says in a few words how the run ended, with the class of its state.
func (v view) verdict() (text, class string) {
	r := v.res.Run
	switch {
	case r.State != result.Done:
		text, class = figure.Capital(string(r.State)), string(r.State)
	case r.Verdict == result.Valid:
		text, class = "Valid", r.Verdict
	default:
		text, class = "Not valid", result.NotValid
	}
	if len(v.res.Points) > 0 {
		text += ": " + v.pointCounts()
	}
	return text, class
}

// pointCounts says how many points there are, and how those ended that are not valid: "7 points, 1 failed".
func (v view) pointCounts() string {
	counts := map[result.PointState]int{}
	for _, p := range v.res.Points {
		counts[p.State]++
	}
	text := figure.Plural(len(v.res.Points), "point")
	for _, s := range []result.PointState{result.PointNotValid, result.PointFailed, result.PointSkipped, result.PointQueued, result.PointOver} {
		if n := counts[s]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, point.StateText(string(s)))
		}
	}
	return text
}

// archive is the file that `assay archive` writes of this run.
func (v view) archive() string { return v.res.Run.ID + ".tar.zst" }

// statement is the result in one sentence that can be quoted.
func (v view) statement() string {
	p, ok := v.bestOf()
	if !ok {
		return ""
	}
	tps, _ := point.SystemTPS(p)
	s := fmt.Sprintf("%s reached %s output tokens/s", v.title(), figure.Measure(tps))
	if d := p.Metrics.TTFTMS; d != nil {
		s += fmt.Sprintf(" at %s ms TTFT P90", figure.Measure(d.P90))
	}
	if u := point.PerUser(p); u != nil {
		s += fmt.Sprintf(" and %s tokens/s per user", figure.Measure(*u))
	}
	s += fmt.Sprintf(" (point %s, %s", p.ID, point.StateText(string(p.State)))
	return s + fmt.Sprintf("; run %s of %s, plan %s, assay %s).", v.res.Run.ID, figure.Day(v.res.Run.StartedUS), figure.Short(v.res.Run.PlanSHA256, 12), v.res.Run.Program.Version)
}
