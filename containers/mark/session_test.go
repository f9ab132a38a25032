package mark

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets this binary be a server that leaves a worker behind: without environment, in a group of its own, with its output elsewhere.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "leaves-worker" {
		worker := exec.Command("/bin/sleep", "600")
		worker.Env, worker.SysProcAttr = []string{"A=b"}, &syscall.SysProcAttr{Setpgid: true}
		if err := worker.Start(); err != nil {
			os.Exit(2)
		}
		_, _ = os.Stdout.WriteString(strconv.Itoa(worker.Process.Pid))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// leaveWorker starts a server that has ended when this returns, and gives its session and the worker that it left.
func leaveWorker(t *testing.T, m Mark) (Session, int) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd := exec.Command(os.Args[0], "leaves-worker")
	cmd.Env, cmd.Stdout, cmd.SysProcAttr = m.Environ(), write, &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	s, err := SessionOf(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 16)
	n, err := read.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(b[:n]))
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return s, pid
}

// A worker whose server has ended, which took no mark with it, is found by the session, and ended.
func TestWorkerIsKnownByItsSession(t *testing.T) {
	m := Mark{Owner: "session-" + strconv.Itoa(os.Getpid()), Run: "run1", Role: "server"}
	s, pid := leaveWorker(t, m)
	if found, err := Processes(m); err != nil || len(found) != 0 {
		t.Fatalf("the worker is known by its mark, this test proves nothing: %v, %v", found, err)
	}
	for name, other := range map[string]Session{
		"of another boot":   {Leader: s.Leader, Ticks: s.Ticks, Boot: "b"},
		"of a later leader": {Leader: s.Leader, Ticks: s.Ticks + 1_000_000, Boot: s.Boot},
		"of nobody":         {},
	} {
		if found, err := other.Members(); err != nil || len(found) != 0 {
			t.Errorf("a session %s has %v, %v", name, found, err)
		}
	}
	found, err := End(t.Context(), Lost{Mark: Mark{Owner: m.Owner}, Sessions: map[Session]Mark{s: m}}, 3*time.Second)
	if err != nil || len(found) != 1 || found[0].PID != pid || !strings.Contains(found[0].String(), "server of run run1") {
		t.Errorf("ended %v, %v", found, err)
	}
	if left, err := s.Members(); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestReusedProcessID: the number of a leader that has ended belongs to somebody else's program now, which is left alone.
func TestReusedProcessID(t *testing.T) {
	cmd := exec.Command("/bin/sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	s, err := SessionOf(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := s.Members(); err != nil || len(found) != 1 {
		t.Fatalf("the session itself has %v, %v", found, err)
	}
	s.Ticks-- // the one that had the number before
	if found, err := s.Members(); err != nil || len(found) != 0 {
		t.Errorf("a session of an earlier leader has %v, %v", found, err)
	}
}

func TestParseStat(t *testing.T) {
	s, err := parseStat([]byte("17 (a b) c) S 1 17 16 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4711 1 1"))
	if err != nil || s != (stat{state: 'S', session: 16, ticks: 4711}) {
		t.Errorf("%+v, %v", s, err)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("17 (a b) c) S 1 17 16 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4711 1 1"))
	f.Add([]byte("17 (sleep"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := parseStat(b); err == nil && !strings.Contains(string(b), strconv.FormatUint(s.ticks, 10)) {
			t.Errorf("%q: %+v", b, s)
		}
	})
}
