package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxOutputBytes = 16 << 20         // of stdout and of stderr
	execLimit      = 20 * time.Second // nvidia-smi takes seconds with persistence off, minutes with a lost GPU
)

// Live is this machine.
func Live() Host {
	wait := newPatience()
	return Host{Root: "/", Live: true, Exec: wait.exec, Uname: unameLive, Statfs: statfsLive, Clock: clockLive, Get: getLive, BMC: askBMCLive, wait: wait}
}

// exec runs a program in its own process group, which is killed when the time is up or the output too long, and once the program has ended,
// so that no child of it stays. While a run of a program cannot be stopped, no other of it is started.
func (p *patience) exec(ctx context.Context, argv ...string) (Output, error) {
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return Output{}, fmt.Errorf("%s: %w", argv[0], ErrNotFound)
	}
	if p.isStuck(program) {
		return Output{}, fmt.Errorf("%s is not started: an earlier run cannot be stopped, a driver holds it", argv[0])
	}
	ctx, cancel := context.WithTimeout(ctx, execLimit)
	defer cancel()
	stdout, stderr := &capped{left: maxOutputBytes, full: cancel}, &capped{left: maxOutputBytes, full: cancel}
	cmd := exec.CommandContext(ctx, program, argv[1:]...)
	cmd.Env = append(cmd.Environ(), "LC_ALL=C")
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	finished := make(chan error, 1)
	go func() { finished <- runAlone(cmd) }()
	ended, err := Outcome(ctx, finished)
	if !ended {
		leave(p, program, finished)
		return Output{}, fmt.Errorf("%s took too long and cannot be stopped: a driver holds it: %w", argv[0], ctx.Err())
	}
	out := Output{Exit: cmd.ProcessState.ExitCode(), Stdout: stdout.kept.Bytes(), Stderr: stderr.kept.Bytes()}
	var exit *exec.ExitError
	switch {
	case stdout.left == 0 || stderr.left == 0:
		return out, fmt.Errorf("%s printed more than %d MiB and was stopped", argv[0], maxOutputBytes>>20)
	case ctx.Err() != nil:
		return out, fmt.Errorf("%s took too long and was stopped: %w", argv[0], ctx.Err())
	case errors.As(err, &exit):
		return out, nil
	case err != nil:
		return out, fmt.Errorf("run %s: %w", argv[0], err)
	}
	return out, nil
}

// runAlone runs a program, and kills what it leaves in its process group. A child that held the output open does not make what the program
// itself printed worse.
func runAlone(cmd *exec.Cmd) error {
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return err
}

// killGrace is how long a program may take to be gone after it was killed.
const killGrace = 3 * time.Second

// Outcome waits for a program's end, and not long once ctx has ended. One that a broken device holds inside the kernel does not end when it
// is killed; it is left behind.
func Outcome(ctx context.Context, finished <-chan error) (ended bool, err error) {
	select {
	case err := <-finished:
		return true, err
	case <-ctx.Done():
	}
	late := time.NewTimer(killGrace)
	defer late.Stop()
	select {
	case err := <-finished:
		return true, err
	case <-late.C:
		return false, nil
	}
}

// capped keeps the first bytes written to it; when there are more it says so and drops them. It embeds nothing: a Buffer's ReadFrom would go around Write.
type capped struct {
	kept bytes.Buffer
	left int
	full func()
}

// Write keeps what still fits.
func (c *capped) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	c.left -= n
	c.kept.Write(p[:n])
	if c.left == 0 {
		c.full()
	}
	return len(p), nil
}

func unameLive() (Uname, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return Uname{}, fmt.Errorf("uname: %w", err)
	}
	s := unix.ByteSliceToString
	return Uname{s(u.Sysname[:]), s(u.Nodename[:]), s(u.Release[:]), s(u.Version[:]), s(u.Machine[:])}, nil
}

func statfsLive(mount string) (Statfs, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(mount, &s); err != nil {
		return Statfs{}, fmt.Errorf("statfs %s: %w", mount, err)
	}
	return Statfs{Bytes: int64(s.Blocks) * s.Frsize, FreeBytes: int64(s.Bavail) * s.Frsize}, nil
}

// clockLive reads the state of the kernel's clock without changing it.
func clockLive() (bool, error) {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return false, fmt.Errorf("adjtimex: %w", err)
	}
	return state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0, nil
}

func getLive(ctx context.Context, socket, path string) ([]byte, error) {
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		},
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, nil)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", socket, err)
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", socket, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", socket, res.Status)
	}
	return io.ReadAll(io.LimitReader(res.Body, 1<<20))
}
