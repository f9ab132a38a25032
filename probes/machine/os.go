package machine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// ProbeOS reads the operating system and the kernel's state.
func ProbeOS(_ context.Context, h host.Host, s *sut.SUT) error {
	s.OS = sut.OS{
		Distro:  sut.First(distro(h, "/etc/os-release"), distro(h, "/usr/lib/os-release")),
		Kernel:  host.KernelRelease(h),
		Cmdline: sut.Convert(host.TextFact(h, "/proc/cmdline"), func(t string) (string, error) { return host.SafeCmdline(t), nil }),
		Tuning:  readTuning(h),
	}
	return nil
}

func distro(h host.Host, name string) sut.Fact[string] {
	return sut.Convert(host.TextFact(h, name), func(t string) (string, error) {
		values := host.KeyValues(t, "=")
		for _, key := range []string{"PRETTY_NAME", "NAME"} {
			if v := strings.Trim(values[key], `"'`); v != "" {
				return v, nil
			}
		}
		return "", sut.ErrNoValue
	})
}

func readTuning(h host.Host) sut.Tuning {
	t := sut.Tuning{
		NUMABalancing: sut.Convert(host.TextFact(h, "/proc/sys/kernel/numa_balancing"), func(s string) (bool, error) { n, err := strconv.Atoi(s); return n != 0, err }),
		THP:           sut.Convert(host.TextFact(h, "/sys/kernel/mm/transparent_hugepage/enabled"), host.Bracketed),
		Swappiness:    host.IntFact[int](h, "/proc/sys/vm/swappiness"),
		SwapBytes:     sut.Convert(host.TextFact(h, "/proc/meminfo"), func(s string) (int64, error) { return meminfoBytes(s, "SwapTotal") }),
		ASPM:          sut.Convert(host.TextFact(h, "/sys/module/pcie_aspm/parameters/policy"), host.Bracketed),
		CPUIdle:       host.TextFact(h, cpuDir+"/cpuidle/current_driver"),
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
func readIOMMU(h host.Host) sut.Fact[string] {
	const dir = "/sys/kernel/iommu_groups"
	groups, err := h.List(dir)
	if err != nil {
		return sut.Unknown[string]("%s", err)
	}
	if len(groups) == 0 {
		return sut.Known("off", dir+" is empty")
	}
	var types []string
	for _, g := range h.Match(dir, "*") {
		if t, err := h.Text(g + "/type"); err == nil {
			types = append(types, t)
		}
	}
	if len(types) == 0 {
		return sut.Unknown[string]("%s has %d groups that do not tell their type", dir, len(groups))
	}
	return sut.Known(host.Tally(types), dir+"/*/type")
}

// readMitigations sums up the processor's vulnerabilities and names those that are open.
func readMitigations(h host.Host) sut.Fact[string] {
	const dir = cpuDir + "/vulnerabilities"
	mitigated, notAffected := 0, 0
	var open []string
	for _, file := range h.Match(dir, "*") {
		switch text, _ := h.Text(file); {
		case strings.HasPrefix(text, "Not affected"):
			notAffected++
		case strings.Contains(text, "Mitigation"):
			mitigated++
		case text != "":
			open = append(open, path.Base(file))
		}
	}
	if mitigated+notAffected+len(open) == 0 {
		_, err := h.List(dir)
		return sut.Unknown[string]("%s", errors.Join(err, fmt.Errorf("%s has no entry", dir)))
	}
	text := fmt.Sprintf("%d mitigated, %d not affected", mitigated, notAffected)
	if len(open) > 0 {
		text += ", vulnerable: " + strings.Join(open, " ")
	}
	return sut.Known(text, dir)
}

// readLimit reads the limit in force for this process. A Go program raises its own number of open files to the hard limit at start.
func readLimit(h host.Host, name string) sut.Fact[int64] {
	const file = "/proc/self/limits"
	text, err := h.Text(file)
	if err != nil {
		return sut.Unknown[int64]("%s", err)
	}
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, name)
		fields := strings.Fields(rest)
		if !ok || len(fields) == 0 {
			continue
		}
		if fields[0] == "unlimited" {
			return sut.NA[int64]("unlimited")
		}
		if n, err := strconv.ParseInt(fields[0], 10, 64); err == nil {
			return sut.Known(n, file)
		}
	}
	return sut.Unknown[int64]("%s has no %q", file, name)
}

func readClock(h host.Host) sut.Fact[bool] {
	synced, err := h.ClockSynced()
	if err != nil {
		return sut.Unknown[bool]("%s", err)
	}
	return sut.Known(synced, "adjtimex")
}

// readCgroup gives the tightest CPU and memory limit of the control groups this process is in, versions 1 and 2.
func readCgroup(h host.Host) (cpus sut.Fact[float64], bytes sut.Fact[int64]) {
	const file = "/proc/self/cgroup"
	text, err := h.Text(file)
	if err != nil {
		return sut.Unknown[float64]("%s", err), sut.Unknown[int64]("%s", err)
	}
	cpus, bytes = sut.NA[float64]("no CPU quota in "+file), sut.NA[int64]("no memory limit in "+file)
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
func tighten[T int64 | float64](f *sut.Fact[T], other sut.Fact[T]) {
	if other.IsKnown() && (!f.IsKnown() || other.Value < f.Value) {
		*f = other
	}
}

func cgroupCPUs(h host.Host, controller, dir string) sut.Fact[float64] {
	if controller == "" {
		name := path.Join("/sys/fs/cgroup", dir, "cpu.max")
		return sut.Convert(host.TextFact(h, name), func(s string) (float64, error) {
			quota, period, _ := strings.Cut(s, " ")
			return cpuQuota(quota, period)
		})
	}
	if !strings.Contains(controller, "cpu") {
		return sut.Unknown[float64]("another controller")
	}
	base := path.Join("/sys/fs/cgroup", controller, dir)
	period, _ := h.Text(base + "/cpu.cfs_period_us")
	return sut.Convert(host.TextFact(h, base+"/cpu.cfs_quota_us"), func(quota string) (float64, error) { return cpuQuota(quota, period) })
}

func cpuQuota(quota, period string) (float64, error) {
	q, err := strconv.ParseFloat(quota, 64)
	p, err2 := strconv.ParseFloat(period, 64)
	if err != nil || err2 != nil || q <= 0 || p <= 0 || math.IsInf(q/p, 0) {
		return 0, sut.ErrNoValue // "max" and -1: no quota
	}
	return q / p, nil
}

func cgroupBytes(h host.Host, controller, dir string) sut.Fact[int64] {
	name := path.Join("/sys/fs/cgroup", dir, "memory.max")
	if controller != "" {
		name = path.Join("/sys/fs/cgroup", controller, dir, "memory.limit_in_bytes")
	}
	return sut.Convert(host.TextFact(h, name), func(s string) (int64, error) {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n <= 0 || n > 1<<60 {
			return 0, sut.ErrNoValue // "max", and version 1's 2^63 less a page
		}
		return n, nil
	})
}
