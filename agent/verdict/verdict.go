package verdict

import (
	"fmt"

	"assay/result"
)

// Interrupted is the code of points that were not measured because the run was stopped before it came to them.
const Interrupted = "interrupted"

// Of judges a run: every point must be a result, and what served them the same from beginning to end.
func Of(state result.State, points []result.Point, stops []result.Stop) (string, []result.Reason) {
	reasons := restarted(stops)
	if state != result.Done {
		reasons = append(reasons, result.Reason{Code: "not_finished", Text: "the run did not finish: " + string(state)})
	}
	for _, p := range points {
		if p.State != result.PointNotValid && p.State != result.PointFailed && p.State != result.PointSkipped || onlyStopped(p) {
			continue
		}
		for _, r := range p.Reasons {
			reasons = append(reasons, result.Reason{Code: r.Code, Text: "point " + p.ID + ": " + r.Text, Evidence: r.Evidence})
		}
		if len(p.Reasons) == 0 {
			reasons = append(reasons, result.Reason{Code: "point", Text: "point " + p.ID + " is " + string(p.State)})
		}
	}
	if len(reasons) > 0 {
		return result.NotValid, reasons
	}
	return result.Valid, reasons
}

// onlyStopped says that a point was not measured for the one reason that the run was stopped, which the run tells by itself.
func onlyStopped(p result.Point) bool {
	return p.State == result.PointSkipped && len(p.Reasons) == 1 && p.Reasons[0].Code == Interrupted
}

// restarted tells of servers and routers that the container engine started again: they lost what they had cached, and requests with it.
func restarted(stops []result.Stop) []result.Reason {
	list := []result.Reason{}
	for _, s := range stops {
		if s.Restarts > 0 {
			list = append(list, result.Reason{Code: "restarted", Text: "the container engine started the " + s.Role + " again during the run",
				Evidence: fmt.Sprintf("%s: %d restarts", s.Name, s.Restarts)})
		}
	}
	return list
}
