package check

import (
	"slices"
	"strings"
)

// checks is every rule of a machine, in the order they are shown. What a rule looks at, its limits and the values it takes stand in its
// function's comment, of which the documentation is made.
func checks() []Rule[Request] {
	return []Rule[Request]{
		{"gpu_count", checkGPUCount, "Look for a GPU that fell off the bus (dmesg) and for a driver that is not loaded, or correct gpu_count."},
		{"driver_equal", checkDriverEqual, "Bring all GPUs to the same state, or name the driver that you want."},
		{"driver_mixed", Fixed(checkDriverMixed), "Reboot, so that the installed driver is the loaded one."},
		{"driver_image", Fixed(checkDriverImage), "Take an image that is made for this driver, or another driver."},
		{"power_cap", checkPowerCap, "Set the limit back with amd-smi or nvidia-smi, or state the wanted watts as power_cap in the plan."},
		{"clocks", checkClocks, "Give the clocks back to the driver: amd-smi set --perf-level AUTO, nvidia-smi --reset-gpu-clocks."},
		{"throttle", Fixed(checkThrottle), "Check cooling and power supplies; a power brake is asserted from outside the GPU."},
		{"temperature", checkTemperature, "Wait until it has cooled; look at fans and air flow if it does not."},
		{"ecc", Fixed(checkECC), "Switch ECC on, or say ecc: ignore if the product has none."},
		{"gpu_errors", Fixed(checkGPUErrors), "Reset the GPU or reboot; have it replaced if they come again."},
		{"bad_pages", Fixed(checkBadPages), "Reset the GPU so that pages are replaced; have it replaced if that fails or there are many."},
		{"recovery", Fixed(checkRecovery), "Do what it asks for: nvidia-smi --gpu-reset, a reboot, or a drain of the machine."},
		{"kernel_log", Fixed(checkKernelLog), "Read the kernel's log (dmesg) around the line; reset the GPU or reboot, and look whether it comes again."},
		{"link", Fixed(checkLink), "Repeat under load; if it stays, reseat the card or the riser, or use another slot."},
		{"pcie_errors", Fixed(checkPCIeErrors), "Reseat the card or the riser; have the board looked at if they go on."},
		{"fabric", Fixed(checkFabric), "Look at the links (amd-smi xgmi, nvidia-smi nvlink -s) and at the fabric manager; reset all GPUs together."},
		{"p2p", Fixed(checkP2P), "Pass addresses through (iommu=pt), and look at the check acs."},
		{"acs", Fixed(checkACS), "Switch ACS off in the BIOS, or by setpci on the bridges; a machine that hands GPUs to guests needs it."},
		{"idle", Fixed(checkIdle), "Stop it, or wait until it ends."},
		{"vram_free", checkVRAMFree, "Stop what holds it; memory that nobody holds is given back by a reset of the GPU."},
		{"persistence", Fixed(checkPersistence), "Enable it (nvidia-persistenced), so that the driver does not start anew between processes."},
		{"partition", checkPartition, "Set the partition mode, or name the wanted one as partition in the plan."},
		{"governor", checkGovernor, "cpupower frequency-set -g performance"},
		{"thp", checkTHP, "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"},
		{"numa_balancing", Fixed(checkNUMABalancing), "sysctl kernel.numa_balancing=0"},
		{"swap", Fixed(checkSwap), "swapoff -a for the time of the run."},
		{"memory", checkMemory, "Look for a DIMM that failed, or use a machine with more memory, or lower the value."},
		{"memory_errors", Fixed(checkMemoryErrors), "Find the DIMM (edac-util -v, the BMC's log) and have it replaced."},
		{"iommu", checkIOMMU, "Boot with iommu=pt."},
		{"aspm", checkASPM, "echo performance > /sys/module/pcie_aspm/parameters/policy"},
		{"taint", Fixed(checkTaint), "Read the kernel's log (dmesg), and reboot."},
		{"power_supplies", Fixed(checkPowerSupplies), "Look at the supply and its cable; without it the machine may hold its power down."},
		{"host_load", checkHostLoad, "Stop what runs beside the benchmark, or wait until it ends."},
		{"disk_space", checkDiskSpace, "Free space, or mount a larger drive."},
		{"disk_kind", checkDiskKind, "Copy the model to a local NVMe drive; loading takes longer, and a paged model measures the disk."},
		{"disk_health", Fixed(checkDiskHealth), "Replace the drive, and let the array recover before you measure."},
		{"clocksource", checkClocksource, "Boot with clocksource=tsc; look in the log why the kernel does not trust it."},
		{"clock_sync", Fixed(checkClockSync), "Start chrony or systemd-timesyncd."},
		{"network_links", checkNetworkLinks, "Look at cable, transceiver and the switch's port."},
		{"ports", Fixed(checkPorts), "Stop what listens there, or choose another port in the plan."},
		{"files_limit", checkFilesLimit, "ulimit -n, or LimitNOFILE= of the service."},
		{"processes_limit", checkProcessesLimit, "ulimit -u, or LimitNPROC= and TasksMax= of the service."},
		{"memlock_limit", checkMemlockLimit, "ulimit -l unlimited, or LimitMEMLOCK=infinity of the service."},
		{"cpu_quota", Fixed(checkCPUQuota), "Run assay outside of the limited control group."},
		{"virtualization", checkVirtualization, "Run on bare metal, or say virtualization: ignore in the plan."},
		{"container_runtime", Fixed(checkContainerRuntime), "Start dockerd and join the group docker, unless the plan uses another runtime."},
	}
}

// Evaluate applies the checks to a machine as the plan wants them.
func Evaluate(r Request) []Check {
	return append(Apply(checks(), r, r.Wanted), unknownChecks(r.Wanted)...)
}

// IDs names every check of a machine, in the order they are shown.
func IDs() []string {
	var names []string
	for _, r := range checks() {
		names = append(names, r.ID)
	}
	return names
}

func unknownChecks(w Wanted) []Check {
	names, list := IDs(), []Check{}
	for id := range w {
		if !slices.Contains(names, id) {
			list = append(list, Check{ID: id, State: Fail, Text: "unknown check id " + id, Evidence: []string{}, Hint: "The checks are " + strings.Join(names, ", ") + "."})
		}
	}
	slices.SortFunc(list, func(a, b Check) int { return strings.Compare(a.ID, b.ID) })
	return list
}
