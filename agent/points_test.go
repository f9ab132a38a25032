package agent

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assay/containers"
	"assay/plan"
	"assay/result"
	"assay/runner"
	"assay/runner/metrics"
	"assay/runner/record"
)

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
		compareCounts(counters{"generation_tokens": 1000}, counters{"generation_tokens": 1000 + c.engine}, c.told, &out)
		if want := (result.EngineCount{GenerationTokens: int64(c.engine), ClientTokens: c.told.OutputTokens}); *out.Engine != want {
			t.Errorf("%s: %+v, want %+v", c.name, *out.Engine, want)
		}
		if differ := len(out.Reasons) == 1 && out.Reasons[0].Code == "tokens_differ"; differ != c.differ || out.State != "" {
			t.Errorf("%s: reasons %v, state %q", c.name, out.Reasons, out.State)
		}
	}
}

// TestPrefixCounters: the engine's word on its prefix cache stands beside what usage tells; a counter that it does not keep is unknown.
func TestPrefixCounters(t *testing.T) {
	before := counters{"generation_tokens": 5, "prefix_queries": 100, "prefix_hits": 50}
	cases := []struct {
		name          string
		after         counters
		queries, hits int64
		rate          float64
	}{
		{"both", counters{"generation_tokens": 9, "prefix_queries": 500, "prefix_hits": 150}, 400, 100, 25},
		{"nothing looked up", counters{"generation_tokens": 9, "prefix_queries": 100, "prefix_hits": 50}, 0, 0, -1},
		{"no hits told", counters{"generation_tokens": 9, "prefix_queries": 500}, 400, -1, -1},
	}
	for _, c := range cases {
		var out result.Point
		compareCounts(before, c.after, runner.Reading{OutputTokens: 4}, &out)
		e := out.Engine
		if (e.PrefixHits == nil) != (c.hits < 0) || e.PrefixHits != nil && *e.PrefixHits != c.hits || *e.PrefixQueries != c.queries ||
			(e.PrefixHitRate == nil) != (c.rate < 0) || e.PrefixHitRate != nil && *e.PrefixHitRate != c.rate || e.GenerationTokens != 4 {
			t.Errorf("%s: %+v", c.name, *e)
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
		if r.Code == "errors_outside" && r.Evidence == "1 of 1: http_status 1; 0 of them were under way in the window" {
			return
		}
	}
	t.Errorf("reasons: %+v", out.Reasons)
}
