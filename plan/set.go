package plan

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"assay/plan/keys"
	"assay/plan/spelling"
	"assay/plan/syntax"
)

// setHint says how an override is written.
const setHint = "write path=value, as in server.port=8000 or protocol.sweep.concurrency=1,2,4"

// override applies one path=value to the plan v.
func (d *decoder) override(v reflect.Value, text string) {
	path, value, ok := strings.Cut(text, "=")
	path = strings.TrimSpace(path)
	d.set = path // without the value, which may be long or secret
	defer func() { d.set = "" }()
	if !ok || path == "" {
		d.problems = append(d.problems, syntax.Problem{Code: "set", Text: fmt.Sprintf("override %q is not path=value", text), Hint: setHint})
		return
	}
	d.descend(v, "", path, value)
}

func (d *decoder) refuse(code, format string, args ...any) {
	d.problems = append(d.problems, syntax.Problem{At: syntax.Place{Set: d.set}, Code: code, Text: fmt.Sprintf(format, args...), Hint: setHint})
}

// descend follows what is left of a path from v, which stands at done, and puts the value at its end.
func (d *decoder) descend(v reflect.Value, done, rest, value string) {
	if rest == "" {
		d.assign(v, done, value)
		return
	}
	name, next, _ := strings.Cut(rest, ".")
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		d.descend(v.Elem(), done, rest, value)
	case reflect.Struct:
		k, known := keys.Named(v.Type(), name)
		if !known {
			d.unknownPath(name, keys.Names(v.Type()), done)
			return
		}
		d.descend(v.Field(k.Index), keys.Join(done, name), next, value)
	case reflect.Slice:
		d.descendList(v, done, name, next, value)
	case reflect.Map:
		d.setItem(v, done, rest, value)
	default:
		d.refuse("unknown_key", "%s is %s and has no key %q", done, typeName(v.Type()), rest)
	}
}

func (d *decoder) unknownPath(name string, names []string, done string) {
	where := "a plan"
	if done != "" {
		where = done
	}
	d.refuse("unknown_key", "%s has no key %q%s", where, name, spelling.Meant(name, names))
}

// descendList goes on in an item of a list; the number after the last one adds an item.
func (d *decoder) descendList(v reflect.Value, done, name, next, value string) {
	i, err := strconv.Atoi(name)
	if err != nil || i < 0 || i > v.Len() {
		items := "no items"
		if v.Len() > 0 {
			items = fmt.Sprintf("the items 0 to %d", v.Len()-1)
		}
		d.refuse("unknown_key", "%s has %s, and %d adds one; there is no %q", done, items, v.Len(), name)
		return
	}
	if i == v.Len() {
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
	}
	d.descend(v.Index(i), keys.Join(done, name), next, value)
}

// setItem puts a value into a map; its key is all that is left of the path, dots included.
func (d *decoder) setItem(v reflect.Value, done, name, value string) {
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	item := reflect.New(v.Type().Elem()).Elem()
	d.assign(item, keys.Join(done, name), value)
	v.SetMapIndex(reflect.ValueOf(name), item)
}

// assign reads the value's YAML into v. An empty value takes the key back, as if the plan had not written it.
func (d *decoder) assign(v reflect.Value, path, value string) {
	if strings.TrimSpace(value) == "" {
		d.clear(v, path)
		return
	}
	node, found := valueNode(v.Type(), value)
	for _, p := range found {
		p.At = syntax.Place{Set: d.set}
		d.problems = append(d.problems, p)
	}
	if len(found) > 0 {
		return
	}
	d.clear(v, path)
	d.value(node, v, path)
}

func (d *decoder) clear(v reflect.Value, path string) {
	v.SetZero()
	for known := range d.places {
		if known == path || strings.HasPrefix(known, path+".") {
			delete(d.places, known)
		}
	}
}

// valueNode parses a value. Where a list is wanted, "1,2,4" is one; where a text is wanted, any value is that text.
func valueNode(t reflect.Type, value string) (ast.Node, syntax.Problems) {
	if t.Kind() == reflect.String {
		return syntax.Parse([]byte(quote(unquote(value))))
	}
	trimmed := strings.TrimSpace(value)
	if t.Kind() == reflect.Slice && !strings.HasPrefix(trimmed, "[") && !strings.HasPrefix(trimmed, "{") && strings.Contains(trimmed, ",") {
		var items []string
		for item := range strings.SplitSeq(trimmed, ",") {
			items = append(items, quote(strings.TrimSpace(item)))
		}
		value = "[" + strings.Join(items, ",") + "]"
	}
	return syntax.Parse([]byte(value))
}

// unquote takes the quotes off a text that is written in YAML's or JSON's quotes.
func unquote(value string) string {
	trimmed := strings.TrimSpace(value)
	if len(trimmed) < 2 || trimmed[0] != '"' && trimmed[0] != '\'' || trimmed[0] != trimmed[len(trimmed)-1] {
		return value
	}
	node, found := syntax.Parse([]byte(trimmed))
	if len(found) > 0 || !syntax.IsScalar(node) {
		return value
	}
	return syntax.Scalar(node)
}
