package kernel

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

func readTuning(h host.Host) sut.Tuning {
	const thp, vm = "/sys/kernel/mm/transparent_hugepage/", "/proc/sys/vm/"
	t := sut.Tuning{
		NUMABalancing:  sut.Convert(host.TextFact(h, "/proc/sys/kernel/numa_balancing"), func(s string) (bool, error) { n, err := strconv.Atoi(s); return n != 0, err }),
		THP:            sut.Convert(host.TextFact(h, thp+"enabled"), host.Bracketed),
		THPDefrag:      sut.Convert(host.TextFact(h, thp+"defrag"), host.Bracketed),
		Swappiness:     host.IntFact[int](h, vm+"swappiness"),
		SwapBytes:      sut.Convert(host.TextFact(h, "/proc/meminfo"), swapBytes),
		Overcommit:     sut.Convert(host.TextFact(h, vm+"overcommit_memory"), parseOvercommit),
		ZoneReclaim:    host.IntFact[int](h, vm+"zone_reclaim_mode"),
		MaxMapCount:    host.IntFact[int64](h, vm+"max_map_count"),
		ASPM:           sut.Convert(host.TextFact(h, "/sys/module/pcie_aspm/parameters/policy"), host.Bracketed),
		CPUIdle:        host.TextFact(h, "/sys/devices/system/cpu/cpuidle/current_driver"),
		IOMMU:          readIOMMU(h),
		Mitigations:    readMitigations(h),
		Clocksource:    host.TextFact(h, "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
		TunedProfile:   readTuned(h),
		FilesLimit:     readLimit(h, "Max open files"),
		MemlockBytes:   readLimit(h, "Max locked memory"),
		StackBytes:     readLimit(h, "Max stack size"),
		ProcessesLimit: readLimit(h, "Max processes"),
		CgroupCPUSet:   readCPUSet(h),
		ClockSynced:    readClock(h),
	}
	t.CgroupCPUs, t.CgroupBytes = readCgroup(h)
	return t
}

// swapBytes reads the swap of /proc/meminfo, whose "kB" are KiB.
func swapBytes(meminfo string) (int64, error) {
	number, _, _ := strings.Cut(host.KeyValues(meminfo, ":")["SwapTotal"], " ")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > 1<<50 {
		return 0, sut.ErrNoValue
	}
	return n << 10, nil
}

func parseOvercommit(s string) (string, error) {
	if word := map[string]string{"0": "heuristic", "1": "always", "2": "never"}[s]; word != "" {
		return word, nil
	}
	return "", sut.ErrNoValue
}

// readTuned gives the profile that the service tuned has applied.
func readTuned(h host.Host) sut.Fact[string] {
	const file = "/etc/tuned/active_profile"
	if h.Absent(file) {
		return sut.NA[string]("tuned sets nothing here (" + file + " does not exist)")
	}
	return host.TextFact(h, file)
}

// readIOMMU gives the types of the GPUs' IOMMU groups, or of all where no GPU has one; they say what is really on, the command line only
// what was asked.
func readIOMMU(h host.Host) sut.Fact[string] {
	const dir = "/sys/kernel/iommu_groups"
	groups, err := h.List(dir)
	if err != nil {
		return sut.Unknown[string]("%s", err)
	}
	if len(groups) == 0 {
		return sut.Known("off", dir+" is empty")
	}
	if types := typesOf(h, gpuGroups(h)); len(types) > 0 {
		return sut.Known(host.Tally(types), pci.Bus+"/*/iommu_group/type of the GPUs")
	}
	types := typesOf(h, h.Match(dir, "*"))
	if len(types) == 0 {
		return sut.Unknown[string]("%s has %d groups that do not tell their type", dir, len(groups))
	}
	return sut.Known(host.Tally(types), dir+"/*/type")
}

// gpuGroups are the folders of the groups that GPUs are in; one that drives a screen beside cards is none of those that serve.
func gpuGroups(h host.Host) []string {
	if dirs := groupsOf(h, pci.AMD, pci.NVIDIA); len(dirs) > 0 {
		return dirs
	}
	return groupsOf(h, pci.OtherVendors(h)...)
}

func groupsOf(h host.Host, vendors ...string) (dirs []string) {
	for _, vendor := range vendors {
		cards, _ := pci.Accelerators(h, vendor)
		for _, c := range cards {
			dirs = append(dirs, c.Dir+"/iommu_group")
		}
	}
	return dirs
}

func typesOf(h host.Host, groups []string) (types []string) {
	for _, g := range groups {
		if t, err := h.Text(g + "/type"); err == nil {
			types = append(types, t)
		}
	}
	return types
}

// readMitigations sums up the processor's vulnerabilities and names those that are open, and those of which the kernel cannot tell.
func readMitigations(h host.Host) sut.Fact[string] {
	const dir = "/sys/devices/system/cpu/vulnerabilities"
	by := map[string][]string{}
	for _, file := range h.Match(dir, "*") {
		sentence, _ := h.Text(file)
		state := mitigation(sentence)
		by[state] = append(by[state], path.Base(file))
	}
	if len(by) == 0 {
		if _, err := h.List(dir); err != nil {
			return sut.Unknown[string]("%s", err)
		}
		return sut.Unknown[string]("%s has no entry", dir)
	}
	text := fmt.Sprintf("%d mitigated, %d not affected", len(by["mitigated"]), len(by["not affected"]))
	for _, state := range []string{"vulnerable", "unknown"} {
		if names := by[state]; len(names) > 0 {
			text += ", " + state + ": " + strings.Join(names, " ")
		}
	}
	return sut.Known(text, dir)
}

// mitigation sorts the kernel's sentences: "Not affected", "Mitigation: …", "KVM: Mitigation: …", "Unknown: …", "Vulnerable…"; a file that
// cannot be read tells nothing.
func mitigation(sentence string) string {
	switch {
	case sentence == "", strings.HasPrefix(sentence, "Unknown"):
		return "unknown"
	case strings.HasPrefix(sentence, "Not affected"):
		return "not affected"
	case strings.HasPrefix(sentence, "Vulnerable"):
		return "vulnerable"
	case strings.Contains(sentence, "Mitigation"):
		return "mitigated"
	}
	return "vulnerable"
}

func readClock(h host.Host) sut.Fact[bool] {
	synced, err := h.ClockSynced()
	if err != nil {
		return sut.Unknown[bool]("%s", err)
	}
	return sut.Known(synced, "adjtimex")
}
