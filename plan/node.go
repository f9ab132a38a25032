package plan

import (
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

func isScalar(n ast.Node) bool {
	switch n.Type() {
	case ast.StringType, ast.IntegerType, ast.FloatType, ast.BoolType, ast.LiteralType, ast.InfinityType, ast.NanType:
		return true
	}
	return false
}

// textOf gives a scalar as it was written, without quotes: 0123 stays 0123, so that a commit or a name survives.
func textOf(n ast.Node) string {
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value
	case *ast.LiteralNode:
		return s.Value.Value
	}
	return n.GetToken().Value
}

// number reads a finite decimal number as JSON writes it.
func number(text string) (float64, bool) {
	if strings.Trim(text, "+-.0123456789eE") != "" {
		return 0, false // no hexadecimal, underscores, infinities
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && !math.IsInf(f, 0)
}

// nodeName says what a node is, for a message.
func nodeName(n ast.Node) string {
	switch n.Type() {
	case ast.MappingType, ast.MappingValueType:
		return "a section with keys"
	case ast.SequenceType:
		return "a list"
	}
	return strconv.Quote(textOf(n))
}

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
		if _, ok := keyNamed(t, name); ok {
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
	for _, k := range keysOf(t) {
		inner := k.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			eachSection(inner, join(path, k.Name), visit)
		}
	}
}
