package launch

import (
	"fmt"
	"strings"

	"assay/containers/affinity"
	"assay/containers/gpu"
	"assay/containers/limits"
	"assay/fault"
)

// Asked is what a spec says of the place and the rights of what it starts.
type Asked struct {
	GPUs, GPUAccess string
	Wished          bool // docker: the plan does not say GPUs, its preset does
	CPUs, NUMA      string
	Env             map[string]string // process: what the plan sets
	Rights          limits.Wanted     // docker
}

// Terms are what something is started with beside its spec, found on this machine and agreed with the engine.
type Terms struct {
	Choice  gpu.Choice
	GPUs    gpu.Access
	Place   affinity.Place
	Given   limits.Given
	Engine  limits.Engine
	Visible map[string]string // process: variables that keep it to its GPUs; nil where it sees what it finds
}

// oldest is the API since which engines heed HostConfig.Mounts; older ones leave them out without a word.
const oldest = "1.25"

// ForContainer holds what is asked for against what the engine can give, before anything is created. root is where the machine's files are.
func ForContainer(root string, a Asked, e limits.Engine) (t Terms, err error) {
	t.Engine = e
	if !e.Has(oldest) {
		return Terms{}, fault.New(fault.Preflight, "engine_too_old", "take a newer engine", "the engine has API %s, and %s is the oldest that mounts what it is asked for", e.API, oldest)
	}
	if e.Remote {
		t.GPUs, err = gpu.Elsewhere(a.GPUs, e.NVIDIA)
		if err == nil {
			t.Place, err = elsewhere(a)
		}
	} else {
		err = t.here(root, a)
	}
	if err == nil && t.GPUs.By == "" {
		err = t.noGPU(a)
	}
	if err != nil {
		return Terms{}, err
	}
	if len(t.GPUs.Requests) > 0 && !e.Has("1.40") {
		return Terms{}, fault.New(fault.Preflight, "engine_too_old", "take a newer engine (Docker 19.03 or later), or write server.gpus: none", "the engine has API %s, which cannot be asked for GPUs", e.API)
	}
	a.Rights.CPUSet = len(t.Place.CPUs)+len(t.Place.Nodes) > 0
	remarks := t.Given.Remarks
	t.Given, err = e.Give(root, a.Rights)
	t.Given.Remarks = append(remarks, t.Given.Remarks...)
	if a.Rights.Privileged && !t.Choice.All && len(t.Choice.Devices) > 0 {
		t.Given.Remarks = append(t.Given.Remarks, "the container is privileged: it sees all GPUs of the machine, not only those of server.gpus")
	}
	return t, err
}

// noGPU refuses to start something without GPUs whose plan says all of them. What only its preset says is noted.
func (t *Terms) noGPU(a Asked) error {
	if strings.TrimSpace(a.GPUs) != "all" {
		return nil
	}
	if a.Wished && (a.GPUAccess == "" || a.GPUAccess == "auto") {
		t.Given.Remarks = append(t.Given.Remarks, "no accelerator was found: the server, of a kind for accelerators, was started without any")
		return nil
	}
	return gpu.Nothing(a.GPUs)
}

// here chooses GPUs, CPUs and memory nodes of this machine.
func (t *Terms) here(root string, a Asked) (err error) {
	if t.Choice, err = gpu.Choose(root, a.GPUs); err != nil {
		return err
	}
	if t.Place, err = affinity.Find(root, affinity.Asked{CPUs: a.CPUs, NUMA: a.NUMA, GPUs: t.Choice.NUMANodes()}); err != nil {
		return err
	}
	ok, why := t.Engine.CDI()
	t.GPUs, err = gpu.For(root, a.GPUAccess, t.Choice, gpu.Engine{CDI: ok, WhyNot: why, Dirs: t.Engine.CDIDirs, Discovered: t.Engine.Found, OnlyCDI: t.Engine.Podman})
	if err == nil && t.Engine.Mapped != "" && t.Choice.Of(gpu.AMD) {
		t.Given.Remarks = append(t.Given.Remarks, "root in a container of this engine is not root of the machine ("+t.Engine.Mapped+"): the groups of GPU device files may not be taken over")
	}
	return err
}

// elsewhere is a place on another machine, which its engine checks. The CPUs of its memory nodes are not known here.
func elsewhere(a Asked) (p affinity.Place, err error) {
	if a.NUMA == "gpu" {
		return p, fault.New(fault.Preflight, "numa_unavailable", "write the numbers of memory nodes", "server.numa is gpu, but the container engine is on another machine, whose GPUs are not seen from here")
	}
	if a.CPUs != "" {
		if p.CPUs, err = affinity.Parse(a.CPUs); err != nil {
			return p, fmt.Errorf("server.cpus: %w", err)
		}
	}
	if a.NUMA != "" {
		if p.Nodes, err = affinity.Parse(a.NUMA); err != nil {
			return p, fmt.Errorf("server.numa: %w", err)
		}
	}
	return p, nil
}

// ForProcess chooses GPUs, CPUs and memory nodes for a program of this machine.
func ForProcess(root string, a Asked) (t Terms, err error) {
	if t.Choice, err = gpu.Choose(root, a.GPUs); err != nil {
		return Terms{}, err
	}
	if strings.TrimSpace(a.GPUs) == "all" && !t.Choice.Of(gpu.NVIDIA) && !t.Choice.Of(gpu.AMD) {
		return Terms{}, gpu.Nothing(a.GPUs)
	}
	if a.GPUs != "" {
		t.Visible = t.Choice.Visible()
		for _, name := range gpu.VisibleVariables() {
			if _, twice := a.Env[name]; twice {
				return Terms{}, fault.New(fault.Plan, "gpus_twice", "keep one of them", "the plan says the server's GPUs twice: server.gpus is %q, and server.env sets %s", a.GPUs, name)
			}
		}
	}
	t.Place, err = affinity.Find(root, affinity.Asked{CPUs: a.CPUs, NUMA: a.NUMA, GPUs: t.Choice.NUMANodes()})
	return t, err
}

// record is one of what was chosen and asked.
func (t Terms) record(asked Settings) Record {
	r := Record{GPUs: t.Choice.Devices, GPUParts: t.Choice.Parts, GPUAccess: t.GPUs.By, Asked: asked}
	if len(t.Choice.Devices)+len(t.Choice.Parts) > 0 && t.Visible != nil {
		r.GPUAccess = "variables"
	}
	return r
}
