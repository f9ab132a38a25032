package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"assay/agent/cell"
	"assay/agent/count"
	"assay/agent/telemetry"
	"assay/containers"
	"assay/fault"
	"assay/plan"
	"assay/redact"
	"assay/result"
	"assay/runner"
)

// exitNotice is how long after its connections a server's own end may be noticed.
const exitNotice = time.Second

// measurePoints measures every point that is not in the store yet: a resumed run goes on where it stopped.
func (x *execution) measurePoints(ctx context.Context) error {
	measured, err := x.measured(ctx)
	if err != nil {
		return err
	}
	points := x.plan.Points()
	var lost []error // points whose router ended: the next one has a new router
	for i, p := range points {
		if measured[p.ID] {
			continue
		}
		err := x.point(ctx, i, p)
		if err == nil {
			continue
		}
		if errors.As(err, &routerLost{}) && ctx.Err() == nil {
			lost = append(lost, err, x.keep(ctx, i, failed(points[i], err)), x.stopRouter(ctx))
			continue
		}
		if ctx.Err() != nil {
			return err // interrupted: what is missing can be resumed
		}
		return errors.Join(errors.Join(lost...), err, x.giveUp(ctx, i, points, err))
	}
	return errors.Join(lost...)
}

func (x *execution) measured(ctx context.Context) (map[string]bool, error) {
	points, err := x.Store.Points(ctx, x.run.ID)
	if err != nil {
		return nil, err
	}
	done := map[string]bool{}
	for _, p := range points {
		if p.State != result.PointFailed && p.State != result.PointSkipped {
			done[p.ID] = true
		}
	}
	return done, nil
}

// giveUp writes down the point that failed and those that were never tried.
func (x *execution) giveUp(ctx context.Context, at int, points []plan.Point, cause error) error {
	var errs []error
	for i := at; i < len(points); i++ {
		p := pointOf(points[i])
		p.State = result.PointSkipped
		p.Reasons = []result.Reason{{Code: "run_failed", Text: "not measured: the run failed at point " + points[at].ID}}
		if i == at {
			p = failed(points[i], cause)
		}
		errs = append(errs, x.keep(ctx, i, p))
	}
	return errors.Join(errs...)
}

// failed is a point that could not be measured.
func failed(point plan.Point, cause error) result.Point {
	f := fault.Of(cause, fault.Client)
	p := pointOf(point)
	p.State, p.Reasons = result.PointFailed, []result.Reason{{Code: f.Code, Text: f.Text}}
	return p
}

func (x *execution) keep(ctx context.Context, index int, p result.Point) error {
	p, err := redact.Value(x.hide, p)
	if err != nil {
		return err
	}
	if err := x.Store.PutPoint(ctx, x.run.ID, index, p); err != nil {
		return err
	}
	x.emit(result.Event{Kind: result.PointEnded, Point: p.ID, Result: &p})
	return nil
}

// pointOf starts a result from a plan's point.
func pointOf(p plan.Point) result.Point {
	r := result.Point{ID: p.ID, Phase: p.Phase, Reasons: []result.Reason{}}
	if p.Concurrency > 0 {
		r.Concurrency = &p.Concurrency
	}
	if p.Rate > 0 {
		r.Rate = &p.Rate
	}
	if p.Speed > 0 {
		r.Speed = &p.Speed
	}
	if p.Context > 0 {
		r.Context = &p.Context
	}
	if p.Router.Kind != "" && p.Router.Kind != plan.RouterNone {
		r.Router = p.Router.Kind
	}
	return r
}

// point measures one point: router, load with telemetry beside it, summary, verdict, store.
func (x *execution) point(ctx context.Context, index int, p plan.Point) error {
	x.emit(result.Event{Kind: result.PointStarted, Point: p.ID})
	out := pointOf(p)
	if over := x.overCapacity(p); over != nil {
		out.State, out.Reasons = result.PointOver, []result.Reason{*over}
		return x.keep(ctx, index, out)
	}
	if err := x.step(ctx, "router", p.ID, func(ctx context.Context) error { return x.useRouter(ctx, p) }); err != nil {
		return err
	}
	if x.router != nil {
		if err := x.step(ctx, "routing", p.ID, func(ctx context.Context) error { return x.lookAtRouter(ctx, p, &out) }); err != nil {
			return err
		}
	}
	before, counted := count.Read(ctx, x.server.BaseURLs(), x.preset, x.access)
	each := x.perServer(ctx)
	var m runner.Measurement
	var told runner.Reading
	err := x.step(ctx, "measure", p.ID, func(ctx context.Context) (err error) {
		m, told, err = x.measure(ctx, p)
		if err == nil && m.Foreign != nil {
			told, err = x.adopt(ctx, p, m, &out)
		}
		return err
	})
	if err != nil {
		return err
	}
	if m.Foreign == nil {
		x.judge(p, m, told, &out)
	}
	if after, ok := count.Read(ctx, x.server.BaseURLs(), x.preset, x.access); ok && counted {
		x.compareCounts(count.Of(before, after, told), m, told, &out)
	}
	x.judgeRouter(p, each, x.perServer(ctx), &out)
	measured := x.sut.Accelerators // as they were before: what is lost meanwhile was measured too
	x.drift(ctx, &out)
	out.Energy = telemetry.Used(out, measured)
	return x.keep(ctx, index, out)
}

// measure makes the point's load and reads its recording back: what is told is made of what stands on disk, so that everyone who reads it
// gets the same numbers.
func (x *execution) measure(ctx context.Context, p plan.Point) (runner.Measurement, runner.Reading, error) {
	m, err := x.load(ctx, p)
	if err != nil || m.Foreign != nil {
		return m, runner.Reading{}, err
	}
	told, err := runner.PassOf(x.plan, p, m.Window, m.Issue).File(x.path(m.File.Path))
	if err != nil {
		return m, told, fmt.Errorf("point %s: %w", p.ID, err)
	}
	return m, told, x.survived(ctx, told.Broken > 0)
}

// survived looks once more whether the server or the router has ended when connections broke: they break before its end is noticed.
func (x *execution) survived(ctx context.Context, broken bool) error {
	if !broken {
		return nil
	}
	limit := exitNotice
	if containers.InDoubt(x.server) || x.router != nil && containers.InDoubt(x.router) {
		limit = containers.DoubtLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	server, router := x.exits()
	select {
	case exit, told := <-server:
		return exitOf(ctx, x.server, exit, told)
	case exit, told := <-router:
		return routerLost{exitOf(ctx, x.router, exit, told)}
	case <-ctx.Done():
		return nil
	}
}

// load runs the client and fails when the server or the router ended meanwhile: what was recorded then is no measurement.
func (x *execution) load(ctx context.Context, p plan.Point) (runner.Measurement, error) {
	client, err := runner.ClientNamed(x.plan.Client.Kind)
	if err != nil {
		return runner.Measurement{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	served := make(chan struct{})
	defer close(served)
	server, router := x.exits()
	go func() {
		select {
		case exit, told := <-server:
			cancel(exitOf(ctx, x.server, exit, told))
		case exit, told := <-router:
			cancel(routerLost{exitOf(ctx, x.router, exit, told)})
		case <-served:
		}
	}()
	x.telemetry.Mark(ctx)
	m, err := client.Run(ctx, x.job(p), x.progress(p.ID))
	x.telemetry.Settle(ctx)
	if cause := context.Cause(ctx); ended(cause) {
		return m, cause
	}
	return m, err
}

func (x *execution) job(p plan.Point) runner.Job {
	base := x.server.BaseURLs()
	if x.router != nil {
		base = x.router.BaseURLs()
	}
	return runner.Job{Run: x.run.ID, Plan: x.plan, Point: p, BaseURLs: base, Model: x.model, Access: runner.Access(x.access),
		Dir: x.dir, Dataset: x.plan.Workload.Dataset.Path, OmitBody: x.omitBody, Engine: x.telemetry.Engine, Prepared: &x.prepared,
		Start: x.startClient}
}

func (x *execution) progress(point string) func(runner.Progress) {
	return func(p runner.Progress) {
		live := result.Progress{Stage: p.Stage, Done: p.Elapsed.Seconds(), Total: p.Total.Seconds(), Unit: "s",
			InFlight: p.InFlight, Failed: p.Failed, TPS: p.TPS, TTFTMS: p.TTFTMS}
		if p.Wanted > 0 && p.Total == 0 {
			live.Done, live.Total, live.Unit = float64(p.Done), float64(p.Wanted), "requests"
		}
		event := result.Event{Kind: result.Progressed, Point: point, Progress: &live}
		if p.Asking != "" {
			event.Text = "asks how the server counts: " + p.Asking
		}
		x.emit(event)
	}
}

// judge tells of a point what its recording and its telemetry give.
func (x *execution) judge(p plan.Point, m runner.Measurement, told runner.Reading, out *result.Point) {
	told.Tell(&m.Client)
	out.Metrics, out.MLPerf, out.Inside, out.Cell = &told.Metrics, told.MLPerf, told.Inside, told.Cell
	out.Client, out.Notes, out.Warmup = &m.Client, m.Notes, (*result.Warmup)(told.WarmedUp(p, m))
	epoch := told.Header.EpochUS
	out.Window = &result.Window{StartedUS: epoch + m.Window.StartUS, EndedUS: epoch + m.Window.EndUS,
		DurationS: float64(m.Window.EndUS-m.Window.StartUS) / 1e6}
	out.Recording = &result.Recording{Path: m.File.Path, SHA256: m.File.SHA256, Requests: m.File.Requests, Events: m.File.Events, EpochUS: epoch,
		WindowUS: [2]int64{m.Window.StartUS, m.Window.EndUS}, IssueUS: [2]int64{m.Issue.StartUS, m.Issue.EndUS}}
	out.Request = x.firstRequest(m)
	all := x.telemetry.Samples()
	samples := telemetry.Within(all, out.Window.StartedUS, out.Window.EndedUS)
	out.Telemetry = telemetry.Summarise(all, out.Window.StartedUS, out.Window.EndedUS)
	out.Notes = append(out.Notes, telemetry.Doubts(out.Telemetry)...)
	state, reasons := told.Verdict(p, m)
	out.State = result.PointState(state)
	for _, r := range reasons {
		out.Reasons = append(out.Reasons, result.Reason(r))
	}
	cell.Judge(p, x.plan.Workload.Lengths, m, told, samples, out)
	x.learn(m)
}

// firstRequest tells of the point's first measured request where its body is kept; nil when there was none, or when it is gone.
func (x *execution) firstRequest(m runner.Measurement) *result.Request {
	if m.FirstBody == "" {
		return nil
	}
	sum, err := containers.FileSHA256(x.path(m.FirstBody))
	if err != nil {
		x.note("the first request's body cannot be read: " + err.Error())
		return nil
	}
	return &result.Request{Path: m.FirstBody, SHA256: sum}
}

// learn keeps what the client found out for the next points and for the result.
func (x *execution) learn(m runner.Measurement) {
	for _, r := range m.Refused {
		if !slices.Contains(x.omitBody, r.Field) {
			x.omitBody = append(x.omitBody, r.Field)
		}
		x.note(r.String())
	}
	if m.Dataset != "" {
		x.identity.Dataset.SHA256 = m.Dataset
	}
}

// overCapacity tells that a cell of the matrix does not fit the engine.
func (x *execution) overCapacity(p plan.Point) *result.Reason {
	if x.plan.Protocol.Matrix == nil {
		return nil
	}
	return cell.OverCapacity(p, x.plan.Protocol.Matrix.MaxTokens, x.serverID.KVTokens)
}
