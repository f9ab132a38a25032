package machine

import (
	"fmt"
	"slices"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// coreType is CPUs of one kind.
type coreType struct {
	name   string
	source string
	cpus   []int
}

// readCoreTypes groups the CPUs by their model, or by Intel's two kinds of core, which share one.
func readCoreTypes(h host.Host, blocks []cpuBlock) []coreType {
	types := modelTypes(blocks)
	if len(types) == 0 {
		types = midrTypes(h)
	}
	if hybrid := hybridTypes(h); len(types) < 2 && len(hybrid) > 1 {
		return hybrid
	}
	return types
}

func modelTypes(blocks []cpuBlock) []coreType {
	var types []coreType
	for _, b := range blocks {
		if name := b.model(); name != "" {
			types = addCPU(types, name, cpuinfo, b.number)
		}
	}
	return types
}

// midrTypes reads Arm's identification registers, for a /proc/cpuinfo that has no parts.
func midrTypes(h host.Host) []coreType {
	const file = "/regs/identification/midr_el1"
	var types []coreType
	for _, cpu := range cpuFolders(h) {
		if implementer, part, ok := parseMIDR(text(h, cpu.dir+file)); ok {
			types = addCPU(types, armPart(implementer, part), cpuDir+"/cpu*"+file, cpu.number)
		}
	}
	return types
}

// hybridTypes reads which CPUs the kernel counts events of as Intel's performance cores and which as efficiency cores.
func hybridTypes(h host.Host) []coreType {
	var types []coreType
	for _, kind := range []struct{ device, name string }{{"cpu_core", "performance"}, {"cpu_atom", "efficiency"}, {"cpu_lowpower", "low power"}} {
		source := "/sys/devices/" + kind.device + "/cpus"
		text, err := h.Text(source)
		list, bad := parseCPUList(text)
		if err == nil && bad == nil && len(list) > 0 {
			types = append(types, coreType{kind.name, source, list})
		}
	}
	return types
}

func addCPU(types []coreType, name, source string, cpu int) []coreType {
	i := slices.IndexFunc(types, func(t coreType) bool { return t.name == name })
	if i < 0 {
		return append(types, coreType{name, source, []int{cpu}})
	}
	types[i].cpus = append(types[i].cpus, cpu)
	return types
}

// cores counts the distinct cores of a type; 0 when the topology does not tell.
func (t coreType) cores(places []cpuPlace) int {
	of, cores := map[int]string{}, map[string]bool{}
	for _, p := range places {
		of[p.cpu] = p.core
	}
	for _, n := range t.cpus {
		if of[n] == "" {
			return 0
		}
		cores[of[n]] = true
	}
	return len(cores)
}

func coreTypeFacts(types []coreType, places []cpuPlace) sut.List[sut.CoreType] {
	if len(types) == 0 {
		return sut.List[sut.CoreType]{Unknown: "neither " + cpuinfo + " nor an identification register names a CPU"}
	}
	var list sut.List[sut.CoreType]
	for _, t := range types {
		c := sut.CoreType{Name: sut.Known(t.name, t.source), CPUs: sut.Known(cpuList(t.cpus), t.source), Cores: sut.Unknown[int]("%s does not tell them", topologySource)}
		if n := t.cores(places); n > 0 {
			c.Cores = sut.Known(n, topologySource)
		}
		list.Items = append(list.Items, c)
	}
	return list
}

// modelFact names the processor: one model, or each with its number of cores (of logical CPUs where the cores are not known).
func modelFact(types []coreType, places []cpuPlace) sut.Fact[string] {
	switch {
	case len(types) == 0:
		return sut.Unknown[string]("%s does not name it", cpuinfo)
	case len(types) == 1:
		return sut.Known(types[0].name, types[0].source)
	}
	var parts []string
	for _, t := range types {
		n := t.cores(places)
		if n == 0 {
			n = len(t.cpus)
		}
		parts = append(parts, fmt.Sprintf("%d × %s", n, t.name))
	}
	slices.Sort(parts)
	return sut.Known(strings.Join(parts, ", "), types[0].source)
}
