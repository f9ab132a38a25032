package check

import (
	"fmt"
	"strings"

	"assay/probes/host"
)

const gib = 1 << 30

// checkGovernor looks at the CPU frequency governor of all processors. Warns unless it is performance. Takes the wanted governor.
func checkGovernor(r Request, want any) (Check, bool) {
	if r.SUT.CPU.Governor.NA != "" && want == nil {
		return Check{}, false
	}
	return matches("The CPU governor", "cpu.governor", r.SUT.CPU.Governor, want, "performance").advised(want, "cpupower frequency-set -g %v"), true
}

// checkTHP looks at transparent huge pages. Warns unless they are always or madvise. Takes the wanted word.
func checkTHP(r Request, want any) (Check, bool) {
	return matches("The policy of transparent huge pages", "os.tuning.thp", r.SUT.OS.Tuning.THP, want, "always", "madvise").advised(want, "echo %v > /sys/kernel/mm/transparent_hugepage/enabled"), true
}

// checkNUMABalancing looks at the kernel's automatic NUMA balancing, which moves pages while the run goes. Warns when it is on and there is
// more than one node.
func checkNUMABalancing(r Request) (Check, bool) {
	f := r.SUT.OS.Tuning.NUMABalancing
	switch {
	case !f.IsKnown() && len(r.SUT.CPU.NUMANodes.Items) == 1:
		return ok("One NUMA node: there is nothing to balance.", show("os.tuning.numa_balancing", f)), true
	case !f.IsKnown():
		return unclear(f.Reason()), true
	case f.Value:
		return warn("Automatic NUMA balancing is on and moves pages while the run goes.", show("os.tuning.numa_balancing", f)), true
	}
	return ok("Automatic NUMA balancing is off.", show("os.tuning.numa_balancing", f)), true
}

// checkSwap looks for swap space. Warns when there is any.
func checkSwap(r Request) (Check, bool) {
	f := r.SUT.OS.Tuning.SwapBytes
	switch {
	case !f.IsKnown():
		return unclear(f.Reason()), true
	case f.Value > 0:
		return warn("Swap is configured ("+host.SizeText(f.Value)+").", show("os.tuning.swap_bytes", f)), true
	}
	return ok("No swap.", show("os.tuning.swap_bytes", f)), true
}

// checkClockSync asks the kernel whether its clock is synchronised. Warns when it is not.
func checkClockSync(r Request) (Check, bool) {
	f := r.SUT.OS.Tuning.ClockSynced
	switch {
	case !f.IsKnown():
		return unclear(f.Reason()), true
	case !f.Value:
		return warn("The kernel's clock is not synchronised.", show("os.tuning.clock_synced", f)), true
	}
	return ok("The clock is synchronised.", show("os.tuning.clock_synced", f)), true
}

// checkVirtualization warns of everything but bare metal. Takes the wanted layer as systemd-detect-virt names it, and fails on another.
func checkVirtualization(r Request, want any) (Check, bool) {
	f := r.SUT.System.Virtualization
	c := matches("The layer below this system", "system.virtualization", f, want, "none")
	if c.State == OK && f.Value == "none" {
		c.Text = "Bare metal."
	}
	return c.advised(want, "Run where the layer below is %v, or correct virtualization in the plan."), true
}

// checkClocksource looks at what the kernel reads the time from. Warns when it is slow to read (hpet, acpi_pm). Takes the wanted name.
func checkClocksource(r Request, want any) (Check, bool) {
	return matches("The clock source", "os.tuning.clocksource", r.SUT.OS.Tuning.Clocksource, want, "tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page").advised(want, "Boot with clocksource=%v, or correct clocksource in the plan."), true
}

// restLoad is the load for each CPU up to which a host is at rest.
const restLoad = 0.1

// checkHostLoad compares the processes that run or wait with the CPUs. Warns above a tenth of the CPUs. Takes the highest load for each CPU,
// 0.1 being a tenth of them, and fails above.
func checkHostLoad(r Request, want any) (Check, bool) {
	most, isNumber := atLeast(want, restLoad)
	load, threads := r.SUT.OS.Load1, r.SUT.CPU.Threads
	evidence := []string{show("os.load_1m", load), show("cpu.threads", threads)}
	if !isNumber {
		return misfit(want, "the highest load for each CPU"), true
	}
	if !load.IsKnown() || !threads.IsKnown() || threads.Value == 0 {
		return unclear("the load or the number of CPUs is not known", evidence...), true
	}
	allowed, cpus := most*float64(threads.Value), float64(threads.Value)
	switch limit := fmt.Sprintf("%.3g are allowed, %g for each", allowed, most); {
	case load.Value > allowed:
		return warn(fmt.Sprintf("%.3g processes run or wait on %d CPUs; %s.", load.Value, threads.Value, limit), evidence...), true
	case load.Value > restLoad*cpus:
		return ok(fmt.Sprintf("A load of %.3g on %d CPUs; %s.", load.Value, threads.Value, limit), evidence...), true
	}
	return ok(fmt.Sprintf("The host is at rest: a load of %.3g on %d CPUs.", load.Value, threads.Value), evidence...), true
}

// checkIOMMU looks at how the kernel translates the addresses of devices. Warns unless it is off or passes them through (identity), since
// translation costs transfers between GPUs and host. Takes the wanted type.
func checkIOMMU(r Request, want any) (Check, bool) {
	f := r.SUT.OS.Tuning.IOMMU
	if want == nil && f.IsKnown() && len(r.SUT.Accelerators.Items) == 0 && r.SUT.Accelerators.Unknown == "" {
		return Check{}, false
	}
	return matches("The IOMMU", "os.tuning.iommu", f, want, "off", "identity").advised(want, iommuAdvice(want)), true
}

// iommuAdvice is how to boot for a wanted type.
func iommuAdvice(want any) string {
	switch want {
	case "off":
		return "Boot with intel_iommu=off or amd_iommu=off, so that the IOMMU is %v."
	case "DMA":
		return "Boot with iommu.passthrough=0 iommu.strict=1, so that the IOMMU's type is %v."
	case "DMA-FQ":
		return "Boot with iommu.passthrough=0 iommu.strict=0, so that the IOMMU's type is %v."
	}
	return "Boot with iommu=pt, so that the IOMMU's type is %v."
}

// checkASPM looks at the kernel's policy of saving power on PCIe links. Warns of powersave and powersupersave. Takes the wanted policy.
func checkASPM(r Request, want any) (Check, bool) {
	if f := r.SUT.OS.Tuning.ASPM; want == nil && !f.IsKnown() {
		return Check{}, false // a kernel without it saves nothing
	}
	return matches("The power policy of PCIe links", "os.tuning.aspm", r.SUT.OS.Tuning.ASPM, want, "default", "performance").advised(want, "echo %v > /sys/module/pcie_aspm/parameters/policy"), true
}

// checkTaint looks at why the kernel calls itself tainted. Fails after a machine check, an oops or a soft lockup.
func checkTaint(r Request) (Check, bool) {
	f := r.SUT.OS.Taint
	if !f.IsKnown() {
		return unclear(f.Reason()), true
	}
	for _, why := range f.Value {
		switch why {
		case "machine_check", "died", "oops", "soft_lockup":
			return fail("Something went wrong in the kernel since the boot: "+why+".", show("os.taint", f)), true
		}
	}
	return ok("The kernel ran without a fault since the boot.", show("os.taint", f)), true
}

// checkPowerSupplies looks at what the BMC says of the power supplies. Fails when one is critical, and warns of another state than OK.
func checkPowerSupplies(r Request) (Check, bool) {
	list := r.SUT.Power.Supplies
	if list.Unknown != "" {
		return unclear(list.Unknown), true
	}
	state, evidence := OK, []string{}
	for _, p := range list.Items {
		health, told := p.Health.Get()
		switch {
		case !told:
			state = worse(state, Unknown)
		case strings.EqualFold(health, "critical"):
			state = Fail
		case !strings.EqualFold(health, "ok"):
			state = worse(state, Warn)
		}
		evidence = append(evidence, fmt.Sprintf("%s: %s", brief(p.Name), brief(p.Health)))
	}
	switch state {
	case Unknown:
		return unclear("a power supply does not tell its health", evidence...), true
	case OK:
		return ok(fmt.Sprintf("All %d power supplies are in order.", len(list.Items)), evidence...), len(list.Items) > 0
	}
	return Check{State: state, Text: "A power supply is not in order.", Evidence: evidence}, true
}
