package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"assay/containers"
	"assay/fault"
	"assay/plan"
	"assay/probes"
	"assay/result"
	"assay/runner"
	"assay/store"
)

// hashLimit is the largest model file that is hashed at the start of a run (a few seconds of reading).
const hashLimit = 8 << 30

// preflight looks at the machine and at everything the plan names, and refuses what cannot give a result, before anything is started.
func (x *execution) preflight(ctx context.Context) error {
	x.sut = probes.Read(ctx, x.Host, x.Program)
	if err := x.sameMachine(ctx); err != nil {
		return err
	}
	checks := probes.Evaluate(x.sut, x.plan.Checks)
	if err := errors.Join(x.put(ctx, store.SUTBefore, x.sut), x.put(ctx, store.Checks, checks)); err != nil {
		return err
	}
	if err := refuse(checks); err != nil {
		return err
	}
	if err := x.checkFiles(); err != nil {
		return err
	}
	if err := x.checkClient(); err != nil {
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
	var changed []string
	for _, c := range probes.Drift(*before, x.sut) {
		changed = append(changed, c.Text+" ("+c.Evidence+")")
	}
	if len(changed) == 0 {
		return nil
	}
	return fault.New(fault.Preflight, "machine_changed", "run the plan anew: a run is measured on one machine",
		"the machine changed since the points of this run were measured: %s", strings.Join(changed, "; "))
}

// refuse turns failed checks into one error that names each.
func refuse(checks []probes.Check) error {
	var failed, hints []string
	for _, c := range checks {
		if c.State != probes.CheckFail {
			continue
		}
		failed = append(failed, c.ID+": "+c.Text)
		if c.Hint != "" {
			hints = append(hints, c.ID+": "+c.Hint)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	hints = append(hints, "or relax a check in the plan, e.g. checks: {"+strings.SplitN(failed[0], ":", 2)[0]+": ignore}")
	return fault.New(fault.Preflight, "not_fit", strings.Join(hints, "; "), "the machine is not fit to measure: %s", strings.Join(failed, "; "))
}

func (x *execution) checkFiles() error {
	for what, name := range map[string]string{"model": x.plan.Model.Path, "dataset": x.plan.Workload.Dataset.Path} {
		if name == "" {
			continue
		}
		if _, err := os.Stat(name); err != nil {
			return fault.New(fault.Preflight, what+"_missing", "correct the path in the plan, or put the file there",
				"the plan's %s cannot be read: %w", what, err)
		}
	}
	return x.checkDatasetHash()
}

func (x *execution) checkDatasetHash() error {
	d := x.plan.Workload.Dataset
	if d.Path == "" || d.SHA256 == "" {
		return nil
	}
	sum, err := x.prepared.DatasetSHA256(d.Path)
	if err != nil {
		return err
	}
	if sum != d.SHA256 {
		return fault.New(fault.Preflight, "dataset_differs", "use the data the plan was made for, or run `assay plan pin` to take this one",
			"%s has SHA-256 %s, the plan wants %s", d.Path, sum, d.SHA256)
	}
	return nil
}

// checkClient reads as much of the dataset as the client needs for its first conversation, and counts the connections it will need.
func (x *execution) checkClient() error {
	err := runner.CheckDataset(x.plan)
	if err == nil {
		err = runner.CheckLimits(x.plan)
	}
	if err == nil {
		return nil
	}
	f := fault.Of(err, fault.Client)
	return fault.New(fault.Preflight, strings.TrimPrefix(f.Code, string(f.Layer)+"."), f.Hint, "%s", f.Text)
}

func (x *execution) checkSecrets() error {
	var err error
	x.access, err = accessOf(x.plan, x.Token)
	return err
}

// identify writes down what the plan pins, before any of it is used.
func (x *execution) identify(ctx context.Context) error {
	p := x.plan
	var earlier result.Identity // of the part of the run that was measured before it was resumed
	if err := x.readDocument(ctx, x.run.ID, store.Identity, &earlier); err != nil {
		return err
	}
	x.identity = result.Identity{
		Notes: earlier.Notes, Routers: earlier.Routers,
		Model:   result.ModelIdentity{Name: p.Model.Name, Served: p.Model.Served, Revision: p.Model.Revision, Path: p.Model.Path},
		Dataset: result.DatasetIdentity{Kind: p.Workload.Kind, Path: p.Workload.Dataset.Path, SHA256: p.Workload.Dataset.SHA256, Seed: fmt.Sprint(p.Workload.Seed)},
		Client:  result.ClientIdentity{Kind: p.Client.Kind, Version: x.Program.Version},
	}
	if p.Workload.Dataset.Builtin != "" {
		x.identity.Dataset.Path = "builtin:" + p.Workload.Dataset.Builtin
	}
	if p.Unpinned {
		x.note("the plan allows images and data that are not pinned: this result cannot be repeated exactly")
	}
	if info, err := os.Stat(p.Model.Path); err == nil && info.Mode().IsRegular() && info.Size() <= hashLimit {
		sum, err := hashFile(p.Model.Path)
		if err != nil {
			return fmt.Errorf("hash the model: %w", err)
		}
		x.identity.Model.SHA256 = sum
	}
	return x.put(ctx, store.Identity, x.identity)
}

// note adds a remark to the result's identity, once.
func (x *execution) note(text string) {
	if !slices.Contains(x.identity.Notes, text) {
		x.identity.Notes = append(x.identity.Notes, text)
	}
}

func hashFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// pull resolves what to start and gets its image by digest.
func (x *execution) pull(ctx context.Context) error {
	spec, preset, err := containers.ServerSpec(x.plan, x.specOptions())
	if err != nil {
		return err
	}
	if x.runtime, err = containers.RuntimeNamed(spec.Runtime); err != nil {
		return err
	}
	x.spec, x.preset = spec, preset
	return x.runtime.Prepare(ctx, spec, x.pulling)
}

func (x *execution) specOptions() containers.SpecOptions {
	o := containers.SpecOptions{Owner: x.Owner, Run: x.run.ID, Dir: x.dir, Executable: x.Executable, Getenv: x.Token, Unpinned: x.plan.Unpinned}
	if headers := x.plan.Client.RoutingHeaders; len(headers) > 0 {
		o.SessionHeader = headers[0]
	}
	return o
}

func (x *execution) pulling(p containers.Pull) {
	x.emit(result.Event{Kind: result.Progressed, Phase: "pull", Text: p.Layer + " " + p.Status,
		Progress: &result.Progress{Stage: "pull", Done: float64(p.Done), Total: float64(p.Total), Unit: "bytes"}})
}

func (x *execution) startServer(ctx context.Context) (err error) {
	x.server, err = x.runtime.Start(ctx, x.spec)
	return err
}

func (x *execution) stopServer(ctx context.Context) error {
	if x.server == nil {
		return nil
	}
	_, err := x.server.Stop(ctx)
	return err
}

// waitReady waits until the server streams a token, and writes down what it says it is.
func (x *execution) waitReady(ctx context.Context) error {
	if x.model = x.plan.Model.Served; x.model == plan.AnyModel {
		x.model = ""
	}
	id, err := containers.Ready(ctx, x.server, x.preset, x.readyOptions(x.plan.Server.Ready.Timeout.Std()), func(stage string) {
		x.emit(result.Event{Kind: result.Progressed, Phase: "ready", Text: stage, Progress: &result.Progress{Stage: "ready"}})
	})
	if err != nil {
		return err
	}
	x.serverID = id
	if strings.Contains(id.Version, ", ") {
		x.note("the servers run different versions: " + id.Version)
	}
	if x.model == "" {
		x.model = id.Models[0] // Ready saw at least one, or it had failed
	}
	if x.identity.Server, err = json.Marshal(id); err != nil {
		return fmt.Errorf("encode the server's identity: %w", err)
	}
	x.identity.Model.Served, x.identity.Model.Listed = x.model, id.Models
	return x.put(ctx, store.Identity, x.identity)
}

func (x *execution) readyOptions(timeout time.Duration) containers.ReadyOptions {
	return containers.ReadyOptions{Timeout: timeout, Model: x.model, Access: x.access, Endpoint: x.plan.Server.Endpoint}
}

func (x *execution) startTelemetry(ctx context.Context) (err error) {
	every := x.plan.Telemetry.Interval.Std()
	var sources []source
	for _, s := range probes.Samplers(x.Host) {
		sources = append(sources, source{s, every})
	}
	if x.plan.Protocol.Matrix != nil {
		every = min(every, cellInterval)
	}
	if x.preset.MetricsPath == "" {
		x.note("engine " + x.preset.Name + " has no metrics")
	} else {
		sources = append(sources, source{engineSampler{x.server.BaseURLs(), x.preset, x.access}, every})
	}
	x.telemetry, err = startTelemetry(context.WithoutCancel(ctx), x.dir, sources)
	return err
}

func (x *execution) stopTelemetry(ctx context.Context) error {
	if x.telemetry == nil {
		return nil
	}
	lost, err := x.telemetry.close()
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		x.note(fmt.Sprintf("telemetry source %s failed at times: %s", name, lost[name]))
	}
	return errors.Join(err, x.put(ctx, store.Identity, x.identity))
}

// collect looks at the machine once more.
func (x *execution) collect(ctx context.Context) error {
	return x.put(ctx, store.SUTAfter, probes.Read(ctx, x.Host, x.Program))
}
