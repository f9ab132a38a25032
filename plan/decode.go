package plan

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"assay/plan/keys"
	"assay/plan/spelling"
	"assay/plan/syntax"
)

// maxItems bounds every list of a plan.
const maxItems = 10_000

// decoder reads a YAML tree into the plan's types and remembers where each key stood.
type decoder struct {
	places   map[string]syntax.Place // path → where it was written
	set      string                  // path of the override that is being read; "" for the plan's text
	problems syntax.Problems
}

func (d *decoder) at(n ast.Node) syntax.Place {
	if d.set != "" {
		return syntax.Place{Set: d.set}
	}
	return syntax.PlaceOf(n)
}

func (d *decoder) fail(n ast.Node, code, hint, format string, args ...any) {
	d.problems = append(d.problems, syntax.Problem{At: d.at(n), Code: code, Text: fmt.Sprintf(format, args...), Hint: hint})
}

// value reads node n into v. A null leaves v as it is, as if the key were not there.
func (d *decoder) value(n ast.Node, v reflect.Value, path string) {
	if n.Type() == ast.NullType {
		return
	}
	d.places[path] = d.at(n)
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		d.value(n, v.Elem(), path)
	case reflect.Struct:
		d.section(n, v, path)
	case reflect.Slice:
		d.list(n, v, path)
	case reflect.Map:
		d.table(n, v, path)
	case reflect.Interface:
		d.free(n, v, path)
	default:
		d.scalar(n, v, path)
	}
}

// section reads a mapping into a struct, whose fields are its only keys.
func (d *decoder) section(n ast.Node, v reflect.Value, path string) {
	d.pairs(n, path, func(name string, pair *ast.MappingValueNode) {
		k, known := keys.Named(v.Type(), name)
		if !known {
			d.unknown(pair.Key, name, v.Type(), path)
			return
		}
		d.value(pair.Value, v.Field(k.Index), keys.Join(path, name))
	})
}

func (d *decoder) unknown(n ast.Node, name string, t reflect.Type, path string) {
	where := ""
	if path != "" {
		where = " in " + path
	}
	hint := "remove the key or correct it; assay plan schema lists all keys"
	if home := homeOf(name); home != "" && home != path {
		hint = fmt.Sprintf("%q is a key of %s", name, home)
	}
	d.fail(n, "unknown_key", hint, "unknown key %q%s%s", name, where, spelling.Meant(name, keys.Names(t)))
}

// table reads a mapping into a map, whose keys are free.
func (d *decoder) table(n ast.Node, v reflect.Value, path string) {
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	d.pairs(n, path, func(name string, pair *ast.MappingValueNode) {
		if pair.Value.Type() == ast.NullType {
			d.fail(pair.Key, "type", `write "" for an empty text`, "%s has no value", keys.Join(path, name))
			return
		}
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(pair.Value, item, keys.Join(path, name))
		v.SetMapIndex(reflect.ValueOf(name), item)
	})
}

// pairs calls each for the pairs of a mapping, once per key.
func (d *decoder) pairs(n ast.Node, path string, each func(string, *ast.MappingValueNode)) {
	var pairs []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		pairs = m.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{m}
	default:
		d.wrong(n, path, "a section with keys")
		return
	}
	first := map[string]syntax.Place{}
	for _, pair := range pairs {
		if d.problems.Full() {
			return
		}
		name := syntax.Scalar(pair.Key)
		if at, twice := first[name]; twice {
			d.fail(pair.Key, "duplicate_key", "keep one of the two", "key %q stands twice; the first is at %s", name, at)
			continue
		}
		first[name] = d.at(pair.Key)
		each(name, pair)
	}
}

// list reads a sequence, or one value as a list of one.
func (d *decoder) list(n ast.Node, v reflect.Value, path string) {
	nodes := []ast.Node{n}
	if s, ok := n.(*ast.SequenceNode); ok {
		nodes = s.Values
	} else if n.Type() == ast.MappingType && v.Type().Elem().Kind() != reflect.Struct {
		d.wrong(n, path, "a list")
		return
	}
	if len(nodes) > maxItems {
		d.fail(n, "too_large", "", "%s has %d items; the most is %d", path, len(nodes), maxItems)
		return
	}
	items := reflect.MakeSlice(v.Type(), len(nodes), len(nodes))
	for i, node := range nodes {
		if node.Type() == ast.NullType {
			d.fail(node, "type", "remove the item or give it a value", "item %d of %s has no value", i, path)
			continue
		}
		d.value(node, items.Index(i), keys.Join(path, strconv.Itoa(i)))
	}
	v.Set(items)
}

// scalar reads a text, number, switch, duration or length.
func (d *decoder) scalar(n ast.Node, v reflect.Value, path string) {
	if !syntax.IsScalar(n) {
		d.wrong(n, path, typeName(v.Type()))
		return
	}
	if err := setScalar(v, syntax.Scalar(n)); err != nil {
		d.fail(n, "type", "", "%s: %s", path, err)
	}
}

// setScalar gives v the value that text writes.
func setScalar(v reflect.Value, text string) (err error) {
	switch {
	case v.Type() == reflect.TypeFor[Duration]():
		var span Duration
		span, err = ParseDuration(text)
		v.SetInt(int64(span))
	case v.Type() == reflect.TypeFor[Length]():
		var length Length
		length, err = ParseLength(text)
		v.SetInt(int64(length))
	case v.Kind() == reflect.String:
		v.SetString(text)
	default:
		err = setNumber(v, text)
	}
	return err
}

func setNumber(v reflect.Value, text string) (err error) {
	switch v.Kind() {
	case reflect.Bool:
		if text != "true" && text != "false" {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		v.SetBool(text == "true")
	case reflect.Int, reflect.Int64:
		var i int64
		i, err = strconv.ParseInt(text, 10, 64)
		v.SetInt(i)
	case reflect.Uint64:
		var u uint64
		u, err = strconv.ParseUint(text, 10, 64)
		v.SetUint(u)
	case reflect.Float64:
		f, ok := syntax.Number(text)
		if !ok {
			return fmt.Errorf("%q is not a number", text)
		}
		v.SetFloat(f)
	default:
		panic("plan: no reading of " + v.Type().String()) // a field of a new type needs its case above
	}
	if err != nil {
		return fmt.Errorf("%q is not %s", text, typeName(v.Type()))
	}
	return nil
}

// free reads a value of a kind the plan does not know: a number, a switch, a text or a list of them, as JSON has them.
func (d *decoder) free(n ast.Node, v reflect.Value, path string) {
	if s, ok := n.(*ast.SequenceNode); ok {
		items := make([]any, len(s.Values))
		for i, node := range s.Values {
			if !syntax.IsScalar(node) {
				d.wrong(node, path, "a number, a text or true or false")
				continue
			}
			items[i] = plainValue(node)
		}
		v.Set(reflect.ValueOf(items))
		return
	}
	if !syntax.IsScalar(n) {
		d.wrong(n, path, "a number, a text, true or false, or a list of them")
		return
	}
	v.Set(reflect.ValueOf(plainValue(n)))
}

func plainValue(n ast.Node) any {
	text := syntax.Scalar(n)
	if t := n.GetToken().Type; n.Type() == ast.LiteralType || t == token.SingleQuoteType || t == token.DoubleQuoteType {
		return text
	}
	if f, ok := syntax.Number(text); ok {
		return f
	}
	if text == "true" || text == "false" {
		return text == "true"
	}
	return text
}

func (d *decoder) wrong(n ast.Node, path, want string) {
	if path == "" {
		path = "the plan"
	}
	d.fail(n, "type", "", "%s must be %s, not %s", path, want, syntax.Kind(n))
}
