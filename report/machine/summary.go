package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/probes"
	"assay/report/figure"
)

// Line is one row of the SUT summary: a sentence made of several facts, with their sources.
type Line struct {
	Label, Value, Source string
	Missing              []string // parts without a value, with the reason
	Reason               string   // the first of those reasons
	NotProbed            string   // why no probe fills the line; "" for one that a probe can fill
}

// Hover is the source of the value, and what is missing in it.
func (l Line) Hover() string {
	var parts []string
	if l.Source != "" {
		parts = append(parts, "source: "+l.Source)
	}
	return strings.Join(append(parts, l.Missing...), "; ")
}

// part is one fact inside a line.
type part struct{ text, source, missing, reason string }

// say makes a part of a fact; form writes its value.
func say[T any](name string, f probes.Fact[T], form func(T) string) part {
	if v, ok := f.Get(); ok {
		return part{text: form(v), source: f.Source}
	}
	if f.NA != "" {
		return part{}
	}
	return lost(name, cmp.Or(f.Unknown, "not probed"))
}

func asIs(s string) string { return s }

func format[T any](layout string) func(T) string {
	return func(v T) string { return fmt.Sprintf(layout, v) }
}

// lost is a part without a value.
func lost(name, reason string) part {
	return part{missing: name + " unknown: " + reason, reason: reason}
}

// compose joins the known parts; a line without any says why.
func compose(label, separator string, parts ...part) Line {
	l := Line{Label: label}
	var texts, sources []string
	for _, p := range parts {
		if p.text != "" {
			texts, sources = append(texts, p.text), append(sources, p.source)
		}
		if p.missing != "" {
			l.Missing = append(l.Missing, p.missing)
			l.Reason = cmp.Or(l.Reason, p.reason)
		}
	}
	l.Value, l.Source = strings.Join(texts, separator), Distinct(sources)
	return l
}

// Chapter is a titled part of the SUT summary.
type Chapter struct {
	Name  string
	Lines []Line
}

// Summarise is the SUT as a page shows it: every field of a published SUT summary that a probe can fill.
func Summarise(s probes.SUT) []Chapter {
	chapters := []Chapter{
		{"Machine", machineLines(s)},
		{"Accelerators", acceleratorLines(s)},
		{"Software", softwareLines(s)},
		{"Storage and network", storageLines(s)},
	}
	for i := range chapters {
		chapters[i].Lines = slices.DeleteFunc(chapters[i].Lines, func(l Line) bool { return l.Value == "" && len(l.Missing) == 0 })
	}
	return slices.DeleteFunc(chapters, func(c Chapter) bool { return len(c.Lines) == 0 })
}

func machineLines(s probes.SUT) []Line {
	c, m := s.CPU, s.Memory
	return []Line{
		compose("System", " ", say("vendor", s.System.Vendor, asIs), say("product", s.System.Product, asIs)),
		compose("BIOS", ", ", say("version", s.System.BIOS.Version, asIs), say("date", s.System.BIOS.Date, asIs)),
		compose("Virtualization", "", say("virtualization", s.System.Virtualization, asIs)),
		compose("Processors", " × ", say("sockets", c.Sockets, format[int]("%d")), say("model", c.Model, asIs)),
		compose("Cores", ", ", say("cores", c.CoresPerSocket, format[int]("%d per processor")), say("threads", c.ThreadsPerCore, threads), vcpus(c)),
		compose("NUMA", ", ", nodes(c.NUMANodes), say("governor", c.Governor, format[string]("governor %s"))),
		compose("Memory", ", ", say("capacity", m.Bytes, figure.Memory), say("installed", m.InstalledBytes, func(n int64) string { return figure.Memory(n) + " installed" })),
		compose("Memory configuration", ", ", say("configuration", m.Summary, asIs), say("slots", m.Slots, func(n int) string { return fmt.Sprintf("%d of %d slots", len(m.DIMMs.Items), n) })),
		compose("Provisioned power", ", ", say("power", s.Power.ProvisionedW, func(w float64) string { return figure.Measure(w/1000) + " kW" }), say("method", s.Power.Method, asIs)),
	}
}

func threads(n int) string { return figure.Plural(n, "thread") + " per core" }

func vcpus(c probes.CPU) part {
	cores, okC := c.CoresPerSocket.Get()
	threads, okT := c.ThreadsPerCore.Get()
	if !okC || !okT {
		return part{}
	}
	return part{text: fmt.Sprintf("%d vCPUs per processor", cores*threads)}
}

func nodes(l probes.List[probes.NUMANode]) part {
	if l.Unknown != "" {
		return lost("NUMA nodes", l.Unknown)
	}
	return part{text: figure.Plural(len(l.Items), "node")}
}

func acceleratorLines(s probes.SUT) []Line {
	a := s.Accelerators
	if a.Unknown != "" {
		return []Line{{Label: "Accelerators", Missing: []string{"unknown: " + a.Unknown}, Reason: a.Unknown}}
	}
	if len(a.Items) == 0 {
		return []Line{{Label: "Accelerators", Value: "none", Source: "PCI bus"}}
	}
	all := a.Items
	return []Line{
		{Label: "Accelerators", Value: AcceleratorNames(s), Source: sourcesOf(all, func(x probes.Accelerator) string { return x.Name.Source })},
		across("Memory each", all, func(x probes.Accelerator) part { return say("VRAM", x.VRAMBytes, figure.Size) }),
		across("Architecture", all, func(x probes.Accelerator) part { return say("architecture", x.Arch, asIs) }),
		across("Compute units", all, func(x probes.Accelerator) part { return say("compute units", x.ComputeUnits, format[int]("%d")) }),
		across("Power cap", all, powerCap),
		across("VBIOS", all, func(x probes.Accelerator) part { return say("VBIOS", x.VBIOS, asIs) }),
		across("Firmware (IFWI)", all, func(x probes.Accelerator) part { return say("IFWI", x.IFWI, asIs) }),
		across("Host interconnect", all, pcieLink),
		across("Partition", all, partition),
		across("ECC", all, func(x probes.Accelerator) part {
			return say("ECC", x.ECC, onOff)
		}),
		compose("Accelerator interconnect", ", ", say("kind", s.Interconnect.Kind, asIs), say("hives", s.Interconnect.Hives, func(n int) string { return figure.Plural(n, "hive") }),
			peers(all[0])),
	}
}

func onOff(on bool) string { return map[bool]string{true: "on", false: "off"}[on] }

func powerCap(x probes.Accelerator) part {
	p := say("power cap", x.PowerCapW, format[float64]("%g W"))
	if d, ok := x.PowerDefaultW.Get(); ok && p.text != "" {
		p.text += fmt.Sprintf(" (default %g W)", d)
	}
	return p
}

func pcieLink(x probes.Accelerator) part {
	p, width := say("link speed", x.Link.GTS, format[float64]("PCIe %g GT/s")), say("link width", x.Link.Width, format[int]("×%d"))
	if width.text != "" && p.text != "" {
		p.text += " " + width.text
	}
	return p
}

func partition(x probes.Accelerator) part {
	p := say("partition", x.Partition.Compute, asIs)
	if m, ok := x.Partition.Memory.Get(); ok && p.text != "" {
		p.text += "/" + m
	}
	return p
}

func peers(x probes.Accelerator) part {
	if p := say("XGMI peers", x.XGMIPeers, func(n int) string { return fmt.Sprintf("%d XGMI peers each", n) }); p.text != "" {
		return p
	}
	return say("NVLinks", x.NVLinks, func(n int) string { return fmt.Sprintf("%d NVLinks each", n) })
}

// across says a property of all devices: once where they agree, with counts where not.
func across(label string, all []probes.Accelerator, of func(probes.Accelerator) part) Line {
	var texts, sources, missing []string
	var reason string
	counts := map[string]int{}
	for _, x := range all {
		p := of(x)
		if p.missing != "" && !slices.Contains(missing, p.missing) {
			missing = append(missing, p.missing)
			reason = cmp.Or(reason, p.reason)
		}
		if p.text == "" {
			continue
		}
		if counts[p.text]++; counts[p.text] == 1 {
			texts = append(texts, p.text)
		}
		sources = append(sources, p.source)
	}
	l := Line{Label: label, Source: Distinct(sources), Missing: missing, Reason: reason}
	if len(texts) == 1 && counts[texts[0]] == len(all) {
		l.Value = texts[0]
		return l
	}
	for i, t := range texts {
		texts[i] = fmt.Sprintf("%d × %s", counts[t], t)
	}
	l.Value = strings.Join(texts, ", ")
	return l
}

func sourcesOf(all []probes.Accelerator, of func(probes.Accelerator) string) string {
	var sources []string
	for _, x := range all {
		sources = append(sources, of(x))
	}
	return Distinct(sources)
}

// AcceleratorNames counts the devices by name: "8 × AMD Instinct MI300X OAM".
func AcceleratorNames(s probes.SUT) string {
	var names []string
	counts := map[string]int{}
	for _, a := range s.Accelerators.Items {
		name := cmp.Or(a.Name.Value, "unknown accelerator")
		if vendor := a.Vendor.Value; !strings.Contains(strings.ToUpper(name), strings.ToUpper(vendor)) {
			name = vendor + " " + name
		}
		if counts[name]++; counts[name] == 1 {
			names = append(names, name)
		}
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%d × %s", counts[name], name)
	}
	return strings.Join(names, " + ")
}

// ProcessorName is the processors in a headline.
func ProcessorName(c probes.CPU) string {
	model, ok := c.Model.Get()
	if !ok {
		return ""
	}
	if n, known := c.Sockets.Get(); known && n > 1 {
		return fmt.Sprintf("%d × %s", n, model)
	}
	return model
}

func softwareLines(s probes.SUT) []Line {
	w := s.Software
	return []Line{
		compose("Operating system", ", kernel ", say("distribution", s.OS.Distro, asIs), say("kernel", s.OS.Kernel, asIs)),
		compose("AMD driver", ", ", say("amdgpu", w.AMDGPU, format[string]("amdgpu %s")), say("ROCm", w.ROCm, format[string]("ROCm %s"))),
		compose("NVIDIA driver", ", ", say("driver", w.NVIDIADriver, asIs), say("CUDA", w.CUDA, format[string]("CUDA %s"))),
		compose("Container engine", ", ", say("Docker", w.Docker, format[string]("Docker %s")), say("containerd", w.Containerd, format[string]("containerd %s")),
			say("toolkit", w.ContainerToolkit, format[string]("toolkit %s"))),
	}
}

func storageLines(s probes.SUT) []Line {
	return []Line{
		listLine("Storage", s.Storage.Devices, func(d probes.Drive) []part {
			return []part{say("model", d.Model, asIs), say("size", d.Bytes, figure.Capacity), say("kind", d.Kind, asIs)}
		}),
		listLine("File systems", s.Storage.Filesystems, func(f probes.Filesystem) []part {
			return []part{say("mount", f.Mount, asIs), say("stack", f.Stack, func(x []string) string { return strings.Join(x, " on ") }), say("size", f.Bytes, figure.Capacity)}
		}),
		listLine("Network", s.Network.Interfaces, func(n probes.NIC) []part {
			return []part{say("model", n.Model, asIs), say("kind", n.Kind, asIs), say("speed", n.SpeedMbps, format[int]("%d Mb/s")), say("state", n.Up, func(up bool) string {
				return map[bool]string{true: "up", false: "down"}[up]
			})}
		}),
		listLine("InfiniBand", s.Network.InfiniBand, func(b probes.InfiniBand) []part {
			return []part{say("name", b.Name, asIs), say("rate", b.RateGbps, format[float64]("%g Gb/s")), say("state", b.State, asIs)}
		}),
	}
}

// listLine says the items of a list, equal ones counted: "7 × Dell PM1735a 1.46 TiB nvme".
func listLine[T any](label string, l probes.List[T], of func(T) []part) Line {
	if l.Unknown != "" {
		return Line{Label: label, Missing: []string{"unknown: " + l.Unknown}, Reason: l.Unknown}
	}
	if len(l.Items) == 0 {
		return Line{Label: label, Value: "none", Source: "known to be empty"}
	}
	var lines []Fact
	var missing []string
	for _, item := range l.Items {
		c := compose("", ", ", of(item)...)
		lines = append(lines, Fact{Value: c.Value, Source: c.Source})
		for _, m := range c.Missing {
			if !slices.Contains(missing, m) {
				missing = append(missing, m)
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b Fact) int { return strings.Compare(a.Value, b.Value) })
	return Line{Label: label, Value: joinCounted(lines), Source: distinctSources(lines), Missing: missing}
}

func joinCounted(facts []Fact) string {
	var texts []string
	for i := 0; i < len(facts); {
		n := 1
		for i+n < len(facts) && facts[i+n].Value == facts[i].Value {
			n++
		}
		text := facts[i].Value
		if n > 1 {
			text = fmt.Sprintf("%d × %s", n, text)
		}
		if text != "" {
			texts = append(texts, text)
		}
		i += n
	}
	return strings.Join(texts, "; ")
}

func distinctSources(facts []Fact) string {
	var sources []string
	for _, f := range facts {
		sources = append(sources, f.Source)
	}
	return Distinct(sources)
}
