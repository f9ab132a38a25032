package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/archive/remake"
	"assay/plan"
	"assay/result"
	"assay/runner"
	"assay/runner/imported"
	"assay/runner/metrics"
	"assay/runner/record"
)

// run is a result document whose numbers are recomputed as its recordings come by.
type run struct {
	result  result.Result
	plan    plan.Plan
	planErr error
	foreign *result.Import // in the place of the plan of a run that another client measured
	points  []point        // as in the result
	byPath  map[string]int // recording → index of its point
	raw     remake.Files   // of other clients
}

// point is what was recomputed of one point.
type point struct {
	made     *runner.Reading // nil until it was recomputed
	planned  plan.Point
	problems []string
}

func (p *point) problem(format string, args ...any) {
	p.problems = append(p.problems, fmt.Sprintf(format, args...))
}

func newRun(r result.Result) *run {
	n := &run{result: r, points: make([]point, len(r.Points)), byPath: map[string]int{}}
	if i, ok := result.DecodeImport(r.Plan); ok {
		n.foreign = &i
	} else {
		n.plan, n.planErr = plan.Parse(r.Plan)
	}
	for i, p := range r.Points {
		if p.Recording == nil {
			continue
		}
		if _, twice := n.byPath[p.Recording.Path]; twice {
			n.points[i].problem("its recording %s is another point's too", p.Recording.Path)
			continue
		}
		n.byPath[p.Recording.Path] = i
		if !lists(r.Artifacts, *p.Recording) {
			n.points[i].problem("its recording %s is not listed with its SHA-256 among the artifacts", p.Recording.Path)
		}
	}
	return n
}

func lists(all []result.Artifact, rec result.Recording) bool {
	return slices.ContainsFunc(all, func(a result.Artifact) bool { return a.Path == rec.Path && a.SHA256 == rec.SHA256 })
}

// useRecording recomputes the point whose recording comes by; other files are nobody's.
func (n *run) useRecording(name string, size, limit int64, in io.Reader) {
	i, ok := n.byPath[name]
	if !ok {
		return
	}
	p := &n.points[i]
	if size > limit {
		p.problem("its recording has %d bytes, more than this program reads", size)
		return
	}
	n.recompute(p, n.result.Points[i], in)
}

// spoil takes back what was made of a recording that turned out not to be the one of the manifest.
func (n *run) spoil(name string) {
	i, ok := n.byPath[name]
	if !ok {
		return
	}
	p := &n.points[i]
	p.made = nil
	p.problem("its recording %s was changed", name)
}

// recompute makes of a recording what the result tells of it.
func (n *run) recompute(p *point, told result.Point, in io.Reader) {
	var planned bool
	p.planned, planned = n.planned(told.ID)
	pass := runner.PassOf(n.plan, p.planned, window(told.Recording.WindowUS), window(told.Recording.IssueUS))
	pass.MLPerf, pass.Inside, pass.Cell = told.MLPerf != nil, told.Inside != nil, told.Cell != nil
	foreign, is := n.foreignPoint(told)
	if is {
		pass.Shape = metrics.Shape{Concurrency: p.planned.Concurrency}
	}
	made, err := pass.Read(in)
	if is {
		imported.Forget(foreign, &made)
	}
	switch {
	case err != nil:
		p.problem("its recording cannot be read: %v", err)
		return
	case made.Torn:
		p.problem("its recording is cut off")
		return
	}
	n.compareHeader(p, told, made.Whole)
	if !planned {
		p.problem("the plan has no such point")
		return
	}
	p.made = &made
}

func window(us [2]int64) metrics.Window { return metrics.Window{StartUS: us[0], EndUS: us[1]} }

// compareHeader makes sure that the recording is this point's, of this run, over the window the result shows.
func (n *run) compareHeader(p *point, told result.Point, rec record.Whole) {
	if h := rec.Header; h.Run != n.result.Run.ID || h.Point != told.ID || h.EpochUS != told.Recording.EpochUS {
		p.problem("its recording says run %s, point %s, epoch %d; the result says %s, %s, %d", h.Run, h.Point, h.EpochUS,
			n.result.Run.ID, told.ID, told.Recording.EpochUS)
	}
	if rec.Requests != told.Recording.Requests || rec.Events != told.Recording.Events {
		p.problem("its recording holds %d requests and %d events, the result says %d and %d",
			rec.Requests, rec.Events, told.Recording.Requests, told.Recording.Events)
	}
	span, epoch := told.Recording.WindowUS, rec.Header.EpochUS
	want := result.Window{StartedUS: epoch + span[0], EndedUS: epoch + span[1], DurationS: float64(span[1]-span[0]) / 1e6}
	if told.Window != nil && *told.Window != want {
		p.problem("its window is not the one of its recording")
	}
}

// planned is the point as the plan has it.
func (n *run) planned(id string) (plan.Point, bool) {
	if n.planErr != nil {
		return plan.Point{}, false
	}
	points := n.allPoints()
	i := slices.IndexFunc(points, func(p plan.Point) bool { return p.ID == id })
	if i < 0 {
		return plan.Point{}, false
	}
	return points[i], true
}

// lines says what the recomputation found, after the last recording.
func (n *run) lines() []Line {
	lost := n.lost()
	if lost == "" {
		n.utilize()
	}
	lines := []Line{n.planLine(), n.coverLine(), n.verdictLine()}
	if n.foreign != nil {
		lines = append(lines, n.foreignLine())
	}
	lines = append(lines, n.remake()...)
	for i, told := range n.result.Points {
		lines = append(lines, n.points[i].line(told, lost, n.overstated))
	}
	return lines
}

func (n *run) utilize() {
	var all []*metrics.Summary
	for _, p := range n.points {
		if p.made != nil {
			all = append(all, &p.made.Metrics)
		}
	}
	metrics.Utilize(all)
}

// lost names the first point that has numbers and no recording to recompute them from; "" when there is none. Utilization is a share of the
// best point, and that may be the one.
func (n *run) lost() string {
	for i, told := range n.result.Points {
		if told.Metrics != nil && n.points[i].made == nil {
			return told.ID
		}
	}
	return ""
}

func (n *run) planLine() Line {
	var canonical bytes.Buffer
	if err := json.Compact(&canonical, n.result.Plan); err != nil {
		return Line{"plan", Fail, "is not JSON: " + err.Error()}
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(canonical.Bytes())); sum != n.result.Run.PlanSHA256 {
		return Line{"plan", Fail, fmt.Sprintf("has the SHA-256 %s, the result says %s", sum, n.result.Run.PlanSHA256)}
	}
	if n.planErr != nil {
		return Line{"plan", Fail, "cannot be read: " + n.planErr.Error()}
	}
	return Line{"plan", OK, "SHA-256 " + n.result.Run.PlanSHA256}
}

// coverLine makes sure that no point of the plan is left out of the result of a finished run.
func (n *run) coverLine() Line {
	if n.planErr != nil {
		return Line{"points", Fail, "cannot be compared with a plan that cannot be read"}
	}
	told := map[string]bool{}
	for _, p := range n.result.Points {
		if told[p.ID] {
			return Line{"points", Fail, p.ID + " stands in the result twice"}
		}
		told[p.ID] = true
	}
	missing := n.unmeasured(told)
	switch {
	case len(missing) == 0:
		return Line{"points", OK, fmt.Sprintf("all %d of the plan are in the result", len(told))}
	case n.result.Run.State == result.Done:
		return Line{"points", Fail, "missing in the result of a finished run: " + strings.Join(missing, ", ")}
	}
	return Line{"points", None, "the run is " + string(n.result.Run.State) + ", not measured: " + strings.Join(missing, ", ")}
}

// unmeasured names the plan's points that are not told.
func (n *run) unmeasured(told map[string]bool) []string {
	var ids []string
	for _, p := range n.allPoints() {
		if !told[p.ID] {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// line is what was found of a point. Its utilization is left out when the recording of another one is lost.
func (p *point) line(told result.Point, lost string, overstated func(*point, result.Point) string) Line {
	what := "point " + told.ID
	switch {
	case len(p.problems) > 0:
		return Line{what, Fail, strings.Join(p.problems, "; ")}
	case told.Metrics == nil && told.MLPerf == nil && told.Recording == nil && told.State != result.PointValid && told.State != result.PointQueued:
		return Line{what, None, "has no numbers: " + string(told.State)}
	case told.Recording == nil:
		return Line{what, Fail, "has no recording to recompute it from"}
	case p.made == nil:
		return Line{what, Fail, "could not be recomputed: its recording " + told.Recording.Path + " was not read"}
	}
	numbers, differ := compare("", withoutShare(told.Metrics, lost), &p.made.Metrics)
	drained, drainedDiffer := compare("mlperf.", told.MLPerf, p.made.MLPerf)
	inside, insideDiffer := compare("inside.", told.Inside, p.made.Inside)
	cell, cellDiffer := compare("cell.", told.Cell, p.made.Cell)
	counted, countsDiffer := compareCounts(*p.made, told)
	perJoule, energyDiffer := compareEnergy(*p.made, told)
	differ = slices.Concat(differ, drainedDiffer, insideDiffer, cellDiffer, countsDiffer, energyDiffer)
	if bad := overstated(p, told); bad != "" {
		differ = append(differ, bad)
	}
	if len(differ) > 0 {
		return Line{what, Fail, strings.Join(first(differ), "; ")}
	}
	text := fmt.Sprintf("%d numbers recomputed from %s, all equal", numbers+drained+inside+cell+counted+perJoule, told.Recording.Path)
	if lost != "" {
		text += "; utilization not recomputed: point " + lost + " is unreadable"
	}
	return Line{what, OK, text}
}

// withoutShare leaves the utilization out when the recording of a point is lost.
func withoutShare(told *metrics.Summary, lost string) *metrics.Summary {
	if told == nil || lost == "" {
		return told
	}
	s := *told
	s.Utilization = nil
	return &s
}

// maxNamed is how many findings of one kind are named; the rest is counted.
const maxNamed = 8

func first(all []string) []string {
	if len(all) <= maxNamed {
		return all
	}
	return append(all[:maxNamed:maxNamed], fmt.Sprintf("and %d more", len(all)-maxNamed))
}
