package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"assay/agent/cron"
	"assay/agent/events"
	"assay/agent/secrets"
	"assay/agent/telemetry"
	"assay/fault"
	"assay/plan"
	"assay/probes"
	"assay/result"
	"assay/store"
)

// Agent executes runs, one at a time: accelerators are not shared. It is what both a single `assay run` and the daemon use.
type Agent struct {
	Config
	bus  *events.Bus
	wake chan struct{} // something was queued

	entry     sync.Mutex                         // a run is queued whole: its row and its origin
	live      atomic.Pointer[telemetry.Recorder] // of the run being executed; nil while it samples nothing
	hide      atomic.Pointer[secrets.Given]      // of the run being executed
	schedules atomic.Pointer[cron.Scheduler]     // nil without Run
	mu        sync.Mutex
	current   string                  // id of the run being executed
	cancel    context.CancelCauseFunc // of the run being executed
	unsealed  runEnd                  // of the run that ended last, when it could not be written down
}

// New makes an agent over an open store whose lock the caller holds.
func New(c Config) *Agent {
	return &Agent{Config: c, bus: events.NewBus(c.nowUS()), wake: make(chan struct{}, 1)}
}

// Submit queues a plan. A key that was used before gives the run it made then.
func (a *Agent) Submit(ctx context.Context, p plan.Plan, key string, from Origin) (store.Run, error) {
	now := a.Now()
	run := store.Run{ID: store.NewRunID(now), Name: p.Name, State: result.Queued, Plan: p.Canonical(), PlanSHA256: p.Hash(),
		Source: from.Source, Key: key, CreatedUS: now.UnixMicro(), Points: len(p.Points())}
	if err := a.accept(p, from); err != nil {
		return store.Run{}, err
	}
	err := a.enter(ctx, run, from)
	if errors.Is(err, store.ErrExists) {
		return a.Store.RunByKey(ctx, key) // the same submission came twice
	}
	if err != nil {
		return store.Run{}, err
	}
	a.announce(result.Event{Kind: result.RunQueued, Run: run.ID, State: result.Queued, Text: run.Name})
	a.rouse()
	return run, nil
}

func (a *Agent) enter(ctx context.Context, run store.Run, from Origin) error {
	b, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("encode the plan's origin: %w", err)
	}
	a.entry.Lock()
	defer a.entry.Unlock()
	if err := a.Store.CreateRun(ctx, run); err != nil {
		return err
	}
	err = a.Store.PutDocument(ctx, run.ID, docOrigin, b)
	if err == nil {
		return nil
	}
	safe := context.WithoutCancel(ctx) // a run without its origin must not be executed
	return errors.Join(err, a.Store.MoveRun(safe, run.ID, result.Canceled, store.RunChange{AtUS: a.nowUS()}), a.Store.DeleteRun(safe, run.ID))
}

// rouse tells the daemon's loop that something is queued.
func (a *Agent) rouse() {
	select {
	case a.wake <- struct{}{}:
	default: // already awake
	}
}

// Resume queues a run that ended early again; its measured points stay.
func (a *Agent) Resume(ctx context.Context, id string) error {
	if err := a.Store.MoveRun(ctx, id, result.Queued, store.RunChange{AtUS: a.nowUS(), Resume: true}); err != nil {
		return err
	}
	a.announce(result.Event{Kind: result.RunQueued, Run: id, State: result.Queued})
	a.rouse()
	return nil
}

// Cancel ends a queued run at once and tells a running one to stop.
func (a *Agent) Cancel(ctx context.Context, id string) error {
	a.mu.Lock() // until it is sealed: a queued run must not begin meanwhile
	defer a.mu.Unlock()
	if a.current == id {
		a.cancel(errCanceled)
		return nil
	}
	run, err := a.Store.Run(ctx, id)
	if err != nil {
		return err
	}
	if run.State != result.Queued {
		return fault.New(fault.Store, "run_ended", "only queued and running runs can be canceled", "run %s is %s", id, run.State)
	}
	_, f := endState(id, nil, errCanceled)
	if _, err := a.seal(ctx, id, result.Canceled, f); err != nil {
		return err
	}
	a.ended(id, result.Canceled, result.NotValid, f)
	return nil
}

// Events streams what happens from now on, after the events that came after seq and are still kept. With seq 0 and a run it begins
// where the run was queued last.
func (a *Agent) Events(ctx context.Context, seq int64, run string) (<-chan result.Event, error) {
	if seq == 0 && run != "" {
		seq = a.bus.Begin(run)
	}
	return a.bus.Subscribe(ctx, seq), nil
}

// Live tells whether a run is under way, and the latest sample of each of its series while it samples any.
func (a *Agent) Live() (samples []probes.Sample, running bool) {
	if r := a.live.Load(); r != nil {
		samples = r.Latest()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return samples, a.current != ""
}

// Probe reads the machine now.
func (a *Agent) Probe(ctx context.Context) (probes.SUT, []probes.Check, error) {
	sut := probes.Read(ctx, a.Host, a.Program)
	return sut, probes.Evaluate(probes.CheckRequest{SUT: sut}), nil
}

// Execute executes a queued run, or resumes one that ended early, and seals it. It returns the result document; the error is about
// the executing itself (a store that cannot be written), not about how the run went.
func (a *Agent) Execute(ctx context.Context, id string) (result.Result, error) {
	return a.execute(ctx, id, true)
}

func (a *Agent) execute(ctx context.Context, id string, resume bool) (result.Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := a.begin(ctx, id, resume, cancel); err != nil {
		return result.Result{}, err
	}
	defer a.free()
	safe := context.WithoutCancel(ctx)
	runErr := a.attempt(ctx, id)
	state, f := endState(id, runErr, stopCause(ctx))
	f = a.Redactor(id).Fault(f)
	r, err := a.seal(safe, id, state, f)
	if err != nil {
		a.unsealed = runEnd{id, state, f}
		return r, fault.New(fault.Store, "not_sealed", "free some space; the run is repaired at the next start", "run %s ended but could not be written down: %w", id, err)
	}
	err = a.publish(safe, id)
	a.ended(id, state, r.Run.Verdict, f)
	return r, err
}

// errNotQueued means that a run of the queue was canceled before it began.
var errNotQueued = errors.New("the run is not queued any more")

// begin makes a run the one that is executed. Only with resume it may have ended before.
func (a *Agent) begin(ctx context.Context, id string, resume bool, cancel context.CancelCauseFunc) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.Store.MoveRun(context.WithoutCancel(ctx), id, result.Running, store.RunChange{AtUS: a.nowUS(), Resume: resume})
	if errors.Is(err, store.ErrConflict) && !resume {
		return errors.Join(errNotQueued, err)
	}
	if err != nil {
		return err
	}
	a.current, a.cancel = id, cancel
	return nil
}

func (a *Agent) free() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.current, a.cancel = "", nil
	if h := a.hide.Load(); h != nil && h.Run != a.unsealed.run { // else its files are still to be swept
		a.hide.Store(nil)
	}
}

// stopCause is why a run was told to stop; nil when it was not.
func stopCause(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return errStopping
}

// attempt prepares a run's folder and executes its phases.
func (a *Agent) attempt(ctx context.Context, id string) (err error) {
	run, err := a.Store.Run(ctx, id)
	if err != nil {
		return err
	}
	x := &execution{Config: a.Config, run: run, bus: a.bus, live: &a.live, dir: a.Store.RunDir(id)}
	p, err := plan.Parse(run.Plan)
	if err != nil {
		return err
	}
	from, err := a.originOf(ctx, run)
	if err != nil {
		return err
	}
	if x.plan, err = a.admit(p, from); err != nil { // again: a link may lead elsewhere by now, and the list may be another
		return err
	}
	if err := x.makeFolder(p); err != nil {
		return err
	}
	if x.log, err = events.Open(x.dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.log.Close()) }()
	given := secrets.Given{Run: id, Known: secrets.Of(x.plan, a.Token)}
	x.hide = given.By()
	a.hide.Store(&given)
	if err := secrets.Hold(ctx, a.Store, given); err != nil {
		return err
	}
	x.emit(result.Event{Kind: result.RunStarted, State: result.Running, Text: run.Name})
	if err := a.clear(ctx, x.plan); err != nil {
		return err
	}
	return x.execute(ctx)
}

// makeFolder makes the run's folder and puts the plan into it as people read it.
func (x *execution) makeFolder(p plan.Plan) error {
	err := os.MkdirAll(x.path("recordings"), 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(x.dir, "plan.yaml"), p.YAML(), 0o600)
	}
	if err != nil {
		return fault.New(fault.Store, "not_writable", "choose another directory with --data, or free some space", "make the run's folder: %w", err)
	}
	return nil
}

func (a *Agent) ended(id string, state result.State, verdict string, f *fault.Fault) {
	text := ""
	if f != nil {
		text = f.Error()
	}
	a.announce(result.Event{Kind: result.RunEnded, Run: id, State: state, Verdict: verdict, Text: text})
}
