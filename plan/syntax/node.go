package syntax

import (
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// IsScalar tells a text, a number or a switch from sections and lists.
func IsScalar(n ast.Node) bool {
	switch n.Type() {
	case ast.StringType, ast.IntegerType, ast.FloatType, ast.BoolType, ast.LiteralType, ast.InfinityType, ast.NanType:
		return true
	}
	return false
}

// Scalar gives a scalar as it was written, without quotes: 0123 stays 0123, so that a commit or a name survives.
func Scalar(n ast.Node) string {
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value
	case *ast.LiteralNode:
		return s.Value.Value
	}
	return n.GetToken().Value
}

// Number reads a finite decimal number as JSON writes it.
func Number(text string) (float64, bool) {
	if strings.Trim(text, "+-.0123456789eE") != "" {
		return 0, false // no hexadecimal, underscores, infinities
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && !math.IsInf(f, 0)
}

// Kind says what a node is, for a message.
func Kind(n ast.Node) string {
	switch n.Type() {
	case ast.MappingType, ast.MappingValueType:
		return "a section with keys"
	case ast.SequenceType:
		return "a list"
	}
	return strconv.Quote(Scalar(n))
}
