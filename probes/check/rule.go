package check

import "slices"

// Rule is a check of a T, such as a machine or a server: what it finds out about one, given the value that the plan wants (nil when none).
// Where it does not apply it gives no check, or one that says why it is not known. Hint is what to do when it is not ok, where the rule
// itself does not say it better.
type Rule[T any] struct {
	ID   string
	Run  func(of T, want any) (Check, bool)
	Hint string
}

// Fixed is a rule that compares with nothing, so that it cannot do what a value in the plan asks.
func Fixed[T any](run func(T) (Check, bool)) func(T, any) (Check, bool) {
	return func(of T, want any) (Check, bool) {
		if want != nil {
			return misfit(want, "required, relaxed or ignore alone"), true
		}
		return run(of)
	}
}

// Apply holds a T against rules as the plan wants them. A check that does not apply (no GPU) is left out unless it is wanted. What is wanted
// of checks that are not among the rules is passed over.
func Apply[T any](rules []Rule[T], of T, wanted Wanted) []Check {
	list := []Check{}
	for _, rule := range rules {
		asked, isAsked := wanted[rule.ID]
		w := wishOf(asked)
		if w.ignored {
			continue
		}
		c, applies := rule.Run(of, w.value)
		switch {
		case !applies && !isAsked:
			continue
		case !applies && c.State == "":
			c = unclear("it does not apply to this machine")
		}
		c.ID = rule.ID
		list = append(list, w.judge(c, rule.Hint))
	}
	return list
}

// judge gives a rule's answer the weight that the plan lays on it, and what to do.
func (w wish) judge(c Check, hint string) Check {
	if c.Evidence == nil {
		c.Evidence = []string{}
	}
	switch {
	case w.relaxed && c.State == Fail:
		c.State, c.Evidence = Warn, append(slices.Clip(c.Evidence), "the plan relaxes this check, which fails")
	case w.required && (c.State == Warn || c.State == Unknown):
		c.State = Fail
	}
	if c.Hint == "" && (c.State == Warn || c.State == Fail) {
		c.Hint = hint
	}
	return c
}
