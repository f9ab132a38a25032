package syntax

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/fault"
)

// Place is where something stands: in the plan's text, or in an override.
type Place struct {
	Line, Column int
	Set          string // path of the override; "" for the plan's text
}

func (p Place) String() string {
	if p.Set != "" {
		return "override " + p.Set
	}
	return fmt.Sprintf("line %d, column %d", p.Line, p.Column)
}

// Problem is one thing wrong with a plan.
type Problem struct {
	At   Place  // zero when no place of the text can be named
	Path string // key that breaks a rule; "" for faults of the text
	Code string
	Text string
	Hint string
}

func (p Problem) String() string {
	text := p.Text
	if runes := []rune(text); len(runes) > 400 { // it may quote a long text of the plan
		text = string(runes[:399]) + "…"
	}
	if p.At == (Place{}) {
		return text
	}
	return p.At.String() + ": " + text
}

// Problems collects what is wrong, so that a person sees all of it at once.
type Problems []Problem

// shown is how many problems an error lists; more would hide the first ones and are not looked for.
const shown = 20

// Full says that more would not be shown.
func (ps Problems) Full() bool { return len(ps) > shown }

// Err makes one error of all problems; nil when there are none.
func (ps Problems) Err() error {
	switch len(ps) {
	case 0:
		return nil
	case 1:
		return fault.New(fault.Plan, ps[0].Code, ps[0].Hint, "%s", ps[0])
	}
	var text strings.Builder
	if ps.Full() {
		fmt.Fprintf(&text, "the plan has more than %d faults:", shown)
	} else {
		fmt.Fprintf(&text, "the plan has %d faults:", len(ps))
	}
	for _, p := range ps[:min(len(ps), shown)] {
		text.WriteString("\n  " + p.String())
	}
	return fault.New(fault.Plan, ps.code(), ps.hint(), "%s", text.String())
}

// Sort puts problems in the order of the text, those of overrides last.
func (ps Problems) Sort() {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.At.Set, b.At.Set), cmp.Compare(a.At.Line, b.At.Line),
			cmp.Compare(a.At.Column, b.At.Column), cmp.Compare(a.Path, b.Path))
	})
}

// code is the problems' common code, or "invalid".
func (ps Problems) code() string {
	for _, p := range ps {
		if p.Code != ps[0].Code {
			return "invalid"
		}
	}
	return ps[0].Code
}

// hint joins the different hints of the problems that are shown.
func (ps Problems) hint() string {
	seen := map[string]bool{"": true}
	var hints []string
	for _, p := range ps[:min(len(ps), shown)] {
		if !seen[p.Hint] {
			seen[p.Hint] = true
			hints = append(hints, p.Hint)
		}
	}
	return strings.Join(hints, "\n")
}
