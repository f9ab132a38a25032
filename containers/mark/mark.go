package mark

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"assay/fault"
)

// Mark is the owner, run and role of a process. It stands in the environment, which children inherit, and beside the log file, because some
// servers overwrite their environment with a title (nginx, vLLM's workers): those are known by where their output goes.
type Mark struct{ Owner, Run, Role string }

// Suffix is added to the path of a log for the file that holds its mark.
const Suffix = ".owner"

// Environ is the mark as environment variables.
func (m Mark) Environ() []string {
	return []string{"ASSAY_OWNER=" + m.Owner, "ASSAY_RUN=" + m.Run, "ASSAY_ROLE=" + m.Role}
}

// Write puts the mark beside a log.
func (m Mark) Write(log string) error {
	return os.WriteFile(log+Suffix, []byte(strings.Join(m.Environ(), "\x00")), 0o644)
}

// parse reads variables that are separated by zero bytes.
func parse(b []byte) Mark {
	var m Mark
	for v := range bytes.SplitSeq(b, []byte{0}) {
		switch k, v, _ := strings.Cut(string(v), "="); k {
		case "ASSAY_OWNER":
			m.Owner = v
		case "ASSAY_RUN":
			m.Run = v
		case "ASSAY_ROLE":
			m.Role = v
		}
	}
	return m
}

// covers: a mark of an owner alone stands for all of its runs and roles.
func (m Mark) covers(o Mark) bool {
	all := m.Run == "" && m.Role == ""
	return o.Owner != "" && m.Owner == o.Owner && (all || m == o)
}

// Process is a process with a mark.
type Process struct {
	PID, Group int
	Mark       Mark
}

// String names it.
func (p Process) String() string {
	return fmt.Sprintf("process %d (%s of run %s)", p.PID, p.Mark.Role, p.Mark.Run)
}

// Processes lists the living processes that m covers. This process is never among them.
func Processes(m Mark) ([]Process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var out []Process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if o := of(filepath.Join("/proc", e.Name())); m.covers(o) {
			group, _ := syscall.Getpgid(pid)
			out = append(out, Process{PID: pid, Group: group, Mark: o})
		}
	}
	return out, nil
}

// of reads the mark of a process; processes of others, which may not be read, have none.
func of(dir string) Mark {
	env, err := os.ReadFile(filepath.Join(dir, "environ"))
	if err != nil {
		return Mark{}
	}
	if m := parse(env); m.Owner != "" {
		return m
	}
	for _, fd := range []string{"1", "2"} {
		to, err := os.Readlink(filepath.Join(dir, "fd", fd))
		if err != nil || !strings.HasSuffix(to, ".log") {
			continue
		}
		if b, err := os.ReadFile(to + Suffix); err == nil {
			return parse(b)
		}
	}
	return Mark{}
}

// Signal sends a signal to the processes that m covers, and to the whole group where one of them leads it.
func Signal(m Mark, sig syscall.Signal) ([]Process, error) {
	found, err := Processes(m)
	signal(found, sig)
	return found, err
}

func signal(found []Process, sig syscall.Signal) {
	for _, p := range found {
		if p.Group == p.PID {
			_ = syscall.Kill(-p.PID, sig)
		}
		_ = syscall.Kill(p.PID, sig)
	}
}

// Lost is what is looked for after a program was killed: what carries its mark, and the sessions of what it had started.
type Lost struct {
	Mark     Mark
	Sessions map[Session]Mark
}

// Processes lists what is left. A worker that wiped its environment and writes elsewhere is known by its session.
func (l Lost) Processes() ([]Process, error) {
	out, err := Processes(l.Mark)
	for s, m := range l.Sessions {
		pids, err := s.Members()
		if err != nil {
			return out, fmt.Errorf("look into session %d: %w", s.Leader, err)
		}
		for _, pid := range pids {
			if !slices.ContainsFunc(out, func(p Process) bool { return p.PID == pid }) {
				group, _ := syscall.Getpgid(pid)
				out = append(out, Process{PID: pid, Group: group, Mark: m})
			}
		}
	}
	return out, err
}

// End ends what was lost: gracefully, and after grace for certain. It gives what it found, and an error when some of it stays.
func End(ctx context.Context, l Lost, grace time.Duration) ([]Process, error) {
	found, err := l.Processes()
	signal(found, syscall.SIGTERM)
	if err != nil || len(found) == 0 || awaitEnd(ctx, l, grace) {
		return found, err
	}
	return found, Kill(context.WithoutCancel(ctx), l, grace)
}

// Kill ends what was lost for certain. It is an error when some of it is still there after the limit.
func Kill(ctx context.Context, l Lost, limit time.Duration) error {
	found, err := l.Processes()
	if err != nil || len(found) == 0 {
		return err
	}
	signal(found, syscall.SIGKILL)
	if awaitEnd(ctx, l, limit) {
		return nil
	}
	return fault.New(fault.Server, "not_stopped", "it may hang in a driver: look at dmesg; a reboot may be needed", "some of %v do not end even when killed", describe(found))
}

// awaitEnd waits until nothing of it is left; false when the time or ctx ends first. These are no children of this program, so only
// looking tells.
func awaitEnd(ctx context.Context, l Lost, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if left, err := l.Processes(); err == nil && len(left) == 0 {
			return true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
}

func describe(ps []Process) []string {
	var out []string
	for _, p := range ps {
		out = append(out, p.String())
	}
	slices.Sort(out)
	return out
}
