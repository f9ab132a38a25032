package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/agent/events"
	"assay/containers"
	"assay/containers/mark"
	"assay/plan"
	"assay/result"
)

// replicas are several processes of this test binary as the server.
func replicas(n int) string {
	return fmt.Sprintf(`{engine: sim, runtime: process, replicas: %d, ready: {timeout: 2m}}`, n)
}

func serversOf(t *testing.T, r result.Result) containers.Identity {
	t.Helper()
	var id containers.Identity
	if err := json.Unmarshal(r.Identity.Server, &id); err != nil {
		t.Fatal(err)
	}
	return id
}

// TestReplicas: three servers that the run starts share its load, each with its own address, log and series; counters and caches are summed, also
// behind a router, and nothing is left of them.
func TestReplicas(t *testing.T) {
	a := newAgent(t)
	more := []string{"protocol.sweep={concurrency: [3, 6], requests: 12}", "workload.lengths=words"}
	if _, err := exec.LookPath("nginx"); err == nil {
		more = append(more, `routers=[{points: "6", kind: nginx, runtime: process}]`)
	}
	var stages []string
	seen := make(chan struct{})
	onEvent(t, a, func(e result.Event) bool {
		if e.Progress != nil && e.Progress.Stage == "ready" {
			stages = append(stages, e.Text)
		}
		return e.Kind == result.PhaseEnded && e.Phase == "ready"
	}, func() { close(seen) })
	r := execute(t, a, submit(t, a, sweepOf(t, replicas(3), more...)))
	if r.Run.State != result.Done {
		t.Fatalf("%s: %v", r.Run.State, r.Run.Error)
	}
	checkStates(t, r, "c3 valid", "c6 valid")
	id := serversOf(t, r)
	checkReplicas(t, a, r, id)
	<-seen
	for _, each := range id.Servers {
		if !slices.Contains(stages, each.Role+": token flows") {
			t.Errorf("nothing was told of %s: %v", each.Role, stages)
		}
	}
	nothingLeft(t, a)
}

func checkReplicas(t *testing.T, a *Agent, r result.Result, id containers.Identity) {
	t.Helper()
	if len(id.Servers) != 3 || id.KVTokens != 3*id.Servers[0].KVTokens || id.KVTokens == 0 || len(id.BinarySHA256) != 64 || id.Inside == nil {
		t.Fatalf("identity %+v", id)
	}
	addresses := map[string]bool{}
	for i, each := range id.Servers {
		log := fmt.Sprintf("server-%d.log", i)
		if each.Role != strings.TrimSuffix(log, ".log") || each.Start == nil || len(each.Start.Stages) == 0 {
			t.Errorf("server %d: %+v", i, each)
		}
		addresses[each.Argv[slices.Index(each.Argv, "--port")+1]] = true
		if !slices.ContainsFunc(r.Artifacts, func(f result.Artifact) bool { return f.Path == log }) {
			t.Errorf("%s is not among the run's files", log)
		}
	}
	if len(addresses) != 3 {
		t.Errorf("they listen at %v", addresses)
	}
	for _, p := range r.Points {
		if p.Engine == nil || p.Engine.GenerationTokens != p.Engine.ClientTokens {
			t.Errorf("%s: engines %+v", p.ID, p.Engine)
		}
		grown := 0.0
		for i := range id.Servers {
			if growth := p.Telemetry[fmt.Sprintf("server%d.generation_tokens", i)].Growth; growth != nil {
				grown += *growth
			}
		}
		if all := p.Telemetry["engine.generation_tokens"].Growth; all == nil || *all == 0 || grown < 0.99**all || grown > 1.01**all {
			t.Errorf("%s: the servers made %v tokens in the window, together %v", p.ID, grown, all)
		}
	}
	if notes := strings.Join(r.Points[0].Notes, "\n"); !strings.Contains(notes, "requests by server: http://127.0.0.1:") {
		t.Errorf("notes: %s", notes)
	}
	if n := len(slices.DeleteFunc(slices.Clone(r.Stops), func(s result.Stop) bool { return s.How != result.StopGraceful })); n < 3 {
		t.Errorf("%d ended as they were asked: %+v", n, r.Stops)
	}
}

// TestAReplicaIsKilled in the middle of a point: the run fails with its name, and the others are stopped.
func TestAReplicaIsKilled(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	id := submit(t, a, sweepOf(t, replicas(3), "protocol.sweep={concurrency: [2, 3], requests: 400}", "workload.sampling.max_tokens=64"))
	killed := make(chan error, 1)
	onEvent(t, a, func(e result.Event) bool {
		return e.Progress != nil && e.Progress.Stage == "measure" && e.Point == "c2"
	}, func() {
		found, err := mark.Processes(mark.Mark{Owner: a.Owner, Run: id, Role: "server-1"})
		if err == nil && len(found) != 1 {
			err = fmt.Errorf("%d processes", len(found))
		}
		if err == nil {
			err = syscall.Kill(found[0].PID, syscall.SIGKILL)
		}
		killed <- err
	})
	r := execute(t, a, id)
	if err := <-killed; err != nil {
		t.Fatal(err)
	}
	e := r.Run.Error
	if r.Run.State != result.Failed || e == nil || e.Code != "server.exited" || !strings.Contains(e.Text, "server-1 was killed by signal 9") || !strings.Contains(e.Hint, "server-1.log") {
		t.Fatalf("%s: %v %s", r.Run.State, e, e.Hint)
	}
	checkStates(t, r, "c2 failed", "c3 skipped")
	nothingLeft(t, a)
}

// TestReplicasThatCannotStart: it is said before anything is started, or the others are stopped.
func TestReplicasThatCannotStart(t *testing.T) {
	t.Run("GPUs do not share out", func(t *testing.T) {
		a := newAgent(t)
		if f := refuses(t, a, sweepOf(t, replicas(2), `server.gpus="0-2"`), "plan.replicas_uneven"); !strings.Contains(f.Text, "3 GPUs") {
			t.Error(f)
		}
	})
	t.Run("a port is taken", func(t *testing.T) {
		a := newAgent(t)
		first, taken := twoPorts(t)
		defer taken.Close()
		r := execute(t, a, submit(t, a, sweepOf(t, replicas(2), "server.port="+strconv.Itoa(first))))
		if r.Run.Error == nil || r.Run.Error.Code != "server.port_in_use" || !strings.Contains(r.Run.Error.Text, "server-1") {
			t.Errorf("%v", r.Run.Error)
		}
		nothingLeft(t, a)
	})
}

// twoPorts finds a port that is free and before one that is held.
func twoPorts(t *testing.T) (free int, taken net.Listener) {
	t.Helper()
	for range 100 {
		port, err := containers.FreePort()
		if err != nil {
			t.Fatal(err)
		}
		if taken, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+1)); err == nil {
			return port, taken
		}
	}
	t.Fatal("no two ports beside each other")
	return 0, nil
}

// TestRecoverRemovesReplicas: all servers of a killed program are ended.
func TestRecoverRemovesReplicas(t *testing.T) {
	a := newAgent(t)
	p := sweepOf(t, replicas(2))
	id := submit(t, a, p)
	move(t, a, id, result.Running)
	x := &execution{Config: a.Config, run: a.mustRun(t, id), dir: a.Store.RunDir(id), bus: a.bus, log: &events.Log{}, plan: p}
	for _, do := range []func(context.Context) error{x.pull, x.startServer} {
		if err := do(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, m := range containers.Members(x.server) {
		if _, err := os.Stat(filepath.Join("/proc", strings.TrimPrefix(m.Identity().Name, "pid "))); err == nil {
			await(t, m.Identity().Name)
		}
	}
	nothingLeft(t, a)
}

// await waits until a child of this process was buried.
func await(t *testing.T, name string) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); <-tick.C {
		if _, err := os.Stat(filepath.Join("/proc", strings.TrimPrefix(name, "pid "))); err != nil {
			return
		}
	}
	t.Errorf("%s still runs", name)
}

// TestReplicasInOneCache: a decode cell fits when all servers' caches together hold it.
func TestReplicasInOneCache(t *testing.T) {
	x := &execution{serverID: containers.Identity{KVTokens: 3000, Servers: make([]containers.Identity, 3)}, plan: plan.Plan{Protocol: plan.Protocol{Matrix: &plan.Matrix{MaxTokens: 100}}}}
	for c, want := range map[int]bool{2: false, 3: true} {
		if over := x.overCapacity(plan.Point{Phase: plan.PhaseDecode, Concurrency: c, Context: 1000}); (over != nil) != want {
			t.Errorf("%d streams of 1100 tokens in three caches of 1000: %+v", c, over)
		}
	}
}
