package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/probes"
	"assay/report/figure"
)

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
		across("Type", all, func(x probes.Accelerator) part { return say("type", x.Kind, kindOfGPU) }),
		across("Memory each", all, memoryEach),
		memoryTotal(all),
		across("Memory type", all, func(x probes.Accelerator) part { return say("memory type", x.MemoryType, asIs) }),
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

func kindOfGPU(kind string) string { return figure.Capital(kind) + " GPU" }

func memoryEach(x probes.Accelerator) part {
	if x.UnifiedMemory.Value {
		return part{text: "shared with the system", source: x.UnifiedMemory.Source}
	}
	return say("VRAM", x.VRAMBytes, func(n int64) string { return Nominal(x.Name.Value, n) })
}

// memoryTotal is the memory of all devices as it is sold: "768 GB (8 × 96 GB)". Where a product is not known the line is left out.
func memoryTotal(all []probes.Accelerator) Line {
	total := 0
	counts, order, sources := map[int]int{}, []int{}, []string{}
	for _, x := range all {
		gb, known := NominalGB(x.Name.Value, x.VRAMBytes.Value)
		if !known {
			return Line{}
		}
		if counts[gb]++; counts[gb] == 1 {
			order = append(order, gb)
		}
		total += gb
		sources = append(sources, x.VRAMBytes.Source)
	}
	var parts []string
	for _, gb := range order {
		parts = append(parts, fmt.Sprintf("%d × %d GB", counts[gb], gb))
	}
	return Line{Label: "Memory total", Value: fmt.Sprintf("%d GB (%s)", total, strings.Join(parts, " + ")), Source: Distinct(sources)}
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
	blind := 0
	counts := map[string]int{}
	for _, x := range all {
		p := of(x)
		if p.missing != "" {
			blind++
		}
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
	if len(texts) > 0 && blind > 0 {
		texts = append(texts, fmt.Sprintf("%d × unknown", blind))
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

// AcceleratorNames counts the devices by name: "8 × AMD Instinct MI300X OAM". A processor's own GPU beside cards is none of them.
func AcceleratorNames(s probes.SUT) string {
	var names []string
	counts := map[string]int{}
	for _, a := range s.Accelerators.Items {
		if s.Aside(a) {
			continue
		}
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
