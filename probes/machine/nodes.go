package machine

import (
	"path"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// nodeOwner says that a node's memory is no DIMM: what it is of, and the file that says so.
type nodeOwner struct{ kind, source string }

// readNodes gives every NUMA node, also those without CPUs.
func readNodes(h host.Host) sut.List[sut.NUMANode] {
	const dir = "/sys/devices/system/node"
	if _, err := h.List(dir); err != nil {
		return sut.List[sut.NUMANode]{Unknown: err.Error()}
	}
	owners := cxlNodes(h)
	gpuNodes(h, owners)
	list := sut.List[sut.NUMANode]{Items: []sut.NUMANode{}}
	for _, node := range h.Match(dir, "node[0-9]*") {
		list.Items = append(list.Items, readNode(h, node, owners))
	}
	return list
}

func readNode(h host.Host, node string, owners map[string]nodeOwner) sut.NUMANode {
	id := strings.TrimPrefix(path.Base(node), "node")
	n := sut.NUMANode{
		ID:        sut.Convert(sut.Known(id, node), strconv.Atoi),
		CPUs:      host.TextFact(h, node+"/cpulist"),
		Bytes:     sut.Convert(host.TextFact(h, node+"/meminfo"), func(s string) (int64, error) { return meminfoBytes(s, "MemTotal") }),
		Distances: host.TextFact(h, node+"/distance"),
	}
	text, err := h.Text(node + "/cpulist")
	n.Kind = nodeKind(node+"/cpulist", text, err, owners[id])
	if n.Kind.IsKnown() && text == "" {
		n.CPUs = sut.NA[string]("a node without CPUs")
	}
	return n
}

// nodeKind tells a node with CPUs, memory of a device, and other memory.
func nodeKind(source, cpus string, err error, owner nodeOwner) sut.Fact[string] {
	switch {
	case err != nil:
		return sut.Unknown[string]("%s", err)
	case cpus != "":
		return sut.Known("cpu", source)
	case owner.kind != "":
		return sut.Known(owner.kind, owner.source)
	}
	return sut.Known("memory", source+" is empty")
}

// gpuNodes adds the nodes that are memory of an NVIDIA GPU.
func gpuNodes(h host.Host, owners map[string]nodeOwner) {
	for _, dir := range h.Match("/proc/driver/nvidia/gpus", "*") {
		name := dir + "/numa_status"
		text, err := h.Text(name)
		if id := host.KeyValues(text, ":")["Node"]; err == nil && id != "" {
			owners[id] = nodeOwner{"gpu", name}
		}
	}
}

// cxlNodes gives the nodes whose memory came up from a region of a CXL device.
func cxlNodes(h host.Host) map[string]nodeOwner {
	owners := map[string]nodeOwner{}
	for _, dev := range h.Match("/sys/bus/dax/devices", "dax*") {
		real, err := h.Real(dev)
		id, errNode := h.Text(dev + "/target_node")
		if err == nil && errNode == nil && strings.Contains(real, "/region") {
			owners[id] = nodeOwner{"cxl", dev + "/target_node"}
		}
	}
	return owners
}

// readCXL gives the memory devices behind CXL; none when the kernel knows no such bus.
func readCXL(h host.Host) sut.List[sut.CXLMemory] {
	const dir = "/sys/bus/cxl/devices"
	if _, err := h.List(dir); err != nil && !h.Absent(dir) {
		return sut.List[sut.CXLMemory]{Unknown: err.Error()}
	}
	var list sut.List[sut.CXLMemory]
	for _, dev := range h.Match(dir, "mem[0-9]*") {
		list.Items = append(list.Items, sut.CXLMemory{
			Name: sut.Known(path.Base(dev), dir), Bytes: host.IntFact[int64](h, dev+"/ram/size"),
			NUMANode: sut.Convert(host.IntFact[int](h, dev+"/numa_node"), host.NotNegative),
		})
	}
	return list
}
