package containers

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

// mark says whose a process is. It stands in the environment, which children inherit, and beside the log file, because some
// servers overwrite their environment with a title (nginx, vLLM's workers): those are known by where their output goes.
type mark struct{ Owner, Run, Role string }

// markSuffix is added to the path of a log for the file that holds its mark.
const markSuffix = ".owner"

// environ is the mark as environment variables.
func (m mark) environ() []string {
	return []string{"ASSAY_OWNER=" + m.Owner, "ASSAY_RUN=" + m.Run, "ASSAY_ROLE=" + m.Role}
}

// write puts the mark beside a log.
func (m mark) write(log string) error {
	return os.WriteFile(log+markSuffix, []byte(strings.Join(m.environ(), "\x00")), 0o644)
}

// parseMark reads variables that are separated by zero bytes.
func parseMark(b []byte) mark {
	var m mark
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
func (m mark) covers(o mark) bool {
	all := m.Run == "" && m.Role == ""
	return o.Owner != "" && m.Owner == o.Owner && (all || m == o)
}

// marked is a process with a mark.
type marked struct {
	PID, Group int
	Mark       mark
}

// markedProcesses lists the living processes that m covers. This process is never among them.
func markedProcesses(proc string, m mark) ([]marked, error) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var out []marked
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if o := markOf(filepath.Join(proc, e.Name())); m.covers(o) {
			group, _ := syscall.Getpgid(pid)
			out = append(out, marked{PID: pid, Group: group, Mark: o})
		}
	}
	return out, nil
}

// markOf reads the mark of a process; processes of others, which may not be read, have none.
func markOf(dir string) mark {
	env, err := os.ReadFile(filepath.Join(dir, "environ"))
	if err != nil {
		return mark{}
	}
	if m := parseMark(env); m.Owner != "" {
		return m
	}
	for _, fd := range []string{"1", "2"} {
		to, err := os.Readlink(filepath.Join(dir, "fd", fd))
		if err != nil || !strings.HasSuffix(to, ".log") {
			continue
		}
		if b, err := os.ReadFile(to + markSuffix); err == nil {
			return parseMark(b)
		}
	}
	return mark{}
}

// signalMarked sends a signal to the processes that m covers, and to the whole group where one of them leads it.
func signalMarked(m mark, sig syscall.Signal) ([]marked, error) {
	found, err := markedProcesses("/proc", m)
	for _, p := range found {
		if p.Group == p.PID {
			_ = syscall.Kill(-p.PID, sig)
		}
		_ = syscall.Kill(p.PID, sig)
	}
	return found, err
}

// endMarked ends the processes that m covers: gracefully, and after grace for certain. It gives their names.
func endMarked(ctx context.Context, m mark, grace time.Duration) ([]string, error) {
	found, err := signalMarked(m, syscall.SIGTERM)
	if err != nil || len(found) == 0 || awaitEnd(ctx, m, grace) {
		return describeMarked(found), err
	}
	if _, err := signalMarked(m, syscall.SIGKILL); err != nil {
		return describeMarked(found), err
	}
	if !awaitEnd(context.WithoutCancel(ctx), m, grace) {
		err = fault.New(fault.Server, "not_stopped", "it may hang in a driver: look at dmesg; a reboot may be needed", "some of %v do not end even when killed", describeMarked(found))
	}
	return describeMarked(found), err
}

// awaitEnd waits until nothing that m covers is left; false when the time or ctx ends first. These are no children of this
// program, so only looking tells.
func awaitEnd(ctx context.Context, m mark, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if left, err := markedProcesses("/proc", m); err == nil && len(left) == 0 {
			return true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
}

func describeMarked(ps []marked) []string {
	var out []string
	for _, p := range ps {
		out = append(out, fmt.Sprintf("process %d (%s of run %s)", p.PID, p.Mark.Role, p.Mark.Run))
	}
	slices.Sort(out)
	return out
}
