package amd

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// Probe reads AMD GPUs from the kernel alone: the PCI bus, the graphics driver's files and the compute driver's topology.
func Probe(_ context.Context, h host.Host, s *sut.SUT) error {
	driver, kind := readDriver(h)
	s.Software.AMDGPU, s.Software.AMDGPUSource = driver, host.TextFact(h, driverDir+"/srcversion")
	s.Software.ROCm, s.Software.ROCmTrees = readROCm(h)
	cards, complete := pci.Accelerators(h, pci.AMD)
	top := readTopology(h)
	for _, address := range addresses(cards, top.gpus) {
		g := gpu{h: h, top: top, driver: driver, driverKind: kind, cards: len(cards)}
		if i := slices.IndexFunc(cards, func(c pci.Device) bool { return c.Address == address }); i >= 0 {
			g.card = cards[i]
		}
		if i := slices.IndexFunc(top.gpus, func(k kfdGPU) bool { return k.address == address }); i >= 0 {
			g.kfd = &top.gpus[i]
		}
		g = g.look()
		s.Accelerators.Items = append(s.Accelerators.Items, afterFirstDie(s.Accelerators.Items, g.product, g.read()))
	}
	if len(s.Accelerators.Items) == 0 && (!complete || (top.why != "" && !h.Absent("/sys/class/kfd"))) {
		s.Accelerators.Unknown = "neither the PCI bus nor the compute driver's topology could be read"
	}
	s.Interconnect = top.interconnect(len(s.Accelerators.Items))
	return nil
}

// afterFirstDie tells of the second die of a package, which comes after the first, that the power of both and its limits stand there: the
// driver gives 0 W for the second.
func afterFirstDie(before []sut.Accelerator, p product, a sut.Accelerator) sut.Accelerator {
	if !p.dies || len(before) == 0 {
		return a
	}
	first := before[len(before)-1]
	for _, f := range []struct {
		first sut.Fact[float64]
		mine  *sut.Fact[float64]
	}{
		{first.PowerW, &a.PowerW}, {first.PowerCapW, &a.PowerCapW}, {first.PowerDefaultW, &a.PowerDefaultW}, {first.PowerMaxW, &a.PowerMaxW},
	} {
		if f.first.IsKnown() && !f.mine.IsKnown() {
			*f.mine = sut.NA[float64]("the power of a package stands at its first die")
		}
	}
	return a
}

// addresses gives every GPU that the bus or the topology lists, once.
func addresses(cards []pci.Device, gpus []kfdGPU) []string {
	var all []string
	for _, c := range cards {
		all = append(all, c.Address)
	}
	for _, g := range gpus {
		all = append(all, g.address)
	}
	return host.Distinct(all)
}

// gpu is what the sources hold of one device; card is empty and kfd nil where one lacks it.
type gpu struct {
	h          host.Host
	card       pci.Device
	kfd        *kfdGPU
	top        topology
	cards      int // how many there are on the bus
	driver     sut.Fact[string]
	driverKind sut.Fact[string]
	ids        sut.PCI
	product    product
	asleep     string // why files that would wake the device are not read
	hwmon      string // the folder of its sensors
	table      metricsTable
}

// look finds out what the device is and whether it is awake, and reads its table.
func (g gpu) look() gpu {
	g.ids = g.identity()
	g.product = products()[g.ids.DeviceID.Value]
	g.hwmon = pci.Sensors(g.h, g.place())
	return g.observe()
}

// observe reads what moves.
func (g gpu) observe() gpu {
	g.asleep = ""
	if status, err := g.h.Text(g.file("power/runtime_status")); err == nil && (status == "suspended" || status == "suspending") {
		g.asleep = "the device is " + status + ", and a read would wake it"
	}
	source := g.file("gpu_metrics")
	if g.asleep != "" {
		g.table = metricsTable{source: source, why: g.asleep}
		return g
	}
	b, err := g.h.Read(source)
	if err != nil {
		g.table = metricsTable{source: source, why: err.Error()}
		return g
	}
	g.table = parseMetrics(source, b)
	return g
}

func (g gpu) read() sut.Accelerator {
	a := sut.Accelerator{
		Vendor: sut.Known("AMD", "PCI vendor 0x1002"), Kind: g.kind(), Usable: g.usable(), PCI: g.ids,
		Arch: g.arch(), VirtualFunction: g.virtualFunction(), Virtualization: g.virtualization(),
		VRAMBytes: g.vram(), VRAMUsedBytes: g.vramUsed(), UnifiedMemory: g.unified(),
		MemoryType: g.memoryType(), MemoryVendor: g.memoryVendor(), ComputeUnits: g.computeUnits(),
		PowerCapW: g.limit("power1_cap"), PowerDefaultW: g.limit("power1_cap_default"), PowerMinW: g.measured("power1_cap_min", wattsOrZero)(),
		PowerMaxW: g.limit("power1_cap_max"), ModulePowerCapW: sut.NA[float64]("AMD gives one limit"), VBIOS: g.vbios(),
		IFWI: sut.Unknown[string]("only amd-smi gives it"), Firmware: g.firmware(), DriverVersion: g.driver, DriverKind: g.driverKind,
		SerialHash: g.serial(), Link: g.link(), LinkErrors: g.linkErrors(), NUMANode: pci.NUMANode(g.h, g.place()),
		RenderMinor: g.renderMinor(), Partition: g.partition(), ECC: g.ecc(), RAS: g.ras(), RuntimeStatus: g.told("power/runtime_status"),
		PerfLevel: sut.Convert(g.waking("power_dpm_force_performance_level"), word), Clocks: g.clocks(), Temperatures: g.temperatures(), UtilPct: g.utilPct(), PowerW: g.powerW(),
		XGMIPeers: g.xgmiPeers(), P2PPeers: g.p2pPeers(), Fabric: g.fabric(), Throttle: g.table.throttledBy(), ThrottleCounters: g.table.throttleCounters(),
		Processes: g.processes(),
	}
	a.Name, a.PowerCapSettable = g.name(), settable(a)
	notAMD(&a)
	sut.GiveReason(reflect.ValueOf(&a).Elem(), "no file of the driver tells it")
	return a
}

// notAMD marks what only other vendors' devices have.
func notAMD(a *sut.Accelerator) {
	const nvidia = "NVIDIA's driver alone has it"
	a.Persistence, a.ComputeMode, a.NVLinks, a.RAS.RecoveryAction = sut.NA[bool](nvidia), sut.NA[string](nvidia), sut.NA[int](nvidia), sut.NA[string](nvidia)
	a.Clocks.AppGfxMHz, a.Clocks.AppMemMHz = sut.NA[float64](nvidia), sut.NA[float64](nvidia)
	a.Temperatures.MarginC = sut.NA[float64]("AMD's driver tells the limits themselves")
	a.Fabric.State, a.Fabric.Status, a.Fabric.Health = sut.NA[string]("XGMI has no switch"), sut.NA[string]("XGMI has no switch"), sut.NA[string]("XGMI has no switch")
}

// place is the device's folder, or where it would be on the bus.
func (g gpu) place() string {
	if g.card.Dir == "" && g.kfd != nil {
		return pci.Bus + "/" + g.kfd.address
	}
	return g.card.Dir
}

// file is a file of the device, or a path that says why there is none.
func (g gpu) file(name string) string { return g.place() + "/" + name }

// waking reads a file whose read wakes a device that sleeps.
func (g gpu) waking(name string) sut.Fact[string] {
	if g.asleep != "" {
		return sut.Unknown[string]("%s", g.asleep)
	}
	return host.TextFact(g.h, g.file(name))
}

// word refuses what drivers write for none, and numbers that stand for it.
func word(s string) (string, error) {
	none := []string{"n/a", "none", "unknown", "unknown error", "err!", "unsupported", "not supported", "-1", "4294967295", "18446744073709551615", "0xffffffff"}
	if slices.Contains(none, strings.ToLower(strings.Trim(s, "[]"))) || !printable(s) {
		return "", sut.ErrNoValue
	}
	return s, nil
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) })
}

// told is a file of the device that holds a word or a few.
func (g gpu) told(name string) sut.Fact[string] {
	return sut.Convert(host.TextFact(g.h, g.file(name)), word)
}

// sensor reads a file of the device's sensors.
func (g gpu) sensor(name string) sut.Fact[string] {
	if g.asleep != "" {
		return sut.Unknown[string]("%s", g.asleep)
	}
	return host.TextFact(g.h, g.hwmon+"/"+name)
}

func (g gpu) property(key string) sut.Fact[string] {
	if g.kfd != nil {
		return g.kfd.property(key)
	}
	return sut.Unknown[string]("%s", g.unlisted())
}

// unlisted says why the compute driver's topology has no node of this GPU.
func (g gpu) unlisted() string {
	switch {
	case g.top.why != "":
		return g.top.why
	case g.top.hidden > 0:
		return hiddenNodes
	}
	return "the compute driver does not list this GPU"
}
