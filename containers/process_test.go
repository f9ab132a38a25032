package containers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/containers/enginetest"
	"assay/containers/mark"
)

// awaitLog blocks until the log holds a text.
func awaitLog(t *testing.T, inst Instance, text string) string {
	t.Helper()
	var b []byte
	await(t, "log with "+text, func() bool {
		b, _ = os.ReadFile(inst.LogPath())
		return strings.Contains(string(b), text)
	})
	return string(b)
}

// await polls a condition of another process, which no channel tells of.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !done(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("no %s", what)
		}
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestProcessRunsAndStops(t *testing.T) {
	s := childSpec(t, "serve")
	inst := startSpec(t, process{}, s)
	id, err := Ready(t.Context(), inst, preset(t, "vllm"), ReadyOptions{Model: "test-model"}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if id.Version != "1.2.3" || id.MaxModelLen != 2048 || len(id.BinarySHA256) != 64 || id.Models[0] != "test-model" || id.Role != "server" {
		t.Errorf("identity %+v", id)
	}
	exit, err := inst.Stop(t.Context())
	if err != nil || exit.Code != 128+15 {
		t.Errorf("stop: %+v, %v", exit, err)
	}
	if e, ok := <-inst.Exited(); ok {
		t.Errorf("a stop that was asked for is reported as an exit: %+v", e)
	}
	if again, err := inst.Stop(t.Context()); err != nil || again != exit {
		t.Errorf("second stop: %+v, %v", again, err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.Dir, "*"+mark.Suffix)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestProcessThatIgnoresTermIsKilled(t *testing.T) {
	inst := startSpec(t, process{}, childSpec(t, "ignore-term"))
	awaitLog(t, inst, "listening")
	if exit, err := inst.Stop(t.Context()); err != nil || exit.Code != 128+9 {
		t.Errorf("stop: %+v, %v", exit, err)
	}
}

func TestStopWithEndedContextKillsAtOnce(t *testing.T) {
	s := childSpec(t, "ignore-term")
	s.StopGrace = time.Hour
	inst := startSpec(t, process{}, s)
	awaitLog(t, inst, "listening")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if exit, err := inst.Stop(ctx); err != nil || exit.Code != 128+9 {
		t.Errorf("stop: %+v, %v", exit, err)
	}
}

func TestUnaskedExitIsTold(t *testing.T) {
	for mode, code := range map[string]int{"exit-early": 3, "silent-exit": 0} {
		inst := startSpec(t, process{}, childSpec(t, mode))
		e, ok := <-inst.Exited()
		if !ok || e.Code != code {
			t.Errorf("%s: exit %+v, %v", mode, e, ok)
		}
		if again, err := inst.Stop(t.Context()); err != nil || again != e {
			t.Errorf("%s: stop after the exit: %+v, %v", mode, again, err)
		}
	}
}

// A killed server must take its workers with it: they would keep the memory of the GPU.
func TestWorkersEndWithTheirServer(t *testing.T) {
	inst := startSpec(t, process{}, childSpec(t, "grandchild"))
	var worker, leader int
	if _, err := fmt.Sscanf(awaitLog(t, inst, "listening"), "grandchild %d", &worker); err != nil {
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
	await(t, "end of the worker", func() bool { return !alive(worker) })
}

// What a server's helpers do after its end counts as its stop: vLLM's remove its shared memory then.
func TestHelpersMayTidyUp(t *testing.T) {
	s := childSpec(t, "serve")
	litter := filepath.Join(t.TempDir(), "litter")
	s.Argv, s.StopGrace = append(s.Argv, "--litter", litter), time.Minute
	inst := startSpec(t, process{}, s)
	awaitLog(t, inst, "helper ready")
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
	mine, other := childSpec(t, "grandchild"), childSpec(t, "ignore-term")
	other.Owner += "-other"
	a, b := startSpec(t, process{}, mine), startSpec(t, process{}, other)
	awaitLog(t, a, "listening")
	awaitLog(t, b, "listening")
	names, err := ReapAll(t.Context(), mine.Owner)
	if err != nil || len(names) != 2 || !strings.Contains(names[0], "server of run run1") {
		t.Errorf("reaped %v, %v", names, err)
	}
	if e := <-a.Exited(); e.Code != 128+15 {
		t.Errorf("exit %+v", e)
	}
	found, err := mark.Processes(mark.Mark{Owner: other.Owner})
	if err != nil || len(found) != 1 {
		t.Errorf("the other's process: %v, %v", found, err)
	}
	if names, err := ReapAll(t.Context(), mine.Owner); err != nil || len(names) != 0 {
		t.Errorf("second reap: %v, %v", names, err)
	}
	if _, err := ReapAll(t.Context(), ""); err == nil {
		t.Error("reaping for nobody is no error")
	}
}

// nginx and others overwrite their environment; they are known by the log that they write to.
func TestProcessWithoutEnvironmentIsKnownByItsLog(t *testing.T) {
	m := mark.Mark{Owner: ownerOf(t), Run: "run1", Role: "router"}
	log, err := createLog(t.TempDir(), "router")
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
	names, err := process{}.Reap(t.Context(), m.Owner)
	if err != nil || len(names) != 1 || !strings.Contains(names[0], "router of run run1") {
		t.Errorf("reaped %v, %v", names, err)
	}
	<-waited
}

func TestPortInUseNamesTheHolder(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := childSpec(t, "serve")
	s.HostPort = l.Addr().(*net.TCPAddr).Port
	_, err = process{}.Start(t.Context(), s)
	enginetest.WantFault(t, err, "server.port_in_use", fmt.Sprintf("pid %d", os.Getpid()), fmt.Sprint(s.HostPort))
	if left, _ := os.ReadDir(s.Dir); len(left) > 0 {
		t.Errorf("a refused start left %v", left)
	}
}

func TestProcessFaults(t *testing.T) {
	s := childSpec(t, "serve")
	s.Argv = []string{"/no/such/program"}
	enginetest.WantFault(t, process{}.Prepare(t.Context(), s, nil), "server.program_not_found", "/no/such/program")
	s.Role = "router"
	_, err := process{}.Start(t.Context(), s)
	enginetest.WantFault(t, err, "router.program_not_found")
	s.Argv = nil
	enginetest.WantFault(t, process{}.Prepare(t.Context(), s, nil), "router.command_missing")
	script := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(script, []byte("\x7fELF broken"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.Argv = []string{script}
	_, err = process{}.Start(t.Context(), s)
	enginetest.WantFault(t, err, "router.start_failed")
}

func TestEachStartHasItsOwnLog(t *testing.T) {
	dir := t.TempDir()
	for _, want := range []string{"server.log", "server-2.log", "server-3.log"} {
		f, err := createLog(dir, "server")
		if err != nil || filepath.Base(f.Name()) != want {
			t.Fatalf("%v, %v, want %s", f, err, want)
		}
		f.Close()
	}
	if _, err := createLog(filepath.Join(dir, "none"), "server"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestLogKeepsBeginningAndEnd(t *testing.T) {
	f, err := createLog(t.TempDir(), "server")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprint(f, "BEGIN", strings.Repeat("x", 1000), "END")
	if err := cutLog(f, 500, 100, 50); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, "MORE")
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	got := string(b)
	if !strings.HasPrefix(got, "BEGIN") || !strings.HasSuffix(got, "ENDMORE") || !strings.Contains(got, "[858 bytes were cut out here]") || len(got) > 250 {
		t.Errorf("log %q", got)
	}
}
