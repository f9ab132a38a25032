package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"assay/agent/events"
	"assay/agent/foreign"
	"assay/agent/node"
	"assay/agent/telemetry"
	"assay/containers"
	"assay/fault"
	"assay/plan"
	"assay/probes"
	"assay/redact"
	"assay/result"
	"assay/runner"
	"assay/store"
)

// execution is one run on its way through the phases. Its fields are what the phases hand on.
type execution struct {
	Config
	run  store.Run
	plan plan.Plan // file names resolved against its origin
	dir  string
	bus  *events.Bus
	log  *events.Log

	sut       probes.SUT   // the latest look at the machine
	levels    []node.Level // of the accelerators' memory, before anything was started
	asked     string       // why what was started is asked to stop: result.AskedAtEnd, …
	stops     []result.Stop
	checks    []probes.Check
	access    containers.Access
	specs     []containers.Spec // of each server
	preset    containers.Preset
	runtime   containers.Runtime
	server    containers.Instance
	serverID  containers.Identity
	model     string // name in requests
	router    containers.Instance
	routerKey string // what tells the router that runs from others
	routed    routed
	telemetry *telemetry.Recorder
	live      *atomic.Pointer[telemetry.Recorder] // who shows what is sampled looks here
	hide      *redact.Redactor                    // of what the plan only names
	identity  result.Identity
	omitBody  []string // optional body fields that the server refused
	prepared  runner.Prepared
	client    *foreign.Client // nil for the native one
}

// phase is one step of a run. undo takes back what do acquired, which may be part of it or nothing when do failed; it runs in
// reverse order under a context that no cancellation reaches.
type phase struct {
	name string
	do   func(context.Context) error
	undo func(context.Context) error
}

func (x *execution) phases() []phase {
	return []phase{
		{"preflight", x.preflight, nil},
		{"pull", x.pullAll, nil},
		{"start", x.startServer, x.stopServer},
		{"ready", x.waitReady, nil},
		{"telemetry", x.startTelemetry, x.stopTelemetry},
		{"points", x.measurePoints, x.stopRouter},
		{"collect", x.collect, nil},
	}
}

// execute runs the phases in order and then takes back what they acquired, also after a failure or a cancellation.
func (x *execution) execute(ctx context.Context) error {
	var begun []phase
	var err error
	for _, p := range x.phases() {
		begun = append(begun, p)
		if err = x.step(ctx, p.name, "", p.do); err != nil {
			break
		}
	}
	x.asked = askedBy(err, stopCause(ctx))
	return errors.Join(err, x.unwind(ctx, begun), x.awaitMemory(ctx, begun))
}

// unwind takes back what was acquired. Each undo has a limit of its own: one that takes long leaves no less time to the others.
func (x *execution) unwind(ctx context.Context, begun []phase) error {
	var errs []error
	for _, p := range slices.Backward(begun) {
		if p.undo == nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), x.undoLimit(p.name))
		errs = append(errs, x.step(ctx, "stop "+p.name, "", p.undo))
		cancel()
	}
	return errors.Join(errs...)
}

// undoLimit is how long it may take to take a phase back: servers have the grace that the plan gives each.
func (x *execution) undoLimit(phase string) time.Duration {
	switch phase {
	case "start":
		return time.Duration(max(1, x.plan.Server.Replicas)) * containers.StopLimit(x.plan.Server.Stop.Grace.Std())
	case "points":
		return containers.StopLimit(0)
	}
	return time.Minute
}

// step runs one phase, or one step of a point, and records when it began, when it ended and how.
func (x *execution) step(ctx context.Context, name, point string, do func(context.Context) error) error {
	safe := context.WithoutCancel(ctx)
	ph := result.Phase{Name: name, Point: point, StartedUS: x.nowUS()}
	x.emit(result.Event{Kind: result.PhaseStarted, Phase: name, Point: point})
	storeErr := x.Store.PutPhase(safe, x.run.ID, ph)
	err := ctx.Err()
	if err == nil {
		err = do(ctx)
	}
	ph.EndedUS = x.nowUS()
	text, state := "", result.State("")
	if err != nil {
		ph.Error = x.hide.Fault(fault.Of(err, layerOf(name)))
		text = ph.Error.Error()
		if cause := stopCause(ctx); cause != nil { // it did not fail, it was stopped
			state, _ = endState(x.run.ID, err, cause)
			text = cause.Error()
		}
		err = fmt.Errorf("%s: %w", name, err)
	}
	x.emit(result.Event{Kind: result.PhaseEnded, Phase: name, Point: point, Text: text, State: state})
	return errors.Join(err, storeErr, x.Store.PutPhase(safe, x.run.ID, ph))
}

// layerOf is the layer of an error that does not say its own.
func layerOf(phase string) fault.Layer {
	switch phase {
	case "preflight":
		return fault.Preflight
	case "pull":
		return fault.Image
	case "telemetry", "stop telemetry":
		return fault.Telemetry
	case "router", "routing", "stop points":
		return fault.Router
	case "measure", "points":
		return fault.Client
	case "collect":
		return fault.Store
	}
	return fault.Server
}

// emit publishes an event of this run and keeps it in the run's folder; progress is only live.
func (x *execution) emit(e result.Event) {
	e.Run, e.AtUS = x.run.ID, x.nowUS()
	if clean, err := redact.Value(x.hide, e); err == nil { // an event can always be written
		e = clean
	}
	e = x.bus.Publish(e)
	if !e.Live() {
		x.log.Append(e)
	}
}

// put keeps a document of the run in the store.
func (x *execution) put(ctx context.Context, kind string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", kind, err)
	}
	return x.Store.PutDocument(ctx, x.run.ID, kind, x.hide.JSON(b))
}

// path is a file of the run's folder.
func (x *execution) path(name string) string { return filepath.Join(x.dir, name) }
