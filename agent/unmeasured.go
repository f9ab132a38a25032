package agent

import (
	"context"
	"fmt"

	"assay/agent/verdict"
	"assay/plan"
	"assay/result"
)

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
		skipped.Reasons = []result.Reason{{Code: verdict.Interrupted, Text: "not measured: the run was stopped before its end"}}
		if err := c.Store.PutPoint(ctx, id, i, skipped); err != nil {
			return err
		}
	}
	return nil
}
