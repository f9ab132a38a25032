package process

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"assay/containers/gpu"
	"assay/containers/inside"
	"assay/containers/instance"
	"assay/containers/launch"
	"assay/containers/logs"
	"assay/containers/mark"
	"assay/containers/port"
	"assay/fault"
)

// child is a started program.
type child struct {
	spec     instance.Spec
	terms    launch.Terms
	mark     mark.Mark
	session  mark.Session
	cmd      *exec.Cmd
	log      *os.File
	identity instance.Identity
	exited   chan instance.Exit
	gone     chan struct{} // closed when the program has ended and nothing of it is left
	mu       sync.Mutex    // guards asked, and exit until gone is closed
	asked    bool
	exit     instance.Exit
}

// launched is what the kernel says of the program beside what was asked for.
func (c *child) launched() *launch.Record {
	env := maps.Clone(c.spec.Env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, c.terms.Visible)
	r := c.terms.OfProcess("/proc", c.cmd.Process.Pid, launch.Settings{Argv: c.spec.Argv, Env: env}, c.spec.Secrets)
	return &r
}

func (c *child) start(file string) error {
	if err := c.mark.Write(c.log.Name()); err != nil {
		return fmt.Errorf("mark the %s: %w", c.spec.Role, err)
	}
	c.cmd = &exec.Cmd{Path: file, Args: c.spec.Argv, Stdout: c.log, Stderr: c.log, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	c.cmd.Env = c.environ(c.cmd.Environ())
	if err := c.terms.Place.Start(c.cmd.Start); err != nil {
		_ = os.Remove(c.log.Name() + mark.Suffix)
		return fault.New(c.spec.Layer(), "start_failed", "check that the program runs on this machine", "the %s did not start: %w", c.spec.Role, err)
	}
	return nil
}

// environ is what the program gets of the environment of this one, its GPUs, what the plan sets, and its mark.
func (c *child) environ(own []string) []string {
	inherits := handedDown(own)
	if c.terms.Visible != nil { // what is inherited would select among what is selected
		inherits = slices.DeleteFunc(inherits, func(pair string) bool {
			name, _, _ := strings.Cut(pair, "=")
			return slices.Contains(gpu.VisibleVariables(), name)
		})
	}
	return slices.Concat(inherits, instance.EnvList(c.terms.Visible), instance.EnvList(c.spec.Env), c.mark.Environ()) // the last of a name counts: no plan can take the mark off
}

// wait notices the end, and then that of what it started. Workers that outlive their parent would keep the GPU's memory, so they go with it.
func (c *child) wait(ctx context.Context) {
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
	err := mark.Kill(ctx, mark.Lost{Mark: c.mark, Sessions: map[mark.Session]mark.Mark{c.session: c.mark}}, tidyLimit)
	_ = os.Remove(c.log.Name() + mark.Suffix)
	if err == nil {
		c.spec.Gone(ctx)
	}
	_ = logs.Cut(c.log, logs.Cap, logs.Head, logs.Tail) // of its last seconds
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
			_ = logs.Cut(c.log, logs.Cap, logs.Head, logs.Tail)
		case <-c.gone:
			return
		case <-ctx.Done():
			return
		}
	}
}

func exitOf(ps *os.ProcessState) instance.Exit {
	if ps == nil {
		return instance.Exit{Code: -1, Reason: "lost"}
	}
	if ws, ok := ps.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return instance.Exit{Code: 128 + int(ws.Signal()), Signal: unix.SignalName(ws.Signal()), Reason: fmt.Sprintf("was killed by signal %d (%s)", ws.Signal(), ws.Signal())}
	}
	return instance.Exit{Code: ps.ExitCode(), Reason: fmt.Sprintf("exited with code %d", ps.ExitCode())}
}

// BaseURLs is on the loopback.
func (c *child) BaseURLs() []string { return []string{port.URL(c.spec.HostPort)} }

// Identity names the process and the program file's digest.
func (c *child) Identity() instance.Identity { return c.identity }

// LogPath is the file with its output.
func (c *child) LogPath() string { return c.log.Name() }

// Exited yields when the program ends without Stop.
func (c *child) Exited() <-chan instance.Exit { return c.exited }

// Stop ends the whole group: SIGTERM, and SIGKILL after the grace or when ctx ends.
func (c *child) Stop(ctx context.Context) (instance.Exit, error) {
	begun := time.Now()
	if c.ask() {
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGTERM)
	}
	grace := time.NewTimer(c.spec.StopGrace)
	defer grace.Stop()
	select {
	case <-c.gone:
		return c.ended(begun, false), nil
	case <-grace.C:
	case <-ctx.Done():
	}
	c.kill()
	stuck := time.NewTimer(10 * time.Second)
	defer stuck.Stop()
	select {
	case <-c.gone:
		return c.ended(begun, true), nil
	case <-stuck.C:
		return instance.Exit{}, fault.New(c.spec.Layer(), "not_stopped", "it may hang in a driver: look at dmesg; a reboot may be needed",
			"the %s (pid %d) does not end even when killed", c.spec.Role, c.cmd.Process.Pid)
	}
}

// ask tells whether the program still has to be signalled: its first Stop, and it has not ended.
func (c *child) ask() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.exit.Reason != "" { // what it started may still run, which ends with it
		return false
	}
	first := !c.asked
	c.asked = true
	return first
}

// ended is how the program ended, by a Stop that began then or before it.
func (c *child) ended(begun time.Time, forced bool) instance.Exit {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked {
		c.exit = c.exit.Stopped(time.Since(begun), forced)
	}
	return c.exit
}

func (c *child) kill() {
	select {
	case <-c.gone:
	default:
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
		_, _ = mark.Signal(c.mark, syscall.SIGKILL)
	}
}

// Surroundings are where the software of the program can be looked at.
func (c *child) Surroundings() (string, inside.World) {
	pids := []int{c.cmd.Process.Pid}
	others, _ := mark.Processes(c.mark) // without them the program itself is asked
	for _, p := range others {
		pids = append(pids, p.PID)
	}
	return "this machine, as " + c.identity.Name + " sees it", inside.Process{Env: c.cmd.Env, PIDs: pids}
}
