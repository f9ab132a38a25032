package plan

import (
	"reflect"

	"assay/plan/syntax"
)

// Parse reads a plan, fills its defaults and validates it. Every fault of the plan is a *fault.Fault of layer plan that names
// the place and what to do; several faults are listed in one error.
func Parse(b []byte) (Plan, error) { return ParseSet(b, nil) }

// ParseSet is Parse with overrides: each of sets is path=value, as in "server.args.0=x" or
// "protocol.sweep.concurrency=1,2,4", and is applied before defaults and validation.
func ParseSet(b []byte, sets []string) (Plan, error) {
	root, found := syntax.Parse(b)
	if err := found.Err(); err != nil {
		return Plan{}, err
	}
	var p Plan
	d := decoder{places: map[string]syntax.Place{}}
	d.value(root, reflect.ValueOf(&p).Elem(), "")
	for _, s := range sets {
		d.override(reflect.ValueOf(&p).Elem(), s)
	}
	if err := d.problems.Err(); err != nil {
		return Plan{}, err
	}
	fillDefaults(&p, d.places)
	v := validator{places: d.places}
	v.plan(p)
	if err := v.problems.Err(); err != nil {
		return Plan{}, err
	}
	return p, nil
}
