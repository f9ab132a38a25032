package containers

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/containers/endpoint"
	"assay/containers/engine"
	"assay/fault"
	"assay/plan"
)

// defaultGrace bounds a graceful stop when the plan says nothing.
const defaultGrace = 30 * time.Second

// SpecOptions is what a spec needs beside the plan.
type SpecOptions struct {
	Owner      string              // mark of the data directory
	Journal    Journal             // where what is started is written down first
	Run        string              // id of the run
	Dir        string              // the run's folder
	Executable string              // this program, for the simulated engine
	Getenv     func(string) string // reads the variables that server.env_from names, of this program's environment
	Remote     bool                // the container engine is on another machine
	Unpinned   bool                // routers: an image without digest is accepted; servers take it from the plan
}

// serverSpec is what to start for one server: port is on this machine.
func serverSpec(p plan.Plan, preset Preset, opt SpecOptions, port int) (s Spec, err error) {
	s = Spec{Owner: opt.Owner, Journal: opt.Journal, Run: opt.Run, Role: "server", Runtime: p.Server.Runtime, Dir: opt.Dir, Unpinned: p.Unpinned, StopGrace: p.Server.Stop.Grace.Std(),
		GPUs: p.Server.GPUs, GPUAccess: p.Server.GPUAccess, CPUs: p.Server.CPUs, NUMA: p.Server.NUMA, Secrets: p.Server.EnvFrom}
	if s.StopGrace == 0 {
		s.StopGrace = defaultGrace
	}
	switch p.Server.Runtime {
	case "endpoint":
		s.URLs, err = endpoint.BaseURLs(p.Server.BaseURLs())
		return s, err
	case "process":
		return processSpec(s, p, preset, opt, port)
	case "docker":
		return dockerSpec(s, p, preset, opt, port)
	}
	return Spec{}, fault.New(fault.Plan, "runtime_unknown", "write "+strings.Join(names(Runtimes(DockerPlace{})), ", "), "server.runtime %q is not known", p.Server.Runtime)
}

func processSpec(s Spec, p plan.Plan, preset Preset, opt SpecOptions, port int) (Spec, error) {
	command := p.Server.Command
	if len(command) == 0 {
		command = preset.Program(opt.Executable)
	}
	if len(command) == 0 {
		return Spec{}, fault.New(fault.Plan, "command_missing", "write server.command: the program and what stands before its arguments",
			"engine %s has no program of its own to start", preset.Name)
	}
	if len(preset.Flags.Port) == 0 && preset.Flags.AddressEnv == "" && p.Server.Port == 0 {
		return Spec{}, fault.New(fault.Plan, "port_missing", "write server.port: the port on which the command listens", "engine %s cannot be told a port", preset.Name)
	}
	port, err := statedPort(p, preset, port)
	if err != nil {
		return Spec{}, err
	}
	if s.Env, err = environment(preset, p, opt, net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err != nil {
		return Spec{}, err
	}
	s.Port, s.HostPort = port, port
	v := engine.Values{Host: "127.0.0.1", Port: port, Model: modelOf(p, preset, p.Model.Path), Served: served(p), Revision: revisionOf(p)}
	s.Argv = append(slices.Clone(command), preset.Arguments(command, p.Server.Args, v)...)
	return s, nil
}

// statedPort is the port of server.args where they name one, else port.
func statedPort(p plan.Plan, preset Preset, port int) (int, error) {
	v, ok := engine.FlagValue(p.Server.Args, preset.Flags.Port)
	if !ok {
		return port, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > 65535 {
		return 0, badPort(v)
	}
	if p.Server.Port != 0 && p.Server.Port != n {
		return 0, fault.New(fault.Plan, "port_conflict", "write the port once", "server.port is %d but server.args says %d", p.Server.Port, n)
	}
	return n, nil
}

func badPort(v string) error {
	return fault.New(fault.Plan, "port_invalid", "write a number from 1 to 65535", "server.args has the port %q", v)
}

// modelOf is what the server loads: a path, else the name under which a model hub knows it, where the server can fetch it.
func modelOf(p plan.Plan, preset Preset, path string) string {
	if path != "" || preset.Flags.PathOnly {
		return path
	}
	return served(p)
}

func served(p plan.Plan) string {
	if p.Model.Served != "" {
		return p.Model.Served
	}
	return p.Model.Name
}

// revisionOf is the hub's revision; a folder on disk has none.
func revisionOf(p plan.Plan) string {
	if p.Model.Path != "" {
		return ""
	}
	return p.Model.Revision
}
