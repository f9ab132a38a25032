package kernel

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

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

const (
	cgroupFile    = "/proc/self/cgroup"
	maxGroupDepth = 64
)

// controlGroup is a group that a process is in: which controllers it is of (none in version 2), and its folders from itself up to the root.
type controlGroup struct {
	controller string
	dirs       []string
}

// parseCgroup reads /proc/self/cgroup.
func parseCgroup(text string) []controlGroup {
	var groups []controlGroup
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		g := controlGroup{controller: parts[1]}
		for dir := path.Join("/", parts[2]); ; dir = path.Dir(dir) {
			g.dirs = append(g.dirs, dir)
			if dir == "/" || len(g.dirs) == maxGroupDepth {
				break
			}
		}
		groups = append(groups, g)
	}
	return groups
}

// has tells whether a group is of a controller; in version 2 every group is of all.
func (g controlGroup) has(controller string) bool {
	return g.controller == "" || slices.Contains(strings.Split(g.controller, ","), controller)
}

// file is a controller's file in a folder of the group, whose name differs by version.
func (g controlGroup) file(dir, v2, v1 string) string {
	if g.controller == "" {
		return path.Join("/sys/fs/cgroup", dir, v2)
	}
	return path.Join("/sys/fs/cgroup", strings.TrimPrefix(g.controller, "name="), dir, v1)
}

// readCgroup gives the tightest CPU and memory limit of the control groups this process is in, versions 1 and 2.
func readCgroup(h host.Host) (cpus sut.Fact[float64], bytes sut.Fact[int64]) {
	text, err := h.Text(cgroupFile)
	if err != nil {
		return sut.Unknown[float64]("%s", err), sut.Unknown[int64]("%s", err)
	}
	var quotas []sut.Fact[float64]
	var limits []sut.Fact[int64]
	for _, g := range parseCgroup(text) {
		for _, dir := range g.dirs {
			if g.has("cpu") {
				quotas = append(quotas, cgroupCPUs(h, g, dir))
			}
			if g.has("memory") {
				limits = append(limits, cgroupLimit(h, g.file(dir, "memory.max", "memory.limit_in_bytes"), memoryLimit))
			}
		}
	}
	return tightest(quotas, "no CPU quota in "+cgroupFile), tightest(limits, "no memory limit in "+cgroupFile)
}

// cgroupLimit reads a limit, which does not apply where the group sets none or has no such file.
func cgroupLimit[T int64 | float64](h host.Host, file string, parse func(string) (T, error)) sut.Fact[T] {
	text, err := h.Text(file)
	switch {
	case err != nil && !h.Absent(file):
		return sut.Unknown[T]("%s", err)
	case err != nil:
		return sut.NA[T](err.Error())
	}
	limit, err := parse(text)
	if err != nil {
		return sut.NA[T](file + " sets none")
	}
	return sut.Known(limit, file)
}

// tightest gives the smallest limit. That there is none takes one group at least that says so.
func tightest[T int64 | float64](limits []sut.Fact[T], none string) sut.Fact[T] {
	best := sut.NA[T](none)
	if len(limits) > 0 && !slices.ContainsFunc(limits, func(f sut.Fact[T]) bool { return f.NA != "" }) {
		best = limits[0]
	}
	for _, f := range limits {
		if f.IsKnown() && (!best.IsKnown() || f.Value < best.Value) {
			best = f
		}
	}
	return best
}

func cgroupCPUs(h host.Host, g controlGroup, dir string) sut.Fact[float64] {
	if g.controller == "" {
		return cgroupLimit(h, g.file(dir, "cpu.max", ""), func(s string) (float64, error) {
			quota, period, _ := strings.Cut(s, " ")
			return cpuQuota(quota, period)
		})
	}
	period, _ := h.Text(g.file(dir, "", "cpu.cfs_period_us"))
	return cgroupLimit(h, g.file(dir, "", "cpu.cfs_quota_us"), func(quota string) (float64, error) { return cpuQuota(quota, period) })
}

func cpuQuota(quota, period string) (float64, error) {
	q, err := strconv.ParseFloat(quota, 64)
	p, err2 := strconv.ParseFloat(period, 64)
	if err != nil || err2 != nil || q <= 0 || p <= 0 || math.IsInf(q/p, 0) {
		return 0, sut.ErrNoValue // "max" and -1: no quota
	}
	return q / p, nil
}

func memoryLimit(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || n > 1<<60 {
		return 0, sut.ErrNoValue // "max", and version 1's 2^63 less a page
	}
	return n, nil
}

// readCPUSet gives the CPUs that the control groups leave to this process: those of the nearest group that says so.
func readCPUSet(h host.Host) sut.Fact[string] {
	groups, err := h.Text(cgroupFile)
	if err != nil {
		return sut.Unknown[string]("%s", err)
	}
	for _, g := range parseCgroup(groups) {
		if !g.has("cpuset") {
			continue
		}
		for _, dir := range g.dirs {
			if f := host.TextFact(h, g.file(dir, "cpuset.cpus.effective", "cpuset.effective_cpus")); f.IsKnown() {
				return f
			}
		}
	}
	return sut.Unknown[string]("no control group of %s tells its CPUs", cgroupFile)
}
