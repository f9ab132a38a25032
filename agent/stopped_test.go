package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assay/agent/events"
	"assay/agent/node"
	"assay/agent/nodetest"
	"assay/containers"
	"assay/plan"
	"assay/probes"
	"assay/result"
	"assay/store"
)

// onGPUs is a plan that starts a server on a machine of files, most of which says nothing.
func onGPUs(t *testing.T) plan.Plan {
	t.Helper()
	return sweepOf(t, asProcess, "protocol.sweep.concurrency=1", "checks={idle: relaxed, vram_free: relaxed}")
}

// TestField_issue_held_memory: a run whose server left GPU memory in use is a result all the same; the next is refused before anything is
// started, by the holder's name; when the holder is gone the one after that is measured.
func TestField_issue_held_memory(t *testing.T) {
	t.Parallel()
	a, m := newAgent(t), nodetest.New(t, 2)
	a.Host, a.MemoryLimit = m.Host(), time.Nanosecond
	events, err := a.Events(t.Context(), 0, "")
	if err != nil {
		t.Fatal(err)
	}
	onEvent(t, a, begins("ready", ""), func() {
		m.Use(1, 120<<30)
		m.Start(812, "VLLM::EngineCore", 1, 119<<30)
	})
	first := submit(t, a, onGPUs(t))
	serve(t, a)
	if got := awaitEnd(t, events, 1); got[0] != first+" done" {
		t.Fatalf("the first run: %v, %v", got, a.mustRun(t, first).Error)
	}
	r := resultOf(t, a, first)
	if g := r.GPUMemory; g == nil || len(g.Marks) != 1 || g.Marks[0].Device != nodetest.Address(1) || len(g.Devices) != 2 {
		t.Fatalf("%+v", r.GPUMemory)
	}
	if len(r.Stops) != 1 || r.Stops[0].How != result.StopGraceful || r.Stops[0].Signal != "SIGTERM" || r.Stops[0].AskedBy != result.AskedAtEnd {
		t.Errorf("stops %+v", r.Stops)
	}
	second := submit(t, a, onGPUs(t))
	if got := awaitEnd(t, events, 1); got[0] != second+" failed" {
		t.Fatalf("the second run: %v", got)
	}
	refused := a.mustRun(t, second)
	if refused.Error.Code != "preflight.node_dirty" || !strings.Contains(refused.Error.Text, "pid 812 VLLM::EngineCore") || len(resultOf(t, a, second).Stops) > 0 || resultOf(t, a, second).SUT.Before == nil {
		t.Errorf("%+v", refused.Error)
	}
	m.End(812)
	m.Use(1, nodetest.IdleVRAM)
	third := submit(t, a, onGPUs(t))
	if got := awaitEnd(t, events, 1); got[0] != third+" done" {
		t.Fatalf("the third run: %v, %v", got, a.mustRun(t, third).Error)
	}
	if r := resultOf(t, a, third); len(r.GPUMemory.Marks) > 0 {
		t.Errorf("%+v", r.GPUMemory)
	}
}

// TestALostGPURefusesRuns until it is back or the operator takes the machine as it is.
func TestALostGPURefusesRuns(t *testing.T) {
	t.Parallel()
	a, m := newAgent(t), nodetest.New(t, 2)
	a.Host, a.MemoryLimit = m.Host(), time.Nanosecond
	_, url := startSim(t, quickSim("sim"))
	p := sweepOf(t, atURL(url), "protocol.sweep.concurrency=1")
	if r := execute(t, a, submit(t, a, p)); r.Run.State != result.Done || r.GPUMemory != nil || len(r.Stops) > 0 {
		t.Fatalf("%s %v: somebody else's server was stopped, or its memory looked at: %+v %+v", r.Run.State, r.Run.Error, r.Stops, r.GPUMemory)
	}
	m.Lose(1)
	if r := execute(t, a, submit(t, a, p)); r.Run.State != result.Failed || r.Run.Error.Code != "preflight.node_unfit" {
		t.Fatalf("%s %v", r.Run.State, r.Run.Error)
	}
	if n, err := a.CheckNode(t.Context(), true); err != nil || n.State != result.NodeReady || len(n.Devices) != 1 {
		t.Fatalf("%+v, %v", n, err)
	}
	if r := execute(t, a, submit(t, a, p)); r.Run.State != result.Done {
		t.Errorf("after it was accepted: %s %v", r.Run.State, r.Run.Error)
	}
}

func resultOf(t *testing.T, a *Agent, id string) result.Result {
	t.Helper()
	raw, err := a.Store.ResultBytes(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	r, err := result.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAskedBy(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		err, cause error
		want       string
	}{{nil, nil, result.AskedAtEnd}, {boom, nil, result.AskedOnFailure}, {boom, errCanceled, result.AskedOnCancel}, {boom, errStopping, result.AskedOnSignal}, {nil, boom, result.AskedOnSignal}} {
		if got := askedBy(c.err, c.cause); got != c.want {
			t.Errorf("%v, %v: %s, want %s", c.err, c.cause, got, c.want)
		}
	}
}

// TestEveryUndoHasItsTime: a long grace is not cut short, of several servers neither, and what takes long takes nothing from the others.
func TestEveryUndoHasItsTime(t *testing.T) {
	for _, c := range []struct {
		server string
		least  time.Duration
	}{
		{asProcess, 30 * time.Second},
		{`{engine: sim, runtime: process, stop: {grace: 20m}}`, 20 * time.Minute},
		{`{engine: sim, runtime: process, replicas: 4, stop: {grace: 5m}}`, 20 * time.Minute},
	} {
		x := execution{plan: sweepOf(t, c.server)}
		if got := x.undoLimit("start"); got <= c.least {
			t.Errorf("%s: %s", c.server, got)
		}
	}
	synctest.Test(t, func(t *testing.T) { // what is written down meanwhile takes no time
		a := newAgent(t)
		x := &execution{Config: a.Config, bus: a.bus, log: &events.Log{}, plan: sweepOf(t, asProcess), run: a.mustRun(t, submit(t, a, sweepOf(t, asProcess)))}
		var limits []time.Duration
		undo := func(ctx context.Context) error {
			end, _ := ctx.Deadline()
			limits = append(limits, time.Until(end))
			return nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := x.unwind(ctx, []phase{{name: "start", undo: undo}, {name: "telemetry", undo: undo}, {name: "points", undo: undo}}); err != nil {
			t.Fatal(err)
		}
		if want := []time.Duration{containers.StopLimit(0), time.Minute, containers.StopLimit(30 * time.Second)}; !slices.Equal(limits, want) {
			t.Errorf("limits %v, want %v", limits, want)
		}
	})
}

// TestWhoStopsTheProgramWaitsForAMoment: memory that does not come back is waited for to the limit at the end of a run, and for seconds when
// the program was told to stop, whether before that wait or in it. The node is marked all the same.
func TestWhoStopsTheProgramWaitsForAMoment(t *testing.T) {
	const limit = 40 * time.Second
	for name, c := range map[string]struct{ stop, took time.Duration }{
		"nobody stops it": {time.Hour, limit},
		"before the wait": {0, node.Interrupted},
		"while it waits":  {9 * time.Second, 9*time.Second + node.Interrupted},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, m := newAgent(t), nodetest.New(t, 1)
				a.Host, a.MemoryLimit = m.Host(), limit
				x := &execution{Config: a.Config, bus: a.bus, log: &events.Log{}, plan: onGPUs(t), run: a.mustRun(t, submit(t, a, onGPUs(t)))}
				x.levels = node.Levels(probes.Read(t.Context(), a.Host, a.Program))
				m.Use(0, 100<<30)
				ctx, cancel := context.WithTimeoutCause(t.Context(), c.stop, errStopping)
				defer cancel()
				begun := time.Now()
				if err := x.awaitMemory(ctx, []phase{{name: "start"}}); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(begun); took != c.took {
					t.Errorf("it waited %s, want %s", took, c.took)
				}
				if n, err := a.Store.Node(t.Context()); err != nil || n.State != result.NodeDirty {
					t.Errorf("%+v, %v", n, err)
				}
			})
		})
	}
}

// TestField_gpustack_5235: whoever else holds a GPU is named before anything is started, in the error itself.
func TestField_gpustack_5235(t *testing.T) {
	t.Parallel()
	a, m := newAgent(t), nodetest.New(t, 2)
	a.Host = m.Host()
	m.Use(1, 22<<30)
	m.Start(4711, "ollama", 1, 21<<30)
	r := execute(t, a, submit(t, a, sweepOf(t, asProcess)))
	if r.Run.State != result.Failed || r.Run.Error.Code != "preflight.not_fit" || !strings.Contains(r.Run.Error.Text, "ollama (pid 4711)") {
		t.Errorf("%s %v", r.Run.State, r.Run.Error)
	}
	if slices.Contains(phaseNames(r), "start") {
		t.Errorf("it was started all the same: %v", phaseNames(r))
	}
}

// TestRecoverLooksAtTheGPUs: the program was killed while its server held memory that is held still.
func TestRecoverLooksAtTheGPUs(t *testing.T) {
	a, m := newAgent(t), nodetest.New(t, 1)
	a.Host = m.Host()
	id := submit(t, a, onGPUs(t))
	before, err := json.Marshal(probes.Read(t.Context(), a.Host, a.Program))
	if err != nil {
		t.Fatal(err)
	}
	move(t, a, id, result.Running)
	if err := a.Store.PutDocument(t.Context(), id, store.SUTBefore, before); err != nil {
		t.Fatal(err)
	}
	m.Use(0, 100<<30)
	if err := a.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := a.Store.Node(t.Context()); err != nil || n.State != result.NodeDirty || n.Marks[0].Run != id {
		t.Errorf("%+v, %v", n, err)
	}
}
