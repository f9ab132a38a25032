package plan

import (
	"reflect"
	"strconv"
	"strings"
)

// key is one key of a section, with the rules its field's tags state. Parsing, defaults, validation, the schema and the
// written form all go by it.
type key struct {
	Name     string
	Field    string // name of the Go field
	Type     reflect.Type
	Index    int
	Required bool
	Default  string // as a plan would write it; "" when there is none or it depends on other keys
	Enum     []string
	Min, Max *float64
	Longest  int      // characters of a text; 0: no bound. A bounded text is a name, which stands in lists: one line that can be printed
	Above    *float64 // exclusive minimum
}

// keysOf lists the keys of a section's type in the order of its fields.
func keysOf(t reflect.Type) []key {
	keys := make([]key, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		k := key{Name: name, Field: f.Name, Type: f.Type, Index: i}
		for rule := range strings.SplitSeq(f.Tag.Get("jsonschema"), ",") {
			k.apply(rule)
		}
		keys = append(keys, k)
	}
	return keys
}

func (k *key) apply(rule string) {
	name, value, _ := strings.Cut(rule, "=")
	switch name {
	case "required":
		k.Required = true
	case "default":
		k.Default = value
	case "enum":
		k.Enum = append(k.Enum, value)
	case "maxLength":
		k.Longest = int(*bound(value))
	case "minimum":
		k.Min = bound(value)
	case "maximum":
		k.Max = bound(value)
	case "exclusiveMinimum":
		k.Above = bound(value)
	}
}

func bound(text string) *float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic("plan: a bound that is no number: " + text) // a fault of this package's tags, seen by every test
	}
	return &v
}

// keyNamed finds a key of a section by its name.
func keyNamed(t reflect.Type, name string) (key, bool) {
	for _, k := range keysOf(t) {
		if k.Name == name {
			return k, true
		}
	}
	return key{}, false
}

// keyNames lists the names of a section's keys.
func keyNames(t reflect.Type) []string {
	var names []string
	for _, k := range keysOf(t) {
		names = append(names, k.Name)
	}
	return names
}

// join makes the path of a key or an item inside a section.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
