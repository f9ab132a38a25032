package external

import (
	"cmp"
	"slices"
	"strings"

	"assay/fault"
	"assay/plan"
)

// can tells whether the tool has an ability; none has none.
func (t Tool) can(a Ability) bool { return slices.Contains(t.Can, a) }

// Check refuses a plan of which the tool cannot do a part: it would measure something else.
func (t Tool) Check(p plan.Plan) error {
	var cannot, keys []string
	var lacking []Ability
	for _, n := range needs(p) {
		if t.can(n.takes) {
			continue
		}
		lacking, keys = append(lacking, n.takes), append(keys, n.key)
		cannot = append(cannot, n.key+" ("+cmp.Or(string(n.takes), n.words)+")")
	}
	if len(cannot) == 0 {
		return nil
	}
	return refusal(t, strings.Join(cannot, ", "), "change "+strings.Join(slices.Compact(keys), ", ")+", or take another client.kind: "+strings.Join(others(lacking), ", "))
}

// refusal is the fault of a plan that the tool cannot do.
func refusal(t Tool, what, hint string) error {
	return fault.New(fault.Plan, "client_cannot", hint, "the client %s cannot do all that the plan asks: %s", t.Kind, what)
}

// others are the clients that can do all of it; the native one always can.
func others(lacking []Ability) []string {
	out := []string{"native"}
	for _, t := range Tools() {
		if !slices.ContainsFunc(lacking, func(a Ability) bool { return !t.can(a) }) {
			out = append(out, t.Kind)
		}
	}
	return out
}
