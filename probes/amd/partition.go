package amd

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// partition is how the device is divided: in the driver's words, by the nodes of the topology, and into the virtual functions of a host.
func (g gpu) partition() sut.Partition {
	p := sut.Partition{
		Compute: sut.Convert(g.waking("current_compute_partition"), word), Memory: sut.Convert(g.waking("current_memory_partition"), word),
		AvailableCompute: modes(sut.First(g.waking("available_compute_partition"), g.waking("compute_partition_config/supported_xcp_configs"))), AvailableMemory: modes(g.waking("available_memory_partition")),
		Instances: sut.List[string]{Items: []string{}},
	}
	if g.kfd == nil {
		g.partitionWithoutTopology(&p)
	} else {
		g.partitionOf(&p)
	}
	for _, function := range g.h.Match(g.place(), "virtfn*") {
		if real, err := g.h.Real(function); err == nil {
			p.Instances = sut.List[string]{Items: append(p.Instances.Items, "virtual function "+path.Base(real))}
		}
	}
	return p
}

// modes reads "SPX, DPX, QPX, CPX" or "NPS1, NPS4".
func modes(f sut.Fact[string]) sut.List[string] {
	f = sut.Convert(f, word)
	if !f.IsKnown() {
		return sut.List[string]{Unknown: f.Reason()}
	}
	return sut.List[string]{Items: strings.FieldsFunc(f.Value, func(r rune) bool { return r == ',' || r == ' ' })}
}

// partitionOf reads the nodes of the device, each of which is a partition.
func (g gpu) partitionOf(p *sut.Partition) {
	n, missing := len(g.kfd.nodes), g.top.missing(*g.kfd)
	p.Count = sut.Known(n, kfdNodes)
	if missing > 0 {
		p.Count = sut.Unknown[int]("the driver lists %d of %d partitions of this GPU", n, n+missing)
	}
	g.modeByTopology(p, n+missing)
	if !p.Compute.IsKnown() && n+missing == 1 && g.h.Absent(g.file("current_compute_partition")) {
		p.Compute = sut.NA[string]("the driver divides no GPU of this kind")
	}
	if n+missing == 1 {
		p.ComputeUnits, p.VRAMBytes = sut.NA[int]("the GPU is whole"), sut.NA[int64]("the GPU is whole")
		return
	}
	for _, node := range g.kfd.nodes {
		p.Instances.Items = append(p.Instances.Items, "renderD"+node.props["drm_render_minor"])
	}
	p.ComputeUnits = kfdGPU{address: g.kfd.address, nodes: g.kfd.nodes[:1]}.computeUnits(0)
	p.VRAMBytes = g.kfd.share(g.vram())
}

// modeByTopology names the mode by the partitions where the driver does not name it, and shows the two beside each other where they differ.
func (g gpu) modeByTopology(p *sut.Partition, partitions int) {
	dies := g.kfd.dies() / len(g.kfd.nodes)
	mode := modeOf(partitions, dies)
	source := fmt.Sprintf("%s: %d partitions of %d compute dies", kfdNodes, partitions, dies)
	switch {
	case mode == "" || mode == p.Compute.Value:
	case p.Compute.IsKnown():
		p.Compute.Other = source + ", as in " + mode + "; the driver's own word is taken, since nodes may be hidden"
	default:
		p.Compute = sut.Known(mode, source)
	}
}

// modeOf names a mode by the partitions and the compute dies in each; "" for a device of one die, which has no modes.
func modeOf(partitions, dies int) string {
	switch {
	case dies == 0 || (dies == 1 && partitions == 1):
		return ""
	case dies == 1:
		return "CPX"
	}
	return map[int]string{1: "SPX", 2: "DPX", 3: "TPX", 4: "QPX"}[partitions]
}

// partitionWithoutTopology counts the partitions beyond the first of each device, which are devices of the platform and do not say whose.
func (g gpu) partitionWithoutTopology(p *sut.Partition) {
	why := g.unlisted()
	p.ComputeUnits, p.VRAMBytes = sut.Unknown[int]("%s", why), sut.Unknown[int64]("%s", why)
	nodes := partitionNodes(g.h)
	switch {
	case p.Compute.Value == "SPX":
		p.Count = sut.Known(1, p.Compute.Source)
	case len(nodes) > 0 && len(nodes)%g.cards == 0:
		p.Count = sut.Known(1+len(nodes)/g.cards, fmt.Sprintf("%s: %d partitions beside %d devices", platform, len(nodes), g.cards))
	default:
		p.Count = sut.Unknown[int]("%s", why)
	}
	if g.cards != 1 || len(nodes) == 0 {
		p.Instances = sut.List[string]{Unknown: why}
		return
	}
	if minor := g.renderMinor(); minor.IsKnown() {
		p.Instances.Items = append(p.Instances.Items, "renderD"+strconv.Itoa(minor.Value))
	}
	p.Instances.Items = append(p.Instances.Items, nodes...)
}

const platform = "/sys/devices/platform"

// partitionNodes are the render nodes of the partitions that are devices of the platform.
func partitionNodes(h host.Host) []string {
	var list []string
	for _, dir := range h.Match(platform, "amdgpu_xcp*") {
		for _, node := range h.Match(dir+"/drm", "renderD*") {
			list = append(list, path.Base(node))
		}
	}
	return list
}
