package nvidia

import (
	"strings"

	"assay/probes/pci"
	"assay/probes/sut"
)

// deviceInstances is what `nvidia-smi -L` lists below one GPU.
type deviceInstances struct {
	uuid  string
	names []string // "3g.40gb"
}

// parseInstances gives the MIG instances of each GPU in `nvidia-smi -L`.
func parseInstances(text string) []deviceInstances {
	var gpus []deviceInstances
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "GPU ") {
			gpus = append(gpus, deviceInstances{uuid: uuidOf(line), names: []string{}})
		}
		fields := strings.Fields(line)
		if len(gpus) > 0 && len(fields) > 1 && fields[0] == "MIG" {
			last := &gpus[len(gpus)-1]
			last.names = append(last.names, fields[1])
		}
	}
	return gpus
}

// realID tells a UUID that names one device from one that was blanked.
func realID(uuid string) bool {
	_, err := realUUID(uuid)
	return err == nil
}

// instances finds the device in the list: by its UUID, else by its place, when both lists are of the same length.
func (g gpu) instances() ([]string, bool) {
	for _, d := range g.report.instances {
		if d.uuid == g.get("uuid", "gpu_uuid").Value && realID(d.uuid) {
			return d.names, true
		}
	}
	if len(g.report.instances) == len(g.report.log.all("gpu")) {
		return g.report.instances[g.index].names, true
	}
	return nil, false
}

// partition tells whether the device is divided by MIG. Its instances belong to it; they are no devices.
func (g gpu) partition() sut.Partition {
	const none = "MIG is off"
	p := sut.Partition{
		Compute: sut.Unknown[string]("the GPU has no MIG mode, or nvidia-smi does not tell it"), Memory: sut.NA[string]("AMD's partitions"),
		Count: sut.Known(1, g.report.source), Instances: sut.List[string]{Items: []string{}},
		AvailableCompute: sut.List[string]{Unknown: "nvidia-smi's report does not list the profiles of MIG"}, AvailableMemory: sut.List[string]{Items: []string{}},
		ComputeUnits: sut.NA[int](none), VRAMBytes: sut.NA[int64](none),
	}
	mode := g.get("mig_mode/current_mig", "mig_mode/current")
	if mode.Value == "Disabled" {
		p.Compute = sut.NA[string](none)
	}
	if mode.Value == "Enabled" {
		p.Compute = sut.Known("MIG", mode.Source)
		g.divided(&p)
	}
	return p
}

// divided reads the instances: their names from the list, their number and sizes from the record where it has them.
func (g gpu) divided(p *sut.Partition) {
	devices := append(g.all("mig_device"), g.under("mig_devices", "mig_device")...)
	names, listed := g.instances()
	const why = "nvidia-smi -L does not list the instances"
	switch {
	case listed:
		p.Count, p.Instances = sut.Known(len(names), "nvidia-smi -L"), sut.List[string]{Items: names}
	case len(devices) > 0:
		p.Count, p.Instances = sut.Known(len(devices), g.report.source+" mig_device"), sut.List[string]{Unknown: why}
	default:
		p.Count, p.Instances = sut.Unknown[int](why), sut.List[string]{Unknown: why}
	}
	p.ComputeUnits = sut.Convert(g.same(devices, "device_attributes/shared/multiprocessor_count"), smallCount)
	p.VRAMBytes = sut.Convert(g.same(devices, "fb_memory_usage/total", "shared_fb_memory_usage/total"), memorySize)
}

func (n *node) under(parent, name string) []*node {
	if up := n.kid(parent); up != nil {
		return up.all(name)
	}
	return nil
}

// same gives what all instances have in common.
func (g gpu) same(devices []*node, where ...string) sut.Fact[string] {
	if len(devices) == 0 {
		return sut.Unknown[string]("%s does not list the instances", g.report.source)
	}
	first := devices[0].fact(g.report.source+" mig_device", where...)
	for _, d := range devices[1:] {
		if f := d.fact(g.report.source, where...); f.Value != first.Value {
			return sut.Unknown[string]("the instances differ: %s, %s", first.Value, f.Value)
		}
	}
	return first
}

func smallCount(s string) (int, error) {
	v, err := count(s)
	return int(v), err
}

// virtualFunction tells a device that is a part of another: a vGPU of a guest, or a function that the kernel ties to a physical one.
func (g gpu) virtualFunction() sut.Fact[bool] {
	if part := pci.VirtualFunction(g.h, g.dir); part.Value {
		return part
	}
	mode := g.get("gpu_virtualization_mode/virtualization_mode")
	return sut.Convert(mode, func(s string) (bool, error) { return strings.EqualFold(s, "VGPU"), nil })
}

// virtualization is how the GPU is given to this system, and how it is divided for guests.
func (g gpu) virtualization() sut.Fact[string] {
	mode := g.get("gpu_virtualization_mode/virtualization_mode")
	return sut.Convert(mode, func(s string) (string, error) { return strings.ToLower(s), nil })
}
