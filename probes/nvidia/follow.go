package nvidia

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"assay/probes/host"
)

// follow runs a program in a process group of its own and gives each line that it prints, until it ends, prints nothing for as long as
// the limit says after each line, or the context does; then the whole group is killed. The program is killed, too, when this process dies. It tells why the program ended.
func follow(ctx context.Context, limit func() time.Duration, line func(string) error, argv ...string) error {
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("%s: %w", argv[0], host.ErrNotFound)
	}
	runtime.LockOSThread() // a program's parent is the thread that started it: were that to end, Pdeathsig would come
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	said := &firstBytes{left: 1 << 10}
	cmd := exec.CommandContext(ctx, program, argv[1:]...)
	cmd.Env = append(cmd.Environ(), "LC_ALL=C")
	cmd.Stderr = said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("follow %s: %w", argv[0], err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", argv[0], err)
	}
	unblock := context.AfterFunc(ctx, func() { _ = out.Close() }) // what left the group may hold the other end
	defer unblock()
	watch := func() *time.Timer {
		silence := limit()
		return time.AfterFunc(silence, func() { cancel(fmt.Errorf("%s printed nothing for %s and was stopped", argv[0], silence)) })
	}
	hung := watch()
	defer func() { hung.Stop() }()
	lines := bufio.NewScanner(out)
	last := ""
	for lines.Scan() {
		hung.Stop()
		last = lines.Text()
		if err := line(last); err != nil {
			cancel(err)
			break
		}
		hung = watch()
	}
	if err := lines.Err(); err != nil && ctx.Err() == nil {
		cancel(fmt.Errorf("%s printed no line: %w", argv[0], err))
	}
	finished := make(chan error, 1)
	go func() { finished <- cmd.Wait() }()
	ended, err := host.Outcome(ctx, finished)
	switch cause := context.Cause(ctx); {
	case !ended:
		return fmt.Errorf("%w; %w", cause, errHeld)
	case cause != nil:
		return cause
	}
	return end(argv[0], err, said.String(), last)
}

// errHeld tells a program that was killed and is still there.
var errHeld = errors.New("it cannot be stopped: a driver holds it")

// end words why a program ended by itself: what it said on its way out.
func end(program string, err error, stderr, lastLine string) error {
	said := firstLine(stderr)
	if said == "" {
		said = firstLine(lastLine)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%s ended with %s: %s", program, exit.ProcessState, said)
	}
	if err != nil {
		return fmt.Errorf("follow %s: %w", program, err)
	}
	return fmt.Errorf("%s ended by itself: %s", program, said)
}

// firstLine is what a program says, as far as a reason has room for it.
func firstLine(said string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	return strings.ToValidUTF8(line[:min(len(line), 200)], "")
}

// firstBytes keeps the first bytes written to it.
type firstBytes struct {
	strings.Builder
	left int
}

// Write keeps what still fits.
func (b *firstBytes) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.left -= n
	b.Builder.Write(p[:n])
	return len(p), nil
}

func fieldList(fields []string) string { return strings.Join(fields, ",") }

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
