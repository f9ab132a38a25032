package agent

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/containers"
	"assay/plan"
	"assay/probes"
	"assay/result"
	"assay/runner"
	"assay/runner/metrics"
	"assay/runner/record"
	"assay/sim"
)

func TestOverCapacity(t *testing.T) {
	cell := plan.Point{ID: "d", Phase: plan.PhaseDecode, Concurrency: 4, Context: 1000}
	cases := []struct {
		name     string
		point    plan.Point
		kvTokens int64
		want     string
	}{
		{"fits exactly", cell, 4 * 1024, ""},
		{"one token short", cell, 4*1024 - 1, "4 × (1000 + 24) = 4096 tokens, the engine has 4095"},
		{"the engine does not say", cell, 0, ""},
		{"prefill is one at a time", plan.Point{Phase: plan.PhasePrefill, Context: 1000}, 10, ""},
	}
	for _, c := range cases {
		x := &execution{serverID: containers.Identity{KVTokens: c.kvTokens}}
		x.plan.Protocol.Matrix = &plan.Matrix{MaxTokens: 24}
		got := ""
		if r := x.overCapacity(c.point); r != nil {
			got = r.Evidence
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestQueued(t *testing.T) {
	samples := func(waiting, free int) []probes.Sample {
		var out []probes.Sample
		for i := range waiting + free {
			v := 0.0
			if i < waiting {
				v = 2
			}
			out = append(out, probes.Sample{Series: "engine.waiting", Value: v}, probes.Sample{Series: "engine.running", Value: 9})
		}
		return out
	}
	cases := []struct {
		name          string
		phase         string
		state         result.PointState
		waiting, free int
		want          result.PointState
	}{
		{"always", plan.PhaseDecode, result.PointValid, 20, 0, result.PointQueued},
		{"over 5 %", plan.PhaseDecode, result.PointValid, 2, 37, result.PointQueued},
		{"5 % is not more", plan.PhaseDecode, result.PointValid, 1, 19, result.PointValid},
		{"never", plan.PhaseDecode, result.PointValid, 0, 20, result.PointValid},
		{"no samples", plan.PhaseDecode, result.PointValid, 0, 0, result.PointValid},
		{"a bad cell stays bad", plan.PhaseDecode, result.PointNotValid, 20, 0, result.PointNotValid},
		{"only decode cells", plan.PhaseSweep, result.PointValid, 20, 0, result.PointValid},
	}
	for _, c := range cases {
		out := result.Point{State: c.state}
		(&execution{}).queued(plan.Point{Phase: c.phase}, samples(c.waiting, c.free), &out)
		if out.State != c.want || (len(out.Reasons) == 1) != (c.want == result.PointQueued) {
			t.Errorf("%s: %s %v, want %s", c.name, out.State, out.Reasons, c.want)
		}
	}
}

func TestCompareCounts(t *testing.T) {
	cases := []struct {
		name   string
		engine float64
		told   runner.Reading
		differ bool
	}{
		{"equal", 100, runner.Reading{OutputTokens: 100}, false},
		{"within 2 %", 102, runner.Reading{OutputTokens: 100}, false},
		{"over 2 %", 103, runner.Reading{OutputTokens: 100}, true},
		{"fewer", 97, runner.Reading{OutputTokens: 100}, true},
		{"a request was cut off", 150, runner.Reading{OutputTokens: 70, Unfinished: 1}, false},
	}
	for _, c := range cases {
		var out result.Point
		compareCounts(1000, 1000+c.engine, c.told, &out)
		if want := (result.EngineCount{GenerationTokens: int64(c.engine), ClientTokens: c.told.OutputTokens}); *out.Engine != want {
			t.Errorf("%s: %+v, want %+v", c.name, *out.Engine, want)
		}
		if differ := len(out.Reasons) == 1 && out.Reasons[0].Code == "tokens_differ"; differ != c.differ || out.State != "" {
			t.Errorf("%s: reasons %v, state %q", c.name, out.Reasons, out.State)
		}
	}
}

// TestUseRouter switches real routers in front of a server.
func TestUseRouter(t *testing.T) {
	for _, kind := range []string{"nginx", "haproxy"} {
		if _, err := exec.LookPath(kind); err != nil {
			t.Skip(kind + " is not installed")
		}
	}
	a := newAgent(t)
	_, url := startSim(t, quickSim("sim"))
	id := submit(t, a, sweepOf(t, atURL(url)))
	x := &execution{Config: a.Config, run: a.mustRun(t, id), dir: a.Store.RunDir(id), bus: a.bus, log: &eventLog{}, plan: sweepOf(t, atURL(url)), model: "sim"}
	for _, do := range []func(context.Context) error{x.pull, x.startServer} {
		if err := do(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	defer x.stopRouter(context.WithoutCancel(t.Context()))
	var seen []string
	for _, kind := range []string{"none", "nginx", "nginx", "haproxy", "none", "haproxy"} {
		if err := x.useRouter(t.Context(), plan.Router{Kind: kind, Runtime: "process", Points: "all"}); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		name := "none"
		if x.router != nil {
			name = x.router.Identity().Name
			if x.job(plan.Point{}).BaseURL != x.router.BaseURL() {
				t.Error("the load does not go through the router")
			}
		} else if x.job(plan.Point{}).BaseURL != url {
			t.Error("the load does not go to the server")
		}
		seen = append(seen, name)
	}
	if seen[1] != seen[2] {
		t.Error("a router that stays the same was started anew")
	}
	other := plan.Router{Kind: "haproxy", Runtime: "process", Command: []string{"/bin/false"}}
	if err := x.useRouter(t.Context(), other); err == nil {
		t.Error("a router with another command was not started")
	}
	if seen[0] != "none" || seen[4] != "none" || seen[3] == seen[1] || seen[5] == seen[3] || len(x.identity.Routers) != 3 {
		t.Errorf("routers %v, %d in the identity", seen, len(x.identity.Routers))
	}
	if err := x.stopRouter(t.Context()); err != nil || x.router != nil || x.routerKey != "" {
		t.Errorf("%v after stop, %v", x.router, err)
	}
	if left, err := containers.ReapAll(t.Context(), a.Owner); len(left) > 0 || err != nil {
		t.Errorf("left running: %v, %v", left, err)
	}
}

// TestARouterThatDoesNotStart: what began of the points is taken back though they failed.
func TestARouterThatDoesNotStart(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	_, url := startSim(t, quickSim("sim"))
	id := submit(t, a, sweepOf(t, atURL(url), `routers=[{points: "2", kind: nginx, runtime: process, command: [/bin/false]}]`))
	r := execute(t, a, id)
	if r.Run.State != result.Failed || r.Run.Error == nil || !strings.HasPrefix(r.Run.Error.Code, "router.") {
		t.Fatalf("%s: %v", r.Run.State, r.Run.Error)
	}
	checkStates(t, r, "c1 valid", "c2 failed")
	if !strings.Contains(strings.Join(phaseNames(r), ", "), "router c2, stop points, stop telemetry, stop start") {
		t.Errorf("phases %v", phaseNames(r))
	}
}

// TestMatrixStates: a cell beyond the KV cache is not run, one with waiting requests is a result, and neither makes the run bad.
func TestMatrixStates(t *testing.T) {
	a := newAgent(t)
	engine, url := startSim(t, sim.Config{Model: "sim", StepBase: 12 * time.Millisecond, Prefill: 300 * time.Microsecond, MaxRunning: 2, ContextLen: 2048, KVTokens: 2100})
	p, err := plan.Parse([]byte(`
apiVersion: assay/v1
name: cells
model: {name: sim}
server: ` + atURL(url) + `
workload: {kind: synthetic}
protocol: {matrix: {contexts: [256, 1k], concurrency: [1, 3], duration: 500ms, prefill_duration: 500ms, max_tokens: 20}}
telemetry: {interval: 20ms}
`))
	if err != nil {
		t.Fatal(err)
	}
	r := execute(t, a, submit(t, a, p))
	busy := checkStates(t, r, "prefill-256 valid", "prefill-1024 valid", "decode-256x1 valid", "decode-256x3 requests_queued",
		"decode-1024x1 valid", "decode-1024x3 over_capacity")
	if r.Run.State != result.Done || (r.Run.Verdict == result.Valid) == busy || len(r.Run.Reasons) > 0 && !busy {
		t.Errorf("run %s, %s: %v", r.Run.State, r.Run.Verdict, r.Run.Reasons)
	}
	over := r.Points[5]
	if over.Metrics != nil || over.Recording != nil || over.Reasons[0].Code != "kv_precheck" || *over.Context != 1024 || *over.Concurrency != 3 {
		t.Errorf("over capacity: %+v", over)
	}
	if q := r.Points[3]; q.Metrics == nil || q.Metrics.SystemTPS == nil || q.State == result.PointQueued && q.Reasons[len(q.Reasons)-1].Code != "queue_seen" {
		t.Errorf("queued: %+v", q)
	}
	if n := len(engine.Truth()); n == 0 {
		t.Error("the engine saw nothing")
	}
}

// TestFailuresOutsideTheWindowAreListed: what fails in the first burst, before the window opens, is in no figure but never silent.
func TestFailuresOutsideTheWindowAreListed(t *testing.T) {
	request := func(sentUS int64, outcome record.Outcome) record.Request {
		return record.Request{SentUS: sentUS, IntendedUS: sentUS, ConnectUS: record.Never, FirstByteUS: sentUS + 1, DoneUS: sentUS + 500, Outcome: outcome,
			InputTokens: 1, OutputTokens: 2, CachedTokens: record.Never, TokenSource: "usage", Events: []record.Event{{AtUS: sentUS + 100, Tokens: 1}, {AtUS: sentUS + 200, Tokens: 1}}}
	}
	path := filepath.Join(t.TempDir(), "c1.rec")
	w, err := record.Create(path, record.Header{Point: "c1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []record.Request{request(0, record.HTTPStatus), request(1000, record.OK), request(2000, record.OK)} {
		if err := w.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	m := runner.Measurement{Window: metrics.Window{StartUS: 1000, EndUS: 3000}, Issue: metrics.Window{StartUS: 0, EndUS: 3000}}
	x := &execution{telemetry: &telemetry{}}
	p := plan.Point{ID: "c1", Phase: plan.PhaseSweep, Concurrency: 1}
	told, err := runner.PassOf(plan.Plan{}, p, m.Window, m.Issue).File(path)
	if err != nil {
		t.Fatal(err)
	}
	var out result.Point
	x.judge(p, m, told, &out)
	for _, r := range out.Reasons {
		if r.Code == "errors_outside" && r.Evidence == "1 of 1" {
			return
		}
	}
	t.Errorf("reasons: %+v", out.Reasons)
}
