package check

import (
	"fmt"
	"slices"
	"strconv"
)

// wish is what a plan says of a check.
type wish struct {
	ignored  bool // leave it out
	required bool // a warning or an unknown refuses the run; also when only a value is named
	relaxed  bool // a failure is a warning
	value    any  // what the rule compares with; nil when the plan names none
}

// wishOf reads a plan's word (required, relaxed, ignore, true, false), its value, or a word and a value in a list.
func wishOf(asked any) wish {
	var w wish
	items, isList := asked.([]any)
	if !isList {
		items = []any{asked}
	}
	for _, item := range items {
		switch item {
		case nil:
		case "ignore", false:
			w.ignored = true
		case "required", true:
			w.required = true
		case "relaxed":
			w.relaxed = true
		default:
			w.value = item
		}
	}
	w.required = !w.relaxed && (w.required || w.value != nil)
	return w
}

// Ignored names the checks that are to be left out, in the order of the alphabet.
func (w Wanted) Ignored() []string {
	var ids []string
	for id, asked := range w {
		if wishOf(asked).ignored {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// misfit is a wanted value that a check cannot compare with.
func misfit(want any, expects string) Check {
	c := fail(fmt.Sprintf("The plan wants %v, but this check takes %s.", want, expects))
	c.Hint = "Correct it under checks in the plan."
	return c
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

// atLeast gives the plan's number, or the rule's own where it names none.
func atLeast(want any, least float64) (float64, bool) {
	if want == nil {
		return least, true
	}
	return number(want)
}
