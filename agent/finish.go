package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"assay/fault"
	"assay/probes"
	"assay/result"
	"assay/runner/metrics"
	"assay/store"
)

// docOrigin is the kind of the document that holds a run's Origin.
const docOrigin = "origin"

// Causes of a cancelled context.
var (
	errCanceled = errors.New("canceled by request")
	errStopping = errors.New("the program was told to stop")
)

// endState says how the run of this id ended from the error of its execution and the cause its context was cancelled for.
func endState(run string, err, cause error) (result.State, *fault.Fault) {
	switch {
	case errors.Is(cause, errCanceled):
		return result.Canceled, fault.New(fault.Client, "canceled", "run the plan again, or go on with `assay run --resume "+run+"`", "the run was canceled")
	case cause != nil:
		return result.Interrupted, fault.New(fault.Client, "interrupted", "go on with `assay run --resume "+run+"`", "the run was interrupted: %w", cause)
	case err != nil:
		return result.Failed, fault.Of(err, fault.Server)
	}
	return result.Done, nil
}

// verdictOf judges a run by its points: every point must be a result.
func verdictOf(state result.State, points []result.Point) (string, []result.Reason) {
	reasons := []result.Reason{}
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

// seal ends a run in the store: its state, its verdict, and the result document with its index of files.
func (c Config) seal(ctx context.Context, id string, state result.State, f *fault.Fault) (result.Result, error) {
	if err := c.listUnmeasured(ctx, id, state); err != nil {
		return result.Result{}, err
	}
	points, err := c.utilize(ctx, id)
	if err != nil {
		return result.Result{}, err
	}
	verdict, reasons := verdictOf(state, points)
	run, err := c.Store.Run(ctx, id)
	if err != nil {
		return result.Result{}, err
	}
	run.State, run.Verdict, run.Error, run.EndedUS = state, verdict, f, c.nowUS()
	r, err := c.document(ctx, run, points, reasons)
	if err != nil {
		return r, err
	}
	if _, err := c.Store.SaveResult(ctx, id, r); err != nil {
		return r, err
	}
	return r, c.Store.MoveRun(ctx, id, state, store.RunChange{AtUS: run.EndedUS, Verdict: verdict, Reasons: reasons, Error: f})
}

// utilize gives the run's points and sets each one's share of the highest System TPS among them: that takes all that will be there,
// also of a run that ended early.
func (c Config) utilize(ctx context.Context, id string) ([]result.Point, error) {
	points, err := c.Store.Points(ctx, id)
	if err != nil {
		return nil, err
	}
	var sums []*metrics.Summary
	for _, p := range points {
		sums = append(sums, p.Metrics) // nil where nothing was measured
	}
	metrics.Utilize(sums)
	for i, p := range points {
		if p.Metrics == nil {
			continue
		}
		if err := c.Store.PutPoint(ctx, id, i, p); err != nil {
			return nil, err
		}
	}
	return points, nil
}

// document assembles the result of a run from what the store holds.
func (c Config) document(ctx context.Context, run store.Run, points []result.Point, reasons []result.Reason) (result.Result, error) {
	phases, err := c.Store.Phases(ctx, run.ID)
	if err != nil {
		return result.Result{}, err
	}
	artifacts, err := c.Store.IndexFiles(ctx, run.ID)
	if err != nil {
		return result.Result{}, err
	}
	r := result.Result{
		Schema: result.Schema,
		Run: result.Run{ID: run.ID, Name: run.Name, State: run.State, Verdict: run.Verdict, Reasons: reasons, Error: run.Error,
			PlanSHA256: run.PlanSHA256, CreatedUS: run.CreatedUS, StartedUS: run.StartedUS, EndedUS: run.EndedUS, Program: c.Program, Phases: phases},
		Plan:   run.Plan,
		Points: points, Artifacts: artifacts,
	}
	err = errors.Join(
		c.readDocument(ctx, run.ID, store.Checks, &r.Checks),
		c.readDocument(ctx, run.ID, store.Identity, &r.Identity),
		c.readDocument(ctx, run.ID, store.SUTBefore, &r.SUT.Before),
		c.readDocument(ctx, run.ID, store.SUTAfter, &r.SUT.After))
	if err != nil {
		return r, err
	}
	r.SUT.Drift = driftOf(r.SUT.Before, r.SUT.After)
	return r, nil
}

// readDocument reads a document of a run; one that was never written leaves v as it is.
func (c Config) readDocument(ctx context.Context, id, kind string, v any) error {
	b, err := c.Store.Document(ctx, id, kind)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("read document %s of run %s: %w", kind, id, err)
	}
	return nil
}

func driftOf(before, after *probes.SUT) []result.Reason {
	drift := []result.Reason{}
	if before == nil || after == nil {
		return drift
	}
	for _, ch := range probes.Drift(*before, *after) {
		drift = append(drift, result.Reason(ch))
	}
	return drift
}
