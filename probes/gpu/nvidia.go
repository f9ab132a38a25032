package gpu

import (
	"context"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

const nvidiaVendor = "0x10de"

// smiReport is nvidia-smi's report and the command that gave it.
type smiReport struct {
	log     *smiNode
	source  string
	nvlinks []sut.Fact[int] // by GPU, in the report's order
	mig     [][]string
	caps    map[string]string // address → compute capability
}

// ProbeNVIDIA reads NVIDIA GPUs from nvidia-smi, and from the PCI bus those that it does not report.
func ProbeNVIDIA(ctx context.Context, h host.Host, s *sut.SUT) error {
	cards, complete := pci.Accelerators(h, nvidiaVendor)
	s.Software.NVIDIADriver, s.Software.CUDA = readNVIDIADriver(h), sut.Unknown[string]("nvidia-smi: %s", host.ErrNotFound)
	if len(cards) == 0 && complete && h.Live && h.Absent("/proc/driver/nvidia") {
		return nil // starting nvidia-smi to hear that there is nothing takes time
	}
	report, err := askSMI(ctx, h)
	if err != nil {
		s.Software.CUDA = sut.Unknown[string]("%s", err)
		s.Accelerators = unreported(h, cards, err)
		if len(cards) == 0 && !(complete && errors.Is(err, host.ErrNotFound)) {
			s.Accelerators = sut.List[sut.Accelerator]{Unknown: err.Error()}
		}
		return nil
	}
	s.Software.NVIDIADriver = sut.First(report.log.fact(report.source, "driver_version"), s.Software.NVIDIADriver)
	s.Software.CUDA = sut.First(report.log.fact(report.source, "cuda_version"), readCUDA(ctx, h))
	var lost []pci.Device
	gpus := report.log.all("gpu")
	for i, g := range gpus {
		s.Accelerators.Items = append(s.Accelerators.Items, report.accelerator(h, i, g, s.Software.NVIDIADriver))
		if mode := g.fact(report.source, "gpu_virtualization_mode/virtualization_mode"); mode.Value == "Pass-Through" {
			s.System.Virtualization = sut.Known("vm-other", mode.Source+" is Pass-Through")
		}
	}
	for _, c := range cards {
		if !slices.ContainsFunc(gpus, func(g *smiNode) bool { return busAddress(g) == c.Address }) {
			lost = append(lost, c)
		}
	}
	s.Accelerators.Items = append(s.Accelerators.Items, unreported(h, lost, errors.New("nvidia-smi does not report this GPU")).Items...)
	if n, err := report.log.announced(); err == nil && n > len(s.Accelerators.Items) {
		why := fmt.Errorf("nvidia-smi announces %d GPUs and lists %d", n, len(gpus))
		s.Accelerators.Items = append(s.Accelerators.Items, unreported(h, make([]pci.Device, n-len(s.Accelerators.Items)), why).Items...)
	}
	s.Interconnect = nvidiaInterconnect(s.Accelerators.Items)
	return nil
}

// askSMI takes the XML, else the text, else a CSV query of fields that every driver knows.
func askSMI(ctx context.Context, h host.Host) (smiReport, error) {
	forms := []struct {
		argv  []string
		parse func([]byte) (*smiNode, error)
	}{
		{[]string{"nvidia-smi", "-q", "-x"}, parseSMIXML},
		{[]string{"nvidia-smi", "-q"}, parseSMIText},
		{[]string{"nvidia-smi", "--query-gpu=" + coreFields, "--format=csv"}, parseSMICSV},
	}
	var failure error
	for _, f := range forms {
		log, err := runSMI(ctx, h, f.parse, f.argv...)
		if err == nil {
			r := smiReport{log: log, source: strings.Join(f.argv[:2], " ")}
			if len(f.argv) > 2 && f.argv[2] == "-x" {
				r.source = "nvidia-smi -q -x"
			}
			r.askMore(ctx, h)
			return r, nil
		}
		if failure == nil || errors.Is(failure, host.ErrNotFound) {
			failure = err
		}
		if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || (h.Live && errors.Is(err, host.ErrNotFound)) {
			break
		}
	}
	return smiReport{}, failure
}

const coreFields = "count,index,name,uuid,pci.bus_id,pci.device_id,pci.sub_device_id,driver_version,vbios_version,memory.total,persistence_mode,ecc.mode.current," +
	"mig.mode.current,power.limit,enforced.power.limit,power.default_limit,power.min_limit,power.max_limit,pcie.link.gen.current,pcie.link.gen.max,pcie.link.width.current,pcie.link.width.max"

func runSMI(ctx context.Context, h host.Host, parse func([]byte) (*smiNode, error), argv ...string) (*smiNode, error) {
	out, err := h.Run(ctx, argv...)
	if err != nil {
		return nil, err
	}
	if out.Exit != 0 {
		said, _, _ := strings.Cut(strings.TrimSpace(string(out.Stdout)+string(out.Stderr)), "\n")
		return nil, fmt.Errorf("nvidia-smi exits %d: %s", out.Exit, said)
	}
	return parse(out.Stdout)
}

// askMore asks for what the report lacks: links, the names of MIG instances, compute capabilities.
func (r *smiReport) askMore(ctx context.Context, h host.Host) {
	if out, err := h.Run(ctx, "nvidia-smi", "nvlink", "-s"); err == nil {
		r.nvlinks = parseNVLinks(string(out.Stdout))
	}
	if slices.ContainsFunc(r.log.all("gpu"), func(g *smiNode) bool { return migMode(g, r.source).Value == "Enabled" }) {
		if out, err := h.Run(ctx, "nvidia-smi", "-L"); err == nil {
			r.mig = parseMIG(string(out.Stdout))
		}
	}
	r.caps = map[string]string{}
	if caps, err := runSMI(ctx, h, parseSMICSV, "nvidia-smi", "--query-gpu=pci.bus_id,compute_cap", "--format=csv"); err == nil {
		for _, g := range caps.all("gpu") {
			r.caps[busAddress(g)] = g.fact("", "compute_cap").Value
		}
	}
}

func migMode(g *smiNode, source string) sut.Fact[string] {
	return g.fact(source, "mig_mode/current_mig", "mig_mode/current")
}

// busAddress writes nvidia-smi's address, which has 8 digits of domain, as the kernel does.
func busAddress(g *smiNode) string {
	id := strings.ToLower(g.fact("", "@id", "pci/pci_bus_id").Value)
	if domain, rest, ok := strings.Cut(id, ":"); ok && len(domain) == 8 && strings.HasPrefix(domain, "0000") {
		return domain[4:] + ":" + rest
	}
	return id
}

// accelerator reads the i-th GPU of the report.
func (r smiReport) accelerator(h host.Host, i int, g *smiNode, driver sut.Fact[string]) sut.Accelerator {
	address := busAddress(g)
	dir := "/sys/bus/pci/devices/" + address
	get := func(where ...string) sut.Fact[string] { return g.fact(r.source, where...) }
	power := func(name string) sut.Fact[float64] {
		return sut.Convert(get("gpu_power_readings/"+name, "power_readings/"+name), smiNumber)
	}
	limit := power("current_power_limit")
	return sut.Accelerator{
		Vendor: sut.Known("NVIDIA", "PCI vendor 0x10de"), Name: get("product_name"),
		PCI: sut.PCI{
			Address:     sut.Known(address, r.source),
			DeviceID:    sut.Convert(get("pci/pci_device_id", "pci/device_id"), pciWord),
			SubsystemID: sut.Convert(get("pci/pci_sub_system_id", "pci/sub_system_id"), pciWord),
		},
		Arch: r.arch(address), ComputeUnits: sut.Unknown[int]("nvidia-smi does not give the number of multiprocessors"),
		VRAMBytes: sut.Convert(get("fb_memory_usage/total"), mebibytes),
		PowerCapW: sut.First(limit, power("enforced_power_limit"), power("power_limit"), power("requested_power_limit")), PowerDefaultW: power("default_power_limit"),
		PowerMinW: power("min_power_limit"), PowerMaxW: power("max_power_limit"), ModulePowerCapW: sut.Convert(get("module_power_readings/current_power_limit"), smiNumber),
		VBIOS: get("vbios_version"), IFWI: sut.NA[string]("AMD's firmware"), DriverVersion: driver, SerialHash: sut.Convert(get("uuid", "gpu_uuid"), realUUID),
		Link: r.link(h, dir, g), NUMANode: sut.Convert(host.IntFact[int](h, dir+"/numa_node"), host.NotNegative), RenderMinor: renderMinor(h, dir),
		Partition: r.partition(i, g), ECC: sut.Convert(get("ecc_mode/current_ecc", "ecc_mode/current"), enabled), Persistence: sut.Convert(get("persistence_mode"), enabled),
		XGMIPeers: sut.NA[int]("AMD's link"), NVLinks: r.nvlink(i), Throttle: r.throttle(g), Processes: r.processes(g),
	}
}

// pciWord reads "233010DE" or "0x233010DE": the device's id stands before the vendor's.
func pciWord(s string) (string, error) {
	s = strings.TrimPrefix(strings.ToLower(s), "0x")
	if len(s) != 8 {
		return "", sut.ErrNoValue
	}
	return "0x" + s[:4], nil
}

func mebibytes(s string) (int64, error) {
	v, err := smiNumber(s)
	if err != nil || v == 0 || !(strings.HasSuffix(s, "MiB") || !strings.Contains(s, " ")) {
		return 0, sut.ErrNoValue
	}
	return int64(v) << 20, nil
}

func enabled(s string) (bool, error) {
	switch s {
	case "Enabled":
		return true, nil
	case "Disabled":
		return false, nil
	}
	return false, sut.ErrNoValue
}

// realUUID hashes a UUID, unless it was blanked or cut.
func realUUID(s string) (string, error) {
	if s == "GPU-[uuid]" || strings.Trim(strings.TrimPrefix(s, "GPU-"), "0-") == "" {
		return "", sut.ErrNoValue
	}
	return host.SerialHash(s), nil
}

func (r smiReport) arch(address string) sut.Fact[string] {
	capability, ok := r.caps[address]
	major, minor, dotted := strings.Cut(capability, ".")
	if !ok || !dotted {
		return sut.Unknown[string]("nvidia-smi --query-gpu=compute_cap gives no compute capability")
	}
	return sut.Known("sm_"+major+minor, "nvidia-smi --query-gpu=compute_cap")
}

// link takes the kernel's view of the way to the root port, else nvidia-smi's.
func (r smiReport) link(h host.Host, dir string, g *smiNode) sut.Link {
	l := pci.LinkOf(h, dir)
	const info = "pci/pci_gpu_link_info/"
	gen := func(where ...string) sut.Fact[float64] {
		n := sut.Convert(g.fact(r.source, where...), smiNumber)
		return sut.Convert(n, func(v float64) (float64, error) { return pci.GenerationGTS(int(v)) })
	}
	width := func(where ...string) sut.Fact[int] {
		return sut.Convert(sut.Convert(g.fact(r.source, where...), smiNumber), func(v float64) (int, error) { return pci.Width(int(v)) })
	}
	l.GTS = sut.First(l.GTS, gen(info+"pcie_gen/current_link_gen", "pci/gpu_link_info/pcie_generation/current"))
	l.Width = sut.First(l.Width, width(info+"link_widths/current_link_width", "pci/gpu_link_info/link_width/current"))
	l.MaxGTS = sut.First(l.MaxGTS, gen(info+"pcie_gen/max_device_link_gen", info+"pcie_gen/max_link_gen", "pci/gpu_link_info/pcie_generation/device_max", "pci/gpu_link_info/pcie_generation/max"))
	l.MaxWidth = sut.First(l.MaxWidth, width(info+"link_widths/max_link_width", "pci/gpu_link_info/link_width/max"))
	l.SlotMaxGTS = sut.First(l.SlotMaxGTS, gen(info+"pcie_gen/max_host_link_gen", "pci/gpu_link_info/pcie_generation/host_max"))
	return l
}

func renderMinor(h host.Host, dir string) sut.Fact[int] {
	for _, node := range h.Match(dir+"/drm", "renderD*") {
		return sut.Convert(sut.Known(strings.TrimPrefix(path.Base(node), "renderD"), node), strconv.Atoi)
	}
	return sut.Unknown[int]("%s/drm lists no render node", dir)
}

func (r smiReport) partition(i int, g *smiNode) sut.Partition {
	p := sut.Partition{
		Compute: sut.Unknown[string]("the GPU has no MIG mode, or nvidia-smi does not tell it"), Memory: sut.NA[string]("AMD's partitions"),
		Count: sut.Known(1, r.source), Instances: sut.List[string]{Items: []string{}},
	}
	mode := migMode(g, r.source)
	if mode.Value == "Disabled" {
		p.Compute = sut.NA[string]("MIG is off")
	}
	if mode.Value != "Enabled" {
		return p
	}
	p.Compute = sut.Known("MIG", mode.Source)
	if i >= len(r.mig) {
		const why = "nvidia-smi -L does not list the instances"
		p.Count, p.Instances = sut.Unknown[int](why), sut.List[string]{Unknown: why}
		return p
	}
	p.Count, p.Instances = sut.Known(len(r.mig[i]), "nvidia-smi -L"), sut.List[string]{Items: r.mig[i]}
	return p
}

func (r smiReport) nvlink(i int) sut.Fact[int] {
	if i >= len(r.nvlinks) {
		return sut.Unknown[int]("nvidia-smi nvlink -s gives no answer for this GPU")
	}
	return r.nvlinks[i]
}

// throttle names the active reasons that hold the clocks down; being idle is none.
func (r smiReport) throttle(g *smiNode) sut.List[string] {
	node := g.kid("clocks_event_reasons")
	if node == nil {
		node = g.kid("clocks_throttle_reasons")
	}
	if node == nil || len(node.kids) == 0 {
		return sut.List[string]{Unknown: "nvidia-smi gives no clock event reasons"}
	}
	list := sut.List[string]{Items: []string{}}
	var walk func(*smiNode)
	walk = func(n *smiNode) {
		name := strings.TrimPrefix(strings.TrimPrefix(n.name, "clocks_event_reason_"), "clocks_throttle_reason_")
		if n.text == "Active" && name != "gpu_idle" && name != "idle" {
			list.Items = append(list.Items, name)
		}
		for _, k := range n.kids {
			walk(k)
		}
	}
	walk(node)
	return list
}

func (r smiReport) processes(g *smiNode) sut.List[sut.GPUProcess] {
	node := g.kid("processes")
	if node == nil || node.text == "N/A" {
		return sut.List[sut.GPUProcess]{Unknown: r.source + " does not list the processes"}
	}
	list := sut.List[sut.GPUProcess]{Items: []sut.GPUProcess{}}
	for _, p := range append(node.all("process_info"), node.all("process_id")...) {
		pid := p.fact(r.source, "pid")
		if p.name == "process_id" {
			pid = sut.Known(p.text, r.source+" processes")
		}
		list.Items = append(list.Items, sut.GPUProcess{
			PID:       sut.Convert(pid, strconv.Atoi),
			Name:      sut.Convert(p.fact(r.source, "process_name", "name"), func(s string) (string, error) { return host.ProgramName(s), nil }),
			VRAMBytes: sut.Convert(p.fact(r.source, "used_memory", "used_gpu_memory"), mebibytes),
		})
	}
	return list
}

// unreported gives GPUs that nvidia-smi does not tell of: there, but not known further than the PCI bus shows, if it shows them.
func unreported(h host.Host, cards []pci.Device, why error) sut.List[sut.Accelerator] {
	var list sut.List[sut.Accelerator]
	for _, c := range cards {
		a := sut.Accelerator{Vendor: sut.Known("NVIDIA", "nvidia-smi attached_gpus")}
		if c.Dir != "" {
			a.Vendor, a.PCI, a.Link = sut.Known("NVIDIA", c.Dir+"/vendor"), pci.Identity(h, c), pci.LinkOf(h, c.Dir)
			a.Name = pci.Names(h)(nvidiaVendor, a.PCI.DeviceID.Value)
			a.NUMANode, a.RenderMinor = sut.Convert(host.IntFact[int](h, c.Dir+"/numa_node"), host.NotNegative), renderMinor(h, c.Dir)
		}
		sut.GiveReason(reflect.ValueOf(&a).Elem(), why.Error())
		a.XGMIPeers, a.IFWI = sut.NA[int]("AMD's link"), sut.NA[string]("AMD's firmware")
		list.Items = append(list.Items, a)
	}
	return list
}

// readNVIDIADriver reads the loaded module's version.
func readNVIDIADriver(h host.Host) sut.Fact[string] {
	f := sut.Convert(host.TextFact(h, "/proc/driver/nvidia/version"), func(s string) (string, error) {
		for field := range strings.FieldsSeq(s) {
			if host.Digits(field) > 1 && strings.Count(field, ".") >= 1 {
				return field, nil
			}
		}
		return "", sut.ErrNoValue
	})
	return sut.First(f, host.TextFact(h, "/sys/module/nvidia/version"))
}

// readCUDA reads the version that the driver supports from the tool's own banner.
func readCUDA(ctx context.Context, h host.Host) sut.Fact[string] {
	out, err := h.Run(ctx, "nvidia-smi", "--version")
	if err != nil {
		return sut.Unknown[string]("%s", err)
	}
	if v := host.KeyValues(string(out.Stdout), ":")["CUDA Version"]; smiValue(v) {
		return sut.Known(v, "nvidia-smi --version")
	}
	return sut.Unknown[string]("nvidia-smi --version gives no CUDA version")
}

func nvidiaInterconnect(gpus []sut.Accelerator) sut.Interconnect {
	i := sut.Interconnect{Kind: sut.Known("pcie", "nvidia-smi nvlink -s: no active link"), Hives: sut.NA[int]("AMD's fabric"), Links: sut.List[string]{Items: []string{}}}
	for _, g := range gpus {
		n, ok := g.NVLinks.Get()
		if !ok {
			i.Kind = sut.Unknown[string]("%s", g.NVLinks.Unknown)
		}
		if n > 0 {
			i.Kind = sut.Known("nvlink", g.NVLinks.Source)
			i.Links = sut.List[string]{Unknown: "nvidia-smi nvlink -s counts links and does not say what they join"}
			return i
		}
	}
	if !i.Kind.IsKnown() {
		i.Links = sut.List[string]{Unknown: i.Kind.Unknown}
	}
	return i
}
