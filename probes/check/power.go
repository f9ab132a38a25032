package check

import (
	"fmt"
	"strings"

	"assay/probes/sut"
)

// checkPowerCap compares the limit in force with the factory's, not with the highest allowed. Warns when they differ. Takes "default" or
// watts, and fails on another limit.
func checkPowerCap(r Request, want any) (Check, bool) {
	if want != nil && want != "default" {
		watts, isNumber := number(want)
		if !isNumber {
			return misfit(want, `"default" or watts`), true
		}
		good, bad := fmt.Sprintf("Every GPU has the power cap of %g W.", watts), fmt.Sprintf("The power cap is not %g W", watts)
		return eachGPU(r.SUT, good, bad, func(i int, a sut.Accelerator) gpuVerdict {
			return gpuFact(i, "power_cap_w", a.PowerCapW, func(v float64) State { return failUnless(v == watts) })
		})
	}
	return eachGPU(r.SUT, "Every GPU has its default power cap.", "The power cap differs from the default", func(i int, a sut.Accelerator) gpuVerdict {
		v := gpuFact(i, "power_default_w", a.PowerDefaultW, func(limit float64) State {
			if !a.PowerCapW.IsKnown() {
				return Unknown
			}
			return warnUnless(a.PowerCapW.Value == limit)
		})
		v.evidence = show(gpuPath(i, "power_cap_w"), a.PowerCapW) + "; " + v.evidence
		return v
	})
}

// checkThrottle looks at why clocks are held down at this moment, and where a GPU counts instead, for which part of the time since its
// driver started. Fails on reasons that never belong to a machine at rest (hardware slowdown, power brake, heat) and warns of others, such
// as running into the power cap; warns of counted heat and power brakes above 1 %. What is counted over a point stands with it as drift.
func checkThrottle(r Request) (Check, bool) {
	return eachGPU(r.SUT, "No GPU is throttled.", "Clocks are held down", func(i int, a sut.Accelerator) gpuVerdict {
		if a.Throttle.Unknown != "" {
			return counted(i, a)
		}
		v := gpuVerdict{state: OK, evidence: fmt.Sprintf("%s = [%s]", gpuPath(i, "throttle"), strings.Join(a.Throttle.Items, " "))}
		for _, reason := range a.Throttle.Items {
			v.state = worse(v.state, throttled(reason))
		}
		return v
	})
}

func throttled(reason string) State {
	if strings.HasPrefix(reason, "hw_") || strings.Contains(reason, "thermal") || reason == "prochot" { // a signal that a part is too hot
		return Fail
	}
	return Warn
}

// counted judges the counters of a GPU that does not tell the moment's reasons.
func counted(i int, a sut.Accelerator) gpuVerdict {
	if a.ThrottleCounters.Unknown != "" || len(a.ThrottleCounters.Items) == 0 {
		return gpuVerdict{Unknown, gpuPath(i, "throttle") + " is not known: " + a.Throttle.Unknown, a.Throttle.Unknown}
	}
	v := gpuVerdict{state: OK}
	var shares []string
	for _, c := range a.ThrottleCounters.Items {
		share, told := shareOf(sut.ThrottleCounter{Reason: c.Reason, Ticks: sut.Known[int64](0, "start"), OfTicks: sut.Known[int64](0, "start")}, c, 0)
		if told && share > throttledShare && !isPower(c.Reason.Value) {
			v.state = Warn
		}
		shares = append(shares, fmt.Sprintf("%s %.3g %%", c.Reason.Value, 100*share))
	}
	v.evidence = fmt.Sprintf("%s since the driver started: %s", gpuPath(i, "throttle_counters"), strings.Join(shares, ", "))
	return v
}

// checkClocks looks at who chooses the clocks of the GPUs. Warns when it is not the driver (auto). Takes the least MHz that the engine clock
// must be able to reach, and fails below.
func checkClocks(r Request, want any) (Check, bool) {
	least, isNumber := atLeast(want, 0)
	if !isNumber {
		return misfit(want, "the least MHz that the clock must reach"), true
	}
	return eachGPU(r.SUT, "The driver chooses the clocks.", "Clocks are held by hand, or cannot go as high as wanted", func(i int, a sut.Accelerator) gpuVerdict {
		v := gpuFact(i, "perf_level", a.PerfLevel, func(level string) State { return warnUnless(level == "auto") })
		if want != nil {
			v = gpuFact(i, "clocks.gfx_max_mhz", a.Clocks.GfxMaxMHz, func(most float64) State { return failUnless(most >= least) })
		}
		return v
	})
}

// Temperatures that a GPU at rest stays below, and how near to its limit a GPU may come.
const (
	restHotspotC = 60
	restMemoryC  = 70
	nearLimitC   = 5
)

// checkTemperature looks at how warm the GPUs are at rest. Warns from 60 °C (hottest spot, or the one sensor) or 70 °C (memory) on, and fails
// within 5 °C of the limit at which the GPU slows down. Takes the highest °C of the hottest spot.
func checkTemperature(r Request, want any) (Check, bool) {
	most, isNumber := atLeast(want, restHotspotC)
	if !isNumber {
		return misfit(want, "the highest °C"), true
	}
	return eachGPU(r.SUT, "The GPUs are cool.", "Warm", func(i int, a sut.Accelerator) gpuVerdict {
		t := a.Temperatures
		hottest, limit := t.HotspotC, t.HotspotLimitC
		if !hottest.IsKnown() {
			hottest, limit = t.EdgeC, t.EdgeLimitC
		}
		v := gpuFact(i, "temperatures", hottest, func(c float64) State {
			return worse(warnUnless(c < most), failUnless(farFrom(c, limit) && (!t.MarginC.IsKnown() || t.MarginC.Value > nearLimitC)))
		})
		if c, known := t.MemC.Get(); known {
			v = v.and(gpuVerdict{state: worse(warnUnless(c < restMemoryC), failUnless(farFrom(c, t.MemLimitC))), evidence: show(gpuPath(i, "temperatures.mem_c"), t.MemC)})
		}
		return v
	})
}

// farFrom tells whether a temperature keeps its distance from a limit; a limit that is not known is far.
func farFrom(c float64, limit sut.Fact[float64]) bool {
	return !limit.IsKnown() || c < limit.Value-nearLimitC
}
