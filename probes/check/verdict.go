package check

import (
	"fmt"
	"slices"
	"strings"

	"assay/probes/sut"
)

func ok(text string, evidence ...string) Check {
	return Check{State: OK, Text: text, Evidence: evidence}
}

func warn(text string, evidence ...string) Check {
	return Check{State: Warn, Text: text, Evidence: evidence}
}

func fail(text string, evidence ...string) Check {
	return Check{State: Fail, Text: text, Evidence: evidence}
}

// unclear is the answer of a rule whose fact is not known.
func unclear(reason string, evidence ...string) Check {
	return Check{State: Unknown, Text: "Not known: " + strings.TrimSuffix(reason, ".") + ".", Evidence: evidence, Hint: remedy(reason)}
}

// remedy says what would make a fact known, by the reason why it is not.
func remedy(reason string) string {
	switch {
	case strings.Contains(reason, "neither the PCI bus"):
		return "Run assay where it can read /sys, or set the check to ignore in the plan."
	case strings.Contains(reason, "needs root") || strings.Contains(reason, "not readable by this user"):
		return "Run assay as root, or set the check to ignore in the plan."
	case strings.Contains(reason, "not found") || strings.Contains(reason, "not installed"):
		return "Install the program that is missing, or set the check to ignore in the plan."
	}
	return "Where this machine cannot tell it, set the check to ignore in the plan."
}

// because gives a check another thing to do than its rule's.
func (c Check) because(hint string) Check {
	c.Hint = hint
	return c
}

func failUnless(good bool) State {
	if good {
		return OK
	}
	return Fail
}

func warnUnless(good bool) State {
	if good {
		return OK
	}
	return Warn
}

// rank orders states by how much they ask of a reader.
func (s State) rank() int { return slices.Index([]State{OK, Unknown, Warn, Fail}, s) }

// worse gives the state that asks for more.
func worse(a, b State) State {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

// show writes a fact as evidence: "accelerators[0].power_cap_w = 200 (…/power1_cap)".
func show[T any](name string, f sut.Fact[T]) string {
	switch {
	case f.NA != "":
		return name + " does not apply: " + f.NA
	case !f.IsKnown():
		return name + " is not known: " + f.Reason()
	}
	return fmt.Sprintf("%s = %v (%s)", name, f.Value, f.Source)
}

// brief is a fact's value alone.
func brief[T any](f sut.Fact[T]) string {
	if !f.IsKnown() {
		return "unknown"
	}
	return fmt.Sprint(f.Value)
}

// matches compares a known text with the wanted one or with those that are good by default. What names the fact in a sentence that goes
// on with "is".
func matches(what, path string, f sut.Fact[string], want any, good ...string) Check {
	if want != nil {
		good = []string{fmt.Sprint(want)}
	}
	if !f.IsKnown() {
		return unclear(f.Reason(), show(path, f))
	}
	if slices.Contains(good, f.Value) {
		return ok(fmt.Sprintf("%s is %s.", what, f.Value), show(path, f))
	}
	return warn(fmt.Sprintf("%s is %s, not %s.", what, f.Value, strings.Join(good, " or ")), show(path, f))
}

// advised gives a check that compares with a wanted value the advice for that value, in place of its rule's for the default; form has its place.
func (c Check) advised(want any, form string) Check {
	if want == nil || c.State != Warn && c.State != Fail {
		return c
	}
	return c.because(fmt.Sprintf(form, want))
}
