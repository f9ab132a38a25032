package probes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
)

// probeOS reads the operating system and the kernel's state.
func probeOS(_ context.Context, h Host, s *SUT) error {
	s.OS = OS{
		Distro:  first(distro(h, "/etc/os-release"), distro(h, "/usr/lib/os-release")),
		Kernel:  readKernel(h),
		Cmdline: convert(textFact(h, "/proc/cmdline"), func(t string) (string, error) { return safeCmdline(t), nil }),
		Tuning:  readTuning(h),
	}
	return nil
}

func distro(h Host, name string) Fact[string] {
	return convert(textFact(h, name), func(t string) (string, error) {
		values := keyValues(t, "=")
		for _, key := range []string{"PRETTY_NAME", "NAME"} {
			if v := strings.Trim(values[key], `"'`); v != "" {
				return v, nil
			}
		}
		return "", errNoValue
	})
}

func readKernel(h Host) Fact[string] {
	if h.Uname == nil {
		return textFact(h, "/proc/sys/kernel/osrelease")
	}
	u, err := h.Uname()
	if err != nil {
		return Unknown[string]("%s", err)
	}
	h.record.system(u)
	return Known(u.Release, "uname")
}

func readTuning(h Host) Tuning {
	t := Tuning{
		NUMABalancing: convert(textFact(h, "/proc/sys/kernel/numa_balancing"), func(s string) (bool, error) { n, err := atoi(s); return n != 0, err }),
		THP:           convert(textFact(h, "/sys/kernel/mm/transparent_hugepage/enabled"), bracketed),
		Swappiness:    intFact[int](h, "/proc/sys/vm/swappiness"),
		SwapBytes:     convert(textFact(h, "/proc/meminfo"), func(s string) (int64, error) { return meminfoBytes(s, "SwapTotal") }),
		ASPM:          convert(textFact(h, "/sys/module/pcie_aspm/parameters/policy"), bracketed),
		CPUIdle:       textFact(h, cpuDir+"/cpuidle/current_driver"),
		IOMMU:         readIOMMU(h),
		Mitigations:   readMitigations(h),
		FilesLimit:    readLimit(h, "Max open files"),
		MemlockBytes:  readLimit(h, "Max locked memory"),
		ClockSynced:   readClock(h),
	}
	t.CgroupCPUs, t.CgroupBytes = readCgroup(h)
	return t
}

// readIOMMU gives the types of the IOMMU groups; they say what is really on, the command line only what was asked.
func readIOMMU(h Host) Fact[string] {
	const dir = "/sys/kernel/iommu_groups"
	groups, err := h.list(dir)
	if err != nil {
		return Unknown[string]("%s", err)
	}
	if len(groups) == 0 {
		return Known("off", dir+" is empty")
	}
	var types []string
	for _, g := range h.match(dir, "*") {
		if t, err := h.text(g + "/type"); err == nil {
			types = append(types, t)
		}
	}
	if len(types) == 0 {
		return Unknown[string]("%s has %d groups that do not tell their type", dir, len(groups))
	}
	return Known(tally(types), dir+"/*/type")
}

// readMitigations sums up the processor's vulnerabilities and names those that are open.
func readMitigations(h Host) Fact[string] {
	const dir = cpuDir + "/vulnerabilities"
	mitigated, notAffected := 0, 0
	var open []string
	for _, file := range h.match(dir, "*") {
		switch text, _ := h.text(file); {
		case strings.HasPrefix(text, "Not affected"):
			notAffected++
		case strings.Contains(text, "Mitigation"):
			mitigated++
		case text != "":
			open = append(open, path.Base(file))
		}
	}
	if mitigated+notAffected+len(open) == 0 {
		_, err := h.list(dir)
		return Unknown[string]("%s", errors.Join(err, fmt.Errorf("%s has no entry", dir)))
	}
	text := fmt.Sprintf("%d mitigated, %d not affected", mitigated, notAffected)
	if len(open) > 0 {
		text += ", vulnerable: " + strings.Join(open, " ")
	}
	return Known(text, dir)
}

// readLimit reads the soft limit of this process, as the programs it starts get it.
func readLimit(h Host, name string) Fact[int64] {
	const file = "/proc/self/limits"
	text, err := h.text(file)
	if err != nil {
		return Unknown[int64]("%s", err)
	}
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, name)
		fields := strings.Fields(rest)
		if !ok || len(fields) == 0 {
			continue
		}
		if fields[0] == "unlimited" {
			return NA[int64]("unlimited")
		}
		if n, err := strconv.ParseInt(fields[0], 10, 64); err == nil {
			return Known(n, file)
		}
	}
	return Unknown[int64]("%s has no %q", file, name)
}

func readClock(h Host) Fact[bool] {
	if h.Clock == nil {
		return Unknown[bool]("the state of the clock is not in the capture")
	}
	synced, err := h.Clock()
	if err != nil {
		return Unknown[bool]("%s", err)
	}
	h.record.synced(synced)
	return Known(synced, "adjtimex")
}

// readCgroup gives the tightest CPU and memory limit of the control groups this process is in, versions 1 and 2.
func readCgroup(h Host) (cpus Fact[float64], bytes Fact[int64]) {
	const file = "/proc/self/cgroup"
	text, err := h.text(file)
	if err != nil {
		return Unknown[float64]("%s", err), Unknown[int64]("%s", err)
	}
	cpus, bytes = NA[float64]("no CPU quota in "+file), NA[int64]("no memory limit in "+file)
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for dir := parts[2]; ; dir = path.Dir(dir) {
			tighten(&cpus, cgroupCPUs(h, parts[1], dir))
			tighten(&bytes, cgroupBytes(h, parts[1], dir))
			if dir == "/" || dir == "." || dir == ".." {
				break
			}
		}
	}
	return cpus, bytes
}

// tighten keeps the smaller limit.
func tighten[T int64 | float64](f *Fact[T], other Fact[T]) {
	if other.IsKnown() && (!f.IsKnown() || other.Value < f.Value) {
		*f = other
	}
}

func cgroupCPUs(h Host, controller, dir string) Fact[float64] {
	if controller == "" {
		name := path.Join("/sys/fs/cgroup", dir, "cpu.max")
		return convert(textFact(h, name), func(s string) (float64, error) {
			quota, period, _ := strings.Cut(s, " ")
			return cpuQuota(quota, period)
		})
	}
	if !strings.Contains(controller, "cpu") {
		return Unknown[float64]("another controller")
	}
	base := path.Join("/sys/fs/cgroup", controller, dir)
	period, _ := h.text(base + "/cpu.cfs_period_us")
	return convert(textFact(h, base+"/cpu.cfs_quota_us"), func(quota string) (float64, error) { return cpuQuota(quota, period) })
}

func cpuQuota(quota, period string) (float64, error) {
	q, err := strconv.ParseFloat(quota, 64)
	p, err2 := strconv.ParseFloat(period, 64)
	if err != nil || err2 != nil || q <= 0 || p <= 0 || math.IsInf(q/p, 0) {
		return 0, errNoValue // "max" and -1: no quota
	}
	return q / p, nil
}

func cgroupBytes(h Host, controller, dir string) Fact[int64] {
	name := path.Join("/sys/fs/cgroup", dir, "memory.max")
	if controller != "" {
		name = path.Join("/sys/fs/cgroup", controller, dir, "memory.limit_in_bytes")
	}
	return convert(textFact(h, name), func(s string) (int64, error) {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n <= 0 || n > 1<<60 {
			return 0, errNoValue // "max", and version 1's 2^63 less a page
		}
		return n, nil
	})
}
