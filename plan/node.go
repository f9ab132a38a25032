package plan

import (
	"reflect"

	"assay/plan/keys"
)

// typeName says what a value of type t is, for a message.
func typeName(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[Duration]():
		return "a duration such as 30s or 20m"
	case t == reflect.TypeFor[Length]():
		return "a number of tokens such as 8192 or 8k"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Uint64:
		return "a whole number from 0 to 2^64-1"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "a section with keys"
	}
	return "a text"
}

// homeOf finds the section that has a key of this name when there is exactly one; "" otherwise.
func homeOf(name string) string {
	var homes []string
	eachSection(reflect.TypeFor[Plan](), "", func(path string, t reflect.Type) {
		if _, ok := keys.Named(t, name); ok {
			homes = append(homes, path)
		}
	})
	if len(homes) != 1 {
		return ""
	}
	if homes[0] == "" {
		return "the plan's top level"
	}
	return homes[0]
}

// eachSection calls visit for t and every section below it, in the order of the fields; items of lists of sections have
// the list's path.
func eachSection(t reflect.Type, path string, visit func(path string, t reflect.Type)) {
	visit(path, t)
	for _, k := range keys.Of(t) {
		inner := k.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			eachSection(inner, keys.Join(path, k.Name), visit)
		}
	}
}
