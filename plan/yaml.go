package plan

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"assay/plan/keys"
)

// YAML writes the plan for people, with every default spelled out. Parse reads it back to the same hash.
func (p Plan) YAML() []byte {
	w := yamlWriter{notes: keys.Comments(source)}
	w.section(reflect.ValueOf(p), "")
	return w.out.Bytes()
}

// yamlWriter writes sections as blocks and lists of scalars in one line.
type yamlWriter struct {
	out   bytes.Buffer
	notes map[string]string // Type.Field → comment, put above the sections of the top level
}

func (w *yamlWriter) section(v reflect.Value, indent string) {
	for _, k := range keys.Of(v.Type()) {
		f := v.Field(k.Index)
		if isEmpty(f) || f.IsZero() && omitted(v.Type().Field(k.Index)) {
			continue
		}
		f = reflect.Indirect(f) // a pointer to zero is a zero that was written
		if indent == "" && (f.Kind() == reflect.Struct || f.Kind() == reflect.Map || f.Kind() == reflect.Slice) {
			fmt.Fprintf(&w.out, "\n# %s\n", w.notes["Plan."+k.Field])
		}
		w.pair(k.Name, f, indent)
	}
}

// omitted tells whether the written form leaves a field out when it is zero.
func omitted(f reflect.StructField) bool {
	tag := f.Tag.Get("json")
	return strings.Contains(tag, ",omitempty") || strings.Contains(tag, ",omitzero")
}

func isEmpty(f reflect.Value) bool {
	return (f.Kind() == reflect.Slice || f.Kind() == reflect.Map) && f.Len() == 0
}

func (w *yamlWriter) pair(name string, f reflect.Value, indent string) {
	fmt.Fprintf(&w.out, "%s%s:", indent, name)
	switch {
	case f.Kind() == reflect.Struct:
		w.out.WriteByte('\n')
		w.section(f, indent+"  ")
	case f.Kind() == reflect.Map:
		w.out.WriteByte('\n')
		w.table(f, indent+"  ")
	case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct:
		w.out.WriteByte('\n')
		w.blocks(f, indent+"  ")
	default:
		fmt.Fprintf(&w.out, " %s\n", yamlValue(f))
	}
}

func (w *yamlWriter) table(f reflect.Value, indent string) {
	items := map[string]reflect.Value{}
	for it := f.MapRange(); it.Next(); {
		items[it.Key().String()] = it.Value()
	}
	for _, name := range slices.Sorted(maps.Keys(items)) {
		fmt.Fprintf(&w.out, "%s%s: %s\n", indent, yamlText(name), yamlValue(items[name]))
	}
}

// blocks writes a list of sections, each begun by a dash.
func (w *yamlWriter) blocks(f reflect.Value, indent string) {
	for i := range f.Len() {
		inner := yamlWriter{}
		inner.section(f.Index(i), indent+"  ")
		block := inner.out.Bytes()
		block[len(indent)] = '-' // in place of the first key's indent
		w.out.Write(block)
	}
}

// yamlValue writes a scalar or a list of scalars.
func yamlValue(f reflect.Value) string {
	switch f.Kind() {
	case reflect.Interface:
		return yamlValue(f.Elem())
	case reflect.Slice:
		items := make([]string, f.Len())
		for i := range items {
			items[i] = yamlValue(f.Index(i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case reflect.String:
		return yamlText(f.String())
	}
	if d, ok := f.Interface().(Duration); ok {
		return d.String()
	}
	return string(encode(f.Interface()))
}

// plainForm is a text that needs no quotes anywhere in YAML; the words that YAML takes for something else are apart.
var plainForm = regexp.MustCompile(`^[A-Za-z_/][A-Za-z0-9_./+@-]*(:[A-Za-z0-9_./+@-]+)*$`)

func yamlText(s string) string {
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return quote(s)
	}
	if plainForm.MatchString(s) {
		return s
	}
	return quote(s)
}
