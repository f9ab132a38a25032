package containers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/containers/enginetest"
	"assay/containers/instancetest"
	"assay/containers/mark"
	"assay/containers/port"
	"assay/containers/process"
	"assay/plan"
)

// fleetSpecs are servers of one run, one for each mode of this test binary.
func fleetSpecs(t *testing.T, modes ...string) []Spec {
	t.Helper()
	dir := t.TempDir()
	var specs []Spec
	for i, mode := range modes {
		s := instancetest.Child(t, mode)
		s.Role, s.Dir = fmt.Sprintf("server-%d", i), dir
		specs = append(specs, s)
	}
	return specs
}

// startFleet starts servers and makes sure that they end with the test.
func startFleet(t *testing.T, specs []Spec) Instance {
	t.Helper()
	inst, err := StartAll(t.Context(), process.Runtime{}, specs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := inst.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return inst
}

// nothingLeft fails when anything with the mark of this test lives.
func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	if left, err := mark.Processes(mark.Mark{Owner: instancetest.Owner(t)}); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*"+mark.Suffix)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func pidOf(t *testing.T, inst Instance) int {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimPrefix(inst.Identity().Name, "pid "))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// TestFleet: servers of one plan start, get ready and stop as one, each with its own address, log and identity.
func TestFleet(t *testing.T) {
	specs := fleetSpecs(t, "serve", "serve", "serve")
	inst := startFleet(t, specs)
	var stages []string
	id, err := Ready(t.Context(), inst, instancetest.Preset(t, "vllm"), ReadyOptions{Model: "test-model"}, func(s string) { stages = append(stages, s) })
	if err != nil {
		t.Fatal(err)
	}
	var urls, names []string
	for i, s := range specs {
		urls = append(urls, port.URL(s.HostPort))
		names = append(names, fmt.Sprintf("pid %d", pidOf(t, Members(inst)[i])))
		if log := filepath.Join(s.Dir, s.Role+".log"); Members(inst)[i].LogPath() != log {
			t.Errorf("log %s, want %s", Members(inst)[i].LogPath(), log)
		}
		for _, stage := range []string{StagePort, StageHealth, StageModel, StageTokens} {
			if !slices.Contains(stages, s.Role+": "+stage) {
				t.Errorf("nothing was told of %s of %s", stage, s.Role)
			}
		}
		if each := id.Servers[i]; each.Role != s.Role || each.Name != names[i] || each.MaxModelLen != 2048 || len(each.Start.Stages) != 5 || !slices.Equal(each.Argv, s.Argv) {
			t.Errorf("server %d: %+v", i, each)
		}
	}
	if d := cmp.Diff(urls, inst.BaseURLs()); d != "" {
		t.Error(d)
	}
	if id.Role != "server" || id.Runtime != "process" || id.Name != strings.Join(names, ", ") || id.Version != "1.2.3" || id.MaxModelLen != 2048 || len(id.BinarySHA256) != 64 || len(id.Servers) != 3 {
		t.Errorf("together %+v", id)
	}
	exit, err := inst.Stop(t.Context())
	if err != nil || len(exit.Members) != 3 || exit.Members[1].Name != names[1] || exit.Members[2].Code != 128+15 || exit.Members[2].Signal != "SIGTERM" {
		t.Errorf("stop: %+v, %v", exit, err)
	}
	if e, ok := <-inst.Exited(); ok {
		t.Errorf("a stop that was asked for is reported as an exit: %+v", e)
	}
	if again, err := inst.Stop(t.Context()); err != nil || !cmp.Equal(again, exit) {
		t.Errorf("second stop: %+v, %v", again, err)
	}
	nothingLeft(t, specs[0].Dir)
}

// TestFleetMemberKilled: the end of one is told, with its name and log; the others live until they are stopped.
func TestFleetMemberKilled(t *testing.T) {
	specs := fleetSpecs(t, "serve", "serve", "serve")
	inst := startFleet(t, specs)
	for _, m := range Members(inst) {
		instancetest.AwaitLog(t, m, "listening")
	}
	if err := syscall.Kill(pidOf(t, Members(inst)[1]), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	e, ok := <-inst.Exited()
	if !ok || e.Code != 128+9 {
		t.Fatalf("%+v, %v", e, ok)
	}
	f := ExitFault(inst, e)
	enginetest.WantFault(t, f, "server.exited", "server-1", "signal 9")
	if !strings.Contains(f.Hint, filepath.Join(specs[1].Dir, "server-1.log")) {
		t.Errorf("hint %q", f.Hint)
	}
	for _, i := range []int{0, 2} {
		if !instancetest.Alive(pidOf(t, Members(inst)[i])) {
			t.Errorf("server-%d was ended too", i)
		}
	}
	if _, ok := <-inst.Exited(); ok {
		t.Error("a second end is told")
	}
	if _, err := inst.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	nothingLeft(t, specs[0].Dir)
}

// ending is a server whose end a test tells.
type ending struct {
	Instance
	exited chan Exit
}

func (e ending) Exited() <-chan Exit { return e.exited }

// TestTheFirstEndIsTold, and no later one; without any, nothing is.
func TestTheFirstEndIsTold(t *testing.T) {
	for name, ends := range map[string][]int{"of the last": {2}, "of two": {1, 0}, "of all": {2, 0, 1}, "none by itself": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var members []Instance
				for range 3 {
					members = append(members, ending{exited: make(chan Exit, 1)})
				}
				f := newFleet(members)
				for _, i := range ends {
					members[i].(ending).exited <- Exit{Code: 10 + i}
					synctest.Wait()
				}
				if len(ends) > 0 {
					select {
					case e := <-f.Exited():
						if e.Code != 10+ends[0] || f.ended != members[ends[0]] {
							t.Errorf("told of code %d", e.Code)
						}
					default:
						t.Error("nothing is told before all have ended")
					}
				}
				for _, m := range members {
					close(m.(ending).exited)
				}
				if e, told := <-f.Exited(); told {
					t.Errorf("then %+v", e)
				}
			})
		})
	}
}

// TestFleetMemberDoesNotStart: the others are stopped, and nothing is left.
func TestFleetMemberDoesNotStart(t *testing.T) {
	specs := fleetSpecs(t, "serve", "serve", "serve")
	specs[2].HostPort = specs[0].HostPort
	specs[2].Argv = []string{"/nowhere/to/be/found"}
	inst, err := StartAll(t.Context(), process.Runtime{}, specs)
	if inst != nil {
		t.Errorf("there is an instance: %v", inst.BaseURLs())
	}
	enginetest.WantFault(t, err, "server.program_not_found", "server-2")
	nothingLeft(t, specs[0].Dir)
}

// TestFleetMemberNotReady: the one that fails is named, and the others are not waited for.
func TestFleetMemberNotReady(t *testing.T) {
	t.Run("it ends", func(t *testing.T) {
		inst := startFleet(t, fleetSpecs(t, "serve", "exit-early", "serve"))
		_, err := Ready(t.Context(), inst, instancetest.Preset(t, "vllm"), ReadyOptions{Model: "test-model"}, func(string) {})
		enginetest.WantFault(t, err, "server.bad_argument", "server-1", "--nope")
		if strings.Contains(err.Error(), "server-0") {
			t.Errorf("it names another: %v", err)
		}
	})
	t.Run("its port stays closed", func(t *testing.T) {
		specs := fleetSpecs(t, "serve", "serve")
		closed, err := FreePort()
		if err != nil {
			t.Fatal(err)
		}
		specs[1].HostPort = closed
		inst := startFleet(t, specs)
		instancetest.Await(t, "answer of the other", func() bool { return answers(inst.BaseURLs()[0] + "/health") })
		_, err = Ready(t.Context(), inst, instancetest.Preset(t, "vllm"), ReadyOptions{Model: "test-model", Port: 2 * time.Second}, func(string) {})
		enginetest.WantFault(t, err, "server.not_ready", "server-1", StagePort)
	})
	t.Run("it serves another model", func(t *testing.T) {
		inst := newFleet([]Instance{servedBy(t, enginetest.Handler("m")), servedBy(t, enginetest.Handler("other"))})
		_, err := Ready(t.Context(), inst, instancetest.Preset(t, "vllm"), ReadyOptions{Model: "m"}, func(string) {})
		enginetest.WantFault(t, err, "server.wrong_model", inst.BaseURLs()[1])
	})
	t.Run("all are late", func(t *testing.T) {
		inst := startFleet(t, fleetSpecs(t, "serve", "serve"))
		_, err := Ready(t.Context(), inst, instancetest.Preset(t, "vllm"), ReadyOptions{Model: "other", Timeout: time.Nanosecond}, func(string) {})
		enginetest.WantFault(t, err, "server.not_ready", "server-0")
	})
}

// TestFleetIsMarked: each server is found by a mark of its own.
func TestFleetIsMarked(t *testing.T) {
	specs := fleetSpecs(t, "serve", "serve")
	inst := startFleet(t, specs)
	for i, m := range Members(inst) {
		found, err := mark.Processes(mark.Mark{Owner: instancetest.Owner(t), Run: "run1", Role: fmt.Sprintf("server-%d", i)})
		if err != nil || len(found) != 1 || found[0].PID != pidOf(t, m) {
			t.Errorf("%v, %v", found, err)
		}
	}
}

// TestServerSpecsOfReplicas: each has its own name, port and part of the machine.
func TestServerSpecsOfReplicas(t *testing.T) {
	p := testPlan("vllm", "docker")
	p.Server.Image, p.Server.Replicas, p.Server.Port, p.Server.GPUs, p.Server.CPUs, p.Server.NUMA = "vllm@"+digest, 4, 8000, "0-7", "0-15,32-47", "0,1"
	specs, _, err := ServerSpecs(p, specOptions)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"assay-run1-server-0", "8000", "0,1", "0-3,32-35", "0"}, {"assay-run1-server-1", "8001", "2,3", "4-7,36-39", "0"},
		{"assay-run1-server-2", "8002", "4,5", "8-11,40-43", "1"}, {"assay-run1-server-3", "8003", "6,7", "12-15,44-47", "1"},
	}
	var got [][]string
	for _, s := range specs {
		got = append(got, []string{s.Name(), strconv.Itoa(s.HostPort), s.GPUs, s.CPUs, s.NUMA})
		if s.Port != bridgedPort {
			t.Errorf("port %d inside", s.Port)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	p.Server.GPUs = "all"
	for gpus, want := range map[int]string{8: "6,7", 0: "all"} {
		specs, err := serverSpecs(p, instancetest.Preset(t, "vllm"), specOptions, []int{1, 2, 3, 4}, gpus)
		if err != nil || specs[3].GPUs != want {
			t.Errorf("the last of four gets %q of %d GPUs, want %q: %v", specs[3].GPUs, gpus, want, err)
		}
	}
	p.Server.GPUs = ""
	if wished, err := serverSpecs(p, instancetest.Preset(t, "vllm"), specOptions, []int{1}, 8); err != nil || wished[0].GPUs != "all" || !wished[0].GPUsWished || specs[0].GPUsWished {
		t.Errorf("a plan that says no GPUs: %+v, %v", wished, err)
	}
	p = testPlan("sglang", "process")
	p.Server.Replicas = 64
	if specs, _, err = ServerSpecs(p, specOptions); err != nil {
		t.Fatal(err)
	}
	ports := map[int]bool{}
	for _, s := range specs {
		ports[s.HostPort] = true
		if !slices.Contains(s.Argv, strconv.Itoa(s.HostPort)) || s.GPUs != "" {
			t.Errorf("%v with GPUs %q", s.Argv, s.GPUs)
		}
	}
	if len(ports) != 64 {
		t.Errorf("64 servers have %d ports", len(ports))
	}
}

func TestServerSpecsOfReplicasFaults(t *testing.T) {
	for _, c := range []struct {
		name, engine, runtime string
		change                func(*plan.Server)
		code                  string
	}{
		{"GPUs", "vllm", "process", func(s *plan.Server) { s.GPUs = "0-2" }, "plan.replicas_uneven"},
		{"CPUs", "vllm", "process", func(s *plan.Server) { s.CPUs = "0-2" }, "plan.replicas_uneven"},
		{"memory nodes", "vllm", "process", func(s *plan.Server) { s.NUMA = "0-2" }, "plan.replicas_uneven"},
		{"a port in args", "vllm", "process", func(s *plan.Server) { s.Args = []string{"--port", "9000"} }, "plan.port_conflict"},
		{"a port in args on the host's network", "vllm", "docker", func(s *plan.Server) { s.Network, s.Args = "host", []string{"--port=9000"} }, "plan.port_conflict"},
		{"an address in env", "ollama", "process", func(s *plan.Server) { s.Port, s.Env = 11434, map[string]string{"OLLAMA_HOST": "127.0.0.1:11434"} }, "plan.port_conflict"},
		{"no way to tell the port", "openai", "process", func(s *plan.Server) { s.Port, s.Command = 30000, []string{"./serve.sh"} }, "plan.port_conflict"},
		{"a port in args inside a container", "vllm", "docker", func(s *plan.Server) { s.Args = []string{"--port", "9000"} }, ""},
		{"no way to tell the port inside a container", "openai", "docker", func(s *plan.Server) { s.Port = 30000 }, ""},
		{"none on a machine without GPUs", "vllm", "docker", func(s *plan.Server) { s.GPUs = "none" }, ""},
	} {
		p := testPlan(c.engine, c.runtime)
		p.Server.Replicas = 2
		c.change(&p.Server)
		if _, _, err := ServerSpecs(p, specOptions); c.code != "" {
			t.Run(c.name, func(t *testing.T) { enginetest.WantFault(t, err, c.code) })
		} else if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestInCommon: what all servers have alike stands once above them.
func TestInCommon(t *testing.T) {
	a := Identity{Role: "server-0", Name: "a", Version: "1", DType: "bf16", Quantization: "fp8", KVTokens: 10, MaxModelLen: 4096, Models: []string{"m"}}
	b := a
	b.Role, b.Name, b.Quantization, b.MaxModelLen = "server-1", "b", "int4", 2048
	got := together(Identity{Role: "server"}, []Identity{a, b})
	want := Identity{Role: "server", Name: "a, b", Version: "1", DType: "bf16", KVTokens: 20, MaxModelLen: 2048, Models: []string{"m"}, Servers: []Identity{a, b}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := together(Identity{}, []Identity{a}); !cmp.Equal(got, a) {
		t.Errorf("alone %+v", got)
	}
}

// TestPrepareAll: one server that cannot be prepared ends it.
func TestPrepareAll(t *testing.T) {
	if _, err := PrepareAll(t.Context(), process.Runtime{}, []Spec{{Argv: []string{os.Args[0]}}, {Role: "server-1"}}, nil); err == nil {
		t.Error("a server without a command is prepared")
	}
}
