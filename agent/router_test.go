package agent

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"assay/containers"
	"assay/containers/imagetest"
	"assay/containers/mark"
	"assay/plan"
	"assay/result"
)

func needRouters(t *testing.T) {
	t.Helper()
	for _, kind := range []string{"nginx", "haproxy"} {
		if _, err := exec.LookPath(kind); err != nil {
			imagetest.Missing(t, "%s: %v", kind, err)
		}
	}
}

// TestRoutersByPoint: the plan of seed 1 in small. Each router is looked at before its points and judged after them, its configuration is kept, and
// what the servers counted tells how the load was spread.
func TestRoutersByPoint(t *testing.T) {
	needRouters(t)
	a := newAgent(t)
	_, one := startSim(t, quickSim("sim"))
	_, two := startSim(t, quickSim("sim"))
	server := `{engine: sim, runtime: endpoint, urls: ["` + one + `", "` + two + `"]}`
	r := execute(t, a, submit(t, a, sweepOf(t, server, "protocol.sweep={concurrency: [1, 2, 3, 4], requests: 8}", "workload={kind: agentic, dataset: {builtin: agentic-small}, sampling: {max_tokens: 8}}",
		"routers=[{points: 2-3, kind: nginx}, {points: 4, kind: haproxy}]")))
	if r.Run.State != result.Done {
		t.Fatalf("%s: %v", r.Run.State, r.Run.Error)
	}
	checkStates(t, r, "c1 valid", "c2 valid", "c3 valid", "c4 valid")
	if r.Points[0].Routing != nil || r.Points[0].Router != "" {
		t.Errorf("c1 has no router: %+v", r.Points[0].Routing)
	}
	for i, p := range r.Points[1:] {
		found := p.Routing
		if found == nil || found.Sessions == nil || found.FirstByte == nil || found.Connections == nil || found.Load == nil {
			t.Fatalf("%s: %+v", p.ID, found)
		}
		if s := found.Sessions; s.By != "X-Upstream" || s.Moved != 0 || s.Sessions < 8 || s.Turns != 3 {
			t.Errorf("%s: %+v", p.ID, *s)
		}
		if c := found.Connections; c.Held != c.Asked || c.Asked <= *p.Concurrency {
			t.Errorf("%s: %+v", p.ID, *c)
		}
		if started := i != 1; found.Started != started || (found.Body != nil) != started || started && !found.Body.Accepted {
			t.Errorf("%s: started %v, body %+v", p.ID, found.Started, found.Body)
		}
		total := int64(0)
		for _, n := range found.Load.PerServer {
			total += n
		}
		if total != p.Engine.GenerationTokens || len(found.Load.PerServer) != 2 {
			t.Errorf("%s: the servers counted %v, together %d", p.ID, found.Load.PerServer, p.Engine.GenerationTokens)
		}
		want := []string{"nginx-c2.conf", "nginx-c2.conf", "haproxy-c4.cfg"}[i]
		if sum, err := containers.FileSHA256(a.Store.RunDir(r.Run.ID) + "/" + found.Config); found.Config != want || err != nil || sum != found.SHA256 {
			t.Errorf("%s: configuration %s, %s, %v", p.ID, found.Config, found.SHA256, err)
		}
		if !slices.ContainsFunc(r.Artifacts, func(f result.Artifact) bool { return f.Path == want && f.SHA256 == found.SHA256 }) {
			t.Errorf("%s is no file of the run", want)
		}
	}
	if len(r.Identity.Routers) != 2 || !strings.Contains(strings.Join(phaseNames(r), ", "), "router c2, routing c2, measure c2, router c3, routing c3, measure c3") {
		t.Errorf("%d routers, %v", len(r.Identity.Routers), phaseNames(r))
	}
	for i, raw := range r.Identity.Routers {
		var id containers.Identity
		if err := json.Unmarshal(raw, &id); err != nil || len(id.Files) != 1 || id.Files[0].SHA256 != r.Points[i*2+1].Routing.SHA256 || id.Version == "" || id.VersionUnknown != "" || id.Role != "router" {
			t.Errorf("%+v, %v", id, err)
		}
	}
	nothingLeft(t, a)
}

// TestRouterEndsInAPoint: the run says that the router ended and how, not only that requests failed; the next point has a new router, and nothing is left.
func TestRouterEndsInAPoint(t *testing.T) {
	needRouters(t)
	for _, kind := range []string{"nginx", "haproxy"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t)
			_, url := startSim(t, quickSim("sim"))
			id := submit(t, a, sweepOf(t, atURL(url), "protocol.sweep={concurrency: [1, 2], requests: 8}", "routers=[{points: all, kind: "+kind+"}]"))
			onEvent(t, a, begins("measure", "c1"), func() { killRouter(t, a.Owner) })
			r := execute(t, a, id)
			if r.Run.State != result.Failed || r.Run.Error == nil || r.Run.Error.Code != "router.exited" || !strings.Contains(r.Run.Error.Text, "killed by signal 9") {
				t.Fatalf("%s: %v", r.Run.State, r.Run.Error)
			}
			checkStates(t, r, "c1 failed", "c2 valid")
			if reasons := r.Points[0].Reasons; len(reasons) != 1 || reasons[0].Code != "router.exited" {
				t.Errorf("c1: %v", reasons)
			}
			if !r.Points[1].Routing.Started || len(r.Identity.Routers) != 2 {
				t.Errorf("c2 had no router of its own: %+v, %d", r.Points[1].Routing, len(r.Identity.Routers))
			}
			nothingLeft(t, a)
			if err := a.Resume(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			r = execute(t, a, id)
			checkStates(t, r, "c1 valid", "c2 valid")
		})
	}
}

// TestRoutersAreCheckedFirst: what no session could be kept by, and what the machine cannot hold, is refused before anything is started.
func TestRoutersAreCheckedFirst(t *testing.T) {
	a := newAgent(t)
	_, url := startSim(t, quickSim("sim"))
	for code, more := range map[string][]string{
		"plan.router_header": {"routers=[{points: all, kind: sglang-router}]", "client.routing_headers=[X-Session-ID]"},
	} {
		refuses(t, a, sweepOf(t, atURL(url), more...), code)
	}
}

// TestRoutersAreFoundFirst: a router that the last point needs and that is not there ends the run before anything is started. A resumed run
// looks for those of the points that are left.
func TestRoutersAreFoundFirst(t *testing.T) {
	a := newAgent(t)
	_, url := startSim(t, quickSim("sim"))
	r := execute(t, a, submit(t, a, sweepOf(t, atURL(url), "protocol.sweep={concurrency: [1, 2], requests: 8}", "routers=[{points: '2', kind: haproxy, command: [no-such-haproxy]}]")))
	if r.Run.Error == nil || r.Run.Error.Code != "router.program_not_found" || !strings.Contains(r.Run.Error.Text, "no-such-haproxy") || slices.Contains(phaseNames(r), "start") {
		t.Errorf("%v, %v", r.Run.Error, phaseNames(r))
	}
	p, err := plan.Parse(r.Plan)
	if err != nil {
		t.Fatal(err)
	}
	x := &execution{Config: a.Config, run: a.mustRun(t, r.Run.ID), plan: p}
	if err := x.pullRouters(t.Context()); err == nil {
		t.Error("the router of a point that is not measured is not looked for")
	}
	if err := a.Store.PutPoint(t.Context(), r.Run.ID, 1, result.Point{ID: "c2", State: result.PointValid}); err != nil {
		t.Fatal(err)
	}
	if err := x.pullRouters(t.Context()); err != nil {
		t.Errorf("the router of a point that was measured is looked for: %v", err)
	}
}

// TestAnIdleRouterIsTold: a router of none of the plan's points is not started, and the result says so.
func TestAnIdleRouterIsTold(t *testing.T) {
	a := newAgent(t)
	_, url := startSim(t, quickSim("sim"))
	r := execute(t, a, submit(t, a, sweepOf(t, atURL(url), "protocol.sweep={concurrency: [2], requests: 8}", "routers=[{points: '32', kind: haproxy, command: [no-such-haproxy]}]")))
	if r.Run.Verdict != result.Valid || !slices.ContainsFunc(r.Identity.Notes, func(n string) bool {
		return strings.Contains(n, `routers.0 (haproxy) is not used: its points are "32"`)
	}) {
		t.Errorf("%v %v %v, %q", r.Run.Verdict, r.Run.Error, r.Run.Reasons, r.Identity.Notes)
	}
}

// killRouter ends the router of an owner as nobody asked it to.
func killRouter(t *testing.T, owner string) {
	if killed, err := mark.Signal(mark.Mark{Owner: owner}, syscall.SIGKILL); err != nil || len(killed) == 0 {
		t.Errorf("no router: %v, %v", killed, err)
	}
}
