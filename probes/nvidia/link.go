package nvidia

import (
	"assay/probes/pci"
	"assay/probes/sut"
)

// link takes the kernel's view of the way to the root port, else nvidia-smi's.
func (g gpu) link() sut.Link {
	l := pci.LinkOf(g.h, g.dir)
	const info, text = "pci/pci_gpu_link_info/", "pci/gpu_link_info/"
	l.GTS = sut.First(l.GTS, g.rate(info+"pcie_gen/current_link_gen", text+"pcie_generation/current"))
	l.Width = sut.First(l.Width, g.lanes(info+"link_widths/current_link_width", text+"link_width/current"))
	l.MaxGTS = sut.First(l.MaxGTS, g.rate(info+"pcie_gen/max_device_link_gen", text+"pcie_generation/device_max"),
		g.rate(info+"pcie_gen/max_link_gen", text+"pcie_generation/max"))
	l.MaxWidth = sut.First(l.MaxWidth, g.lanes(info+"link_widths/max_link_width", text+"link_width/max"))
	l.SlotMaxGTS = sut.First(l.SlotMaxGTS, g.rate(info+"pcie_gen/max_host_link_gen", text+"pcie_generation/host_max"))
	return l
}

func (g gpu) rate(where ...string) sut.Fact[float64] {
	return sut.Convert(sut.Convert(g.get(where...), number), func(v float64) (float64, error) { return pci.GenerationGTS(int(v)) })
}

func (g gpu) lanes(where ...string) sut.Fact[int] {
	return sut.Convert(sut.Convert(g.get(where...), number), func(v float64) (int, error) { return pci.Width(int(v)) })
}

func (g gpu) linkErrors() sut.LinkErrors {
	e := pci.ErrorsOf(g.h, g.dir)
	e.Replays = sut.Convert(g.get("pci/replay_counter", "pci/replays_since_reset"), count)
	e.ReplayRollovers = sut.Convert(g.get("pci/replay_rollover_counter", "pci/replay_number_rollovers"), count)
	return e
}

// fabric reads the device's NVLinks, and how it joined a switched fabric.
func (g gpu) fabric(a *sut.Accelerator) {
	d := g.deviceLinks()
	a.NVLinks, a.P2PPeers = d.up, g.reached()
	a.Fabric = sut.Fabric{
		LinksUp: d.up, LinksDown: d.down, LinkGbps: d.gbps, State: sut.Convert(g.get("fabric/state"), word),
		Status: sut.Convert(g.get("fabric/status"), word), Health: sut.Convert(g.get("fabric/health/summary"), word),
	}
}

// reached counts the GPUs whose memory this one reads by itself, where the tool's matrix has as many GPUs as its record.
func (g gpu) reached() sut.Fact[int] {
	const source = "nvidia-smi topo -p2p r"
	all := len(g.report.log.all("gpu"))
	attached, err := g.report.log.announced()
	switch {
	case all == 1 && (err != nil || attached == 1):
		return sut.NA[int]("there is no other GPU")
	case len(g.report.peers.rows) != all:
		return sut.Unknown[int]("%s gives no matrix of the GPUs of the record", source)
	}
	return sut.Known(g.report.peers.reached(g.index), source)
}

// deviceLinks finds the device in the answer about links: by its UUID, else by its place, when both lists are of the same length.
func (g gpu) deviceLinks() deviceLinks {
	for _, d := range g.report.links {
		if d.uuid != "" && d.uuid == g.get("uuid", "gpu_uuid").Value && realID(d.uuid) {
			return d
		}
	}
	if len(g.report.links) == len(g.report.log.all("gpu")) {
		return g.report.links[g.index]
	}
	var none deviceLinks
	none.none(nvlinkSource + " gives no answer for this GPU")
	return none
}
