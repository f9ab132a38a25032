package machine

import (
	"slices"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

const (
	cpufreq = cpuDir + "/cpufreq"
	mostKHz = 100_000_000 // no processor has more; all ones of 32 bits are above it
)

// fillFrequency reads who sets the frequency of the CPUs, and within what limits.
func fillFrequency(h host.Host, c *sut.CPU) {
	c.Governor = policyText(h, "scaling_governor")
	c.FrequencyDriver = policyText(h, "scaling_driver")
	c.EPP = readEPP(h, c.FrequencyDriver)
	c.Boost = readBoost(h)
	c.BaseMHz = readBase(h)
	c.MaxMHz = policyMHz(h, "cpuinfo_max_freq", slices.Max[[]int])
	c.LimitMHz = policyMHz(h, "scaling_max_freq", slices.Min[[]int])
}

// readEPP reads what the processor is told to prefer; drivers that set frequencies themselves have no such file.
func readEPP(h host.Host, driver sut.Fact[string]) sut.Fact[string] {
	const file = "energy_performance_preference"
	epp := policyText(h, file)
	policies := h.Match(cpufreq, "policy[0-9]*")
	if !epp.IsKnown() && len(policies) > 0 && h.Absent(policies[0]+"/"+file) {
		return sut.NA[string]("the driver " + driver.Value + " has no such preference")
	}
	return epp
}

// policyValues gives what each policy says, and where, or a fact that says why none does.
func policyValues(h host.Host, file string) (values []string, none sut.Fact[string]) {
	policies := h.Match(cpufreq, "policy[0-9]*")
	for _, policy := range policies {
		if v, known := host.TextFact(h, policy+"/"+file).Get(); known {
			values = append(values, v)
		}
	}
	switch {
	case len(values) > 0:
		return values, none
	case len(policies) > 0:
		return nil, host.TextFact(h, policies[0]+"/"+file)
	case h.IsDir(cpufreq) || h.Absent(cpufreq):
		return nil, sut.NA[string]("the kernel does not control the frequency of these CPUs (no cpufreq policy)")
	}
	return nil, sut.Unknown[string]("%s is not in the capture", cpufreq)
}

// policyText gives what all policies say, with counts when they differ.
func policyText(h host.Host, file string) sut.Fact[string] {
	values, none := policyValues(h, file)
	if len(values) == 0 {
		return none
	}
	return sut.Known(host.Tally(values), cpufreq+"/policy*/"+file)
}

// policyMHz reads frequencies in kHz and picks one of them.
func policyMHz(h host.Host, file string, pick func([]int) int) sut.Fact[int] {
	values, none := policyValues(h, file)
	var khz []int
	for _, v := range values {
		if n, err := strconv.Atoi(v); err == nil && n > 0 && n < mostKHz {
			khz = append(khz, n)
		}
	}
	switch {
	case len(khz) > 0:
		return sut.Known(pick(khz)/1000, cpufreq+"/policy*/"+file)
	case len(values) > 0:
		return sut.Unknown[int]("%s/policy*/%s reads %q", cpufreq, file, values[0])
	}
	return sut.Fact[int]{Unknown: none.Unknown, NA: none.NA}
}

// readBase reads the frequency that the processor holds without boost: from the driver, else from the firmware's table (CPPC).
func readBase(h host.Host) sut.Fact[int] {
	const file = "/acpi_cppc/nominal_freq"
	base := policyMHz(h, "base_frequency", slices.Max[[]int])
	if base.IsKnown() {
		return base
	}
	best := 0
	for _, cpu := range cpuFolders(h) {
		if n, ok := host.IntFact[int](h, cpu.dir+file).Get(); ok {
			best = max(best, n)
		}
	}
	if best > 0 {
		return sut.Known(best, cpuDir+"/cpu*"+file)
	}
	return sut.Unknown[int]("neither the frequency driver nor the firmware (%s) gives it", strings.TrimPrefix(file, "/"))
}

// readBoost tells whether CPUs may run above their base frequency; Intel's driver says the opposite, and new kernels say it for each policy.
func readBoost(h host.Host) sut.Fact[bool] {
	noTurbo := host.TextFact(h, cpuDir+"/intel_pstate/no_turbo")
	boost := sut.First(
		sut.Convert(host.TextFact(h, cpufreq+"/boost"), host.ParseSwitch),
		sut.Convert(noTurbo, func(s string) (bool, error) { off, err := host.ParseSwitch(s); return !off, err }),
		sut.Convert(policyText(h, "boost"), host.ParseSwitch),
	)
	if boost.IsKnown() {
		return boost
	}
	if _, none := policyValues(h, "scaling_governor"); none.NA != "" {
		return sut.NA[bool](none.NA)
	}
	return boost
}
