package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"assay/agent/access"
	"assay/agent/cell"
	"assay/agent/fit"
	"assay/agent/node"
	"assay/agent/proof"
	"assay/agent/telemetry"
	"assay/agent/weights"
	"assay/containers"
	"assay/fault"
	"assay/plan"
	"assay/probes"
	"assay/result"
	"assay/store"
)

// preflight looks at the machine and at everything the plan names, and refuses what cannot give a result, before anything is started.
func (x *execution) preflight(ctx context.Context) error {
	x.sut = probes.ReadAtRest(ctx, x.Host, x.Program)
	var refused error
	if x.sut, refused = x.keeper(x.emit).Before(ctx, x.sut, x.run.ID); refused != nil {
		if _, err := x.Store.Document(ctx, x.run.ID, store.SUTBefore); errors.Is(err, store.ErrNotFound) {
			refused = errors.Join(refused, x.put(ctx, store.SUTBefore, x.sut)) // the machine is described all the same
		}
		return refused
	}
	if err := x.sameMachine(ctx); err != nil {
		return err
	}
	x.levels = node.Levels(x.sut)
	x.checks = probes.Evaluate(CheckRequest(ctx, x.Host, x.sut, x.plan))
	if err := errors.Join(x.put(ctx, store.SUTBefore, x.sut), x.put(ctx, store.Checks, x.checks)); err != nil {
		return err
	}
	if err := fit.Files(x.plan); err != nil {
		return err
	}
	if err := fit.Refuse(x.checks); err != nil {
		return err
	}
	if err := fit.Dataset(x.plan.Workload.Dataset, x.prepared.Hasher(ctx)); err != nil {
		return err
	}
	if err := weights.Check(x.plan, x.Token); err != nil {
		return err
	}
	if err := fit.Client(ctx, x.plan); err != nil {
		return err
	}
	if err := x.checkRouters(); err != nil {
		return err
	}
	if err := x.checkSecrets(); err != nil {
		return err
	}
	return x.identify(ctx)
}

// sameMachine refuses to go on with a run whose measured points were measured on another machine, or on this one before it changed.
func (x *execution) sameMachine(ctx context.Context) error {
	measured, err := x.measured(ctx)
	if err != nil || len(measured) == 0 {
		return err
	}
	var before *probes.SUT
	if err := x.readDocument(ctx, x.run.ID, store.SUTBefore, &before); err != nil || before == nil {
		return err
	}
	return fit.SameMachine(*before, x.sut)
}

func (x *execution) checkSecrets() (err error) {
	x.access, err = access.Of(x.plan, x.Token)
	return err
}

// identify writes down what the plan pins, before any of it is used.
func (x *execution) identify(ctx context.Context) error {
	p := x.plan
	var earlier result.Identity // of the part of the run that was measured before it was resumed
	if err := x.readDocument(ctx, x.run.ID, store.Identity, &earlier); err != nil {
		return err
	}
	if err := x.readDocument(ctx, x.run.ID, store.Stops, &x.stops); err != nil {
		return err
	}
	model, err := proof.Model(p)
	if err != nil {
		return err
	}
	sum, err := weights.Digest(ctx, p, x.dir, filepath.Join(x.Store.Dir(), "digests.json"), x.hashing)
	if err != nil {
		return err
	}
	model.SHA256 = cmp.Or(sum, model.SHA256)
	x.identity = result.Identity{
		Notes: earlier.Notes, Routers: earlier.Routers,
		Model:   model,
		Dataset: result.DatasetIdentity{Kind: p.Workload.Kind, Path: p.Workload.Dataset.Path, SHA256: p.Workload.Dataset.SHA256, Seed: fmt.Sprint(p.Workload.Seed)},
		Client:  result.ClientIdentity{Kind: p.Client.Kind, Version: x.Program.Version},
	}
	if p.Workload.Dataset.Builtin != "" {
		x.identity.Dataset.Path = "builtin:" + p.Workload.Dataset.Builtin
	}
	for _, remark := range fit.Remarks(p) {
		x.note(remark)
	}
	return x.put(ctx, store.Identity, x.identity)
}

// note adds a remark to the result's identity, once.
func (x *execution) note(text string) {
	if !slices.Contains(x.identity.Notes, text) {
		x.identity.Notes = append(x.identity.Notes, text)
	}
}

// pull resolves what to start and gets its image by digest.
func (x *execution) pull(ctx context.Context) error {
	specs, preset, err := containers.ServerSpecs(x.plan, x.specOptions())
	if err != nil {
		return err
	}
	if x.runtime, err = containers.RuntimeNamed(specs[0].Runtime, x.Docker); err != nil {
		return err
	}
	x.preset = preset
	x.specs, err = x.prepare(ctx, x.runtime, "server", specs...)
	return err
}

// prepare gets the image of servers or of a router, and notes what a reader of the result must know of it.
func (x *execution) prepare(ctx context.Context, rt containers.Runtime, role string, specs ...containers.Spec) ([]containers.Spec, error) {
	specs, err := containers.PrepareAll(ctx, rt, specs, x.pulling)
	if err != nil {
		return nil, err
	}
	if rt.Name() == "docker" && x.Docker.Remote {
		x.note("the container engine is on another machine, at " + x.Docker.Host + ": what stands here of the machine is of this one")
	}
	for _, remark := range specs[0].Prepared.Remarks(role) {
		x.note(remark)
	}
	for _, s := range specs {
		for _, remark := range s.Remarks {
			x.note(remark)
		}
	}
	return specs, nil
}

func (x *execution) specOptions() containers.SpecOptions {
	return containers.SpecOptions{Owner: x.Owner, Journal: x.journal(), Run: x.run.ID, Dir: x.dir, Executable: x.Executable, Getenv: x.Token, Unpinned: x.plan.Unpinned,
		Remote: x.Docker.Remote && x.plan.Server.Runtime == "docker"}
}

func (x *execution) hashing(done, total int64) {
	x.emit(result.Event{Kind: result.Progressed, Phase: "preflight", Text: "hashing the model",
		Progress: &result.Progress{Stage: "hash", Done: float64(done), Total: float64(total), Unit: "bytes"}})
}

func (x *execution) pulling(p containers.Pull) {
	x.emit(result.Event{Kind: result.Progressed, Phase: "pull", Text: p.Status,
		Progress: &result.Progress{Stage: "pull", Done: float64(p.Done), Total: float64(p.Total), Unit: "bytes"}})
}

func (x *execution) startServer(ctx context.Context) (err error) {
	ready := x.plan.Server.Ready
	limit := cmp.Or(ready.Process, ready.Timeout).Std()
	late := fault.New(fault.Server, "not_started", "look at what the container engine and the GPU's driver are doing (dmesg); server.ready.process gives more time",
		"the server was not started within %s", limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, late)
	defer cancel()
	x.server, err = containers.StartAll(ctx, x.runtime, x.specs)
	if err != nil && errors.Is(context.Cause(ctx), late) {
		return errors.Join(late, err)
	}
	if err != nil {
		return err
	}
	return errors.Join(x.identifyServer(containers.Started(x.server)), x.put(ctx, store.Identity, x.identity)) // also of one that will not get ready
}

func (x *execution) identifyServer(id containers.Identity) (err error) {
	if x.identity.Server, err = json.Marshal(id); err != nil {
		return fmt.Errorf("encode the server's identity: %w", err)
	}
	return nil
}

func (x *execution) stopServer(ctx context.Context) error {
	if x.server == nil {
		return nil
	}
	x.tellOfGrace()
	return x.end(ctx, x.server)
}

// waitReady waits until the server streams a token, and writes down what it says it is.
func (x *execution) waitReady(ctx context.Context) error {
	if x.model = x.plan.Model.Served; x.model == plan.AnyModel {
		x.model = ""
	}
	r := x.plan.Server.Ready
	opt := x.readyOptions(r.Timeout.Std())
	opt.Port, opt.Health, opt.List, opt.Token, opt.Idle = r.Port.Std(), r.Health.Std(), r.Model.Std(), r.Token.Std(), r.Idle.Std()
	id, err := containers.Ready(ctx, x.server, x.preset, opt, func(stage string) {
		x.emit(result.Event{Kind: result.Progressed, Phase: "ready", Text: stage, Progress: &result.Progress{Stage: "ready"}})
	})
	if err != nil {
		return err
	}
	id.Inside = containers.Inside(ctx, x.server)
	x.serverID = id
	if strings.Contains(id.Version, ", ") {
		x.note("the servers run different versions: " + id.Version)
	}
	if x.model == "" {
		x.model = id.Models[0] // Ready saw at least one, or it had failed
	}
	if err := x.identifyServer(id); err != nil {
		return err
	}
	x.identity.Model.Served, x.identity.Model.Listed = x.model, id.Models
	if note := proof.Confirm(&x.identity.Model, x.plan, id); note != "" {
		x.note(note)
	}
	x.ownProcesses(ctx)
	found := proof.Checks(proof.Request{Plan: x.plan, Server: id, Model: x.identity.Model, CPUs: runtime.NumCPU()})
	x.checks = append(x.checks, found...)
	return errors.Join(x.put(ctx, store.Identity, x.identity), x.put(ctx, store.Checks, x.checks), fit.RefuseServer(found))
}

func (x *execution) readyOptions(timeout time.Duration) containers.ReadyOptions {
	return containers.ReadyOptions{Timeout: timeout, Model: x.model, Access: x.access, Endpoint: x.plan.Server.Endpoint,
		Said: func(line string) { x.emit(result.Event{Kind: result.Logged, Text: line}) }}
}

func (x *execution) startTelemetry(ctx context.Context) (err error) {
	every := x.plan.Telemetry.Interval.Std()
	var sources []telemetry.Source
	for _, s := range probes.Samplers(x.Host) {
		sources = append(sources, telemetry.Source{Sampler: s, Every: every})
	}
	if x.plan.Protocol.Matrix != nil {
		every = min(every, cell.Interval)
	}
	if x.preset.MetricsPath == "" {
		x.note("engine " + x.preset.Name + " has no metrics")
	} else {
		engine := telemetry.Engine{BaseURLs: x.server.BaseURLs(), Preset: x.preset, Access: x.access}
		sources = append(sources, telemetry.Source{Sampler: engine, Every: every})
	}
	x.telemetry, err = telemetry.Start(context.WithoutCancel(ctx), x.dir, sources)
	x.live.Store(x.telemetry)
	return err
}

func (x *execution) stopTelemetry(ctx context.Context) error {
	if x.telemetry == nil {
		return nil
	}
	x.live.Store(nil)
	lost, err := x.telemetry.Close()
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		x.note(fmt.Sprintf("telemetry source %s failed at times: %s", name, lost[name]))
	}
	return errors.Join(err, x.put(ctx, store.Identity, x.identity))
}

// collect looks at the machine once more.
func (x *execution) collect(ctx context.Context) error {
	return x.put(ctx, store.SUTAfter, probes.Read(ctx, x.Host, x.Program))
}
