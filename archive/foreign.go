package archive

import (
	"fmt"
	"slices"

	"assay/plan"
	"assay/result"
	"assay/runner/imported"
)

// allPoints are the points of the plan, or those that another client measured.
func (n *run) allPoints() []plan.Point {
	if n.foreign == nil {
		return n.plan.Points()
	}
	var out []plan.Point
	for _, p := range n.foreign.Points {
		at, _ := imported.PointOf(*n.foreign, p.ID)
		out = append(out, at.Setting)
	}
	return out
}

// foreignPoint is what is known of a point that another program measured; false for one that assay measured.
func (n *run) foreignPoint(told result.Point) (imported.Point, bool) {
	switch {
	case n.foreign != nil:
		return imported.PointOf(*n.foreign, told.ID)
	case told.Imported != nil && told.Imported.Told != nil:
		return imported.Read(*told.Imported.Told), true
	}
	return imported.Point{}, false
}

// foreignLine makes sure that the files of the tool are there as they were given.
func (n *run) foreignLine() Line {
	from := n.foreign.Import
	for _, f := range from.Files {
		if !slices.Contains(n.result.Artifacts, f) {
			return Line{"imported", Fail, f.Path + " is not among the files as it was given"}
		}
	}
	return Line{"imported", OK, fmt.Sprintf("%d files of %s, as they were given; the recordings were made of them", len(from.Files), from.Tool)}
}

// remake makes the recordings of points that other clients measured again of their files; one that is another is a problem of its point.
func (n *run) remake() []Line {
	differ, made, err := n.raw.Differ(n.result)
	for i, p := range n.result.Points {
		if why := differ[p.ID]; why != "" {
			n.points[i].problem("%s", why)
		}
	}
	switch {
	case err != nil:
		return []Line{{"clients' files", None, "the recordings were not made again: " + err.Error()}}
	case made > 0:
		return []Line{{"clients' files", OK, fmt.Sprintf("%d recordings made of them again, all equal", made)}}
	}
	return nil
}

// unknownRate stands for the rate of an open loop: the recording's own figures do not tell it.
const unknownRate = 0

// overstatedImport is overstated for a point that another client measured. It is judged as the plan's where there is one.
func (n *run) overstatedImport(p *point, told result.Point) string {
	at, ok := n.foreignPoint(told)
	if !ok || told.Imported == nil {
		return "it tells nothing of the client that measured it"
	}
	if n.foreign == nil {
		at.Setting.Phase, at.Setting.Concurrency, at.Setting.Rate = p.planned.Phase, p.planned.Concurrency, p.planned.Rate
	}
	state, reasons := imported.Judge(at, unknownRate, p.made, told.Imported.Figures)
	if state == result.PointValid {
		return ""
	}
	return fmt.Sprintf("its state is %s, the recording gives %s: %v", told.State, state, reasons)
}
