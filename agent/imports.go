package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"assay/agent/intake"
	"assay/agent/verdict"
	"assay/probes"
	"assay/result"
	"assay/runner/imported"
	"assay/runner/metrics"
	"assay/store"
)

// FromImport is the source of a run that another client measured.
const FromImport = "import"

// Import keeps what another client measured as a run that has ended: its files, a recording of each point that has requests, the result, the
// report and the archive. sut is the machine that was measured, nil when nobody says. It starts nothing, so it needs no lock.
func (a *Agent) Import(ctx context.Context, found imported.Found, sut *probes.SUT) (result.Result, error) {
	files, err := intake.Files(found)
	if err != nil {
		return result.Result{}, err
	}
	document, sum, err := found.Document(files)
	if err != nil {
		return result.Result{}, err
	}
	now := a.Now()
	run := store.Run{ID: store.NewRunID(now), Name: found.Name(), State: result.Running, Plan: document, PlanSHA256: sum, Source: FromImport,
		CreatedUS: now.UnixMicro(), Points: len(found.Report.Points)}
	run.StartedUS, run.EndedUS = found.Times(run.CreatedUS)
	if err := a.Store.CreateRun(ctx, run); err != nil {
		return result.Result{}, err
	}
	r, err := a.keepImport(ctx, run, found, sut)
	if err != nil {
		safe := context.WithoutCancel(ctx) // a part of it is of no use
		return r, errors.Join(err, a.Store.MoveRun(safe, run.ID, result.Canceled, store.RunChange{AtUS: a.nowUS()}), a.Store.DeleteRun(safe, run.ID))
	}
	return r, a.publish(ctx, run.ID)
}

func (a *Agent) keepImport(ctx context.Context, run store.Run, found imported.Found, sut *probes.SUT) (result.Result, error) {
	dir := a.Store.RunDir(run.ID)
	if err := intake.Copy(found, dir); err != nil {
		return result.Result{}, err
	}
	points, err := found.Points(dir, run.ID)
	if err != nil {
		return result.Result{}, err
	}
	var sums []*metrics.Summary
	for _, p := range points {
		sums = append(sums, p.Metrics)
	}
	metrics.Utilize(sums)
	for i, p := range points {
		if err := a.Store.PutPoint(ctx, run.ID, i, p); err != nil {
			return result.Result{}, err
		}
	}
	documents := map[string]any{store.Identity: found.Identity(sut != nil)}
	if sut != nil {
		documents[store.SUTBefore] = sut
	}
	for kind, v := range documents {
		if err := a.putDocument(ctx, run.ID, kind, v); err != nil {
			return result.Result{}, err
		}
	}
	return a.sealImport(ctx, run, points)
}

func (a *Agent) putDocument(ctx context.Context, id, kind string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", kind, err)
	}
	return a.Store.PutDocument(ctx, id, kind, b)
}

// sealImport ends the run at the instant at which its tool did.
func (a *Agent) sealImport(ctx context.Context, run store.Run, points []result.Point) (result.Result, error) {
	judged, reasons := verdict.Of(result.Done, points, nil)
	run.State, run.Verdict = result.Done, judged
	r, err := a.document(ctx, run, points, reasons)
	if err != nil {
		return r, err
	}
	if _, err := a.Store.SaveResult(ctx, run.ID, r); err != nil {
		return r, err
	}
	return r, a.Store.MoveRun(ctx, run.ID, result.Done, store.RunChange{AtUS: run.EndedUS, Verdict: judged, Reasons: reasons})
}
