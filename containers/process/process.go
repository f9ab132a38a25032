package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"assay/containers/image"
	"assay/containers/instance"
	"assay/containers/launch"
	"assay/containers/leftover"
	"assay/containers/logs"
	"assay/containers/mark"
	"assay/containers/port"
	"assay/fault"
)

// tidyLimit bounds how long what a program started may outlive it.
const tidyLimit = 2 * time.Second

// Runtime starts programs of this machine, each in a process group of its own.
type Runtime struct{}

// Name is the word in a plan.
func (Runtime) Name() string { return "process" }

// Prepare makes sure that the program is there, and the place that it is to run at.
func (Runtime) Prepare(_ context.Context, s instance.Spec, _ func(image.Progress)) (instance.Spec, error) {
	_, err := program(s)
	if err == nil {
		_, err = termsOf(s)
	}
	return s, err
}

// termsOf are the GPUs, CPUs and memory nodes of this machine that the spec asks for.
func termsOf(s instance.Spec) (launch.Terms, error) {
	return launch.ForProcess("/", launch.Asked{GPUs: s.GPUs, CPUs: s.CPUs, NUMA: s.NUMA, Env: s.Env})
}

// program finds the program file of a spec.
func program(s instance.Spec) (string, error) {
	if len(s.Argv) == 0 {
		return "", fault.New(s.Layer(), "command_missing", "write its command", "the %s has no command", s.Role)
	}
	file, err := exec.LookPath(s.Argv[0])
	if err != nil {
		return "", fault.New(s.Layer(), "program_not_found", "install it, or write the whole path in the plan's command",
			"the program of the %s cannot be started: %w", s.Role, err)
	}
	return file, nil
}

// ProgramSHA256 is the digest of the program file that a spec starts.
func ProgramSHA256(s instance.Spec) (string, error) {
	file, err := program(s)
	if err != nil {
		return "", err
	}
	return digest(s, file)
}

func digest(s instance.Spec, file string) (string, error) {
	sum, err := instance.FileSHA256(file)
	if err != nil {
		return "", fmt.Errorf("read the program of the %s: %w", s.Role, err)
	}
	return sum, nil
}

// Start runs the program. Its output goes to a file directly, so that it outlives this program.
func (Runtime) Start(ctx context.Context, s instance.Spec) (instance.Instance, error) {
	file, err := program(s)
	if err != nil {
		return nil, err
	}
	if err := port.Check(s.Layer(), s.HostPort); err != nil {
		return nil, err
	}
	terms, err := termsOf(s)
	if err != nil {
		return nil, err
	}
	sum, err := digest(s, file)
	if err != nil {
		return nil, err
	}
	if err := s.WriteFiles(); err != nil {
		return nil, err
	}
	log, err := logs.Create(s.Dir, s.Role)
	if err != nil {
		return nil, err
	}
	c := &child{spec: s, terms: terms, mark: mark.Mark{Owner: s.Owner, Run: s.Run, Role: s.Role}, log: log, exited: make(chan instance.Exit, 1), gone: make(chan struct{})}
	if err := s.Intend(ctx); err != nil {
		return nil, errors.Join(err, log.Close(), os.Remove(log.Name()))
	}
	if err := c.start(file); err != nil {
		s.Gone(ctx)
		return nil, errors.Join(err, log.Close(), os.Remove(log.Name()))
	}
	if c.session, err = mark.SessionOf(c.cmd.Process.Pid); err == nil { // else it is a machine without /proc
		s.Made(ctx, strconv.Itoa(c.session.Leader), &c.session)
	}
	c.identity = instance.Identity{Role: s.Role, Runtime: "process", Name: fmt.Sprintf("pid %d", c.cmd.Process.Pid), Argv: s.Argv, BinarySHA256: sum, Launch: c.launched()}
	go c.wait(context.WithoutCancel(ctx))
	go c.capLog(context.WithoutCancel(ctx))
	return c, nil
}

// Reap ends what a killed program of the same owner left running.
func (Runtime) Reap(ctx context.Context, s leftover.Search) leftover.Found {
	return leftover.Processes(ctx, s)
}
