package containers

import (
	"cmp"
	"fmt"
	"slices"

	"assay/containers/deal"
	"assay/containers/docker"
	"assay/containers/endpoint"
	"assay/containers/engine"
	"assay/containers/gpu"
	"assay/containers/port"
	"assay/fault"
	"assay/plan"
)

// ServerSpecs says what to start for the plan's server, one spec for each of its replicas, and how to talk to them. Ports that the plan leaves
// open are picked here, so two calls may differ in them and in nothing else.
func ServerSpecs(p plan.Plan, opt SpecOptions) ([]Spec, Preset, error) {
	preset, err := PresetNamed(p.Server.Engine)
	if err != nil {
		return nil, Preset{}, err
	}
	n := max(p.Server.Replicas, 1)
	ports, err := portsOf(p.Server, n)
	if err != nil {
		return nil, Preset{}, err
	}
	gpus := len(gpu.List("/"))
	if opt.Remote {
		gpus = deal.Unknown
	}
	specs, err := serverSpecs(p, preset, opt, ports, gpus)
	return specs, preset, err
}

// serverSpecs is the pure part of ServerSpecs: one spec for each port, of a machine with so many GPUs.
func serverSpecs(p plan.Plan, preset Preset, opt SpecOptions, ports []int, gpus int) ([]Spec, error) {
	if len(ports) > 1 {
		if err := toldApart(p.Server, preset); err != nil {
			return nil, err
		}
	}
	wished := p.Server.Runtime == "docker" && p.Server.GPUs == ""
	if wished {
		p.Server.GPUs = preset.GPUs
	}
	servers, err := dealt(p.Server, len(ports), gpus)
	if err != nil {
		return nil, err
	}
	var specs []Spec
	for i, server := range servers {
		one := p
		if one.Server = server; server.Port > 0 {
			one.Server.Port = ports[i]
		}
		s, err := serverSpec(one, preset, opt, ports[i])
		if err != nil {
			return nil, err
		}
		s.GPUsWished = wished
		if len(servers) > 1 {
			s.Role = fmt.Sprintf("%s-%d", s.Role, i)
		}
		specs = append(specs, s)
	}
	return specs, nil
}

// CheckServers tells why no machine could start the plan's server as it is written. Nothing is asked of this one: a port that the plan leaves
// open is any, variables are set, and GPUs that would have to be counted are enough.
func CheckServers(p plan.Plan) error {
	preset, err := PresetNamed(p.Server.Engine)
	if err != nil {
		return err
	}
	ports := make([]int, max(p.Server.Replicas, 1))
	for i := range ports {
		ports[i] = cmp.Or(p.Server.Port, 1) + i
	}
	set := func(string) string { return "set" }
	_, err = serverSpecs(p, preset, SpecOptions{Executable: "assay", Getenv: set}, ports, len(ports))
	return err
}

// portsOf are ports of this machine for n servers: those from server.port on, or free ones.
func portsOf(s plan.Server, n int) ([]int, error) {
	ports := make([]int, n)
	if s.Runtime == (endpoint.Runtime{}).Name() {
		return ports, nil
	}
	if s.Port == 0 {
		return port.Free(n)
	}
	for i := range ports {
		ports[i] = s.Port + i
	}
	return ports, nil
}

// toldApart refuses what lets several servers listen on one port of this machine.
func toldApart(s plan.Server, preset Preset) error {
	if s.Runtime == (docker.Runtime{}).Name() && s.Network != "host" {
		return nil // each has a network of its own
	}
	const hint = "leave it out, and write server.port: the first server's port, from which the others count on"
	if _, stated := engine.FlagValue(s.Args, preset.Flags.Port); stated {
		return fault.New(fault.Plan, "port_conflict", hint, "server.args names a port, on which all %d servers would listen", s.Replicas)
	}
	if _, stated := s.Env[preset.Flags.AddressEnv]; stated {
		return fault.New(fault.Plan, "port_conflict", hint, "server.env.%s names a port, on which all %d servers would listen", preset.Flags.AddressEnv, s.Replicas)
	}
	if len(preset.Flags.Port) == 0 && preset.Flags.AddressEnv == "" {
		return fault.New(fault.Plan, "port_conflict", "use runtime docker with network bridge, or start them yourself and name them in server.urls",
			"engine %s cannot be told a port: all %d servers would listen on one", preset.Name, s.Replicas)
	}
	return nil
}

// dealt is the plan's server n times, each with its own part of the machine.
func dealt(s plan.Server, n int, gpus int) ([]plan.Server, error) {
	gpuSets, err := deal.GPUs(s.GPUs, n, gpus)
	if err != nil {
		return nil, err
	}
	cpuSets, err := deal.CPUs(s.CPUs, n)
	if err != nil {
		return nil, err
	}
	nodeSets, err := deal.NUMA(s.NUMA, n)
	if err != nil {
		return nil, err
	}
	servers := slices.Repeat([]plan.Server{s}, n)
	for i := range servers {
		servers[i].GPUs, servers[i].CPUs, servers[i].NUMA = gpuSets[i], cpuSets[i], nodeSets[i]
	}
	return servers, nil
}
