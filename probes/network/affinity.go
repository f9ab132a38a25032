package network

import (
	"path"
	"slices"
	"strings"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// gpu is an accelerator's place: its address, the devices on the way to it from the root of the bus, its NUMA node.
type gpu struct {
	address, node string
	way           []string
}

// readGPUs finds the accelerators of the bus; only their places are needed. Those of other vendors count where they are the only ones:
// beside a card an integrated GPU drives a screen.
func readGPUs(h host.Host) []gpu {
	if list := gpusOf(h, pci.AMD, pci.NVIDIA); len(list) > 0 {
		return list
	}
	return gpusOf(h, pci.OtherVendors(h)...)
}

func gpusOf(h host.Host, vendors ...string) []gpu {
	var list []gpu
	for _, vendor := range vendors {
		cards, _ := pci.Accelerators(h, vendor)
		for _, c := range cards {
			if c.Address == "" {
				continue
			}
			list = append(list, gpu{c.Address, nodeOf(h, c.Dir), wayTo(h, c.Dir)})
		}
	}
	slices.SortStableFunc(list, func(a, b gpu) int { return strings.Compare(a.address, b.address) })
	return list
}

// wayTo gives the host bridge, the bridges and the device itself: pci0000:15, 0000:15:01.0, 0000:16:00.0, …
func wayTo(h host.Host, dir string) []string {
	real, err := h.Real(dir)
	if err != nil {
		return nil
	}
	var way []string
	for at := real; ; at = path.Dir(at) {
		switch name := path.Base(at); {
		case strings.HasPrefix(name, "pci"):
			return append([]string{name}, way...)
		case pci.IsAddress(name):
			way = append([]string{name}, way...)
		case at == "/" || at == ".":
			return nil
		}
	}
}

func nodeOf(h host.Host, dir string) string {
	text, _ := h.Text(dir + "/numa_node")
	return text
}

// distances are the ways between two devices, from the shortest: over one switch, over several, over one host bridge, over two of one
// NUMA node, over two of different nodes.
func distances() []string { return []string{"PIX", "PXB", "PHB", "NODE", "SYS"} }

// distance says how far two devices are apart, "" when it cannot be told.
func distance(a, b []string, nodeA, nodeB string) string {
	if len(a) == 0 || len(b) == 0 {
		return ""
	}
	shared := 0
	for shared < min(len(a), len(b)) && a[shared] == b[shared] {
		shared++
	}
	switch {
	case shared == 0 && (nodeA == "" || nodeB == "" || nodeA == "-1" || nodeB == "-1"):
		return ""
	case shared == 0 && nodeA == nodeB:
		return "NODE"
	case shared == 0:
		return "SYS"
	case shared == 1:
		return "PHB"
	case len(a)-shared > 2 || len(b)-shared > 2: // more than a port of one switch and the device below it
		return "PXB"
	}
	return "PIX"
}

// nearest gives the accelerators that a device has the shortest way to.
func nearest(h host.Host, dir string, gpus []gpu) (near sut.Fact[[]string], far sut.Fact[string]) {
	if len(gpus) == 0 {
		const why = "the bus shows no accelerator"
		return sut.NA[[]string](why), sut.NA[string](why)
	}
	way, node := wayTo(h, dir), nodeOf(h, dir)
	best, list := len(distances()), []string{}
	for _, g := range gpus {
		at := slices.Index(distances(), distance(way, g.way, node, g.node))
		if at >= 0 && at < best {
			best, list = at, nil
		}
		if at >= 0 && at == best {
			list = append(list, g.address)
		}
	}
	if best == len(distances()) {
		why := dir + " does not lead to the bus"
		if len(way) > 0 {
			why = dir + " shares no bridge with an accelerator, and not all of their NUMA nodes are known"
		}
		return sut.Unknown[[]string]("%s", why), sut.Unknown[string]("%s", why)
	}
	const source = "ways on the PCI bus"
	return sut.Known(list, source), sut.Known(distances()[best], source)
}
