package machine

import (
	"fmt"
	"slices"
	"strings"

	"assay/probes"
)

// SortedChecks puts what needs attention first.
func SortedChecks(checks []probes.Check) []probes.Check {
	out := slices.Clone(checks)
	slices.SortStableFunc(out, func(a, b probes.Check) int { return checkRank(a.State) - checkRank(b.State) })
	return out
}

// checkStates is the order in which checks are shown.
func checkStates() []probes.CheckState {
	return []probes.CheckState{probes.CheckFail, probes.CheckWarn, probes.CheckUnknown, probes.CheckOK}
}

func checkRank(s probes.CheckState) int { return slices.Index(checkStates(), s) }

// CheckCounts says "1 fail, 2 warn, 9 ok".
func CheckCounts(checks []probes.Check) string {
	counts := map[probes.CheckState]int{}
	for _, c := range checks {
		counts[c.State]++
	}
	var parts []string
	for _, state := range checkStates() {
		if counts[state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[state], state))
		}
	}
	return strings.Join(parts, ", ")
}
