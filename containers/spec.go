package containers

import (
	"net"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/go-units"

	"assay/containers/engine"
	"assay/fault"
	"assay/plan"
)

// bridgedPort is where a server listens inside a container whose port is published.
const bridgedPort = 8000

// modelTarget is where a container finds the model of the plan.
const modelTarget = "/model"

// defaultGrace bounds a graceful stop when the plan says nothing.
const defaultGrace = 30 * time.Second

// SpecOptions is what a spec needs beside the plan.
type SpecOptions struct {
	Owner      string              // mark of the data directory
	Run        string              // id of the run
	Dir        string              // the run's folder
	Executable string              // this program, for the simulated engine
	Getenv     func(string) string // reads the variables that server.env_from names, of this program's environment
	Unpinned   bool                // routers: an image without digest is accepted; servers take it from the plan

	SessionHeader string // routers: request header by which a session is kept on one server; "" for X-Session-ID
}

// ServerSpec says what to start for the plan's server, and how to talk to it. A port that the plan leaves open is picked here,
// so two calls may differ in it and in nothing else.
func ServerSpec(p plan.Plan, opt SpecOptions) (Spec, Preset, error) {
	preset, err := PresetNamed(p.Server.Engine)
	if err != nil {
		return Spec{}, Preset{}, err
	}
	port := p.Server.Port
	if port == 0 && p.Server.Runtime != "endpoint" {
		if port, err = FreePort(); err != nil {
			return Spec{}, Preset{}, err
		}
	}
	s, err := serverSpec(p, preset, opt, port)
	return s, preset, err
}

// serverSpec is the pure part of ServerSpec: port is on this machine.
func serverSpec(p plan.Plan, preset Preset, opt SpecOptions, port int) (Spec, error) {
	s := Spec{Owner: opt.Owner, Run: opt.Run, Role: "server", Runtime: p.Server.Runtime, Dir: opt.Dir, Unpinned: p.Unpinned, StopGrace: p.Server.Stop.Grace.Std()}
	if s.StopGrace == 0 {
		s.StopGrace = defaultGrace
	}
	switch p.Server.Runtime {
	case "endpoint":
		return endpointSpec(s, p.Server.BaseURLs())
	case "process":
		return processSpec(s, p, preset, opt, port)
	case "docker":
		return dockerSpec(s, p, preset, opt, port)
	}
	return Spec{}, fault.New(fault.Plan, "runtime_unknown", "write "+strings.Join(names(Runtimes()), ", "), "server.runtime %q is not known", p.Server.Runtime)
}

func endpointSpec(s Spec, raw []string) (Spec, error) {
	for _, one := range raw {
		base, err := baseURL(one)
		if err != nil {
			return Spec{}, err
		}
		s.URLs = append(s.URLs, base)
	}
	return s, nil
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

func dockerSpec(s Spec, p plan.Plan, preset Preset, opt SpecOptions, port int) (Spec, error) {
	shm, err := shmBytes(p.Server.ShmSize, preset)
	if err != nil {
		return Spec{}, err
	}
	s.Image, s.GPUs, s.ShmBytes, s.HostNet = p.Server.Image, p.Server.GPUs, shm, p.Server.Network == "host"
	if s.Argv = p.Server.Command; len(s.Argv) == 0 {
		s.Argv = preset.Entrypoint
	}
	for _, m := range p.Server.Mounts {
		s.Mounts = append(s.Mounts, Mount(m))
	}
	model := modelOf(p, preset, mountModel(&s, p.Model.Path))
	if s, err = dockerPorts(s, p, preset, port); err != nil {
		return Spec{}, err
	}
	if s.Env, err = environment(preset, p, opt, net.JoinHostPort(hostOf(s), strconv.Itoa(s.Port))); err != nil {
		return Spec{}, err
	}
	v := engine.Values{Host: hostOf(s), Port: s.Port, Model: model, Served: served(p), Revision: revisionOf(p)}
	s.Args = preset.Arguments(s.Argv, p.Server.Args, v)
	return s, nil
}

// dockerPorts sets the port inside and on the host. Bridged, a server that listens on the container's loopback alone could never
// be reached: the published port would accept and reset for ever.
func dockerPorts(s Spec, p plan.Plan, preset Preset, port int) (Spec, error) {
	if s.HostNet {
		stated, err := statedPort(p, preset, port)
		s.Port, s.HostPort = stated, stated
		return s, err
	}
	s.Port, s.HostPort = bridgedPort, port
	if v, ok := engine.FlagValue(p.Server.Args, preset.Flags.Port); ok {
		n, err := strconv.Atoi(v)
		if err != nil {
			return s, badPort(v)
		}
		s.Port = n
	}
	if h, ok := engine.FlagValue(p.Server.Args, preset.Flags.Host); ok && (h == "127.0.0.1" || h == "localhost" || h == "::1") {
		return s, fault.New(fault.Plan, "server_unreachable", "leave the host out of server.args, or write server.network: host",
			"server.args lets the server listen on %s inside its container, where a published port cannot reach it", h)
	}
	return s, nil
}

func hostOf(s Spec) string {
	if s.HostNet {
		return "127.0.0.1"
	}
	return "0.0.0.0"
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

// mountModel binds the model of the host read-only and gives its path in the container.
func mountModel(s *Spec, host string) string {
	if host == "" {
		return ""
	}
	m, model := modelMount(host)
	s.Mounts = append(s.Mounts, m)
	return model
}

// modelMount chooses what to mount so that all parts of a model are seen: a snapshot of a hub's cache is a folder of links into its
// repository's folder, a split file needs its siblings.
func modelMount(host string) (m Mount, model string) {
	host = filepath.Clean(host)
	dir, base := filepath.Split(host)
	if repository, snapshots := filepath.Split(filepath.Clean(dir)); snapshots == "snapshots" {
		return Mount{Source: filepath.Clean(repository), Target: modelTarget}, path.Join(modelTarget, "snapshots", base)
	}
	if filepath.Ext(base) != ".gguf" {
		return Mount{Source: host, Target: modelTarget}, modelTarget
	}
	model = path.Join(modelTarget, base)
	if strings.Contains(base, "-of-") {
		return Mount{Source: filepath.Clean(dir), Target: modelTarget}, model
	}
	return Mount{Source: host, Target: model}, model
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

func shmBytes(size string, preset Preset) (int64, error) {
	if size == "" {
		return preset.ShmBytes, nil
	}
	n, err := units.RAMInBytes(size)
	if err != nil {
		return 0, fault.New(fault.Plan, "shm_size_invalid", "write a size such as 16g", "server.shm_size %q is not a size: %w", size, err)
	}
	return n, nil
}
