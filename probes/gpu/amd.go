package gpu

import (
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

const amdVendor = "0x1002"

// ProbeAMD reads AMD GPUs from the kernel alone: the PCI bus, the graphics driver's files and the compute driver's topology.
func ProbeAMD(_ context.Context, h host.Host, s *sut.SUT) error {
	cards, complete := pci.Accelerators(h, amdVendor)
	gpus, links, err := readKFD(h)
	s.Software.AMDGPU, s.Software.ROCm = readAMDGPU(h), readROCm(h)
	whole := mostPartitions(gpus)
	for _, address := range addresses(cards, gpus) {
		a := amdGPU{h: h, driver: s.Software.AMDGPU, whole: whole, noKFD: err}
		if i := slices.IndexFunc(cards, func(c pci.Device) bool { return c.Address == address }); i >= 0 {
			a.dir, a.card = cards[i].Dir, cards[i]
		}
		if i := slices.IndexFunc(gpus, func(g kfdGPU) bool { return g.address == address }); i >= 0 {
			a.kfd = &gpus[i]
		}
		s.Accelerators.Items = append(s.Accelerators.Items, a.read(address, links))
	}
	if len(s.Accelerators.Items) == 0 && (!complete || (err != nil && !h.Absent("/sys/class/kfd"))) {
		s.Accelerators.Unknown = "neither the PCI bus nor the compute driver's topology could be read"
	}
	s.Interconnect = amdInterconnect(gpus, links, s.Accelerators)
	return nil
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

func mostPartitions(gpus []kfdGPU) int {
	most := 1
	for _, g := range gpus {
		most = max(most, len(g.nodes))
	}
	return most
}

// amdGPU is what the sources hold of one device; dir is "" and kfd nil where one lacks it.
type amdGPU struct {
	h      host.Host
	dir    string
	card   pci.Device
	kfd    *kfdGPU
	noKFD  error
	whole  int
	driver sut.Fact[string]
}

func (a amdGPU) read(address string, links []xgmiLink) sut.Accelerator {
	hwmon := a.hwmon()
	metrics, metricsErr := a.metrics()
	acc := sut.Accelerator{
		Vendor: sut.Known("AMD", "PCI vendor 0x1002"), PCI: a.identity(address), Arch: sut.Convert(a.property("gfx_target_version"), gfxName),
		ComputeUnits: a.computeUnits(), VRAMBytes: sut.First(host.IntFact[int64](a.h, a.file("mem_info_vram_total")), a.kfdVRAM()),
		PowerCapW: watts(a.h, hwmon, "power1_cap", true), PowerDefaultW: watts(a.h, hwmon, "power1_cap_default", true),
		PowerMinW: watts(a.h, hwmon, "power1_cap_min", false), PowerMaxW: watts(a.h, hwmon, "power1_cap_max", true),
		ModulePowerCapW: sut.NA[float64]("AMD gives one limit"), VBIOS: host.TextFact(a.h, a.file("vbios_version")),
		IFWI: sut.Unknown[string]("only amd-smi gives it, which is not asked"), DriverVersion: a.driver, SerialHash: a.serial(),
		Link: a.link(metrics), NUMANode: sut.Convert(host.IntFact[int](a.h, a.file("numa_node")), host.NotNegative),
		RenderMinor: a.renderMinor(), Partition: a.partition(), ECC: a.ecc(), Persistence: sut.NA[bool]("a setting of NVIDIA's driver"),
		XGMIPeers: a.peers(address, links), NVLinks: sut.NA[int]("NVIDIA's link"), Throttle: metrics.ThrottledBy, Processes: a.processes(),
	}
	acc.Name = amdName(a.h, acc.PCI.DeviceID, host.TextFact(a.h, a.file("product_name")))
	if metricsErr != nil {
		acc.Throttle = sut.List[string]{Unknown: metricsErr.Error()}
	}
	return acc
}

// file is a file of the device, or a path that says why there is none.
func (a amdGPU) file(name string) string {
	if a.dir == "" {
		return "/sys/bus/pci/devices/" + a.kfd.address + "/" + name
	}
	return a.dir + "/" + name
}

func (a amdGPU) property(key string) sut.Fact[string] {
	if a.kfd != nil {
		return a.kfd.property(key)
	}
	return sut.Unknown[string]("%s", a.unlisted())
}

// unlisted says why the compute driver's topology has no node of this GPU.
func (a amdGPU) unlisted() string {
	if a.noKFD != nil {
		return a.noKFD.Error()
	}
	return "the compute driver does not list this GPU"
}

func (a amdGPU) identity(address string) sut.PCI {
	if a.dir != "" {
		return pci.Identity(a.h, a.card)
	}
	return sut.PCI{
		Address:     sut.Known(address, a.kfd.source()),
		DeviceID:    sut.Convert(a.property("device_id"), func(s string) (string, error) { n, err := strconv.Atoi(s); return fmt.Sprintf("0x%04x", n), err }),
		SubsystemID: host.TextFact(a.h, a.file("subsystem_device")),
	}
}

// amdName names a product by its device id, since the driver's own names differ by version and are often empty.
func amdName(h host.Host, id, product sut.Fact[string]) sut.Fact[string] {
	names := map[string]string{
		"0x738c": "AMD Instinct MI100", "0x7408": "AMD Instinct MI250X", "0x740c": "AMD Instinct MI250X", "0x740f": "AMD Instinct MI210", "0x74a0": "AMD Instinct MI300A",
		"0x74a1": "AMD Instinct MI300X", "0x74a2": "AMD Instinct MI308X", "0x74a5": "AMD Instinct MI325X", "0x74b5": "AMD Instinct MI300X VF",
		"0x74b9": "AMD Instinct MI325X VF", "0x75a0": "AMD Instinct MI350X", "0x75a3": "AMD Instinct MI355X",
	}
	if name, ok := names[id.Value]; ok {
		return sut.Known(name, "PCI device id "+id.Value)
	}
	if product.IsKnown() || !id.IsKnown() {
		return product
	}
	return pci.Names(h)(amdVendor, id.Value)
}

func (a amdGPU) hwmon() string {
	if dirs := a.h.Match(a.file("hwmon"), "hwmon*"); len(dirs) > 0 {
		return dirs[0]
	}
	return a.file("hwmon/hwmon*")
}

// watts reads a limit in µW. Zero is what a driver says that does not know its limit, but a real lower bound.
func watts(h host.Host, hwmon, name string, positive bool) sut.Fact[float64] {
	return sut.Convert(host.TextFact(h, hwmon+"/"+name), func(s string) (float64, error) {
		v, err := strconv.ParseUint(s, 10, 64)
		if err != nil || v > 100_000e6 || (positive && v == 0) {
			return 0, sut.ErrNoValue
		}
		return float64(v) / 1e6, nil
	})
}

func (a amdGPU) metrics() (gpuMetrics, error) {
	b, err := a.h.Read(a.file("gpu_metrics"))
	if err != nil {
		return gpuMetrics{}, err
	}
	return parseGPUMetrics(b)
}

// link takes the slot's rate from the firmware where it is below that of the card's own switch.
func (a amdGPU) link(m gpuMetrics) sut.Link {
	if a.dir == "" {
		a.dir = "/sys/bus/pci/devices/" + a.kfd.address
	}
	l := pci.LinkOf(a.h, a.dir)
	if gts, ok := m.LinkGTS.Get(); ok && l.GTS.IsKnown() && gts < l.GTS.Value {
		l.GTS = sut.Fact[float64]{Value: gts, Source: a.file("gpu_metrics"), Other: fmt.Sprintf("%s says %g: the link inside the card", l.GTS.Source, l.GTS.Value)}
	}
	return l
}

func (a amdGPU) serial() sut.Fact[string] {
	f := sut.First(host.TextFact(a.h, a.file("unique_id")), sut.Convert(a.property("unique_id"), func(s string) (string, error) { return host.HexID(s), nil }))
	return sut.Convert(f, func(id string) (string, error) {
		if strings.Trim(id, "0") == "" {
			return "", sut.ErrNoValue
		}
		return host.SerialHash(id), nil
	})
}

func (a amdGPU) computeUnits() sut.Fact[int] {
	if a.kfd == nil {
		return sut.Unknown[int]("%s", a.unlisted())
	}
	return a.kfd.computeUnits(a.whole)
}

func (a amdGPU) kfdVRAM() sut.Fact[int64] {
	if a.kfd == nil {
		return sut.Unknown[int64]("%s", a.unlisted())
	}
	return a.kfd.vram()
}

func (a amdGPU) renderMinor() sut.Fact[int] {
	for _, node := range a.h.Match(a.file("drm"), "renderD*") {
		return sut.Convert(sut.Known(strings.TrimPrefix(path.Base(node), "renderD"), node), strconv.Atoi)
	}
	return sut.Convert(a.property("drm_render_minor"), func(s string) (int, error) {
		if s == "0" {
			return 0, sut.ErrNoValue
		}
		return strconv.Atoi(s)
	})
}

func (a amdGPU) partition() sut.Partition {
	p := sut.Partition{
		Compute: host.TextFact(a.h, a.file("current_compute_partition")), Memory: host.TextFact(a.h, a.file("current_memory_partition")),
		Count: sut.Unknown[int]("%s", a.unlisted()), Instances: sut.List[string]{Items: []string{}},
	}
	if a.kfd == nil {
		p.Instances = sut.List[string]{Unknown: a.unlisted()}
		return p
	}
	p.Count = sut.Known(len(a.kfd.nodes), kfdNodes)
	if len(a.kfd.nodes) < a.whole {
		p.Count = sut.Unknown[int]("the driver lists %d of %d partitions of this GPU", len(a.kfd.nodes), a.whole)
	}
	if !p.Compute.IsKnown() && a.whole > 1 && a.kfd.nodes[0].props["num_xcc"] == "1" {
		p.Compute = sut.Known("CPX", kfdNodes+": one compute die per partition")
	}
	if a.whole == 1 {
		return p
	}
	for _, n := range a.kfd.nodes {
		p.Instances.Items = append(p.Instances.Items, "renderD"+n.props["drm_render_minor"])
	}
	return p
}

// ecc reads whether RAS watches the memory controller (bit 0 of the features).
func (a amdGPU) ecc() sut.Fact[bool] {
	return sut.Convert(host.TextFact(a.h, a.file("ras/features")), func(s string) (bool, error) {
		_, hex, ok := strings.Cut(s, "0x")
		if !ok {
			return false, sut.ErrNoValue
		}
		mask, err := strconv.ParseUint(strings.Fields(hex + " ")[0], 16, 64)
		return mask&1 == 1, err
	})
}

func (a amdGPU) peers(address string, links []xgmiLink) sut.Fact[int] {
	if a.kfd == nil {
		return sut.Unknown[int]("%s", a.unlisted())
	}
	node := kfdNodes + "/" + a.kfd.nodes[0].id + "/io_links"
	if _, err := a.h.List(node); err != nil {
		return sut.Unknown[int]("%s", err)
	}
	n := 0
	for _, l := range links {
		if l.from == address {
			n++
		}
	}
	return sut.Known(n, kfdNodes+"/*/io_links")
}

// processes lists who holds memory of the GPU, by the compute driver's account. A process with no memory is still one.
func (a amdGPU) processes() sut.List[sut.GPUProcess] {
	const dir = "/sys/class/kfd/kfd/proc"
	if _, err := a.h.List(dir); err != nil {
		return sut.List[sut.GPUProcess]{Unknown: err.Error()}
	}
	if a.kfd == nil {
		return sut.List[sut.GPUProcess]{Unknown: a.unlisted()}
	}
	list := sut.List[sut.GPUProcess]{Items: []sut.GPUProcess{}}
	for _, proc := range a.h.Match(dir, "[0-9]*") {
		for _, n := range a.kfd.nodes {
			gpu, err := a.h.Text(kfdNodes + "/" + n.id + "/gpu_id")
			vram := host.IntFact[int64](a.h, proc+"/vram_"+gpu)
			if err != nil || !vram.IsKnown() {
				continue
			}
			pid := path.Base(proc)
			list.Items = append(list.Items, sut.GPUProcess{PID: sut.Convert(sut.Known(pid, proc), strconv.Atoi), Name: host.TextFact(a.h, "/proc/"+pid+"/comm"), VRAMBytes: vram})
		}
	}
	return list
}

// readAMDGPU gives the driver's version: the DKMS package's, else the kernel's that it came with.
func readAMDGPU(h host.Host) sut.Fact[string] {
	const module = "/sys/module/amdgpu"
	if f := host.TextFact(h, module+"/version"); f.IsKnown() {
		return f
	}
	kernel := host.KernelRelease(h)
	if !h.IsDir(module) || !kernel.IsKnown() {
		_, err := h.List(module)
		return sut.Unknown[string]("%s", err)
	}
	return sut.Known("in-tree "+kernel.Value, module+" has no version of its own")
}

func readROCm(h host.Host) sut.Fact[string] {
	f := host.TextFact(h, "/opt/rocm/.info/version")
	for _, dir := range append(h.Match("/opt", "rocm-*"), h.Match("/opt/rocm", "core-*")...) {
		if other := host.TextFact(h, dir+"/.info/version"); !f.IsKnown() && other.IsKnown() {
			f = other
		}
	}
	return f
}

func amdInterconnect(gpus []kfdGPU, links []xgmiLink, found sut.List[sut.Accelerator]) sut.Interconnect {
	if len(found.Items) == 0 {
		return sut.Interconnect{}
	}
	if len(gpus) == 0 {
		const why = "the compute driver's topology is not there"
		return sut.Interconnect{Kind: sut.Unknown[string](why), Hives: sut.Unknown[int](why), Links: sut.List[string]{Unknown: why}}
	}
	i := sut.Interconnect{Kind: sut.Known("pcie", kfdNodes), Hives: sut.Known(hives(gpus), kfdNodes), Links: sut.List[string]{Items: []string{}}}
	for _, l := range links {
		i.Kind = sut.Known("xgmi", kfdNodes+"/*/io_links")
		i.Links.Items = append(i.Links.Items, fmt.Sprintf("%s to %s: xgmi, weight %s", l.from, l.to, l.weight))
	}
	return i
}

// wattsOf reads a sensor in µW for telemetry.
func wattsOf(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v < 0 || math.IsInf(v, 0) || v > 100_000e6 {
		return 0, sut.ErrNoValue
	}
	return v / 1e6, nil
}
