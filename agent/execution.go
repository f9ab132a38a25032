package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"assay/containers"
	"assay/fault"
	"assay/plan"
	"assay/probes"
	"assay/result"
	"assay/runner"
	"assay/store"
)

// undoLimit bounds all cleaning up after a run, whatever its servers do.
const undoLimit = 60 * time.Second

// execution is one run on its way through the phases. Its fields are what the phases hand on.
type execution struct {
	Config
	run  store.Run
	plan plan.Plan // file names resolved against its origin
	dir  string
	bus  *bus
	log  *eventLog

	sut       probes.SUT // the latest look at the machine
	access    containers.Access
	spec      containers.Spec
	preset    containers.Preset
	runtime   containers.Runtime
	server    containers.Instance
	serverID  containers.Identity
	model     string // name in requests
	router    containers.Instance
	routerKey string // what tells the router that runs from others
	telemetry *telemetry
	identity  result.Identity
	omitBody  []string // optional body fields that the server refused
	prepared  runner.Prepared
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
		{"pull", x.pull, nil},
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
	return errors.Join(err, x.unwind(ctx, begun))
}

func (x *execution) unwind(ctx context.Context, begun []phase) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	var errs []error
	for i := len(begun) - 1; i >= 0; i-- {
		if begun[i].undo == nil {
			continue
		}
		errs = append(errs, x.step(ctx, "stop "+begun[i].name, "", begun[i].undo))
	}
	return errors.Join(errs...)
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
		ph.Error = fault.Of(err, layerOf(name))
		text = ph.Error.Error()
		if cause := context.Cause(ctx); cause != nil { // it did not fail, it was stopped
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
	case "router", "stop points":
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
	e = x.bus.publish(e)
	if e.Kind != result.Progressed {
		x.log.append(e)
	}
}

// put keeps a document of the run in the store.
func (x *execution) put(ctx context.Context, kind string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", kind, err)
	}
	return x.Store.PutDocument(ctx, x.run.ID, kind, b)
}

// path is a file of the run's folder.
func (x *execution) path(name string) string { return filepath.Join(x.dir, name) }
