package machine

import (
	"fmt"
	"slices"

	"assay/probes"
)

// SortedChecks puts what needs attention first.
func SortedChecks(checks []probes.Check) []probes.Check {
	out := slices.Clone(checks)
	slices.SortStableFunc(out, func(a, b probes.Check) int { return checkRank(a.State) - checkRank(b.State) })
	return out
}

func checkRank(s probes.CheckState) int {
	return slices.Index([]probes.CheckState{probes.CheckFail, probes.CheckWarn, probes.CheckUnknown, probes.CheckOK}, s)
}

// CheckCounts says "1 fail, 2 warn, 9 ok".
func CheckCounts(checks []probes.Check) string {
	counts := map[probes.CheckState]int{}
	for _, c := range checks {
		counts[c.State]++
	}
	s := ""
	for _, state := range []probes.CheckState{probes.CheckFail, probes.CheckWarn, probes.CheckUnknown, probes.CheckOK} {
		if counts[state] == 0 {
			continue
		}
		if s != "" {
			s += ", "
		}
		s += fmt.Sprintf("%d %s", counts[state], state)
	}
	return s
}
