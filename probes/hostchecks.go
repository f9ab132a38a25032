package probes

import (
	"fmt"
	"strings"

	"assay/probes/host"
)

const gib = 1 << 30

func checkGovernor(s SUT, want any) (Check, bool) {
	if s.CPU.Governor.NA != "" && want == nil {
		return Check{}, false
	}
	return matches("cpu.governor", s.CPU.Governor, want, []string{"performance"}, "cpupower frequency-set -g performance"), true
}

func checkTHP(s SUT, want any) (Check, bool) {
	return matches("os.tuning.thp", s.OS.Tuning.THP, want, []string{"always", "madvise"}, "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"), true
}

func checkNUMABalancing(s SUT, _ any) (Check, bool) {
	f := s.OS.Tuning.NUMABalancing
	switch {
	case !f.IsKnown() && len(s.CPU.NUMANodes.Items) == 1:
		return ok("One NUMA node: there is nothing to balance.", show("os.tuning.numa_balancing", f)), true
	case !f.IsKnown():
		return unclear(f.Reason()), true
	case f.Value:
		return warn("sysctl kernel.numa_balancing=0", "Automatic NUMA balancing is on and moves pages while the run goes.", show("os.tuning.numa_balancing", f)), true
	}
	return ok("Automatic NUMA balancing is off.", show("os.tuning.numa_balancing", f)), true
}

func checkSwap(s SUT, _ any) (Check, bool) {
	f := s.OS.Tuning.SwapBytes
	switch {
	case !f.IsKnown():
		return unclear(f.Reason()), true
	case f.Value > 0:
		return warn("swapoff -a for the time of the run.", "Swap is configured ("+host.SizeText(f.Value)+").", show("os.tuning.swap_bytes", f)), true
	}
	return ok("No swap.", show("os.tuning.swap_bytes", f)), true
}

// checkMemory compares what the system sees with what is installed, or with the GiB that the plan wants; and with the memory of the GPUs.
func checkMemory(s SUT, want any) (Check, bool) {
	f := s.Memory.Bytes
	if !f.IsKnown() {
		return unclear(f.Reason()), true
	}
	evidence := []string{show("memory.bytes", f), show("memory.installed_bytes", s.Memory.InstalledBytes)}
	if want != nil {
		least, isNumber := number(want)
		if !isNumber {
			return misfit(want, "the least GiB"), true
		}
		if float64(f.Value) < least*gib {
			return fail("Use a machine with more memory, or lower the value.", fmt.Sprintf("%s of memory, but the plan wants %g GiB.", host.SizeText(f.Value), least), evidence...), true
		}
		return ok(host.SizeText(f.Value)+" of memory.", evidence...), true
	}
	if installed, known := s.Memory.InstalledBytes.Get(); known && float64(f.Value) < 0.95*float64(installed) {
		return warn("A DIMM may have failed, or memory is reserved.", fmt.Sprintf("%s of memory, but %s are installed.", host.SizeText(f.Value), host.SizeText(installed)), evidence...), true
	}
	if limit, known := s.OS.Tuning.CgroupBytes.Get(); known && limit < f.Value {
		return warn("Run assay outside of the limited control group.", "A control group limits memory to "+host.SizeText(limit)+".", show("os.tuning.cgroup_bytes", s.OS.Tuning.CgroupBytes)), true
	}
	return ok(host.SizeText(f.Value)+" of memory.", evidence...), true
}

// checkDiskSpace looks at the file system with the most free space; 20 GiB hold a small model and the results.
func checkDiskSpace(s SUT, want any) (Check, bool) {
	least := 20.0
	if want != nil {
		n, isNumber := number(want)
		if !isNumber {
			return misfit(want, "the least free GiB"), true
		}
		least = n
	}
	var best Filesystem
	var evidence []string
	for _, f := range s.Storage.Filesystems.Items {
		if !f.FreeBytes.IsKnown() || !f.Bytes.IsKnown() {
			continue
		}
		evidence = append(evidence, fmt.Sprintf("%s %s free of %s", f.Mount.Value, host.SizeText(f.FreeBytes.Value), host.SizeText(f.Bytes.Value)))
		if !best.FreeBytes.IsKnown() || f.FreeBytes.Value > best.FreeBytes.Value {
			best = f
		}
	}
	if !best.FreeBytes.IsKnown() {
		reason := s.Storage.Filesystems.Unknown
		if reason == "" {
			reason = "no file system tells its free space"
		}
		return unclear(reason), true
	}
	if float64(best.FreeBytes.Value) < least*gib {
		c := warn("Free space, or mount a larger drive.", fmt.Sprintf("At most %s are free (%s), below %g GiB.", host.SizeText(best.FreeBytes.Value), best.Mount.Value, least), evidence...)
		c.State = orWarn(false, want)
		return c, true
	}
	return ok(fmt.Sprintf("%s are free on %s.", host.SizeText(best.FreeBytes.Value), best.Mount.Value), evidence...), true
}

func checkClockSync(s SUT, _ any) (Check, bool) {
	f := s.OS.Tuning.ClockSynced
	switch {
	case !f.IsKnown():
		return unclear(f.Reason()), true
	case !f.Value:
		return warn("Start chrony or systemd-timesyncd.", "The kernel's clock is not synchronised.", show("os.tuning.clock_synced", f)), true
	}
	return ok("The clock is synchronised.", show("os.tuning.clock_synced", f)), true
}

// checkFilesLimit wants room for a connection per stream and the engine's own files.
func checkFilesLimit(s SUT, want any) (Check, bool) {
	f, least := s.OS.Tuning.FilesLimit, 16384.0
	if want != nil {
		n, isNumber := number(want)
		if !isNumber {
			return misfit(want, "the least number of open files"), true
		}
		least = n
	}
	switch {
	case f.NA != "":
		return ok("The number of open files is not limited."), true
	case !f.IsKnown():
		return unclear(f.Reason()), true
	case float64(f.Value) < least:
		c := warn("ulimit -n, or LimitNOFILE= of the service.", fmt.Sprintf("%d open files are allowed, fewer than %g.", f.Value, least), show("os.tuning.files_limit", f))
		c.State = orWarn(false, want)
		return c, true
	}
	return ok(fmt.Sprintf("%d open files are allowed.", f.Value), show("os.tuning.files_limit", f)), true
}

func checkCPUQuota(s SUT, _ any) (Check, bool) {
	f := s.OS.Tuning.CgroupCPUs
	switch {
	case f.NA != "":
		return ok("No control group limits the CPU.", f.NA), true
	case !f.IsKnown():
		return unclear(f.Reason()), true
	}
	return warn("Run assay outside of the limited control group.", fmt.Sprintf("A control group limits this process to %g CPUs.", f.Value), show("os.tuning.cgroup_cpus", f)), true
}

// checkVirtualization warns of everything but bare metal, or compares with the layer that the plan wants.
func checkVirtualization(s SUT, want any) (Check, bool) {
	f := s.System.Virtualization
	c := matches("system.virtualization", f, want, []string{"none"}, "Run on bare metal, or say virtualization: ignore in the plan.")
	if c.State == CheckOK && f.Value == "none" {
		c.Text = "Bare metal."
	}
	return c, true
}

// checkContainerRuntime wants a Docker engine, and NVIDIA's toolkit where there are NVIDIA GPUs.
func checkContainerRuntime(s SUT, _ any) (Check, bool) {
	evidence := []string{show("software.docker", s.Software.Docker)}
	if !s.Software.Docker.IsKnown() {
		return warn("Start dockerd and join the group docker, unless the plan uses another runtime.", "No Docker engine answers.", evidence...), true
	}
	toolkit := s.Software.ContainerToolkit
	if toolkit.NA == "" && s.Accelerators.Unknown == "" && len(s.Accelerators.Items) > 0 {
		evidence = append(evidence, show("software.container_toolkit", toolkit))
		if !toolkit.IsKnown() && strings.Contains(s.Accelerators.Items[0].Vendor.Value, "NVIDIA") {
			return warn("Install nvidia-container-toolkit.", "Docker answers, but NVIDIA's container toolkit is not known.", evidence...), true
		}
	}
	return ok("Docker "+s.Software.Docker.Value+" answers.", evidence...), true
}
