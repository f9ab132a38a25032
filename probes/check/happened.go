package check

import (
	"fmt"
	"slices"
	"strings"

	"assay/probes/sut"
)

// throttledShare is the part of the time between two looks from which throttling is told.
const throttledShare = 0.01

// happened tells what went on between two looks at a machine: counters that grew, processes that came.
func happened(before, after sut.SUT) []Change {
	var changes []Change
	for i, now := range after.Accelerators.Items {
		key := deviceKey(i, now)
		for j, old := range before.Accelerators.Items {
			if deviceKey(j, old) == key {
				path := "accelerators[" + key + "]."
				changes = slices.Concat(changes, gpuErrors(path, old, now), throttling(path, old, now, after.ProbedAtUS-before.ProbedAtUS), newProcesses(path, old, now), leak(path, old, now))
			}
		}
	}
	changes = slices.Concat(changes, logGrowth(before.OS.KernelLog, after.OS.KernelLog),
		growth("memory_errors", "Uncorrectable memory errors", "memory.edac.uncorrectable", before.Memory.EDAC.Uncorrectable, after.Memory.EDAC.Uncorrectable),
		growth("memory_corrected", "Corrected memory errors", "memory.edac.correctable", before.Memory.EDAC.Correctable, after.Memory.EDAC.Correctable))
	return append(changes, portErrors(before, after)...)
}

// growth tells of a counter that is higher than before; one that is lower began anew.
func growth(code, what, path string, old, now sut.Fact[int64]) []Change {
	a, okA := old.Get()
	b, okB := now.Get()
	if !okA || !okB || b <= a {
		return nil
	}
	return []Change{{code, fmt.Sprintf("%s were counted during the run: %d.", what, b-a), fmt.Sprintf("%s: %d → %d", path, a, b)}}
}

func gpuErrors(path string, old, now sut.Accelerator) []Change {
	const link = "Errors of a GPU's PCIe link"
	e, f := old.LinkErrors, now.LinkErrors
	return slices.Concat(
		growth("gpu_errors", "Uncorrectable errors of a GPU", path+"ras.uncorrectable", old.RAS.Uncorrectable, now.RAS.Uncorrectable),
		growth("memory_corrected", "Corrected errors of a GPU", path+"ras.correctable", old.RAS.Correctable, now.RAS.Correctable),
		growth("gpu_errors", link, path+"link_errors.aer_nonfatal", e.AERNonfatal, f.AERNonfatal),
		growth("gpu_errors", link, path+"link_errors.aer_fatal", e.AERFatal, f.AERFatal),
		growth("pcie_errors", link, path+"link_errors.replays", e.Replays, f.Replays),
		growth("pcie_errors", link, path+"link_errors.recoveries", e.Recoveries, f.Recoveries),
		growth("pcie_errors", link, path+"link_errors.aer_correctable", e.AERCorrectable, f.AERCorrectable),
	)
}

// throttling tells for which part of the time clocks were held down. Power does so at full load and spoils nothing; heat and what comes
// from outside the GPU do.
func throttling(path string, old, now sut.Accelerator, betweenUS int64) []Change {
	var changes []Change
	for _, c := range now.ThrottleCounters.Items {
		i := slices.IndexFunc(old.ThrottleCounters.Items, func(o sut.ThrottleCounter) bool { return o.Reason.Value == c.Reason.Value })
		if i < 0 {
			continue
		}
		share, ok := shareOf(old.ThrottleCounters.Items[i], c, betweenUS)
		if !ok || share <= throttledShare {
			continue
		}
		code := "throttle"
		if isPower(c.Reason.Value) {
			code = "throttle_power"
		}
		text := fmt.Sprintf("Clocks of a GPU were held down for %.3g %% of the time: %s.", 100*share, c.Reason.Value)
		changes = append(changes, Change{code, text, fmt.Sprintf("%sthrottle_counters %s: %d → %d", path, c.Reason.Value, old.ThrottleCounters.Items[i].Ticks.Value, c.Ticks.Value)})
	}
	return changes
}

// isPower tells the reasons that go with full load.
func isPower(reason string) bool {
	return strings.Contains(reason, "power") && !strings.Contains(reason, "brake") || reason == "ppt"
}

// shareOf gives the growth of a counter over the growth of what it is a part of: where it counts µs, of the time between the two looks.
func shareOf(old, now sut.ThrottleCounter, betweenUS int64) (float64, bool) {
	ticks, of := now.Ticks.Value-old.Ticks.Value, now.OfTicks.Value-old.OfTicks.Value
	known := old.OfTicks.IsKnown() && now.OfTicks.IsKnown()
	if old.OfTicks.NA != "" && now.OfTicks.NA != "" {
		of, known = betweenUS, true
	}
	known = known && old.Ticks.IsKnown() && now.Ticks.IsKnown()
	return min(float64(ticks)/float64(max(of, 1)), 1), known && ticks > 0 && of > 0
}

// newProcesses tells of programs that took a GPU since the last look.
func newProcesses(path string, old, now sut.Accelerator) []Change {
	if old.Processes.Unknown != "" || now.Processes.Unknown != "" {
		return nil
	}
	var came []string
	for _, p := range now.Processes.Items {
		known := slices.ContainsFunc(old.Processes.Items, func(o sut.GPUProcess) bool { return o.PID.Value == p.PID.Value })
		if !known && !IsMonitor(p.Name.Value) {
			came = append(came, processName(p))
		}
	}
	if len(came) == 0 {
		return nil
	}
	return []Change{{"process", "A program took a GPU during the run: " + strings.Join(came, ", ") + ".",
		fmt.Sprintf("%sprocesses: %d → %d", path, len(old.Processes.Items), len(now.Processes.Items))}}
}

func processName(p sut.GPUProcess) string {
	return fmt.Sprintf("%s (pid %s)", brief(p.Name), brief(p.PID))
}

// leak tells of memory that nobody holds any more and that was not given back: more than a hundredth of the whole.
func leak(path string, old, now sut.Accelerator) []Change {
	idle := len(old.Processes.Items)+len(now.Processes.Items) == 0 && old.Processes.Unknown+now.Processes.Unknown == ""
	a, okA := old.VRAMUsedBytes.Get()
	b, okB := now.VRAMUsedBytes.Get()
	total, okT := now.VRAMBytes.Get()
	if !idle || !okA || !okB || !okT || (b-a)*100 <= total {
		return nil
	}
	return []Change{{"vram_leak", "Memory of a GPU stays in use, though no process holds it.", fmt.Sprintf("%svram_used_bytes: %d → %d", path, a, b)}}
}

// logGrowth tells of faults that the kernel logged since the last look.
func logGrowth(old, now sut.List[sut.LogEvent]) []Change {
	var changes []Change
	if old.Unknown != "" || now.Unknown != "" {
		return nil
	}
	for _, e := range now.Items {
		was := 0
		for _, o := range old.Items {
			if o.Code.Value == e.Code.Value && o.Device.Value == e.Device.Value {
				was = o.Count.Value
			}
		}
		if e.Count.Value > was {
			changes = append(changes, Change{"kernel_log", fmt.Sprintf("The kernel logged a fault during the run: %s.", e.Code.Value),
				fmt.Sprintf("os.kernel_log %s: %d → %d: %s", e.Code.Value, was, e.Count.Value, e.Line.Value)})
		}
	}
	return changes
}

// portErrors tells of links that went down for a moment.
func portErrors(before, after sut.SUT) []Change {
	var changes []Change
	for _, now := range after.Network.InfiniBand.Items {
		for _, old := range before.Network.InfiniBand.Items {
			if old.Name.Value == now.Name.Value && now.Name.IsKnown() {
				path := "network.infiniband[" + now.Name.Value + "].counters."
				changes = append(changes, growth("link_downed", "Losses of a network link", path+"link_downed", old.Counters.LinkDowned, now.Counters.LinkDowned)...)
			}
		}
	}
	return changes
}

// Settled gives a SUT with the GPU processes of a later look: those that a server just started are its own, and new ones are somebody's
// who came after.
func Settled(before, now sut.SUT) sut.SUT {
	before.Accelerators.Items = slices.Clone(before.Accelerators.Items)
	for i := range before.Accelerators.Items {
		for j, a := range now.Accelerators.Items {
			if deviceKey(j, a) == deviceKey(i, before.Accelerators.Items[i]) {
				before.Accelerators.Items[i].Processes = a.Processes
			}
		}
	}
	return before
}
