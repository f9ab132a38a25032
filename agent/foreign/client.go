package foreign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"assay/containers"
	"assay/fault"
	"assay/plan"
	"assay/result"
	"assay/runner"
)

const (
	grace        = 10 * time.Second // for a client that is told to end
	versionLimit = 2 * time.Minute  // a tool may import all of an engine before it says its version
	shmBytes     = 8 << 30          // docker: some tools keep all events of a point in shared memory
)

// Client starts the program of a plan's client.
type Client struct {
	plan    plan.Plan
	getenv  func(string) string
	token   string
	spec    containers.Spec
	runtime containers.Runtime
}

// New says what to start for a plan whose client is another program; false for the native client.
func New(p plan.Plan, token string, opt containers.SpecOptions, docker containers.DockerPlace) (*Client, bool, error) {
	if p.Client.Kind == "native" {
		return nil, false, nil
	}
	c := &Client{plan: p, getenv: opt.Getenv, token: token}
	c.spec = containers.Spec{Owner: opt.Owner, Journal: opt.Journal, Run: opt.Run, Role: "client", Runtime: p.Client.Runtime, Image: p.Client.Image, Unpinned: p.Unpinned,
		Argv: runner.Program(p), HostNet: true, GPUs: "none", Dir: opt.Dir, StopGrace: grace, Secrets: append([]string{runner.TokenVariable}, p.Client.EnvFrom...)}
	if c.spec.Runtime == "docker" {
		c.spec.ShmBytes, c.spec.Rights.User = shmBytes, userOf(docker)
	}
	var err error
	c.runtime, err = containers.RuntimeNamed(c.spec.Runtime, docker)
	return c, true, err
}

// userOf is as whom the program writes into the run's folder: as this program's user, who is root inside where the engine is the user's own.
func userOf(docker containers.DockerPlace) string {
	if strings.HasPrefix(docker.Path(), "/run/user/") {
		return "0:0"
	}
	return fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
}

// Prepare gets the image, or finds the program; it gives what a reader of the result must know of it.
func (c *Client) Prepare(ctx context.Context, progress func(containers.Pull)) (remarks []string, err error) {
	c.spec, err = c.runtime.Prepare(ctx, c.spec, progress)
	return c.spec.Prepared.Remarks(c.spec.Role), err
}

// Start runs a command to its end. An end with another exit code than 0 is a fault.
func (c *Client) Start(ctx context.Context, command runner.Command) error {
	_, err := c.run(ctx, command)
	return err
}

func (c *Client) run(ctx context.Context, command runner.Command) (containers.Instance, error) {
	spec, err := c.specOf(command)
	if err != nil {
		return nil, err
	}
	inst, err := c.runtime.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	select {
	case exit, told := <-inst.Exited():
		if told && exit.Code != 0 {
			err = containers.ExitFault(inst, exit)
		}
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	safe, cancel := context.WithTimeout(context.WithoutCancel(ctx), containers.StopLimit(grace))
	defer cancel()
	if _, stopping := inst.Stop(safe); stopping != nil && err == nil {
		err = stopping
	}
	return inst, err
}

// specOf is the spec of a command. Inside a container every path is what it is outside.
func (c *Client) specOf(command runner.Command) (containers.Spec, error) {
	s := c.spec
	s.Dir, s.Argv, s.Env = command.Dir, command.Argv, map[string]string{}
	for name, value := range command.Env {
		s.Env[name] = value
	}
	if command.Token {
		s.Env[runner.TokenVariable] = c.token
	}
	for _, name := range c.plan.Client.EnvFrom {
		value := c.getenv(name)
		if value == "" {
			return s, fault.New(fault.Preflight, "variable_missing", "export "+name+"=… for the program that executes the run", "the plan's client.env_from names %s, which is not set", name)
		}
		s.Env[name] = value
	}
	if s.Runtime != "docker" {
		return s, nil
	}
	s.Argv, s.Args = command.Argv[:command.Len], command.Argv[command.Len:]
	s.Env["HOME"] = "/tmp" // the image's may belong to another user
	s.Mounts = []containers.Mount{{Source: command.Dir, Target: command.Dir, Writable: true}}
	for _, name := range command.Read {
		s.Mounts = append(s.Mounts, containers.Mount{Source: name, Target: name})
	}
	return s, nil
}

// Identify asks the program for its version, and tells what it is.
func (c *Client) Identify(ctx context.Context) (result.ClientIdentity, error) {
	id := result.ClientIdentity{Kind: c.plan.Client.Kind, Runtime: c.spec.Runtime, Argv: c.spec.Argv}
	if c.spec.Runtime == "docker" {
		id.Image = c.spec.Image
		if c.spec.Prepared != nil {
			id.ImageID = c.spec.Prepared.ID
		}
	} else if sum, err := containers.ProgramSHA256(c.spec); err != nil {
		return id, err
	} else {
		id.SHA256 = sum
	}
	dir := filepath.Join(c.spec.Dir, runner.ForeignFolder)
	command, ok := runner.VersionCommand(c.plan, dir)
	if !ok {
		return id, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return id, fmt.Errorf("make the client's folder: %w", err)
	}
	late := fault.New(fault.Client, "no_version", "start it by hand and look what it waits for", "the client %s did not say its version within %s", id.Kind, versionLimit)
	ctx, cancel := context.WithTimeoutCause(ctx, versionLimit, late)
	defer cancel()
	inst, err := c.run(ctx, command)
	if err != nil {
		return id, err
	}
	log, err := os.ReadFile(inst.LogPath())
	if err != nil {
		return id, fmt.Errorf("read the client's version: %w", err)
	}
	id.Version = versionIn(string(log))
	return id, nil
}

// versionForm is a version: numbers with dots, and what may follow.
var versionForm = regexp.MustCompile(`\d+\.\d+[0-9A-Za-z.+_-]*`)

// versionIn is the version in a program's words: of the last line that has one, since warnings come before it. "" when there is none.
func versionIn(log string) string {
	version := ""
	for line := range strings.Lines(log) {
		if v := versionForm.FindString(line); v != "" {
			version = v
		}
	}
	return version
}
