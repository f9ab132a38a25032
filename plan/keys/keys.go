package keys

import (
	"reflect"
	"strconv"
	"strings"
)

// Key is one key of a section, with the rules its field's tags state. Parsing, defaults, validation, the schema and the
// written form all go by it.
type Key struct {
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

// Of lists the keys of a section's type in the order of its fields.
func Of(t reflect.Type) []Key {
	keys := make([]Key, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		k := Key{Name: name, Field: f.Name, Type: f.Type, Index: i}
		for rule := range strings.SplitSeq(f.Tag.Get("jsonschema"), ",") {
			k.apply(rule)
		}
		keys = append(keys, k)
	}
	return keys
}

func (k *Key) apply(rule string) {
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

// Named finds a key of a section by its name.
func Named(t reflect.Type, name string) (Key, bool) {
	for _, k := range Of(t) {
		if k.Name == name {
			return k, true
		}
	}
	return Key{}, false
}

// Names lists the names of a section's keys.
func Names(t reflect.Type) []string {
	var names []string
	for _, k := range Of(t) {
		names = append(names, k.Name)
	}
	return names
}

// Join makes the path of a key or an item inside a section.
func Join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
