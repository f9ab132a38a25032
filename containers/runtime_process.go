package containers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"assay/containers/mark"
	"assay/fault"
)

// tidyLimit bounds how long what a program started may outlive it.
const tidyLimit = 2 * time.Second

// process starts programs of this machine, each in a process group of its own.
type process struct{}

// Name is the word in a plan.
func (process) Name() string { return "process" }

// Prepare only makes sure that the program is there.
func (process) Prepare(_ context.Context, s Spec, _ func(Pull)) error {
	_, err := program(s)
	return err
}

// program finds the program file of a spec.
func program(s Spec) (string, error) {
	if len(s.Argv) == 0 {
		return "", fault.New(layerOf(s.Role), "command_missing", "write its command", "the %s has no command", s.Role)
	}
	file, err := exec.LookPath(s.Argv[0])
	if err != nil {
		return "", fault.New(layerOf(s.Role), "program_not_found", "install it, or write the whole path in the plan's command",
			"the program of the %s cannot be started: %w", s.Role, err)
	}
	return file, nil
}

// Reap ends what a killed program of the same owner left running.
func (process) Reap(ctx context.Context, owner string) ([]string, error) {
	return mark.End(ctx, mark.Mark{Owner: owner}, 3*time.Second)
}

// Start runs the program. Its output goes to a file directly, so that it outlives this program.
func (process) Start(ctx context.Context, s Spec) (Instance, error) {
	file, err := program(s)
	if err != nil {
		return nil, err
	}
	if err := checkPort(layerOf(s.Role), s.HostPort); err != nil {
		return nil, err
	}
	sum, err := fileSHA256(file)
	if err != nil {
		return nil, fmt.Errorf("read the program of the %s: %w", s.Role, err)
	}
	if err := writeFiles(s); err != nil {
		return nil, err
	}
	log, err := createLog(s.Dir, s.Role)
	if err != nil {
		return nil, err
	}
	c := &child{spec: s, mark: mark.Mark{Owner: s.Owner, Run: s.Run, Role: s.Role}, log: log, exited: make(chan Exit, 1), gone: make(chan struct{})}
	if err := c.start(file); err != nil {
		return nil, errors.Join(err, log.Close(), os.Remove(log.Name()))
	}
	c.identity = Identity{Role: s.Role, Runtime: "process", Name: fmt.Sprintf("pid %d", c.cmd.Process.Pid), Argv: s.Argv, BinarySHA256: sum}
	go c.wait()
	go c.capLog(context.WithoutCancel(ctx))
	return c, nil
}

// child is a started program.
type child struct {
	spec     Spec
	mark     mark.Mark
	cmd      *exec.Cmd
	log      *os.File
	identity Identity
	exited   chan Exit
	gone     chan struct{} // closed when the program has ended and nothing of it is left
	mu       sync.Mutex    // guards asked, and exit until gone is closed
	asked    bool
	exit     Exit
}

func (c *child) start(file string) error {
	if err := c.mark.Write(c.log.Name()); err != nil {
		return fmt.Errorf("mark the %s: %w", c.spec.Role, err)
	}
	c.cmd = &exec.Cmd{Path: file, Args: c.spec.Argv, Stdout: c.log, Stderr: c.log, SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	c.cmd.Env = slices.Concat(handedDown(c.cmd.Environ()), envList(c.spec.Env), c.mark.Environ()) // the last of a name counts: no plan can take the mark off
	if err := c.cmd.Start(); err != nil {
		_ = os.Remove(c.log.Name() + mark.Suffix)
		return fault.New(layerOf(c.spec.Role), "start_failed", "check that the program runs on this machine", "the %s did not start: %w", c.spec.Role, err)
	}
	return nil
}

// wait notices the end, and then that of what it started. Workers that outlive their parent would keep the GPU's memory, so they go with it.
func (c *child) wait() {
	_ = c.cmd.Wait() // how it ended stands in ProcessState
	c.mu.Lock()
	c.exit = exitOf(c.cmd.ProcessState)
	asked := c.asked
	c.mu.Unlock()
	if !asked {
		c.exited <- c.exit
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGTERM)
	}
	close(c.exited)
	c.settle()
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	_, _ = mark.Signal(c.mark, syscall.SIGKILL)
	_ = os.Remove(c.log.Name() + mark.Suffix)
	close(c.gone)
}

// settle waits a moment for the rest of the group to end by itself: vLLM's helpers, killed before they have tidied up, leave hundreds of
// megabytes in the machine's shared memory.
func (c *child) settle() {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(tidyLimit)
	defer end.Stop()
	for c.outlived() {
		select {
		case <-tick.C:
		case <-end.C:
			return
		}
	}
}

// outlived tells whether something that the program started still runs. A group whose processes have all ended lives on until they are waited
// for, so the marks are asked too.
func (c *child) outlived() bool {
	if syscall.Kill(-c.cmd.Process.Pid, 0) != nil {
		return false
	}
	left, err := mark.Processes(c.mark)
	return err != nil || len(left) > 0
}

// capLog keeps the log of a talkative program from filling the disk.
func (c *child) capLog(ctx context.Context) {
	defer c.log.Close()
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = cutLog(c.log, logCap, logHead, logTail)
		case <-c.gone:
			return
		case <-ctx.Done():
			return
		}
	}
}

func exitOf(ps *os.ProcessState) Exit {
	if ps == nil {
		return Exit{Code: -1, Reason: "lost"}
	}
	if ws, ok := ps.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return Exit{Code: 128 + int(ws.Signal()), Reason: fmt.Sprintf("was killed by signal %d (%s)", ws.Signal(), ws.Signal())}
	}
	return Exit{Code: ps.ExitCode(), Reason: fmt.Sprintf("exited with code %d", ps.ExitCode())}
}

// BaseURLs is on the loopback.
func (c *child) BaseURLs() []string { return loopback(c.spec.HostPort) }

// Identity names the process and the program file's digest.
func (c *child) Identity() Identity { return c.identity }

// LogPath is the file with its output.
func (c *child) LogPath() string { return c.log.Name() }

// Exited yields when the program ends without Stop.
func (c *child) Exited() <-chan Exit { return c.exited }

// Stop ends the whole group: SIGTERM, and SIGKILL after the grace or when ctx ends.
func (c *child) Stop(ctx context.Context) (Exit, error) {
	if c.ask() {
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGTERM)
	}
	grace := time.NewTimer(c.spec.StopGrace)
	defer grace.Stop()
	select {
	case <-c.gone:
		return c.exit, nil
	case <-grace.C:
	case <-ctx.Done():
	}
	c.kill()
	stuck := time.NewTimer(10 * time.Second)
	defer stuck.Stop()
	select {
	case <-c.gone:
		return c.exit, nil
	case <-stuck.C:
		return Exit{}, fault.New(layerOf(c.spec.Role), "not_stopped", "it may hang in a driver: look at dmesg; a reboot may be needed",
			"the %s (pid %d) does not end even when killed", c.spec.Role, c.cmd.Process.Pid)
	}
}

// ask tells whether the program still has to be signalled: its first Stop, and it has not ended.
func (c *child) ask() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.gone:
		return false
	default:
	}
	first := !c.asked
	c.asked = true
	return first
}

func (c *child) kill() {
	select {
	case <-c.gone:
	default:
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
		_, _ = mark.Signal(c.mark, syscall.SIGKILL)
	}
}

func fileSHA256(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
