package process_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/containers"
	"assay/containers/enginetest"
	"assay/containers/imagetest"
	"assay/containers/instance"
	"assay/containers/instancetest"
	"assay/containers/leftover"
	"assay/containers/logs"
	"assay/containers/mark"
	"assay/containers/process"
	"assay/plan"
)

// TestMain lets the test binary play the server that a test starts.
func TestMain(m *testing.M) { instancetest.Main(m, nil) }

func TestProcessRunsAndStops(t *testing.T) {
	s := instancetest.Child(t, "serve")
	inst := instancetest.Start(t, process.Runtime{}, s)
	id, err := containers.Ready(t.Context(), inst, instancetest.Preset(t, "vllm"), containers.ReadyOptions{Model: "test-model"}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if id.Version != "1.2.3" || id.MaxModelLen != 2048 || len(id.BinarySHA256) != 64 || id.Models[0] != "test-model" || id.Role != "server" {
		t.Errorf("identity %+v", id)
	}
	exit, err := inst.Stop(t.Context())
	if err != nil || exit.Code != 128+15 || exit.Signal != "SIGTERM" || !exit.Asked || exit.Killed || exit.Took <= 0 {
		t.Errorf("stop: %+v, %v", exit, err)
	}
	if e, ok := <-inst.Exited(); ok {
		t.Errorf("a stop that was asked for is reported as an exit: %+v", e)
	}
	if again, err := inst.Stop(t.Context()); err != nil || !reflect.DeepEqual(again, exit) {
		t.Errorf("second stop: %+v, %v", again, err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.Dir, "*"+mark.Suffix)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestProcessThatIgnoresTermIsKilled(t *testing.T) {
	inst := instancetest.Start(t, process.Runtime{}, instancetest.Child(t, "ignore-term"))
	instancetest.AwaitLog(t, inst, "listening")
	if exit, err := inst.Stop(t.Context()); err != nil || exit.Code != 128+9 || exit.Signal != "SIGKILL" || !exit.Asked || !exit.Killed || exit.Took <= 0 {
		t.Errorf("stop: %+v, %v", exit, err)
	}
}

func TestStopWithEndedContextKillsAtOnce(t *testing.T) {
	s := instancetest.Child(t, "ignore-term")
	s.StopGrace = time.Hour
	inst := instancetest.Start(t, process.Runtime{}, s)
	instancetest.AwaitLog(t, inst, "listening")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if exit, err := inst.Stop(ctx); err != nil || exit.Code != 128+9 || !exit.Killed {
		t.Errorf("stop: %+v, %v", exit, err)
	}
}

func TestUnaskedExitIsTold(t *testing.T) {
	for mode, code := range map[string]int{"exit-early": 3, "silent-exit": 0} {
		inst := instancetest.Start(t, process.Runtime{}, instancetest.Child(t, mode))
		e, ok := <-inst.Exited()
		if !ok || e.Code != code || e.Asked || e.Killed {
			t.Errorf("%s: exit %+v, %v", mode, e, ok)
		}
		if again, err := inst.Stop(t.Context()); err != nil || !reflect.DeepEqual(again, e) {
			t.Errorf("%s: stop after the exit: %+v, %v", mode, again, err)
		}
	}
}

// A killed server must take its workers with it: they would keep the memory of the GPU.
func TestWorkersEndWithTheirServer(t *testing.T) {
	inst := instancetest.Start(t, process.Runtime{}, instancetest.Child(t, "grandchild"))
	var worker, leader int
	if _, err := fmt.Sscanf(instancetest.AwaitLog(t, inst, "listening"), "grandchild %d", &worker); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(inst.Identity().Name, "pid %d", &leader); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(leader, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if e := <-inst.Exited(); e.Code != 128+9 || !strings.Contains(e.Reason, "signal 9") {
		t.Errorf("exit %+v", e)
	}
	instancetest.Await(t, "end of the worker", func() bool { return !instancetest.Alive(worker) })
}

// TestStubbornWorkers: one that no SIGTERM ends goes with its server too, wherever it went.
func TestStubbornWorkers(t *testing.T) {
	for name, start := range map[string]string{
		"in its group":            "(trap '' TERM; exec sleep 600) &",
		"in a session of its own": "(trap '' TERM; exec setsid sleep 600) &",
		"in a group of its own, without an environment": "set -m; (trap '' TERM; exec env -i sleep 600 >/dev/null 2>&1) &",
	} {
		t.Run(name, func(t *testing.T) {
			s := instancetest.Child(t, "serve")
			s.Argv = []string{"/bin/bash", "-c", start + " echo worker $!; echo listening; wait"}
			inst := instancetest.Start(t, process.Runtime{}, s)
			var worker, leader int
			if _, err := fmt.Sscanf(instancetest.AwaitLog(t, inst, "listening"), "worker %d", &worker); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Sscanf(inst.Identity().Name, "pid %d", &leader); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = syscall.Kill(worker, syscall.SIGKILL) })
			instancetest.Await(t, "the program of the worker", func() bool {
				b, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", worker))
				return err == nil && string(b) == "sleep\n"
			})
			if err := syscall.Kill(leader, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			<-inst.Exited()
			instancetest.Await(t, "end of the worker", func() bool { return !instancetest.Alive(worker) })
		})
	}
}

// kept is a journal in memory.
type kept struct{ open map[string]bool }

func (k kept) Intend(_ context.Context, i leftover.Intent) error { k.open[i.Name] = true; return nil }
func (k kept) Made(context.Context, leftover.Intent)             {}
func (k kept) Gone(_ context.Context, i leftover.Intent)         { delete(k.open, i.Name) }

// TestUnseenWorkersStayInTheJournal: who cannot make sure that the workers of a program have ended, here for want of file descriptors, does not
// strike it out: the next start looks again.
func TestUnseenWorkersStayInTheJournal(t *testing.T) {
	for name, blind := range map[string]bool{"all is seen": false, "nothing can be looked at": true} {
		t.Run(name, func(t *testing.T) {
			s, journal := instancetest.Child(t, "serve"), kept{map[string]bool{}}
			s.Journal = journal
			inst := instancetest.Start(t, process.Runtime{}, s)
			instancetest.AwaitLog(t, inst, "listening")
			var limit syscall.Rlimit
			if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
				t.Fatal(err)
			}
			if blind {
				none := syscall.Rlimit{Cur: 0, Max: limit.Max}
				if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
					t.Fatal(err)
				}
			}
			_, err := inst.Stop(t.Context())
			if again := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || again != nil {
				t.Fatal(err, again)
			}
			if journal.open[s.Name()] != blind {
				t.Errorf("in the journal: %v", journal.open)
			}
		})
	}
}

// What a server's helpers do after its end counts as its stop: vLLM's remove its shared memory then.
func TestHelpersMayTidyUp(t *testing.T) {
	s := instancetest.Child(t, "serve")
	litter := filepath.Join(t.TempDir(), "litter")
	s.Argv = append(s.Argv, "--litter", litter)
	inst := instancetest.Start(t, process.Runtime{}, s)
	instancetest.AwaitLog(t, inst, "helper ready")
	if _, err := os.Stat(litter); err != nil {
		t.Fatal(err)
	}
	if exit, err := inst.Stop(t.Context()); err != nil || exit.Code != 128+15 {
		t.Errorf("stop: %+v, %v", exit, err)
	}
	if _, err := os.Stat(litter); !errors.Is(err, os.ErrNotExist) {
		log, _ := os.ReadFile(inst.LogPath())
		t.Errorf("the helper was stopped before it had tidied up: %v\n%s", err, log)
	}
}

func TestReapEndsOnlyItsOwn(t *testing.T) {
	mine, other := instancetest.Child(t, "grandchild"), instancetest.Child(t, "ignore-term")
	other.Owner += "-other"
	a, b := instancetest.Start(t, process.Runtime{}, mine), instancetest.Start(t, process.Runtime{}, other)
	instancetest.AwaitLog(t, a, "listening")
	instancetest.AwaitLog(t, b, "listening")
	found := containers.Reap(t.Context(), leftover.Search{Owner: mine.Owner}, containers.DockerPlace{})
	if names := found.Names(); found.Failed != nil || len(names) != 2 || !strings.Contains(names[0], "server of run run1") {
		t.Errorf("reaped %+v", found)
	}
	if e := <-a.Exited(); e.Code != 128+15 {
		t.Errorf("exit %+v", e)
	}
	others, err := mark.Processes(mark.Mark{Owner: other.Owner})
	if err != nil || len(others) != 1 {
		t.Errorf("the other's process: %v, %v", others, err)
	}
	if found := containers.Reap(t.Context(), leftover.Search{Owner: mine.Owner}, containers.DockerPlace{}); found.Failed != nil || len(found.Removed) != 0 {
		t.Errorf("second reap: %+v", found)
	}
	if containers.Reap(t.Context(), leftover.Search{}, containers.DockerPlace{}).Failed == nil {
		t.Error("reaping for nobody is no error")
	}
}

// nginx and others overwrite their environment; they are known by the log that they write to.
func TestProcessWithoutEnvironmentIsKnownByItsLog(t *testing.T) {
	m := mark.Mark{Owner: instancetest.Owner(t), Run: "run1", Role: "router"}
	log, err := logs.Create(t.TempDir(), "router")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := m.Write(log.Name()); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sleep", "600")
	cmd.Env, cmd.Stdout = []string{}, log
	cmd.Env = append(cmd.Env, "A=b")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waited := make(chan error, 1)
	go func() { waited <- cmd.Wait() }()
	found := process.Runtime{}.Reap(t.Context(), leftover.Search{Owner: m.Owner})
	if names := found.Names(); found.Failed != nil || len(names) != 1 || !strings.Contains(names[0], "router of run run1") {
		t.Errorf("reaped %+v", found)
	}
	<-waited
}

func TestPortInUseNamesTheHolder(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := instancetest.Child(t, "serve")
	s.HostPort = l.Addr().(*net.TCPAddr).Port
	_, err = process.Runtime{}.Start(t.Context(), s)
	enginetest.WantFault(t, err, "server.port_in_use", fmt.Sprintf("pid %d", os.Getpid()), fmt.Sprint(s.HostPort))
	if left, _ := os.ReadDir(s.Dir); len(left) > 0 {
		t.Errorf("a refused start left %v", left)
	}
}

func TestProcessFaults(t *testing.T) {
	s := instancetest.Child(t, "serve")
	s.Argv = []string{"/no/such/program"}
	_, err := process.Runtime{}.Prepare(t.Context(), s, nil)
	enginetest.WantFault(t, err, "server.program_not_found", "/no/such/program")
	s.Role = "router"
	_, err = process.Runtime{}.Start(t.Context(), s)
	enginetest.WantFault(t, err, "router.program_not_found")
	s.Argv = nil
	_, err = process.Runtime{}.Prepare(t.Context(), s, nil)
	enginetest.WantFault(t, err, "router.command_missing")
	script := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(script, []byte("\x7fELF broken"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.Argv = []string{script}
	_, err = process.Runtime{}.Start(t.Context(), s)
	enginetest.WantFault(t, err, "router.start_failed")
}

// A server that does not end on SIGTERM while a connection is open is killed after its grace, and the connection ends with it.
func TestField_realengines_03(t *testing.T) {
	inst := instancetest.Start(t, process.Runtime{}, instancetest.Child(t, "ignore-term"))
	instancetest.AwaitLog(t, inst, "listening")
	address := strings.TrimPrefix(inst.BaseURLs()[0], "http://")
	var c net.Conn
	instancetest.Await(t, "connection", func() (ok bool) {
		var err error
		c, err = net.Dial("tcp", address)
		return err == nil
	})
	defer c.Close()
	if exit, err := inst.Stop(t.Context()); err != nil || exit.Code != instance.KilledCode {
		t.Errorf("stop: %+v, %v", exit, err)
	}
	if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection outlives its server: %v", err)
	}
}

// What is killed from outside takes the processes that it started with it.
func TestField_realengines_04(t *testing.T) {
	t.Run("workers", TestWorkersEndWithTheirServer)
	t.Run("stubborn workers", TestStubbornWorkers)
}

// TestProcessInheritsOnlyWhatIsKnown looks into a started program.
func TestProcessInheritsOnlyWhatIsKnown(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "do not tell")
	t.Setenv("ANYTHING", "else")
	s := instancetest.Child(t, "serve")
	s.Argv, s.Env = []string{"/bin/sh", "-c", "env; exec sleep 600"}, map[string]string{"HF_TOKEN": "named"}
	inst := instancetest.Start(t, process.Runtime{}, s)
	log := instancetest.AwaitLog(t, inst, "ASSAY_OWNER="+s.Owner)
	instancetest.Await(t, "whole environment", func() bool {
		b, err := os.ReadFile(inst.LogPath())
		log = string(b)
		return err == nil && containsLine(log, "HF_TOKEN=named") && containsLine(log, "PATH="+os.Getenv("PATH"))
	})
	if containsLine(log, "ANYTHING=else") || containsLine(log, "AWS_SECRET_ACCESS_KEY=do not tell") {
		t.Errorf("the program was given:\n%s", log)
	}
}

func containsLine(text, line string) bool { return slices.Contains(strings.Split(text, "\n"), line) }

func TestLlamaAsProcess(t *testing.T) {
	server, model := imagetest.LlamaServer(t), imagetest.LlamaModel(t)
	p := plan.Plan{Model: plan.Model{Name: "smollm2", Path: model}, Server: plan.Server{Engine: "llamacpp", Runtime: "process", Command: []string{server}, Args: []string{"-t", "1", "--parallel", "2", "--ctx-size", "2048"}}}
	specs, preset, err := containers.ServerSpecs(p, containers.SpecOptions{Owner: instancetest.Owner(t), Run: "llama", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	inst := instancetest.Start(t, process.Runtime{}, specs[0])
	id, err := containers.Ready(t.Context(), inst, preset, containers.ReadyOptions{Timeout: 5 * time.Minute, Model: "smollm2", Endpoint: "completions"}, func(string) {})
	if err != nil || id.Models[0] != "smollm2" {
		t.Fatalf("%+v, %v", id, err)
	}
	if exit, err := inst.Stop(t.Context()); err != nil || exit.Code != 0 {
		t.Errorf("stop: %+v, %v", exit, err)
	}
}
