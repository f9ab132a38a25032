package agent

import (
	"context"
	"fmt"

	"assay/plan"
	"assay/result"
)

// reasonInterrupted is the code of points that were not measured because the run was stopped before it came to them.
const reasonInterrupted = "interrupted"

// listUnmeasured puts the points of a stopped run that it did not come to into the store as skipped, so that its result names them; a
// resumed run measures them (execution.measured).
func (c Config) listUnmeasured(ctx context.Context, id string, state result.State) error {
	if state != result.Interrupted && state != result.Canceled {
		return nil
	}
	run, err := c.Store.Run(ctx, id)
	if err != nil {
		return err
	}
	p, err := plan.Parse(run.Plan)
	if err != nil {
		return fmt.Errorf("list the points that were not measured: %w", err)
	}
	stored, err := c.Store.Points(ctx, id)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, s := range stored {
		known[s.ID] = true
	}
	for i, planned := range p.Points() {
		if known[planned.ID] {
			continue
		}
		skipped := pointOf(planned)
		skipped.State = result.PointSkipped
		skipped.Reasons = []result.Reason{{Code: reasonInterrupted, Text: "not measured: the run was stopped before its end"}}
		if err := c.Store.PutPoint(ctx, id, i, skipped); err != nil {
			return err
		}
	}
	return nil
}

// onlyStopped says that a point was not measured for the one reason that the run was stopped, which the run tells by itself.
func onlyStopped(p result.Point) bool {
	return p.State == result.PointSkipped && len(p.Reasons) == 1 && p.Reasons[0].Code == reasonInterrupted
}
