package launch

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"

	"assay/containers/affinity"
)

// Apply writes the terms into what a container is created with. Groups are those of device files, by number.
func (t Terms) Apply(host *container.HostConfig) {
	host.GroupAdd, host.DeviceRequests = t.GPUs.Groups, t.GPUs.Requests
	for _, d := range slices.Concat(t.GPUs.Devices, t.Given.Devices) {
		host.Devices = append(host.Devices, container.DeviceMapping{PathOnHost: d, PathInContainer: d, CgroupPermissions: "rwm"})
	}
	host.Ulimits = t.Given.Ulimits
	host.CpusetCpus, host.CpusetMems = affinity.Format(t.Place.CPUs), affinity.Format(t.Place.Nodes)
	host.CapAdd, host.SecurityOpt = t.Given.Capabilities, t.Given.SecurityOpt
	if t.GPUs.Ptrace && !host.Privileged {
		if !slices.Contains(host.CapAdd, "SYS_PTRACE") {
			host.CapAdd = append(slices.Clone(host.CapAdd), "SYS_PTRACE")
		}
		if !slices.ContainsFunc(host.SecurityOpt, func(o string) bool { return strings.HasPrefix(o, "seccomp=") }) {
			host.SecurityOpt = append(slices.Clone(host.SecurityOpt), "seccomp=unconfined")
		}
	}
}

// Environ is what a container gets of variables: the plan's and, where the engine has a runtime for NVIDIA's devices and is not asked for some by it,
// the word that keeps that runtime, which may be the engine's default, from giving all that the image asks for: most images of servers ask for all.
func (t Terms) Environ(plan map[string]string) map[string]string {
	const visible = "NVIDIA_VISIBLE_DEVICES"
	_, said := plan[visible]
	if said || !t.Engine.NVIDIA || slices.ContainsFunc(t.GPUs.Requests, func(r container.DeviceRequest) bool { return r.Driver == "nvidia" }) {
		return plan
	}
	env := map[string]string{visible: "void"}
	maps.Copy(env, plan)
	return env
}

// AskedOf is what an engine is asked for, in the form in which it is recorded. image is the id that the container must have.
func AskedOf(cfg container.Config, host container.HostConfig, image string, secrets []string) Settings {
	s := Settings{Image: image, Argv: slices.Concat(cfg.Entrypoint, cfg.Cmd), Env: Redact(pairs(cfg.Env), secrets), User: cfg.User}
	s.fill(host)
	s.bindAsked(host)
	if len(cfg.Entrypoint) == 0 {
		s.Argv = nil // the image's own stands before the arguments
	}
	return s
}

// MadeOf is what an engine made of it.
func MadeOf(in container.InspectResponse, argv, secrets []string) Settings {
	s := Settings{Image: in.Image, Argv: argv}
	if in.Config != nil {
		s.Env, s.User = Redact(pairs(in.Config.Env), secrets), in.Config.User
	}
	if in.HostConfig != nil {
		s.fill(*in.HostConfig)
	}
	s.bindMade(in)
	return s
}

// fill takes over what stands in one form in the question and in the answer.
func (s *Settings) fill(host container.HostConfig) {
	s.Network, s.IPC, s.ShmBytes = string(host.NetworkMode), string(host.IpcMode), host.ShmSize
	s.CPUs, s.MemoryNodes, s.Privileged = host.CpusetCpus, host.CpusetMems, host.Privileged
	s.Groups, s.SecurityOpt = sorted(host.GroupAdd), shortened(host.SecurityOpt)
	for _, name := range host.CapAdd {
		s.Capabilities = append(s.Capabilities, strings.TrimPrefix(name, "CAP_"))
	}
	slices.Sort(s.Capabilities)
	for _, d := range host.Devices {
		s.Devices = append(s.Devices, d.PathOnHost)
	}
	slices.Sort(s.Devices)
	for _, r := range host.DeviceRequests {
		s.GPUs = append(s.GPUs, r.DeviceIDs...)
		if r.Count < 0 {
			s.GPUs = append(s.GPUs, "all")
		}
	}
	slices.Sort(s.GPUs)
	for _, u := range host.Ulimits {
		if s.Ulimits == nil {
			s.Ulimits = map[string]string{}
		}
		s.Ulimits[u.Name] = strconv.FormatInt(u.Soft, 10) + ":" + strconv.FormatInt(u.Hard, 10)
	}
	s.publish(host.PortBindings)
}

// shortened has no whole profiles in it.
func shortened(options []string) []string {
	var list []string
	for _, o := range options {
		if name, profile, _ := strings.Cut(o, "="); len(profile) > 64 {
			o = fmt.Sprintf("%s=(a profile of %d bytes)", name, len(profile))
		}
		list = append(list, o)
	}
	return sorted(list)
}

// OfContainer records what an engine made of what it was asked for. argv is the command line without an init that the engine puts before it. On limits,
// CPUs and the host's IPC the kernel's word counts, where the container's first process is seen: an engine repeats what it was told, some tell no
// limits, and podman 4.3 calls the host's IPC shareable.
func (t Terms) OfContainer(asked Settings, in container.InspectResponse, argv, secrets []string, proc string) Record {
	r := t.record(asked)
	r.Made = MadeOf(in, argv, secrets)
	kernel := t.inKernel(in, proc)
	r.Made.IPC = cmp.Or(kernel.IPC, r.Made.IPC)
	if asked.IPC == "" || r.Made.IPC == "shareable" && asked.IPC == "private" {
		r.Asked.IPC = r.Made.IPC // the engine's own default is not shared unless somebody asks
	}
	for name := range asked.Ulimits {
		if limit, told := kernel.Ulimits[name]; told {
			if r.Made.Ulimits == nil {
				r.Made.Ulimits = map[string]string{}
			}
			r.Made.Ulimits[name] = limit
		}
	}
	r.Differs = differences(r.Asked, r.Made)
	if kernel.CPUs != "" {
		d := differ{r.Differs}
		d.text("CPUs in the kernel", asked.CPUs, kernel.CPUs)
		r.Differs = d.found
	}
	return r
}

// inKernel is what the kernel says of a container's first process; nothing of one that has ended, or is not seen by this user.
func (t Terms) inKernel(in container.InspectResponse, proc string) Settings {
	if in.ContainerJSONBase == nil || in.State == nil || in.State.Pid <= 0 || t.Engine.Remote {
		return Settings{}
	}
	dir := filepath.Join(proc, strconv.Itoa(in.State.Pid))
	kernel, err := readProcess(dir)
	if err != nil {
		return Settings{}
	}
	ours, err := os.Readlink(filepath.Join(proc, "self/ns/ipc"))
	if theirs, unseen := os.Readlink(filepath.Join(dir, "ns/ipc")); err == nil && unseen == nil && ours == theirs {
		kernel.IPC = "host"
	}
	return kernel
}

// Inspected is the engine's whole answer without the values of secret variables and labels.
func Inspected(in container.InspectResponse, secrets []string) container.InspectResponse {
	if in.Config == nil {
		return in
	}
	cfg := *in.Config
	cfg.Env = nil
	for _, pair := range in.Config.Env {
		name, value, _ := strings.Cut(pair, "=")
		cfg.Env = append(cfg.Env, name+"="+Redact(map[string]string{name: value}, secrets)[name])
	}
	cfg.Labels = Redact(cfg.Labels, secrets)
	in.Config = &cfg
	return in
}
