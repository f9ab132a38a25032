package containers

import (
	"net"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/docker/go-units"

	"assay/containers/engine"
	"assay/fault"
	"assay/plan"
)

// bridgedPort is where a server listens inside a container whose port is published.
const bridgedPort = 8000

// modelTarget is where a container finds the model of the plan.
const modelTarget = "/model"

func dockerSpec(s Spec, p plan.Plan, preset Preset, opt SpecOptions, port int) (Spec, error) {
	shm, err := shmBytes(p.Server.ShmSize, preset)
	if err != nil {
		return Spec{}, err
	}
	s.Image, s.ImageFile, s.BaseImage = p.Server.Image, p.Server.ImageFile, p.Server.BaseImage
	s.ShmBytes, s.HostNet, s.Rights = shm, p.Server.Network == "host", rightsOf(p.Server, preset)
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

// rightsOf is what the plan asks for, and what its kind of server would like.
func rightsOf(s plan.Server, preset Preset) Rights {
	r := Rights{IPC: s.IPC, Ulimits: s.Ulimits, Devices: s.Devices, Capabilities: s.Capabilities, SecurityOpt: s.SecurityOpt, Privileged: s.Privileged, User: s.User}
	for name, limit := range preset.Ulimits {
		if _, asked := s.Ulimits[name]; asked {
			continue
		}
		if r.Wishes == nil {
			r.Wishes = map[string]string{}
		}
		r.Wishes[name] = limit
	}
	return r
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
