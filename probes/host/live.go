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
	return Host{Root: "/", Live: true, Exec: execLive, Uname: unameLive, Statfs: statfsLive, Clock: clockLive, Get: getLive}
}

// execLive runs a program in its own process group, which is killed when the time is up, so that no child of it stays.
func execLive(ctx context.Context, argv ...string) (Output, error) {
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return Output{}, fmt.Errorf("%s: %w", argv[0], ErrNotFound)
	}
	ctx, cancel := context.WithTimeout(ctx, execLimit)
	defer cancel()
	stdout, stderr := &capped{left: maxOutputBytes}, &capped{left: maxOutputBytes}
	cmd := exec.CommandContext(ctx, program, argv[1:]...)
	cmd.Env = append(cmd.Environ(), "LC_ALL=C")
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	out := Output{Exit: cmd.ProcessState.ExitCode(), Stdout: stdout.kept.Bytes(), Stderr: stderr.kept.Bytes()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return out, fmt.Errorf("%s took too long and was stopped: %w", argv[0], ctx.Err())
	case stdout.left == 0 || stderr.left == 0:
		return out, fmt.Errorf("%s printed more than %d MiB", argv[0], maxOutputBytes>>20)
	case errors.As(err, &exit):
		return out, nil
	case err != nil:
		return out, fmt.Errorf("run %s: %w", argv[0], err)
	}
	return out, nil
}

// capped keeps the first bytes written to it and drops the rest. It embeds nothing: a Buffer's ReadFrom would go around Write.
type capped struct {
	kept bytes.Buffer
	left int
}

// Write keeps what still fits.
func (c *capped) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	c.left -= n
	c.kept.Write(p[:n])
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
