package nvidia

import (
	"fmt"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

const topologySource = "nvidia-smi topo -m"

// interconnect says how the GPUs that nvidia-smi lists reach each other.
func (r report) interconnect(h host.Host, gpus []sut.Accelerator) sut.Interconnect {
	i := sut.Interconnect{Hives: sut.NA[int]("AMD's fabric"), Switches: switches(h)}
	i.Kind, i.Links = r.kind(gpus), r.ways(len(gpus))
	i.Manager = fabricManager(h, i.Switches)
	return i
}

// kind is nvlink where a link is active or joins a pair, and pcie where all GPUs are known to have none.
func (r report) kind(gpus []sut.Accelerator) sut.Fact[string] {
	kind := sut.Known("pcie", nvlinkSource+": no active link")
	for _, g := range gpus {
		n, known := g.NVLinks.Get()
		if n > 0 {
			return sut.Known("nvlink", g.NVLinks.Source)
		}
		if !known {
			kind = sut.Unknown[string]("%s", g.NVLinks.Reason())
		}
	}
	switch {
	case r.matrix.linked():
		return sut.Known("nvlink", topologySource)
	case !kind.IsKnown() && len(r.matrix.rows) > 1:
		return sut.Known("pcie", topologySource)
	}
	return kind
}

// ways lists the pairs of the topology; its numbers are those of the record, when both have as many GPUs. The machine may have more.
func (r report) ways(all int) sut.List[string] {
	var addresses []string
	for _, g := range r.log.all("gpu") {
		addresses = append(addresses, g.address())
	}
	switch n := len(r.matrix.rows); {
	case all < 2 && n < 2:
		return sut.List[string]{Items: append([]string{}, r.alone(addresses)...)}
	case n == 0:
		return sut.List[string]{Unknown: topologySource + " gives no matrix"}
	case n != len(addresses):
		return sut.List[string]{Unknown: fmt.Sprintf("%s has %d GPUs and the record %d", topologySource, n, len(addresses))}
	}
	return sut.List[string]{Items: r.matrix.pairs(addresses)}
}

// alone gives the ways of a single GPU, to network adapters.
func (r report) alone(addresses []string) []string {
	if len(r.matrix.rows) != len(addresses) {
		return nil
	}
	return r.matrix.pairs(addresses)
}

// switches counts the NVSwitches of the bus: bridges of class 0x0680.
func switches(h host.Host) sut.Fact[int] {
	n, err := pci.Count(h, pci.NVIDIA, "0x0680")
	if err != nil {
		return sut.Unknown[int]("%s", err)
	}
	return sut.Known(n, pci.Bus)
}

// fabricManager tells whether the program runs without which NVSwitches carry nothing.
func fabricManager(h host.Host, switches sut.Fact[int]) sut.Fact[string] {
	const file = "/run/nvidia-fabricmanager/nv-fabricmanager.pid"
	if n, known := switches.Get(); known && n == 0 {
		return sut.NA[string]("no NVSwitch is on the bus")
	}
	text, err := h.Text(file)
	if err != nil {
		if h.Absent(file) && switches.IsKnown() {
			return sut.Known("not running", file+" does not exist")
		}
		return sut.Unknown[string]("%s", err)
	}
	pid, err := strconv.Atoi(text)
	if err != nil {
		return sut.Unknown[string]("%s reads %q", file, text)
	}
	name := fmt.Sprintf("/proc/%d/comm", pid)
	if comm, err := h.Text(name); err == nil && strings.HasPrefix(comm, "nv-fabricmanage") {
		return sut.Known("running", name)
	}
	return sut.Known("not running", file+" names no running nv-fabricmanager")
}
