package probes

import (
	"fmt"
	"strings"
)

// gpuVerdict is what a rule found on one GPU.
type gpuVerdict struct {
	state    CheckState
	evidence string
}

// eachGPU applies a rule to every GPU and takes the worst answer; it does not apply to a machine without any.
func eachGPU(s SUT, good, bad, hint string, look func(i int, a Accelerator) gpuVerdict) (Check, bool) {
	if s.Accelerators.Unknown != "" {
		return unclear(s.Accelerators.Unknown), true
	}
	if len(s.Accelerators.Items) == 0 {
		return Check{}, false
	}
	worst, counts, evidence := CheckOK, map[CheckState]int{}, []string{}
	rank := map[CheckState]int{CheckOK: 0, CheckUnknown: 1, CheckWarn: 2, CheckFail: 3}
	for i, a := range s.Accelerators.Items {
		v := look(i, a)
		counts[v.state]++
		evidence = append(evidence, v.evidence)
		if rank[v.state] > rank[worst] {
			worst = v.state
		}
	}
	n := len(s.Accelerators.Items)
	switch worst {
	case CheckOK:
		return ok(good, evidence...), true
	case CheckUnknown:
		c := unclear(fmt.Sprintf("%d of %d GPUs do not tell", counts[CheckUnknown], n))
		c.Evidence = evidence
		return c, true
	}
	return Check{State: worst, Text: fmt.Sprintf("%s on %d of %d GPUs.", bad, counts[CheckWarn]+counts[CheckFail], n), Hint: hint, Evidence: evidence}, true
}

// gpuFact judges a known fact; one that does not apply to a GPU is fine.
func gpuFact[T any](i int, name string, f Fact[T], judge func(T) CheckState) gpuVerdict {
	v := gpuVerdict{CheckUnknown, show(fmt.Sprintf("accelerators[%d].%s", i, name), f)}
	switch {
	case f.IsKnown():
		v.state = judge(f.Value)
	case f.NA != "":
		v.state = CheckOK
	}
	return v
}

func checkGPUCount(s SUT, want any) (Check, bool) {
	if s.Accelerators.Unknown != "" {
		return unclear(s.Accelerators.Unknown), true
	}
	var evidence []string
	for i, a := range s.Accelerators.Items {
		evidence = append(evidence, show(fmt.Sprintf("accelerators[%d].pci.address", i), a.PCI.Address))
	}
	found := len(s.Accelerators.Items)
	text := fmt.Sprintf("Accelerators: %d.", found)
	if want == nil {
		return ok(text, evidence...), found > 0
	}
	n, isNumber := number(want)
	if !isNumber {
		return misfit(want, "a number"), true
	}
	if float64(found) == n {
		return ok(text, evidence...), true
	}
	return fail("Look for a GPU that fell off the bus (dmesg), a driver that is not loaded, or correct gpu_count.",
		fmt.Sprintf("Accelerators: %d, but the plan wants %v.", found, want), evidence...), true
}

// checkPowerCap compares the limit in force with the factory's, not with the highest allowed; or with the watts that the plan wants.
func checkPowerCap(s SUT, want any) (Check, bool) {
	const hint = "Set the limit back with amd-smi or nvidia-smi, or state the wanted watts as power_cap in the plan."
	if want != nil && want != "default" {
		watts, isNumber := number(want)
		if !isNumber {
			return misfit(want, `"default" or watts`), true
		}
		good, bad := fmt.Sprintf("Every GPU has the power cap of %g W.", watts), fmt.Sprintf("The power cap is not %g W", watts)
		return eachGPU(s, good, bad, hint, func(i int, a Accelerator) gpuVerdict {
			return gpuFact(i, "power_cap_w", a.PowerCapW, func(v float64) CheckState { return failUnless(v == watts) })
		})
	}
	return eachGPU(s, "Every GPU has its default power cap.", "The power cap differs from the default", hint, func(i int, a Accelerator) gpuVerdict {
		v := gpuFact(i, "power_default_w", a.PowerDefaultW, func(limit float64) CheckState {
			if !a.PowerCapW.IsKnown() {
				return CheckUnknown
			}
			return orWarn(a.PowerCapW.Value == limit, want)
		})
		v.evidence = show(fmt.Sprintf("accelerators[%d].power_cap_w", i), a.PowerCapW) + "; " + v.evidence
		return v
	})
}

func failUnless(good bool) CheckState {
	if good {
		return CheckOK
	}
	return CheckFail
}

// orWarn is a warning, or a failure when the plan named a value.
func orWarn(good bool, want any) CheckState {
	switch {
	case good:
		return CheckOK
	case want != nil:
		return CheckFail
	}
	return CheckWarn
}

// checkThrottle fails on reasons that never belong to a machine at rest; running into the power cap is only worth a warning.
func checkThrottle(s SUT, _ any) (Check, bool) {
	const hint = "Check cooling and power supplies; a power brake is asserted from outside the GPU."
	return eachGPU(s, "No GPU is throttled.", "Clocks are held down", hint, func(i int, a Accelerator) gpuVerdict {
		name := fmt.Sprintf("accelerators[%d].throttle", i)
		if a.Throttle.Unknown != "" {
			return gpuVerdict{CheckUnknown, name + " is not known: " + a.Throttle.Unknown}
		}
		v := gpuVerdict{CheckOK, fmt.Sprintf("%s = [%s]", name, strings.Join(a.Throttle.Items, " "))}
		for _, reason := range a.Throttle.Items {
			if strings.HasPrefix(reason, "hw_") || strings.Contains(reason, "thermal") {
				v.state = CheckFail
			} else if v.state == CheckOK {
				v.state = CheckWarn
			}
		}
		return v
	})
}

func checkECC(s SUT, _ any) (Check, bool) {
	return eachGPU(s, "ECC is on.", "ECC is off", "Switch ECC on, or say ecc: ignore if the product has none.", func(i int, a Accelerator) gpuVerdict {
		return gpuFact(i, "ecc", a.ECC, func(on bool) CheckState { return orWarn(on, nil) })
	})
}

// checkLink fails on lost lanes, and warns of a lower rate, which an idle card may show to save power.
func checkLink(s SUT, _ any) (Check, bool) {
	const hint = "Repeat under load; if it stays, reseat the card or the riser."
	return eachGPU(s, "Every GPU runs at its full link.", "The PCIe link is below what the device can", hint, func(i int, a Accelerator) gpuVerdict {
		l := a.Link
		v := gpuVerdict{CheckOK, show(fmt.Sprintf("accelerators[%d].link.gts", i), l.GTS) + "; " + show(fmt.Sprintf("accelerators[%d].link.width", i), l.Width)}
		switch {
		case !l.GTS.IsKnown() || !l.Width.IsKnown() || !l.MaxGTS.IsKnown() || !l.MaxWidth.IsKnown():
			v.state = CheckUnknown
		case l.Width.Value < l.MaxWidth.Value:
			v.state = CheckFail
		case l.GTS.Value < l.MaxGTS.Value:
			v.state = CheckWarn
		}
		v.evidence += "; " + show("max_gts", l.MaxGTS) + "; " + show("max_width", l.MaxWidth)
		return v
	})
}

// checkIdle fails when a process holds a GPU.
func checkIdle(s SUT, _ any) (Check, bool) {
	return eachGPU(s, "No process holds a GPU.", "A process holds a GPU", "Stop it, or wait until it ends.", func(i int, a Accelerator) gpuVerdict {
		name := fmt.Sprintf("accelerators[%d].processes", i)
		if a.Processes.Unknown != "" {
			return gpuVerdict{CheckUnknown, name + " is not known: " + a.Processes.Unknown}
		}
		var names []string
		for _, p := range a.Processes.Items {
			names = append(names, fmt.Sprintf("%s (pid %d)", p.Name.Value, p.PID.Value))
		}
		return gpuVerdict{failUnless(len(names) == 0), fmt.Sprintf("%s = [%s]", name, strings.Join(names, ", "))}
	})
}

func checkPersistence(s SUT, _ any) (Check, bool) {
	const hint = "Enable it (nvidia-persistenced), so that the driver does not start anew between processes."
	return eachGPU(s, "Persistence mode is on where there is one.", "Persistence mode is off", hint, func(i int, a Accelerator) gpuVerdict {
		return gpuFact(i, "persistence", a.Persistence, func(on bool) CheckState { return orWarn(on, nil) })
	})
}

// checkDriverEqual wants one model with one driver, firmware and memory size on all GPUs; or the driver version that the plan names.
func checkDriverEqual(s SUT, want any) (Check, bool) {
	seen := ""
	return eachGPU(s, "All GPUs have the same model, driver, firmware and memory.", "Model, driver, firmware or memory differ", "Bring all GPUs to the same state.", func(i int, a Accelerator) gpuVerdict {
		now := strings.Join([]string{brief(a.PCI.DeviceID), brief(a.DriverVersion), brief(a.VBIOS), brief(a.VRAMBytes)}, ", ")
		v := gpuVerdict{CheckOK, fmt.Sprintf("accelerators[%d]: %s", i, now)}
		if seen == "" {
			seen = now
		}
		switch {
		case !a.DriverVersion.IsKnown():
			v.state = CheckUnknown
		case want != nil:
			v.state = failUnless(a.DriverVersion.Value == fmt.Sprint(want))
		case now != seen:
			v.state = CheckWarn
		}
		return v
	})
}

// brief is a fact's value alone.
func brief[T any](f Fact[T]) string {
	if !f.IsKnown() {
		return "unknown"
	}
	return fmt.Sprint(f.Value)
}

// checkPartition wants whole GPUs, or the mode that the plan names.
func checkPartition(s SUT, want any) (Check, bool) {
	return eachGPU(s, "The GPUs are divided as wanted.", "A GPU is divided otherwise", "Set the partition mode, or name the wanted one as partition in the plan.", func(i int, a Accelerator) gpuVerdict {
		if want != nil {
			return gpuFact(i, "partition.compute", a.Partition.Compute, func(mode string) CheckState { return failUnless(mode == fmt.Sprint(want)) })
		}
		if mode, ok := a.Partition.Compute.Get(); ok && mode == "MIG" {
			return gpuVerdict{CheckWarn, show(fmt.Sprintf("accelerators[%d].partition.compute", i), a.Partition.Compute)}
		}
		return gpuFact(i, "partition.count", a.Partition.Count, func(n int) CheckState { return orWarn(n == 1, nil) })
	})
}
