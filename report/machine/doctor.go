package machine

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/probes"
	"assay/report/figure"
)

// nameWidth is the room of a check's id.
const nameWidth = 18

// belowText is what stands before a line that goes with a check's sentence.
const belowText = "                       "

// WriteChecks writes readiness checks like a doctor's report: what is wrong, each with what was seen and what to do; what is not known
// and why; what is fine; and whether the machine is fit to measure.
func WriteChecks(w io.Writer, checks []probes.Check) {
	if len(checks) == 0 {
		fmt.Fprintln(w, "no checks")
		return
	}
	parts := []struct {
		title  string
		states []probes.CheckState
		write  func(io.Writer, probes.Check)
	}{
		{"WRONG", []probes.CheckState{probes.CheckFail, probes.CheckWarn}, writeWrong},
		{"NOT KNOWN", []probes.CheckState{probes.CheckUnknown}, nil},
		{"FINE", []probes.CheckState{probes.CheckOK}, writeCheck},
	}
	for _, p := range parts {
		some := slices.DeleteFunc(SortedChecks(checks), func(c probes.Check) bool { return !slices.Contains(p.states, c.State) })
		if len(some) == 0 {
			continue
		}
		fmt.Fprintln(w, p.title)
		if p.write == nil {
			writeUnknown(w, some)
		}
		for _, c := range some {
			if p.write != nil {
				p.write(w, c)
			}
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s (%s)\n", Fitness(checks), CheckCounts(checks))
}

// Fitness says in one sentence or two whether a machine is fit to measure, and how much of it was not seen.
func Fitness(checks []probes.Check) string {
	counts := map[probes.CheckState]int{}
	for _, c := range checks {
		counts[c.State]++
	}
	if counts[probes.CheckFail] > 0 {
		return "Not fit to measure."
	}
	text := "Fit to measure"
	if blind := counts[probes.CheckUnknown]; blind > 0 {
		text = fmt.Sprintf("Fit, as far as seen: %d of %s could not see", blind, figure.Plural(len(checks), "check"))
	}
	if counts[probes.CheckWarn] > 0 {
		text += "; what is wrong will stand in the result"
	}
	return text + "."
}

func writeCheck(w io.Writer, c probes.Check) {
	marks := map[probes.CheckState]string{probes.CheckOK: "✓", probes.CheckWarn: "!", probes.CheckFail: "✗", probes.CheckUnknown: "?"}
	fmt.Fprint(w, Fold(fmt.Sprintf("  %s %-*s %s", marks[c.State], nameWidth, c.ID, c.Text), belowText))
}

// writeWrong writes a check with what to do and what was seen; the GPUs of a machine often show the same many times.
func writeWrong(w io.Writer, c probes.Check) {
	const shown = 3
	writeCheck(w, c)
	if c.Hint != "" {
		fmt.Fprint(w, Fold(belowText+"do:  "+c.Hint, belowText+"     "))
	}
	for _, e := range c.Evidence[:min(shown, len(c.Evidence))] {
		fmt.Fprint(w, Fold(belowText+"saw: "+e, belowText+"     "))
	}
	if more := len(c.Evidence) - shown; more > 0 {
		fmt.Fprintf(w, "%ssaw: and %d more (--json)\n", belowText, more)
	}
}

// writeUnknown writes what is not known: checks that one cause blinds together, and at the end once what is to be done about which.
func writeUnknown(w io.Writer, checks []probes.Check) {
	texts, byText := grouped(checks, func(c probes.Check) string { return c.Text })
	for _, text := range texts {
		ids := byText[text]
		if len(ids) == 1 {
			writeCheck(w, probes.Check{ID: ids[0], State: probes.CheckUnknown, Text: text})
			continue
		}
		fmt.Fprint(w, Fold("  ? "+strings.Join(ids, ", "), "    "))
		fmt.Fprint(w, Fold(belowText+text, belowText))
	}
	hints, byHint := grouped(checks, func(c probes.Check) string { return c.Hint })
	for _, hint := range hints {
		if hint != "" {
			fmt.Fprint(w, Fold(fmt.Sprintf("  do: %s (%s)", hint, strings.Join(byHint[hint], ", ")), "      "))
		}
	}
}

// grouped gives the ids of checks by something that they say, and what they say in order.
func grouped(checks []probes.Check, by func(probes.Check) string) (order []string, ids map[string][]string) {
	ids = map[string][]string{}
	for _, c := range checks {
		key := by(c)
		if ids[key] == nil {
			order = append(order, key)
		}
		ids[key] = append(ids[key], c.ID)
	}
	return order, ids
}
