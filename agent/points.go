package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"assay/containers"
	"assay/fault"
	"assay/plan"
	"assay/probes"
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
	for i, p := range points {
		if measured[p.ID] {
			continue
		}
		err := x.point(ctx, i, p)
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			return err // interrupted: what is missing can be resumed
		}
		return errors.Join(err, x.giveUp(ctx, i, points, err))
	}
	return nil
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
	f := fault.Of(cause, fault.Client)
	var errs []error
	for i := at; i < len(points); i++ {
		p := pointOf(points[i])
		p.State = result.PointSkipped
		p.Reasons = []result.Reason{{Code: "run_failed", Text: "not measured: the run failed at point " + points[at].ID}}
		if i == at {
			p.State = result.PointFailed
			p.Reasons = []result.Reason{{Code: f.Code, Text: f.Text}}
		}
		errs = append(errs, x.keep(ctx, i, p))
	}
	return errors.Join(errs...)
}

func (x *execution) keep(ctx context.Context, index int, p result.Point) error {
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
	if err := x.step(ctx, "router", p.ID, func(ctx context.Context) error { return x.useRouter(ctx, p.Router) }); err != nil {
		return err
	}
	before, counted := x.counters(ctx)
	var m runner.Measurement
	var told runner.Reading
	err := x.step(ctx, "measure", p.ID, func(ctx context.Context) (err error) {
		m, told, err = x.measure(ctx, p)
		return err
	})
	if err != nil {
		return err
	}
	x.judge(p, m, told, &out)
	if after, ok := x.counters(ctx); ok && counted {
		compareCounts(before, after, told, &out)
	}
	x.drift(ctx, &out)
	return x.keep(ctx, index, out)
}

// measure makes the point's load and reads its recording back: what is told is made of what stands on disk, so that everyone who reads it
// gets the same numbers.
func (x *execution) measure(ctx context.Context, p plan.Point) (runner.Measurement, runner.Reading, error) {
	m, err := x.load(ctx, p)
	if err != nil {
		return m, runner.Reading{}, err
	}
	told, err := runner.PassOf(x.plan, p, m.Window, m.Issue).File(x.path(m.File.Path))
	if err != nil {
		return m, told, fmt.Errorf("point %s: %w", p.ID, err)
	}
	return m, told, x.survived(ctx, told.Broken > 0)
}

// survived looks once more whether the server has ended when connections broke: they break before its end is noticed.
func (x *execution) survived(ctx context.Context, broken bool) error {
	if !broken || x.server.Exited() == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, exitNotice)
	defer cancel()
	select {
	case exit := <-x.server.Exited():
		return containers.ExitFault(x.server, exit)
	case <-ctx.Done():
		return nil
	}
}

// load runs the client and fails when the server ended meanwhile: what was recorded then is no measurement.
func (x *execution) load(ctx context.Context, p plan.Point) (runner.Measurement, error) {
	client, err := runner.ClientNamed(x.plan.Client.Kind)
	if err != nil {
		return runner.Measurement{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	served := make(chan struct{})
	defer close(served)
	go func() {
		select {
		case exit := <-x.server.Exited():
			cancel(containers.ExitFault(x.server, exit))
		case <-served:
		}
	}()
	x.telemetry.mark()
	m, err := client.Run(ctx, x.job(p), x.progress(p.ID))
	if cause := fault.Of(context.Cause(ctx), fault.Client); cause != nil && cause.Code == "server.exited" {
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
		Dir: x.dir, Dataset: x.plan.Workload.Dataset.Path, OmitBody: x.omitBody, Engine: x.telemetry.engine, Prepared: &x.prepared}
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
	out.Client, out.Notes = &m.Client, m.Notes
	epoch := told.Header.EpochUS
	out.Window = &result.Window{StartedUS: epoch + m.Window.StartUS, EndedUS: epoch + m.Window.EndUS,
		DurationS: float64(m.Window.EndUS-m.Window.StartUS) / 1e6}
	out.Recording = &result.Recording{Path: m.File.Path, SHA256: m.File.SHA256, Requests: m.File.Requests, Events: m.File.Events, EpochUS: epoch,
		WindowUS: [2]int64{m.Window.StartUS, m.Window.EndUS}, IssueUS: [2]int64{m.Issue.StartUS, m.Issue.EndUS}}
	out.Request = x.firstRequest(m)
	samples := x.telemetry.within(out.Window.StartedUS, out.Window.EndedUS)
	out.Telemetry = summarise(samples)
	state, reasons := told.Verdict(p, m)
	out.State = result.PointState(state)
	for _, r := range reasons {
		out.Reasons = append(out.Reasons, result.Reason(r))
	}
	x.judgeCell(p, m, told, samples, out)
	x.learn(m)
}

// firstRequest tells of the point's first measured request where its body is kept; nil when there was none, or when it is gone.
func (x *execution) firstRequest(m runner.Measurement) *result.Request {
	if m.FirstBody == "" {
		return nil
	}
	sum, err := hashFile(x.path(m.FirstBody))
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

// drift looks at the machine again and makes what changed since the last look a reason of the point.
func (x *execution) drift(ctx context.Context, out *result.Point) {
	now := probes.Read(ctx, x.Host, x.Program)
	for _, c := range probes.Drift(x.sut, now) {
		out.Reasons = append(out.Reasons, result.Reason{Code: "drift." + c.Code, Text: c.Text, Evidence: c.Evidence})
		if out.State == result.PointValid {
			out.State = result.PointNotValid
		}
	}
	x.sut = now
}
