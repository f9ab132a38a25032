package report

import (
	"bytes"
	"encoding/json"
	"html/template"
	"slices"
	"strings"

	"assay/fault"
	"assay/probes"
	"assay/report/figure"
	"assay/report/launch"
	"assay/report/machine"
	"assay/report/plot"
	"assay/report/point"
	"assay/report/table"
	"assay/report/told"
	"assay/result"
	"assay/runner/metrics"
)

// page is everything the HTML template writes; the template only lays it out.
type page struct {
	CSS                  template.CSS
	Title, Subtitle      string
	Statement            string
	Verdict, Class       string
	Run                  result.Run
	Error                *fault.Fault
	Notes                []string
	Reasons              []finding
	Headline             []kpi
	Heat                 *heat
	Plots                []plot.Plot
	Prefill              *table.Grid
	Measurements         *table.Grid
	Cells, Windows       *table.Grid // of an open loop
	Data, Drain          *table.Grid
	DataNote, ToldNote   string
	Told                 *table.Grid // what another client printed
	Outcomes, Client     *table.Grid
	Telemetry            *table.Grid
	Panels               []plot.Plot
	SUT                  []machine.Chapter
	Facts                []machine.Group
	Missing              []machine.Group
	Known, Unknown, NA   int
	Before, After        string
	Drift                []result.Reason
	Checks               []probes.Check
	CheckCounts          string
	Launch               launch.Section
	Identity             []pair
	Timeline             []stage
	Definitions          []metrics.Definition
	Artifacts            []result.Artifact
	Recordings           []pair
	Plan                 string
	Archive              string
	HasPoints, HasMatrix bool
}

// finding is a reason with the point it belongs to; "" for the run.
type finding struct {
	Where string
	Class string
	result.Reason
}

func newPage(in Input) page {
	v := newView(in.Result)
	v.unpacked = in.Unpacked
	p := page{
		CSS: template.CSS(stylesheet), Title: v.title(), Subtitle: v.subtitle(), Statement: v.statement(),
		Run: v.res.Run, Error: v.res.Run.Error, Notes: v.res.Identity.Notes, Reasons: v.findings(), Headline: v.kpis(), HasPoints: len(v.res.Points) > 0,
		Drift: v.res.SUT.Drift, Checks: machine.SortedChecks(v.res.Checks), CheckCounts: machine.CheckCounts(v.res.Checks),
		Launch: launch.Of(v.res), Identity: v.identity(), Timeline: v.timeline(), Definitions: metrics.Table(), Artifacts: v.res.Artifacts,
		Plan: indent(v.res.Plan), Archive: v.archive(),
	}
	p.Verdict, p.Class = v.verdict()
	p.points(v)
	p.Panels = plot.Panels(in.Telemetry, v.windows())
	p.machine(v)
	return p
}

// points fills the tables and plots of the points.
func (p *page) points(v view) {
	for _, c := range v.charts() {
		if len(v.res.Points) > 0 {
			p.Plots = append(p.Plots, c.Draw())
		}
	}
	p.Data = v.grid(v.runRows(), true)
	p.Drain, p.DataNote, p.Told, p.ToldNote = v.drainGrid(), windowNote, told.Grid(v.res.Points), told.Note
	switch v.protocol {
	case "matrix":
		p.HasMatrix, p.Heat, p.Prefill, p.Measurements = true, v.heatOf(), v.prefillGrid(), v.transposed(v.measurementRows())
		p.DataNote += " " + cellNote
	case "serve":
		p.Cells, p.Windows = v.transposed(v.cellRows()), v.grid(v.windowRows(), true)
	}
	p.Outcomes, p.Client, p.Telemetry = v.table(v.outcomeRows()), v.table(v.clientRows()), v.table(v.telemetryRows())
	for _, x := range v.res.Points {
		if x.Recording != nil {
			p.Recordings = append(p.Recordings, pair{x.Recording.Path, x.Recording.SHA256, figure.Plural(x.Recording.Requests, "request") + ", " + figure.Whole(float64(x.Recording.Events)) + " token events"})
		}
		if x.Request != nil {
			p.Recordings = append(p.Recordings, pair{x.Request.Path, x.Request.SHA256, "the first measured request's body, as it was sent"})
		}
	}
}

// machine fills the SUT sections.
func (p *page) machine(v view) {
	if v.sut == nil {
		return
	}
	p.SUT = slices.Concat([]machine.Chapter{v.tested()}, v.served(), machine.Summarise(*v.sut), []machine.Chapter{machine.Declared()})
	p.Facts = machine.Facts(*v.sut)
	p.Known, p.Unknown, p.NA = machine.Tally(p.Facts)
	for _, g := range p.Facts {
		lost := slices.DeleteFunc(slices.Clone(g.Facts), func(f machine.Fact) bool { return f.State != "unknown" })
		if len(lost) > 0 {
			p.Missing = append(p.Missing, machine.Group{Name: g.Name, Facts: lost})
		}
	}
	if s := v.res.SUT.Before; s != nil {
		p.Before = figure.Instant(s.ProbedAtUS)
	}
	if s := v.res.SUT.After; s != nil {
		p.After = figure.Instant(s.ProbedAtUS)
	}
}

// findings are the run's reasons and those of its points; a run's reason that only repeats a point's is left out.
func (v view) findings() []finding {
	var out []finding
	for _, r := range v.res.Run.Reasons {
		if !v.repeats(r) {
			out = append(out, finding{Reason: r, Class: "fail"})
		}
	}
	for _, p := range v.res.Points {
		for _, r := range p.Reasons {
			out = append(out, finding{Where: point.Label(p), Class: string(p.State), Reason: r})
		}
	}
	return out
}

func (v view) repeats(r result.Reason) bool {
	for _, p := range v.res.Points {
		for _, own := range p.Reasons {
			if own.Code == r.Code && own.Evidence == r.Evidence && strings.HasSuffix(r.Text, own.Text) {
				return true
			}
		}
	}
	return false
}

func indent(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
