package agent

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assay/agent/events"
	"assay/agent/telemetry"
	"assay/containers"
	"assay/plan"
	"assay/result"
	"assay/runner"
	"assay/runner/metrics"
	"assay/runner/record"
)

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
	x := &execution{Config: a.Config, run: a.mustRun(t, id), dir: a.Store.RunDir(id), bus: a.bus, log: &events.Log{}, plan: sweepOf(t, atURL(url)), model: "sim"}
	for _, do := range []func(context.Context) error{x.pull, x.startServer} {
		if err := do(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	defer x.stopRouter(context.WithoutCancel(t.Context()))
	var seen []string
	for _, kind := range []string{"none", "nginx", "nginx", "haproxy", "none", "haproxy"} {
		if err := x.useRouter(t.Context(), plan.Point{ID: "c1", Router: plan.Router{Kind: kind, Runtime: "process", Points: "all"}}); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		name := "none"
		if x.router != nil {
			name = x.router.Identity().Name
			if x.job(plan.Point{}).BaseURLs[0] != x.router.BaseURLs()[0] {
				t.Error("the load does not go through the router")
			}
		} else if x.job(plan.Point{}).BaseURLs[0] != url {
			t.Error("the load does not go to the server")
		}
		seen = append(seen, name)
	}
	if seen[1] != seen[2] {
		t.Error("a router that stays the same was started anew")
	}
	other := plan.Router{Kind: "haproxy", Runtime: "process", Command: []string{"/bin/false"}}
	if err := x.useRouter(t.Context(), plan.Point{ID: "c2", Router: other}); err == nil {
		t.Error("a router with another command was not started")
	}
	if seen[0] != "none" || seen[4] != "none" || seen[3] == seen[1] || seen[5] == seen[3] || len(x.identity.Routers) != 3 {
		t.Errorf("routers %v, %d in the identity", seen, len(x.identity.Routers))
	}
	if err := x.stopRouter(t.Context()); err != nil || x.router != nil || x.routerKey != "" {
		t.Errorf("%v after stop, %v", x.router, err)
	}
	if left := containers.Reap(t.Context(), containers.Search{Owner: a.Owner}, a.Docker); len(left.Removed) > 0 || left.Failed != nil {
		t.Errorf("left running: %+v", left)
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
	x := &execution{telemetry: &telemetry.Recorder{}}
	p := plan.Point{ID: "c1", Phase: plan.PhaseSweep, Concurrency: 1}
	told, err := runner.PassOf(plan.Plan{}, p, m.Window, m.Issue).File(path)
	if err != nil {
		t.Fatal(err)
	}
	var out result.Point
	x.judge(p, m, told, &out)
	for _, r := range out.Reasons {
		if r.Code == "errors_outside" && r.Evidence == "1 of 1: http_status 1; 0 of them were under way in the window" {
			return
		}
	}
	t.Errorf("reasons: %+v", out.Reasons)
}
