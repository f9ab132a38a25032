package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"assay/fault"
	"assay/plan"
	"assay/runner/external"
)

// ForeignFolder is where clients that are other programs write, relative to the run's folder: a folder for each point.
const ForeignFolder = "client"

// TokenVariable is the variable in which such a client finds the server's bearer token.
const TokenVariable = external.TokenVariable

// Program is the beginning of the command line of a plan's client; nil for the native one.
func Program(p plan.Plan) []string {
	tool, ok := external.Named(p.Client.Kind)
	if !ok || len(p.Client.Command) > 0 {
		return p.Client.Command
	}
	return tool.Program
}

// VersionCommand asks a plan's client for its version; false when it has no way to say it. dir is where it may write.
func VersionCommand(p plan.Plan, dir string) (Command, bool) {
	tool, ok := external.Named(p.Client.Kind)
	if !ok {
		return Command{}, false
	}
	return external.VersionCommand(p, tool, dir)
}

// foreign is a client that is another program.
type foreign struct{ tool external.Tool }

// Name is what a plan calls it.
func (f foreign) Name() string { return f.tool.Kind }

// Run has the program measure one point. What it wrote stays in the point's folder, also when it failed.
func (f foreign) Run(ctx context.Context, job Job, report func(Progress)) (Measurement, error) {
	task, err := f.task(ctx, job)
	if err != nil {
		return Measurement{}, err
	}
	command, err := f.tool.Command(task)
	if err != nil {
		return Measurement{}, err
	}
	if err := writeAll(task.Dir, append(command.Files, written(command))); err != nil {
		return Measurement{}, err
	}
	m := Measurement{Notes: append(f.told(task), command.Notes...), Foreign: &Foreign{
		Kind: f.tool.Kind, Format: f.tool.Format, Dir: filepath.ToSlash(filepath.Join(ForeignFolder, job.Point.ID)), Results: f.tool.Results, Prompts: task.Count,
		Unlisted: f.unlisted(job.Plan), ClockUS: clockOffsetUS(), StartedUS: time.Now().UnixMicro(),
	}}
	var watching sync.WaitGroup
	defer watching.Wait() // nothing is reported of a point that has ended
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watching.Go(func() { watch(ctx, cancel, job, report) })
	err = job.Start(ctx, command)
	m.Foreign.EndedUS = time.Now().UnixMicro()
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return m, cause
	}
	return m, err
}

// unlisted is how many requests the tool sends that are in none of its files.
func (f foreign) unlisted(p plan.Plan) int {
	if !f.tool.Hides || p.Protocol.Sweep == nil {
		return 0
	}
	return p.Protocol.Sweep.Warmup.Requests
}

// task makes the point's folder and what the tool is given.
func (f foreign) task(ctx context.Context, job Job) (external.Task, error) {
	dir, err := filepath.Abs(filepath.Join(job.Dir, ForeignFolder, job.Point.ID))
	if err == nil {
		err = os.RemoveAll(dir) // what an interrupted try left would be taken for this one's
	}
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return external.Task{}, unwritten(err)
	}
	t := external.Task{Plan: job.Plan, Point: job.Point, URLs: job.BaseURLs, Model: job.Model, Dir: dir, Seed: seedOf(job), CPUs: runtime.NumCPU(),
		Token: job.Access.Token != "", Headers: job.Access.Headers}
	if job.Plan.Workload.Kind == "agentic" {
		t.Data, err = filepath.Abs(job.Dataset)
		return t, err
	}
	if !external.NeedsPrompts(job.Plan) {
		return t, nil
	}
	prompts, err := f.tool.Prompts(ctx, job.Plan, job.Point, datasetConfig(job), saltOf(job))
	if err != nil {
		return t, err
	}
	b, err := f.tool.Encode(prompts)
	if err != nil {
		return t, err
	}
	t.Prompts, t.Count = filepath.Join(dir, external.PromptsName), len(prompts)
	return t, unwritten(os.WriteFile(t.Prompts, b, 0o644))
}

// seedOf is the plan's seed where prompts may be known to a cache, else one of the point alone.
func seedOf(job Job) uint64 {
	w := job.Plan.Workload
	if w.Salt == "none" {
		return w.Seed
	}
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %s %s", w.Seed, job.Run, job.Point.ID) // never fails
	return h.Sum64()
}

// written is what was started, for whoever wants to do it again.
func written(c Command) external.File {
	b, _ := json.MarshalIndent(struct { // plain data cannot fail
		Argv []string          `json:"argv"`
		Env  map[string]string `json:"env"`
	}{c.Argv, c.Env}, "", "  ")
	return external.File{Name: "command.json", Data: append(b, '\n')}
}

func writeAll(dir string, files []external.File) error {
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			return unwritten(err)
		}
	}
	return nil
}

// told says where the prompts came from.
func (f foreign) told(t external.Task) []string {
	switch {
	case t.Prompts != "":
		return []string{fmt.Sprintf("the prompts were those that assay makes of the plan, %d of them, in a file of the tool's form", t.Count)}
	case t.Data == "" && t.Plan.Protocol.Matrix == nil:
		return []string{fmt.Sprintf("the prompts were made by the tool, of %d tokens by its tokenizer, without what a chat puts around them", int(t.Plan.Workload.InputLen))}
	}
	return nil
}

// clockOffsetUS is by how much UTC is ahead of the machine's monotonic clock.
func clockOffsetUS() int64 {
	var mono unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono) != nil {
		return 0
	}
	return time.Now().UnixMicro() - mono.Nano()/1000
}

const (
	watchEvery = time.Second
	leastIdle  = 2 * time.Minute // a tool imports for half a minute, and counts tokens for a minute or more after its load
)

// watch shows that the program is at work, and ends it when the server has had nothing to do for longer than the plan lets a request be silent.
func watch(ctx context.Context, cancel context.CancelCauseFunc, job Job, report func(Progress)) {
	from := time.Now()
	limit := max(leastIdle, job.Plan.Client.StallTimeout.Std())
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for busy := from; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		p := Progress{Stage: "measure", Elapsed: time.Since(from)}
		state, known := engineState(job)
		if p.InFlight = int(state.Running + state.Waiting); !known || p.InFlight > 0 {
			busy = time.Now()
		}
		report(p)
		if time.Since(busy) > limit {
			cancel(fault.New(fault.Client, "stuck", "look at its log in the run's folder; client.stall_timeout gives it more time",
				"the client %s has been running and has sent nothing to the server for %s", job.Plan.Client.Kind, limit))
			return
		}
	}
}

func engineState(job Job) (EngineState, bool) {
	if job.Engine == nil {
		return EngineState{}, false
	}
	return job.Engine()
}

// checkForeign tells why the tool could not measure a point of the plan. The prompts are made, as its points will have them.
func checkForeign(ctx context.Context, p plan.Plan, tool external.Tool) error {
	if err := tool.Check(p); err != nil {
		return err
	}
	if !external.NeedsPrompts(p) {
		return nil
	}
	for _, at := range p.Points() {
		job := Job{Plan: p, Point: at, Run: strings.Repeat("0", 8)}
		if _, err := tool.Prompts(ctx, p, at, datasetConfig(job), saltOf(job)); err != nil {
			return err
		}
	}
	return nil
}
