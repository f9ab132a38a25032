package docker

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"assay/containers/enginetest"
	"assay/containers/imagetest"
	"assay/containers/instancetest"
	"assay/containers/leftover"
	"assay/containers/logs"
	"assay/containers/socket"
)

// leftBehind is an engine of the test's own with an image, at which containers stay as a killed program leaves them.
type leftBehind struct {
	t      *testing.T
	engine *imagetest.OwnEngine
	image  string
	owner  string
	dir    string
}

func newLeftBehind(t *testing.T) *leftBehind {
	l := &leftBehind{t: t, engine: imagetest.StartEngine(t, 0), owner: instancetest.Owner(t), dir: t.TempDir()}
	l.image = imagetest.HelloImage(t)
	l.docker("pull", "--quiet", l.image)
	return l
}

func (l *leftBehind) docker(args ...string) string {
	l.t.Helper()
	b, err := exec.Command("docker", append([]string{"--host", "unix://" + l.engine.Socket}, args...)...).CombinedOutput()
	if err != nil {
		l.t.Fatalf("docker %v: %v\n%s", args, err, b)
	}
	return strings.TrimSpace(string(b))
}

// run starts a container as this package does, of an owner, and gives its intent.
func (l *leftBehind) run(owner, role string, args ...string) leftover.Intent {
	l.t.Helper()
	i := leftover.Intent{Run: "run1", Role: role, Runtime: "docker", Name: "assay-run1-" + role}
	l.docker(append([]string{"run", "--detach", "--network", "none", "--name", i.Name, "--label", labelOwner + "=" + owner, "--label", labelRun + "=run1", "--label", labelRole + "=" + role, l.image}, args...)...)
	return i
}

// reap looks for what was left, through a socket.
func (l *leftBehind) reap(path string, expected ...leftover.Intent) leftover.Found {
	return Runtime{At: socket.At(path)}.Reap(l.t.Context(), leftover.Search{Owner: l.owner, Expected: expected, Dir: func(string) string { return l.dir }})
}

// broken is the same engine, in which some requests fail.
func (l *leftBehind) broken(fails func(*http.Request) bool) (path string) {
	return Broken(l.t, l.engine.Socket, fails)
}

// passing is the same engine behind a proxy that answers some requests itself.
func (l *leftBehind) passing(answers func(http.ResponseWriter, *http.Request) bool) (path string) {
	return Before(l.t, l.engine.Socket, answers)
}

func (l *leftBehind) log(name string) string {
	l.t.Helper()
	b, err := os.ReadFile(filepath.Join(l.dir, name))
	if err != nil {
		l.t.Fatal(err)
	}
	return string(b)
}

// TestReapAtARealEngine: what a killed program left at an engine.
func TestReapAtARealEngine(t *testing.T) {
	l := newLeftBehind(t)
	for _, c := range []struct {
		name string
		test func(*testing.T, *leftBehind)
	}{
		{"the rest of a log is saved", restOfALog},
		{"a container that was not started", neverStarted},
		{"one that had exited", hadExited},
		{"an engine that lists nothing", listFails},
		{"a container that stays", containerStays},
		{"a container that is still being created", beingCreated},
		{"an engine that hangs", engineHangs},
		{"an engine that is away", engineIsAway},
	} {
		t.Run(c.name, func(t *testing.T) {
			here := *l
			here.t, here.dir = t, t.TempDir()
			c.test(t, &here)
		})
	}
}

// The log goes on where its copy ended, whole and once, and says how the container was found. What is not expected is found by its mark, and
// what is another's is told and left alone.
func restOfALog(t *testing.T, l *leftBehind) {
	foreign := l.docker("run", "--detach", "--network", "none", "--label", labelOwner+"=another", l.image)
	defer l.docker("rm", "--force", foreign)
	l.run(l.owner, "server")
	copied, err := logs.Create(l.dir, "server")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := copied.WriteString("stdout: hel"); err != nil {
		t.Fatal(err)
	}
	copied.Close()
	instancetest.Await(t, "output", func() bool { return strings.Contains(l.docker("logs", "assay-run1-server"), "stderr: hello") })
	f := l.reap(l.engine.Socket)
	if f.Failed != nil || len(f.Removed) != 1 || f.Removed[0].String() != "container assay-run1-server (server of run run1)" || f.Removed[0].State != "running" || f.Removed[0].Saved != "server.log" {
		t.Fatalf("%+v", f)
	}
	if len(f.Foreign) != 1 || !strings.Contains(f.Foreign[0], "another") || l.docker("inspect", "--format", "{{.State.Running}}", foreign) != "true" {
		t.Errorf("foreign %v", f.Foreign)
	}
	log := l.log("server.log")
	if strings.Count(log, "stdout: hello\n") != 1 || strings.Count(log, "stderr: hello \n") != 1 || !strings.Contains(log, "found later: running") {
		t.Errorf("log:\n%s", log)
	}
}

func neverStarted(t *testing.T, l *leftBehind) {
	old, err := logs.Create(l.dir, "server") // of an earlier start
	if err != nil {
		t.Fatal(err)
	}
	old.Close()
	if err := os.Chtimes(old.Name(), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	l.docker("create", "--name", "assay-run1-server", "--label", labelOwner+"="+l.owner, "--label", labelRun+"=run1", "--label", labelRole+"=server", "--entrypoint", "/none", l.image)
	_ = exec.Command("docker", "--host", "unix://"+l.engine.Socket, "start", "assay-run1-server").Run()
	f := l.reap(l.engine.Socket)
	if f.Failed != nil || len(f.Removed) != 1 || !strings.Contains(f.Removed[0].State, "created and not started") || !strings.Contains(f.Removed[0].State, "/none") {
		t.Fatalf("%+v", f)
	}
	if log := l.log("server-2.log"); !strings.Contains(log, "/none") || l.log("server.log") != "" {
		t.Errorf("log:\n%s", log)
	}
}

func hadExited(t *testing.T, l *leftBehind) {
	i := l.run(l.owner, "server", "--exit", "now")
	l.docker("wait", i.Name)
	gone := leftover.Intent{Run: "run1", Role: "router", Runtime: "docker", Name: "assay-run1-router"}
	f := l.reap(l.engine.Socket, i, gone)
	if f.Failed != nil || len(f.Removed) != 1 || f.Removed[0].State != "exited with code 7" || len(f.Absent) != 1 || f.Absent[0].Name != gone.Name {
		t.Fatalf("%+v", f)
	}
	if log := l.log("server.log"); !strings.Contains(log, "HIP out of memory") || !strings.Contains(log, "exited with code 7") {
		t.Errorf("log:\n%s", log)
	}
}

// What is expected is found by its name.
func listFails(t *testing.T, l *leftBehind) {
	i := l.run(l.owner, "server")
	stranger := leftover.Intent{Run: "run1", Role: "router", Runtime: "docker", Name: "somebody"}
	l.docker("run", "--detach", "--network", "none", "--name", stranger.Name, l.image)
	defer l.docker("rm", "--force", stranger.Name)
	f := l.reap(l.broken(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/containers/json") }), i, stranger)
	if f.Failed == nil || len(f.Removed) != 1 || f.Removed[0].Name != i.Name {
		t.Errorf("%+v", f)
	}
	if left := l.docker("ps", "--all", "--format", "{{.Names}}"); left != stranger.Name {
		t.Errorf("left %q", left)
	}
}

// One that cannot be removed is named with the engine's reason, and the others are removed.
func containerStays(t *testing.T, l *leftBehind) {
	i := l.run(l.owner, "server")
	l.run(l.owner, "router")
	busy := l.broken(func(r *http.Request) bool {
		return r.Method == http.MethodDelete && strings.Contains(r.URL.Path, l.docker("inspect", "--format", "{{.Id}}", i.Name))
	})
	f := l.reap(busy, i)
	if len(f.Stuck) != 1 || f.Stuck[0].Name != i.Name || !strings.Contains(f.Stuck[0].Trouble, "device or resource busy") || len(f.Removed) != 1 {
		t.Fatalf("%+v", f)
	}
	enginetest.WantFault(t, f.Stuck[0].Fault(), "server.leftover", i.Name, "busy")
	if f := l.reap(l.engine.Socket, i); f.Failed != nil || len(f.Removed) != 1 || len(f.Stuck) != 0 {
		t.Errorf("later: %+v", f)
	}
}

// One that the engine still creates is in its list and nowhere else: not by name, not by id. It is removed when it is created whole.
func beingCreated(t *testing.T, l *leftBehind) {
	i := l.run(l.owner, "server")
	id := l.docker("inspect", "--format", "{{.Id}}", i.Name)
	var refused atomic.Int32
	f := l.reap(l.passing(func(w http.ResponseWriter, r *http.Request) bool {
		switch listing := strings.HasSuffix(r.URL.Path, "/containers/json"); {
		case refused.Load() == 3: // it is whole
			return false
		case listing && strings.Contains(r.URL.RawQuery, id):
			_, _ = io.WriteString(w, "[]")
			return true
		case listing || !strings.Contains(r.URL.Path, "/containers/"):
			return false
		case r.Method == http.MethodDelete:
			refused.Add(1)
		}
		http.Error(w, `{"message":"No such container"}`, http.StatusNotFound)
		return true
	}), i)
	if f.Failed != nil || len(f.Removed) != 1 || refused.Load() != 3 {
		t.Errorf("refused %d times: %+v", refused.Load(), f)
	}
	if left := l.docker("ps", "--all", "--quiet"); left != "" {
		t.Errorf("left %q", left)
	}
}

// An engine that takes connections and answers nothing is given up soon; what is expected there stays expected.
func engineHangs(t *testing.T, l *leftBehind) {
	i := l.run(l.owner, "server")
	l.engine.Pause()
	begun := time.Now()
	f := l.reap(l.engine.Socket, i)
	took := time.Since(begun)
	l.engine.Resume()
	if f.Failed == nil || len(f.Stuck) != 1 || f.Stuck[0].Trouble == "" || f.Stuck[0].State != "" || took > leftover.Ask+5*time.Second {
		t.Errorf("after %s: %+v", took, f)
	}
	if f := l.reap(l.engine.Socket, i); f.Failed != nil || len(f.Removed) != 1 {
		t.Errorf("later: %+v", f)
	}
}

// An engine that does not run: without anything expected there is nothing to say, with it there is.
func engineIsAway(t *testing.T, l *leftBehind) {
	i := l.run(l.owner, "server")
	l.engine.End(syscall.SIGKILL)
	if f := l.reap(l.engine.Socket); f.Failed != nil || len(f.Stuck) != 0 {
		t.Errorf("nothing expected: %+v", f)
	}
	f := l.reap(l.engine.Socket, i)
	enginetest.WantFault(t, f.Failed, "server.docker_unreachable")
	if len(f.Stuck) != 1 || len(f.Absent) != 0 {
		t.Errorf("expected: %+v", f)
	}
	l.engine.Start()
	if f := l.reap(l.engine.Socket, i); f.Failed != nil || len(f.Removed) != 1 || len(f.Stuck) != 0 {
		t.Errorf("later: %+v", f)
	}
	if _, err := os.Stat(filepath.Join(l.dir, "server.log")); errors.Is(err, fs.ErrNotExist) {
		t.Error("the log was not saved")
	}
}
