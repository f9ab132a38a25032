package check

import (
	"fmt"

	"assay/probes/host"
	"assay/probes/sut"
)

// checkECC looks at error correction of GPU memory. Warns when it is off.
func checkECC(r Request) (Check, bool) {
	return eachGPU(r.SUT, "ECC is on.", "ECC is off", func(i int, a sut.Accelerator) gpuVerdict {
		return gpuFact(i, "ecc", a.ECC, warnUnless)
	})
}

// checkGPUErrors looks at the errors that GPUs count since their driver started. Fails on uncorrectable ones; corrected ones are told, and
// their growth over a point is listed with it. A GPU whose ECC is off counts none.
func checkGPUErrors(r Request) (Check, bool) {
	return eachGPU(r.SUT, "No GPU counts uncorrectable errors.", "Uncorrectable errors were counted", func(i int, a sut.Accelerator) gpuVerdict {
		if on, told := a.ECC.Get(); told && !on && !a.RAS.Uncorrectable.IsKnown() {
			return gpuVerdict{state: OK, evidence: show(gpuPath(i, "ecc"), a.ECC) + ", so that nothing is counted"}
		}
		v := gpuFact(i, "ras.uncorrectable", a.RAS.Uncorrectable, func(n int64) State { return failUnless(n == 0) })
		if n, known := a.RAS.FabricUncorrectable.Get(); known && n > 0 {
			v = v.and(gpuVerdict{state: Fail, evidence: show(gpuPath(i, "ras.fabric_uncorrectable"), a.RAS.FabricUncorrectable)})
		}
		v.evidence += "; " + show(gpuPath(i, "ras.correctable"), a.RAS.Correctable)
		return v
	})
}

// manyPages is how many retired pages AMD's own tools take for the end of a device's memory.
const manyPages = 128

// checkBadPages looks at memory that was taken out of use. Fails where pages or rows wait for a reset to be replaced, where that failed, and
// from 128 retired pages on; warns of fewer.
func checkBadPages(r Request) (Check, bool) {
	return eachGPU(r.SUT, "No page of GPU memory is retired or waits to be.", "Memory is retired, or waits to be", func(i int, a sut.Accelerator) gpuVerdict {
		v := gpuFact(i, "ras.bad_pages", a.RAS.BadPages, func(n int) State {
			switch {
			case n >= manyPages:
				return Fail
			case n > 0:
				return Warn
			}
			return OK
		})
		if n, known := a.RAS.PendingPages.Get(); known {
			v = v.and(gpuVerdict{state: failUnless(n == 0), evidence: show(gpuPath(i, "ras.pending_pages"), a.RAS.PendingPages)})
		}
		if failed, known := a.RAS.RemapFailed.Get(); known {
			v = v.and(gpuVerdict{state: failUnless(!failed), evidence: show(gpuPath(i, "ras.remap_failed"), a.RAS.RemapFailed)})
		}
		return v
	})
}

// checkRecovery asks the driver whether a GPU needs a reset, a reboot or a drain. Fails when it does.
func checkRecovery(r Request) (Check, bool) {
	return eachGPU(r.SUT, "No GPU asks to be reset.", "The driver asks for a recovery", func(i int, a sut.Accelerator) gpuVerdict {
		return gpuFact(i, "ras.recovery_action", a.RAS.RecoveryAction, func(action string) State { return failUnless(action == "none") })
	})
}

// idleVRAM is what drivers keep of a GPU's memory when nothing runs (MI300X: 286 MiB).
const idleVRAM = 300 << 20

// checkVRAMFree looks at GPU memory in use while nothing should use it. Fails above 300 MiB or 1 % of the memory, whichever is more. Takes
// the least free GiB of each GPU, and fails below.
func checkVRAMFree(r Request, want any) (Check, bool) {
	least, isNumber := atLeast(want, 0)
	if !isNumber {
		return misfit(want, "the least free GiB"), true
	}
	return eachGPU(r.SUT, "The memory of the GPUs is free.", "Memory is in use", func(i int, a sut.Accelerator) gpuVerdict {
		v := unknownFact(i, "vram_used_bytes", a.VRAMUsedBytes)
		used, known := a.VRAMUsedBytes.Get()
		total, sized := a.VRAMBytes.Get()
		switch {
		case a.VRAMUsedBytes.NA != "" || a.VRAMBytes.NA != "":
			v.state = OK
		case !known || !sized:
		case want != nil:
			v.state = failUnless(float64(total-used) >= least*gib)
		default:
			v.state = failUnless(used <= max(idleVRAM, total/100))
		}
		v.evidence += " of " + brief(a.VRAMBytes)
		return v
	})
}

// checkMemoryErrors looks at what the host's memory controllers count since they were loaded. Fails on uncorrectable errors; corrected ones
// are told.
func checkMemoryErrors(r Request) (Check, bool) {
	e := r.SUT.Memory.EDAC
	evidence := []string{show("memory.edac.uncorrectable", e.Uncorrectable), show("memory.edac.correctable", e.Correctable)}
	switch n, known := e.Uncorrectable.Get(); {
	case e.Uncorrectable.NA != "":
		return Check{}, false
	case !known:
		return unclear(e.Uncorrectable.Reason(), evidence...), true
	case n > 0:
		return fail(fmt.Sprintf("%d uncorrectable memory errors since the boot.", n), evidence...), true
	}
	return ok("No uncorrectable memory error since the boot.", evidence...), true
}

// checkMemory compares what the system sees with what is installed (warns below 95 %), and with what a control group allows. Takes the
// least GiB, and fails below.
func checkMemory(r Request, want any) (Check, bool) {
	f, tuning := r.SUT.Memory.Bytes, r.SUT.OS.Tuning
	if !f.IsKnown() {
		return unclear(f.Reason()), true
	}
	evidence := []string{show("memory.bytes", f), show("memory.installed_bytes", r.SUT.Memory.InstalledBytes)}
	least, isNumber := atLeast(want, 0)
	installed, known := r.SUT.Memory.InstalledBytes.Get()
	limit, limited := tuning.CgroupBytes.Get()
	switch {
	case !isNumber:
		return misfit(want, "the least GiB"), true
	case float64(f.Value) < least*gib:
		return fail(fmt.Sprintf("%s of memory, but the plan wants %g GiB.", host.SizeText(f.Value), least), evidence...), true
	case want == nil && known && float64(f.Value) < 0.95*float64(installed):
		return warn(fmt.Sprintf("%s of memory, but %s are installed.", host.SizeText(f.Value), host.SizeText(installed)), evidence...), true
	case want == nil && limited && limit < f.Value:
		return warn("A control group limits memory to "+host.SizeText(limit)+".", show("os.tuning.cgroup_bytes", tuning.CgroupBytes)).because("Run assay outside of the limited control group."), true
	}
	return ok(host.SizeText(f.Value)+" of memory.", evidence...), true
}
