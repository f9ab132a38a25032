package probes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// rule is a readiness check: what it finds out about a SUT, given the value that the plan wants (nil when none). Where it does not
// apply it gives no check.
type rule struct {
	id  string
	run func(s SUT, want any) (Check, bool)
}

// checks is every rule, in the order they are shown.
func checks() []rule {
	return []rule{
		{"gpu_count", checkGPUCount},
		{"power_cap", checkPowerCap},
		{"throttle", checkThrottle},
		{"ecc", checkECC},
		{"link", checkLink},
		{"idle", checkIdle},
		{"persistence", checkPersistence},
		{"driver_equal", checkDriverEqual},
		{"partition", checkPartition},
		{"governor", checkGovernor},
		{"thp", checkTHP},
		{"numa_balancing", checkNUMABalancing},
		{"swap", checkSwap},
		{"memory", checkMemory},
		{"disk_space", checkDiskSpace},
		{"clock_sync", checkClockSync},
		{"files_limit", checkFilesLimit},
		{"cpu_quota", checkCPUQuota},
		{"virtualization", checkVirtualization},
		{"container_runtime", checkContainerRuntime},
	}
}

// Evaluate applies the checks to a SUT as the plan wants them. A check that does not apply (no GPU) is left out unless it is wanted.
func Evaluate(s SUT, w Wanted) []Check {
	list := []Check{}
	rules := checks()
	for _, r := range rules {
		want, asked := w[r.id]
		if want == "ignore" || want == false {
			continue
		}
		if want == "required" || want == true {
			want = nil
		}
		c, applies := r.run(s, want)
		if !applies {
			if !asked {
				continue
			}
			c = unclear("it does not apply to this machine")
		}
		c.ID = r.id
		if c.Evidence == nil {
			c.Evidence = []string{}
		}
		if asked && (c.State == CheckWarn || c.State == CheckUnknown) {
			c.State = CheckFail
		}
		list = append(list, c)
	}
	return append(list, unknownChecks(w, rules)...)
}

func unknownChecks(w Wanted, rules []rule) []Check {
	var names, list = []string{}, []Check{}
	for _, r := range rules {
		names = append(names, r.id)
	}
	for id := range w {
		if !slices.Contains(names, id) {
			list = append(list, Check{ID: id, State: CheckFail, Text: "unknown check id " + id, Evidence: []string{}, Hint: "The checks are " + strings.Join(names, ", ") + "."})
		}
	}
	slices.SortFunc(list, func(a, b Check) int { return strings.Compare(a.ID, b.ID) })
	return list
}

func ok(text string, evidence ...string) Check {
	return Check{State: CheckOK, Text: text, Evidence: evidence}
}
func warn(hint, text string, evidence ...string) Check {
	return Check{State: CheckWarn, Text: text, Hint: hint, Evidence: evidence}
}
func fail(hint, text string, evidence ...string) Check {
	return Check{State: CheckFail, Text: text, Hint: hint, Evidence: evidence}
}
func unclear(reason string) Check {
	return Check{State: CheckUnknown, Text: "Not known: " + reason + ".", Hint: "Run as root on the host, or set this check to ignore in the plan."}
}

// misfit is a wanted value that a check cannot compare with.
func misfit(want any, expects string) Check {
	return fail("Correct it under checks in the plan.", fmt.Sprintf("The plan wants %v, but this check takes %s.", want, expects))
}

// number takes the wanted value as a number, as YAML, JSON and --set give it.
func number(want any) (float64, bool) {
	switch v := want.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	case string:
		f, err := strconv.ParseFloat(v, 64)
		return f, err == nil
	}
	return 0, false
}

// show writes a fact as evidence: "accelerators[0].power_cap_w = 200 (…/power1_cap)".
func show[T any](name string, f Fact[T]) string {
	switch {
	case f.NA != "":
		return name + " does not apply: " + f.NA
	case !f.IsKnown():
		return name + " is not known: " + f.Reason()
	}
	return fmt.Sprintf("%s = %v (%s)", name, f.Value, f.Source)
}

// matches compares a known fact with a wanted text or with what is good by default.
func matches(name string, f Fact[string], want any, good []string, hint string) Check {
	if want != nil {
		good = []string{fmt.Sprint(want)}
	}
	if !f.IsKnown() {
		return unclear(f.Reason())
	}
	if slices.Contains(good, f.Value) {
		return ok(fmt.Sprintf("%s is %s.", name, f.Value), show(name, f))
	}
	text := fmt.Sprintf("%s is %s, not %s.", name, f.Value, strings.Join(good, " or "))
	if want != nil {
		return fail(hint, text, show(name, f))
	}
	return warn(hint, text, show(name, f))
}
