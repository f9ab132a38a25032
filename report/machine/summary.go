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
		{"Kernel and limits", stateLines(s)},
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
		compose("BMC", "", say("BMC", s.System.BMC, asIs)),
		compose("Virtualization", ", ", say("virtualization", s.System.Virtualization, asIs), hypervisor(s.System), confidential("guest of", s.System.Confidential.Guest), confidential("host of", s.System.Confidential.Host)),
		processors(c),
		compose("Cores", ", ", say("cores", c.CoresPerSocket, format[int]("%d per processor")), say("threads", c.ThreadsPerCore, threads), vcpus(c)),
		compose("NUMA", ", ", nodes(c.NUMANodes), say("governor", c.Governor, format[string]("governor %s"))),
		compose("Memory", ", ", say("capacity", m.Bytes, figure.Memory), say("installed", m.InstalledBytes, func(n int64) string { return figure.Memory(n) + " installed" })),
		compose("Memory configuration", ", ", say("configuration", m.Summary, asIs), say("slots", m.Slots, func(n int) string { return fmt.Sprintf("%d of %d slots", len(m.DIMMs.Items), n) })),
		compose("Provisioned power", ", ", say("power", s.Power.ProvisionedW, func(w float64) string { return figure.Measure(w/1000) + " kW" }), say("method", s.Power.Method, asIs)),
		compose("Power supplies", ", ", supplies(s.Power.Supplies), say("redundancy", s.Power.Redundancy, asIs), say("draw", s.Power.InputW, format[float64]("%g W drawn now"))),
	}
}

// processors counts them by their model; one that is named with counts, of several kinds of core, is not counted again.
func processors(c probes.CPU) Line {
	if counts := strings.Contains(c.Model.Value, " × "); counts {
		return compose("Processors", ": ", say("sockets", c.Sockets, func(n int) string { return figure.Plural(n, "processor") }), say("model", c.Model, asIs))
	}
	return compose("Processors", " × ", say("sockets", c.Sockets, format[int]("%d")), say("model", c.Model, asIs))
}

// hypervisor names the layer below a container, where there is one.
func hypervisor(s probes.System) part {
	below, ok := s.Hypervisor.Get()
	if !ok || below == "none" || below == s.Virtualization.Value {
		return part{}
	}
	return part{text: "in a guest of " + below, source: s.Hypervisor.Source}
}

// confidential names what encrypts memory, where something does.
func confidential(role string, f probes.Fact[string]) part {
	if !f.IsKnown() || f.Value == "none" {
		return part{}
	}
	return part{text: role + " " + f.Value, source: f.Source}
}

func supplies(l probes.List[probes.PowerSupply]) part {
	if l.Unknown != "" {
		return lost("power supplies", l.Unknown)
	}
	if len(l.Items) == 0 {
		return part{}
	}
	line := listLine("", l, func(p probes.PowerSupply) []part {
		return []part{say("capacity", p.CapacityW, format[float64]("%g W")), say("model", p.Model, asIs), say("health", p.Health, asIs)}
	})
	return part{text: line.Value, source: line.Source}
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
		compose("AMD driver", ", ", say("amdgpu", w.AMDGPU, format[string]("amdgpu %s")), say("ROCm", w.ROCm, format[string]("host ROCm %s"))),
		compose("NVIDIA driver", ", ", say("driver", w.NVIDIADriver, asIs), say("CUDA", w.CUDA, format[string]("CUDA %s"))),
		compose("Container engine", ", ", say("Docker", w.Docker, format[string]("Docker %s")), say("containerd", w.Containerd, format[string]("containerd %s")),
			say("runc", w.Runc, format[string]("runc %s")), say("toolkit", w.ContainerToolkit, format[string]("NVIDIA toolkit %s")), say("AMD toolkit", w.AMDContainerToolkit, format[string]("AMD toolkit %s"))),
	}
}

func storageLines(s probes.SUT) []Line {
	return []Line{
		listLine("Storage", s.Storage.Devices, func(d probes.Drive) []part {
			return []part{say("model", d.Model, asIs), say("size", d.Bytes, figure.Capacity), say("kind", d.Kind, asIs)}
		}),
		listLine("File systems", s.Storage.Filesystems, func(f probes.Filesystem) []part {
			size := say("size", f.Bytes, figure.Capacity)
			if what := say("summary", f.Summary, asIs); what.text != "" {
				return []part{what, size}
			}
			return []part{say("mount", f.Mount, asIs), say("stack", f.Stack, func(x []string) string { return strings.Join(x, " on ") }), size}
		}),
		compose("Networking", "", say("networking", s.Network.Summary, asIs)),
		listLine("Network", s.Network.Interfaces, func(n probes.NIC) []part {
			return []part{say("model", n.Model, asIs), say("kind", n.Kind, asIs), say("speed", n.SpeedMbps, format[int]("%d Mb/s")), say("state", n.Up, func(up bool) string {
				return map[bool]string{true: "up", false: "down"}[up]
			})}
		}),
		listLine("InfiniBand", s.Network.InfiniBand, func(b probes.InfiniBand) []part {
			return []part{say("model", b.Model, asIs), say("name", b.Name, asIs), say("rate", b.RateGbps, format[float64]("%g Gb/s")), say("state", b.State, asIs)}
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
