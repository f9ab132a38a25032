package machine

import (
	"fmt"
	"strings"

	"assay/probes"
	"assay/report/figure"
)

// stateLines are the settings of the kernel and the limits of this process that move results.
func stateLines(s probes.SUT) []Line {
	t := s.OS.Tuning
	return []Line{
		compose("Memory policy", ", ", say("huge pages", t.THP, format[string]("huge pages %s")), say("NUMA balancing", t.NUMABalancing, func(on bool) string { return "NUMA balancing " + onOff(on) }),
			say("swap", t.SwapBytes, func(n int64) string { return "swap " + figure.Size(n) }), say("swappiness", t.Swappiness, format[int]("swappiness %d"))),
		compose("Devices", ", ", say("IOMMU", t.IOMMU, format[string]("IOMMU %s")), say("ASPM", t.ASPM, format[string]("ASPM %s")), say("CPU idle", t.CPUIdle, format[string]("idle driver %s"))),
		compose("Security", ", ", say("mitigations", t.Mitigations, asIs), say("secure boot", s.OS.SecureBoot, func(on bool) string { return "secure boot " + onOff(on) }), say("lockdown", s.OS.Lockdown, format[string]("lockdown %s"))),
		compose("Clock", ", ", say("clock source", t.Clocksource, asIs), say("synchronised", t.ClockSynced, func(yes bool) string { return map[bool]string{true: "synchronised", false: "not synchronised"}[yes] })),
		compose("Limits", ", ", say("files", t.FilesLimit, format[int64]("%d files")), say("processes", t.ProcessesLimit, format[int64]("%d processes")),
			say("locked memory", t.MemlockBytes, func(n int64) string { return figure.Size(n) + " locked" }), say("CPUs", t.CgroupCPUs, format[float64]("%g CPUs")), say("memory", t.CgroupBytes, func(n int64) string { return figure.Size(n) + " of memory" })),
		compose("Load", ", ", say("load", s.OS.Load1, format[float64]("%.3g")), logged(s.OS.KernelLog)),
		compose("Command line", "", say("command line", s.OS.Cmdline, asIs)),
	}
}

// logged says how often the kernel complained of the hardware.
func logged(l probes.List[probes.LogEvent]) part {
	if l.Unknown != "" {
		return lost("kernel log", l.Unknown)
	}
	var texts []string
	for _, e := range l.Items {
		texts = append(texts, fmt.Sprintf("%d × %s", e.Count.Value, e.Code.Value))
	}
	if len(texts) == 0 {
		return part{}
	}
	return part{text: "kernel log: " + strings.Join(texts, ", "), source: l.Items[0].Code.Source}
}
