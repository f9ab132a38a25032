package probes

import (
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

const amdVendor = "0x1002"

// probeAMD reads AMD GPUs from the kernel alone: the PCI bus, the graphics driver's files and the compute driver's topology.
func probeAMD(_ context.Context, h Host, s *SUT) error {
	cards, complete := accelerators(h, amdVendor)
	gpus, links, err := readKFD(h)
	s.Software.AMDGPU, s.Software.ROCm = readAMDGPU(h), readROCm(h)
	whole := mostPartitions(gpus)
	for _, address := range addresses(cards, gpus) {
		a := amdGPU{h: h, driver: s.Software.AMDGPU, whole: whole, noKFD: err}
		if i := slices.IndexFunc(cards, func(c pciDevice) bool { return c.address == address }); i >= 0 {
			a.dir, a.pci = cards[i].dir, cards[i]
		}
		if i := slices.IndexFunc(gpus, func(g kfdGPU) bool { return g.address == address }); i >= 0 {
			a.kfd = &gpus[i]
		}
		s.Accelerators.Items = append(s.Accelerators.Items, a.read(address, links))
	}
	if len(s.Accelerators.Items) == 0 && (!complete || (err != nil && !h.absent("/sys/class/kfd"))) {
		s.Accelerators.Unknown = "neither the PCI bus nor the compute driver's topology could be read"
	}
	s.Interconnect = amdInterconnect(gpus, links, s.Accelerators)
	return nil
}

// addresses gives every GPU that the bus or the topology lists, once.
func addresses(cards []pciDevice, gpus []kfdGPU) []string {
	var all []string
	for _, c := range cards {
		all = append(all, c.address)
	}
	for _, g := range gpus {
		all = append(all, g.address)
	}
	return distinct(all)
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
	h      Host
	dir    string
	pci    pciDevice
	kfd    *kfdGPU
	noKFD  error
	whole  int
	driver Fact[string]
}

func (a amdGPU) read(address string, links []xgmiLink) Accelerator {
	hwmon := a.hwmon()
	metrics, metricsErr := a.metrics()
	acc := Accelerator{
		Vendor: Known("AMD", "PCI vendor 0x1002"), PCI: a.identity(address), Arch: convert(a.property("gfx_target_version"), gfxName),
		ComputeUnits: a.computeUnits(), VRAMBytes: first(intFact[int64](a.h, a.file("mem_info_vram_total")), a.kfdVRAM()),
		PowerCapW: watts(a.h, hwmon, "power1_cap", true), PowerDefaultW: watts(a.h, hwmon, "power1_cap_default", true),
		PowerMinW: watts(a.h, hwmon, "power1_cap_min", false), PowerMaxW: watts(a.h, hwmon, "power1_cap_max", true),
		ModulePowerCapW: NA[float64]("AMD gives one limit"), VBIOS: textFact(a.h, a.file("vbios_version")),
		IFWI: Unknown[string]("only amd-smi gives it, which is not asked"), DriverVersion: a.driver, SerialHash: a.serial(),
		Link: a.link(metrics), NUMANode: convert(intFact[int](a.h, a.file("numa_node")), notNegative),
		RenderMinor: a.renderMinor(), Partition: a.partition(), ECC: a.ecc(), Persistence: NA[bool]("a setting of NVIDIA's driver"),
		XGMIPeers: a.peers(address, links), NVLinks: NA[int]("NVIDIA's link"), Throttle: metrics.ThrottledBy, Processes: a.processes(),
	}
	acc.Name = amdName(a.h, acc.PCI.DeviceID, textFact(a.h, a.file("product_name")))
	if metricsErr != nil {
		acc.Throttle = List[string]{Unknown: metricsErr.Error()}
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

func (a amdGPU) property(key string) Fact[string] {
	if a.kfd != nil {
		return a.kfd.property(key)
	}
	return Unknown[string]("%s", a.unlisted())
}

// unlisted says why the compute driver's topology has no node of this GPU.
func (a amdGPU) unlisted() string {
	if a.noKFD != nil {
		return a.noKFD.Error()
	}
	return "the compute driver does not list this GPU"
}

func (a amdGPU) identity(address string) PCI {
	if a.dir != "" {
		return readPCI(a.h, a.pci)
	}
	return PCI{
		Address:     Known(address, a.kfd.source()),
		DeviceID:    convert(a.property("device_id"), func(s string) (string, error) { n, err := strconv.Atoi(s); return fmt.Sprintf("0x%04x", n), err }),
		SubsystemID: textFact(a.h, a.file("subsystem_device")),
	}
}

// amdName names a product by its device id, since the driver's own names differ by version and are often empty.
func amdName(h Host, id, product Fact[string]) Fact[string] {
	names := map[string]string{
		"0x738c": "AMD Instinct MI100", "0x7408": "AMD Instinct MI250X", "0x740c": "AMD Instinct MI250X", "0x740f": "AMD Instinct MI210", "0x74a0": "AMD Instinct MI300A",
		"0x74a1": "AMD Instinct MI300X", "0x74a2": "AMD Instinct MI308X", "0x74a5": "AMD Instinct MI325X", "0x74b5": "AMD Instinct MI300X VF",
		"0x74b9": "AMD Instinct MI325X VF", "0x75a0": "AMD Instinct MI350X", "0x75a3": "AMD Instinct MI355X",
	}
	if name, ok := names[id.Value]; ok {
		return Known(name, "PCI device id "+id.Value)
	}
	if product.IsKnown() || !id.IsKnown() {
		return product
	}
	return pciNames(h)(amdVendor, id.Value)
}

func (a amdGPU) hwmon() string {
	if dirs := a.h.match(a.file("hwmon"), "hwmon*"); len(dirs) > 0 {
		return dirs[0]
	}
	return a.file("hwmon/hwmon0")
}

// watts reads a limit in µW. Zero is what a driver says that does not know its limit, but a real lower bound.
func watts(h Host, hwmon, name string, positive bool) Fact[float64] {
	return convert(textFact(h, hwmon+"/"+name), func(s string) (float64, error) {
		v, err := strconv.ParseUint(s, 10, 64)
		if err != nil || v > 100_000e6 || (positive && v == 0) {
			return 0, errNoValue
		}
		return float64(v) / 1e6, nil
	})
}

func (a amdGPU) metrics() (gpuMetrics, error) {
	b, err := a.h.read(a.file("gpu_metrics"))
	if err != nil {
		return gpuMetrics{}, err
	}
	return parseGPUMetrics(b)
}

// link takes the slot's rate from the firmware where it is below that of the card's own switch.
func (a amdGPU) link(m gpuMetrics) Link {
	if a.dir == "" {
		a.dir = "/sys/bus/pci/devices/" + a.kfd.address
	}
	l := readLink(a.h, a.dir)
	if gts, ok := m.LinkGTS.Get(); ok && l.GTS.IsKnown() && gts < l.GTS.Value {
		l.GTS = Fact[float64]{Value: gts, Source: a.file("gpu_metrics"), Other: fmt.Sprintf("%s says %g: the link inside the card", l.GTS.Source, l.GTS.Value)}
	}
	return l
}

func notNegative(n int) (int, error) {
	if n < 0 {
		return 0, errNoValue
	}
	return n, nil
}

func (a amdGPU) serial() Fact[string] {
	f := first(textFact(a.h, a.file("unique_id")), convert(a.property("unique_id"), func(s string) (string, error) { return hexID(s), nil }))
	return convert(f, func(id string) (string, error) {
		if strings.Trim(id, "0") == "" {
			return "", errNoValue
		}
		return serialHash(id), nil
	})
}

func (a amdGPU) computeUnits() Fact[int] {
	if a.kfd == nil {
		return Unknown[int]("%s", a.unlisted())
	}
	return a.kfd.computeUnits(a.whole)
}

func (a amdGPU) kfdVRAM() Fact[int64] {
	if a.kfd == nil {
		return Unknown[int64]("%s", a.unlisted())
	}
	return a.kfd.vram()
}

func (a amdGPU) renderMinor() Fact[int] {
	for _, node := range a.h.match(a.file("drm"), "renderD*") {
		return convert(Known(strings.TrimPrefix(path.Base(node), "renderD"), node), atoi)
	}
	return convert(a.property("drm_render_minor"), func(s string) (int, error) {
		if s == "0" {
			return 0, errNoValue
		}
		return atoi(s)
	})
}

func (a amdGPU) partition() Partition {
	p := Partition{
		Compute: textFact(a.h, a.file("current_compute_partition")), Memory: textFact(a.h, a.file("current_memory_partition")),
		Count: Unknown[int]("%s", a.unlisted()), Instances: List[string]{Items: []string{}},
	}
	if a.kfd == nil {
		p.Instances = List[string]{Unknown: a.unlisted()}
		return p
	}
	p.Count = Known(len(a.kfd.nodes), kfdNodes)
	if len(a.kfd.nodes) < a.whole {
		p.Count = Unknown[int]("the driver lists %d of %d partitions of this GPU", len(a.kfd.nodes), a.whole)
	}
	if !p.Compute.IsKnown() && a.whole > 1 && a.kfd.nodes[0].props["num_xcc"] == "1" {
		p.Compute = Known("CPX", kfdNodes+": one compute die per partition")
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
func (a amdGPU) ecc() Fact[bool] {
	return convert(textFact(a.h, a.file("ras/features")), func(s string) (bool, error) {
		_, hex, ok := strings.Cut(s, "0x")
		if !ok {
			return false, errNoValue
		}
		mask, err := strconv.ParseUint(strings.Fields(hex + " ")[0], 16, 64)
		return mask&1 == 1, err
	})
}

func (a amdGPU) peers(address string, links []xgmiLink) Fact[int] {
	if a.kfd == nil {
		return Unknown[int]("%s", a.unlisted())
	}
	node := kfdNodes + "/" + a.kfd.nodes[0].id + "/io_links"
	if _, err := a.h.list(node); err != nil {
		return Unknown[int]("%s", err)
	}
	n := 0
	for _, l := range links {
		if l.from == address {
			n++
		}
	}
	return Known(n, kfdNodes+"/*/io_links")
}

// processes lists who holds memory of the GPU, by the compute driver's account. A process with no memory is still one.
func (a amdGPU) processes() List[GPUProcess] {
	const dir = "/sys/class/kfd/kfd/proc"
	if _, err := a.h.list(dir); err != nil {
		return List[GPUProcess]{Unknown: err.Error()}
	}
	if a.kfd == nil {
		return List[GPUProcess]{Unknown: a.unlisted()}
	}
	list := List[GPUProcess]{Items: []GPUProcess{}}
	for _, proc := range a.h.match(dir, "[0-9]*") {
		for _, n := range a.kfd.nodes {
			gpu, err := a.h.text(kfdNodes + "/" + n.id + "/gpu_id")
			vram := intFact[int64](a.h, proc+"/vram_"+gpu)
			if err != nil || !vram.IsKnown() {
				continue
			}
			pid := path.Base(proc)
			list.Items = append(list.Items, GPUProcess{PID: convert(Known(pid, proc), atoi), Name: textFact(a.h, "/proc/"+pid+"/comm"), VRAMBytes: vram})
		}
	}
	return list
}

// readAMDGPU gives the driver's version: the DKMS package's, else the kernel's that it came with.
func readAMDGPU(h Host) Fact[string] {
	const module = "/sys/module/amdgpu"
	if f := textFact(h, module+"/version"); f.IsKnown() {
		return f
	}
	kernel := readKernel(h)
	if !h.isDir(module) || !kernel.IsKnown() {
		_, err := h.list(module)
		return Unknown[string]("%s", err)
	}
	return Known("in-tree "+kernel.Value, module+" has no version of its own")
}

func readROCm(h Host) Fact[string] {
	f := textFact(h, "/opt/rocm/.info/version")
	for _, dir := range append(h.match("/opt", "rocm-*"), h.match("/opt/rocm", "core-*")...) {
		if other := textFact(h, dir+"/.info/version"); !f.IsKnown() && other.IsKnown() {
			f = other
		}
	}
	return f
}

func amdInterconnect(gpus []kfdGPU, links []xgmiLink, found List[Accelerator]) Interconnect {
	if len(found.Items) == 0 {
		return Interconnect{}
	}
	if len(gpus) == 0 {
		const why = "the compute driver's topology is not there"
		return Interconnect{Kind: Unknown[string](why), Hives: Unknown[int](why), Links: List[string]{Unknown: why}}
	}
	i := Interconnect{Kind: Known("pcie", kfdNodes), Hives: Known(hives(gpus), kfdNodes), Links: List[string]{Items: []string{}}}
	for _, l := range links {
		i.Kind = Known("xgmi", kfdNodes+"/*/io_links")
		i.Links.Items = append(i.Links.Items, fmt.Sprintf("%s > %s xgmi weight %s", l.from, l.to, l.weight))
	}
	return i
}

// wattsOf reads a sensor in µW for telemetry.
func wattsOf(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v < 0 || math.IsInf(v, 0) || v > 100_000e6 {
		return 0, errNoValue
	}
	return v / 1e6, nil
}
