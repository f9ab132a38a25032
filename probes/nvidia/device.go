package nvidia

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// gpu is one device: what the record says of it, and where the kernel has it.
type gpu struct {
	*node
	report  report
	h       host.Host
	index   int
	address string
	dir     string // on the bus
	driver  driver
}

func (r report) gpu(h host.Host, index int, n *node, d driver) gpu {
	address := n.address()
	return gpu{node: n, report: r, h: h, index: index, address: address, dir: pci.Bus + "/" + address, driver: d}
}

// get gives the value at the first of the paths that exists.
func (g gpu) get(where ...string) sut.Fact[string] { return g.fact(g.report.source, where...) }

// power gives a limit or a reading by the first of its names that is there, in the blocks that drivers have called it by.
func (g gpu) power(names ...string) sut.Fact[float64] {
	var where []string
	for _, name := range names {
		where = append(where, "gpu_power_readings/"+name, "power_readings/"+name)
	}
	return sut.Convert(g.get(where...), watts)
}

// read gives the SUT's facts of the device.
func (g gpu) read() sut.Accelerator {
	name := g.get("product_name")
	a := sut.Accelerator{
		Vendor: sut.Known("NVIDIA", "PCI vendor 0x10de"), Name: name, Kind: kindOf(name), Usable: sut.Known(true, g.report.source),
		PCI: g.identity(), Arch: g.arch(), VirtualFunction: g.virtualFunction(), Virtualization: g.virtualization(),
		MemoryType: memoryType(name), ComputeUnits: multiprocessors(name),
		PowerCapW: g.powerCap(), PowerDefaultW: g.power("default_power_limit"), PowerMinW: g.power("min_power_limit"), PowerMaxW: g.power("max_power_limit"),
		ModulePowerCapW: sut.Convert(g.get("module_power_readings/current_power_limit"), watts), PowerW: g.draw(),
		VBIOS: g.vbios(), IFWI: sut.NA[string]("AMD's firmware"), Firmware: g.firmware(), DriverVersion: g.driver.version, DriverKind: g.driver.kind,
		SerialHash: sut.Convert(g.get("uuid", "gpu_uuid"), realUUID), Link: g.link(), LinkErrors: g.linkErrors(),
		NUMANode: pci.NUMANode(g.h, g.dir), RenderMinor: pci.RenderMinor(g.h, g.dir),
		Partition: g.partition(), ECC: sut.Convert(g.get("ecc_mode/current_ecc", "ecc_mode/current"), enabled), RAS: g.ras(),
		Persistence: sut.Convert(g.get("persistence_mode"), enabled), ComputeMode: sut.Convert(g.get("compute_mode"), word), Confidential: g.report.confidential,
		Clocks: g.clocks(), Temperatures: g.temperatures(), UtilPct: sut.Convert(g.get("utilization/gpu_util", "utilization/gpu"), percent),
		XGMIPeers: sut.NA[int]("AMD's link"), Throttle: g.throttle(), ThrottleCounters: g.throttleCounters(), Processes: g.processes(),
	}
	a.PowerCapSettable = settable(a)
	g.memory(&a)
	g.fabric(&a)
	a.PerfLevel, a.RuntimeStatus = sut.NA[string]("a setting of AMD's driver"), host.TextFact(g.h, g.dir+"/power/runtime_status")
	sut.GiveReason(reflect.ValueOf(&a).Elem(), "nvidia-smi does not tell it")
	return a
}

func (g gpu) identity() sut.PCI {
	p := sut.PCI{
		Address:           sut.Known(g.address, g.report.source),
		DeviceID:          sut.Convert(g.get("pci/pci_device_id", "pci/device_id"), pciWord),
		SubsystemID:       sut.Convert(g.get("pci/pci_sub_system_id", "pci/sub_system_id"), pciWord),
		SubsystemVendorID: sut.Convert(g.get("pci/pci_sub_system_id", "pci/sub_system_id"), pciMaker), Revision: host.TextFact(g.h, g.dir+"/revision"),
	}
	if onBus, err := g.h.List(pci.Bus); err == nil && g.h.Live && !slices.Contains(onBus, g.address) {
		p.Address.Other = pci.Bus + " does not list it: the tool sees a device that this system's kernel does not show"
	}
	return p
}

func kindOf(name sut.Fact[string]) sut.Fact[string] {
	switch {
	case !name.IsKnown():
		return sut.Unknown[string]("%s", name.Reason())
	case sharesMemory(name.Value):
		return sut.Known("integrated", systemOnChip)
	}
	return sut.Known("discrete", "table of products: no system on a chip")
}

func (g gpu) arch() sut.Fact[string] {
	major, minor, dotted := strings.Cut(g.report.capabilities[g.address], ".")
	if !dotted || host.Digits(major) != len(major) || host.Digits(minor) != len(minor) {
		return sut.Unknown[string]("nvidia-smi --query-gpu=compute_cap gives no compute capability")
	}
	return sut.Known("sm_"+major+minor, "nvidia-smi --query-gpu=compute_cap")
}

// memory reads the frame buffer. The window of BAR 1 is another thing, and a chip without memory of its own may be given the system's.
func (g gpu) memory(a *sut.Accelerator) {
	total := g.get("fb_memory_usage/total")
	a.VRAMBytes = sut.Convert(total, memorySize)
	a.VRAMUsedBytes = sut.Convert(g.get("fb_memory_usage/used"), mebibytes)
	mode := g.get("addressing_mode")
	switch {
	case sharesMemory(a.Name.Value):
		const why = "it has no memory of its own and shares the system's"
		a.UnifiedMemory, a.VRAMBytes, a.VRAMUsedBytes = sut.Known(true, systemOnChip), sut.NA[int64](why), sut.NA[int64](why)
		if total.IsKnown() {
			a.UnifiedMemory.Other = fmt.Sprintf("%s says %s, which is of the system's", total.Source, total.Value)
		}
	case mode.Value == "ATS":
		a.UnifiedMemory = sut.Known(true, mode.Source+" is ATS: one page table with the processor")
	case a.VRAMBytes.IsKnown():
		a.UnifiedMemory = sut.Known(false, a.VRAMBytes.Source)
	}
}

// powerCap is the limit in force: the least of all that limit. The one that was asked for can be another, and is shown beside it.
func (g gpu) powerCap() sut.Fact[float64] {
	enforced, requested := g.power("current_power_limit", "enforced_power_limit"), g.power("requested_power_limit", "power_limit")
	if !enforced.IsKnown() {
		return requested
	}
	if requested.IsKnown() && enforced.Value != requested.Value {
		enforced.Other = fmt.Sprintf("%s says %g W: what was asked for; the limit in force is the least of all", requested.Source, requested.Value)
	}
	return enforced
}

// settable tells whether root could set the cap: not of a part of a device, and not where it has no room.
func settable(a sut.Accelerator) sut.Fact[bool] {
	switch {
	case a.VirtualFunction.Value:
		return sut.Known(false, "the cap of a part of a device is its host's")
	case !a.PowerMinW.IsKnown():
		return sut.Unknown[bool]("%s", a.PowerMinW.Reason())
	case !a.PowerMaxW.IsKnown():
		return sut.Unknown[bool]("%s", a.PowerMaxW.Reason())
	}
	return sut.Known(a.PowerMinW.Value < a.PowerMaxW.Value, a.PowerMaxW.Source)
}

// draw is the power that is drawn now. The mean over a second is taken where there is nothing else.
func (g gpu) draw() sut.Fact[float64] {
	instant := sut.First(g.power("instant_power_draw"), g.power("instantaneous_power_draw"))
	return sut.First(instant, g.power("power_draw"), g.power("average_power_draw"))
}

// vbios is the record's, held against the kernel module's.
func (g gpu) vbios() sut.Fact[string] {
	said, module := g.get("vbios_version"), g.driver.information(g.h, g.address, "Video BIOS")
	if said.IsKnown() && module.IsKnown() && !strings.EqualFold(said.Value, module.Value) {
		said.Other = fmt.Sprintf("%s says %s; the tool asks the device itself", module.Source, module.Value)
	}
	return sut.First(said, module)
}

func (g gpu) firmware() sut.List[sut.Firmware] {
	list := sut.List[sut.Firmware]{Items: []sut.Firmware{}}
	for _, part := range []struct{ name, where, text string }{
		{"gsp", "gsp_firmware_version", "gsp_firmware_version"}, {"inforom", "inforom_version/img_version", "inforom_version/image_version"},
	} {
		if f := g.get(part.where, part.text); f.IsKnown() {
			list.Items = append(list.Items, sut.Firmware{Name: sut.Known(part.name, f.Source), Version: f})
		}
	}
	if len(list.Items) == 0 {
		list.Unknown = g.get("gsp_firmware_version").Reason()
	}
	return list
}

// realUUID hashes a UUID, unless it was blanked or cut.
func realUUID(s string) (string, error) {
	if s == "GPU-[uuid]" || strings.Trim(strings.TrimPrefix(s, "GPU-"), "0-") == "" {
		return "", sut.ErrNoValue
	}
	return host.SerialHash(s), nil
}
