package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"assay/agent/publish"
	"assay/agent/verdict"
	"assay/fault"
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

// seal ends a run in the store: its state, its verdict, and the result document with its index of files.
func (a *Agent) seal(ctx context.Context, id string, state result.State, f *fault.Fault) (result.Result, error) {
	if err := errors.Join(a.sweep(ctx, id), a.listUnmeasured(ctx, id, state)); err != nil {
		return result.Result{}, err
	}
	points, err := a.utilize(ctx, id)
	if err != nil {
		return result.Result{}, err
	}
	var stops []result.Stop
	if err := a.readDocument(ctx, id, store.Stops, &stops); err != nil {
		return result.Result{}, err
	}
	judged, reasons := verdict.Of(state, points, stops)
	run, err := a.Store.Run(ctx, id)
	if err != nil {
		return result.Result{}, err
	}
	run.State, run.Verdict, run.Error, run.EndedUS = state, judged, f, a.nowUS()
	r, err := a.document(ctx, run, points, reasons)
	if err != nil {
		return r, err
	}
	if _, err := a.Store.SaveResult(ctx, id, r); err != nil {
		return r, err
	}
	return r, a.Store.MoveRun(ctx, id, state, store.RunChange{AtUS: run.EndedUS, Verdict: judged, Reasons: reasons, Error: f})
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
		c.readDocument(ctx, run.ID, store.SUTAfter, &r.SUT.After),
		c.readDocument(ctx, run.ID, store.Stops, &r.Stops),
		c.readDocument(ctx, run.ID, store.GPUMemory, &r.GPUMemory))
	if err != nil {
		return r, err
	}
	r.SUT.Drift = verdict.Drift(r.SUT.Before, r.SUT.After)
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

// publish makes the report of an ended run, and its archive unless that is not wanted.
func (a *Agent) publish(ctx context.Context, id string) error {
	var from Origin
	if err := a.readDocument(ctx, id, docOrigin, &from); err != nil {
		return err
	}
	key := a.Key
	if from.NoArchive {
		key = nil
	}
	if err := publish.Run(ctx, a.Store, id, key); err != nil {
		return fault.New(fault.Store, "not_published", "the run itself is kept, and `assay show "+id+"` shows it; with some space free `assay report "+id+
			" --format html --out report.html` and `assay archive "+id+"` make what is missing", "the report or the archive of run %s could not be made: %w", id, err)
	}
	return nil
}
