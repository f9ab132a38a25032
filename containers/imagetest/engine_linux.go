package imagetest

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// engineStart bounds the start of an engine, and its end: several start at once, on a machine that is busy with other tests.
const engineStart = 3 * time.Minute

// Engine starts a Docker engine of the test's own, which may be broken, and gives its socket. It shares the bridge with the machine's engine
// (one without a bridge would remove it), so its containers use the host's network. With megabytes it keeps its images on a disk of
// that size. It needs root and dockerd: without them the test is skipped, under CI=true it fails.
func Engine(t testing.TB, megabytes int, args ...string) (socket string) {
	t.Helper()
	return StartEngine(t, megabytes, args...).Socket
}

// OwnEngine is a Docker engine of the test's own, as a process that can be killed and started again.
type OwnEngine struct {
	Socket string
	t      testing.TB
	dir    string
	args   []string
	cmd    *exec.Cmd
	ended  chan error
}

// StartEngine is Engine for a test that ends it in between.
func StartEngine(t testing.TB, megabytes int, args ...string) *OwnEngine {
	t.Helper()
	program, err := exec.LookPath("dockerd")
	if err != nil || os.Geteuid() != 0 {
		Missing(t, "root and dockerd (%v)", err)
	}
	dir, err := os.MkdirTemp("", "assay") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { clearOut(dir) })
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if megabytes > 0 {
		smallDisk(t, data, megabytes)
	}
	e := &OwnEngine{Socket: filepath.Join(dir, "docker.sock"), t: t, dir: dir, args: append([]string{program, "--data-root", data, "--exec-root", filepath.Join(dir, "exec"),
		"--pidfile", filepath.Join(dir, "pid"), "--host", "unix://" + filepath.Join(dir, "docker.sock"), "--iptables=false", "--ip-forward=false"}, args...)}
	t.Cleanup(func() { e.End(syscall.SIGTERM) })
	e.Start()
	return e
}

// Start starts the engine, again after End, and waits until it answers.
func (e *OwnEngine) Start() {
	e.t.Helper()
	e.buryContainerd()
	log, err := os.OpenFile(filepath.Join(e.dir, "log"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		e.t.Fatal(err)
	}
	defer log.Close()
	e.cmd = exec.Command(e.args[0], e.args[1:]...)
	e.cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	e.cmd.Stdout, e.cmd.Stderr = log, log
	if err := e.cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	e.ended = make(chan error, 1)
	go func() { e.ended <- e.cmd.Wait() }()
	if err := answers(e.Socket, e.ended); err != nil {
		b, _ := os.ReadFile(log.Name())
		e.cmd = nil
		Missing(e.t, "a Docker engine that can be started here: %v\n%s", err, b)
	}
}

// buryContainerd waits for the end of the containerd that belongs to an engine that was killed: one that is about to end would be taken for
// one that runs, and so would one that nobody waits for.
func (e *OwnEngine) buryContainerd() {
	name := filepath.Join(e.dir, "exec", "containerd", "containerd.pid")
	b, err := os.ReadFile(name)
	if err != nil {
		return
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(engineStart)
	for {
		stat, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(string(b)), "stat"))
		if err != nil || bytes.Contains(stat, []byte(") Z ")) {
			_ = os.Remove(name)
			return
		}
		select {
		case <-tick.C:
		case <-late:
			return
		}
	}
}

// End sends the engine a signal and waits until it has ended; one that does not is killed.
func (e *OwnEngine) End(sig syscall.Signal) {
	if e.cmd == nil {
		return
	}
	_ = e.cmd.Process.Signal(sig)
	select {
	case <-e.ended:
	case <-time.After(engineStart):
		_ = e.cmd.Process.Kill()
		<-e.ended
	}
	e.cmd = nil
}

// Pause stops the engine where it is until the test ends or Resume: it takes connections and answers nothing. The signal alone returns while
// some of the engine's threads still run.
func (e *OwnEngine) Pause() {
	e.t.Helper()
	err := e.cmd.Process.Signal(syscall.SIGSTOP)
	if err == nil {
		err = unix.Waitid(unix.P_PID, e.cmd.Process.Pid, nil, unix.WSTOPPED, nil)
	}
	if err != nil {
		e.t.Fatalf("stop the engine where it is: %v", err)
	}
}

// Resume lets a paused engine go on.
func (e *OwnEngine) Resume() { _ = e.cmd.Process.Signal(syscall.SIGCONT) }

// answers waits until the engine answers or ends. It takes connections long before.
func answers(socket string, ended <-chan error) error {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	c := http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}, Timeout: engineStart}
	late := time.After(engineStart)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			if err == nil {
				err = io.ErrUnexpectedEOF
			}
			return err
		case <-late:
			return os.ErrDeadlineExceeded
		case <-tick.C:
			resp, err := c.Get("http://engine/_ping")
			if err != nil {
				continue
			}
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
}

// smallDisk puts a disk of a size at a folder until the test ends.
func smallDisk(t testing.TB, dir string, megabytes int) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+strconv.Itoa(megabytes)+"m"); err != nil {
		Missing(t, "a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}
