package archive

import (
	"fmt"
	"slices"
	"strings"

	"assay/result"
	"assay/runner"
)

// verdictLine holds the run's verdict against what it is made of: valid is a finished run all of whose points are results.
func (n *run) verdictLine() Line {
	r := n.result.Run
	want := result.Valid
	if r.State != result.Done || slices.ContainsFunc(n.result.Points, func(p result.Point) bool { return !isResult(p.State) }) {
		want = result.NotValid
	}
	if r.Verdict != want {
		return Line{"verdict", Fail, fmt.Sprintf("is %q; the states of the run and its points give %s", r.Verdict, want)}
	}
	return Line{"verdict", OK, want + ", as the states of the run and its points give it"}
}

// isResult tells whether a point that ended so counts for a valid run.
func isResult(s result.PointState) bool {
	return s == result.PointValid || s == result.PointQueued || s == result.PointOver
}

// overstated says why a point that is told as measured well is not, by the rules for a point; "" when nothing speaks against it. How long
// slots waited for tools is not in a recording, so a point is never too empty here: a state can be worse than its recording, not better.
func (n *run) overstated(p *point, told result.Point) string {
	if told.State != result.PointValid && told.State != result.PointQueued {
		return ""
	}
	if n.foreign != nil || runner.Program(n.plan) != nil {
		return n.overstatedImport(p, told)
	}
	m := runner.Measurement{Window: window(told.Recording.WindowUS), Waiting: float64(p.planned.Concurrency)}
	if told.Client != nil {
		m.Client = *told.Client
	}
	state, reasons := p.made.Verdict(p.planned, m)
	if state == runner.Valid {
		return ""
	}
	var why []string
	for _, r := range reasons {
		why = append(why, r.Code+", "+r.Evidence)
	}
	return fmt.Sprintf("its state is %s, the recording gives %s: %s", told.State, state, strings.Join(why, "; "))
}
