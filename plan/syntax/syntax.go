package syntax

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// MaxBytes is the largest plan that is read.
const MaxBytes = 1 << 20

// Bounds that no plan comes near, so that text which only looks like a plan costs little: some steps of the YAML library take
// the square of the number of keys.
const (
	maxDepth  = 32 // the deepest key stands at four
	maxKeys   = 2_000
	maxTokens = 50_000
)

// Parse turns a plan's bytes into the one document they hold.
func Parse(b []byte) (ast.Node, Problems) {
	if p, bad := checkBytes(b); bad {
		return nil, Problems{p}
	}
	return parseYAML(string(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))))
}

// checkBytes refuses what is no text of a plan's size.
func checkBytes(b []byte) (Problem, bool) {
	if len(b) > MaxBytes {
		return Problem{Code: "too_large", Text: fmt.Sprintf("the plan has %d bytes, more than 1 MiB", len(b)),
			Hint: "put prompts and other data in a file and name it in workload.dataset.path"}, true
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return emptyPlan(), true
	}
	line, column := 1, 1
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		at := Place{Line: line, Column: column}
		if r == utf8.RuneError && size == 1 {
			return Problem{At: at, Code: "encoding", Text: fmt.Sprintf("byte 0x%02x is not UTF-8", b[i]), Hint: "save the plan as UTF-8"}, true
		}
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			return Problem{At: at, Code: "encoding", Text: fmt.Sprintf("control character 0x%02x", r), Hint: "a plan is plain text; remove the character"}, true
		}
		i, column = i+size, column+1
		if r == '\n' {
			line, column = line+1, 1
		}
	}
	return Problem{}, false
}

func emptyPlan() Problem {
	return Problem{Code: "empty", Text: "the plan is empty", Hint: "write an example with: assay plan init --protocol sweep"}
}

// parseYAML makes the tree of a text that holds one document.
func parseYAML(text string) (_ ast.Node, found Problems) {
	defer func() {
		if r := recover(); r != nil { // a fault of the YAML library on broken text must not end the daemon
			found = Problems{{Code: "syntax", Text: fmt.Sprintf("the plan is not YAML: %v", r)}}
		}
	}()
	tokens := lexer.Tokenize(text)
	if p, bad := checkTokens(tokens); bad {
		return nil, Problems{p}
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, Problems{syntaxProblem(err)}
	}
	return onlyDocument(file)
}

func onlyDocument(file *ast.File) (ast.Node, Problems) {
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			return nil, Problems{{At: PlaceOf(doc.Body), Code: "documents", Text: "a second document begins",
				Hint: "a plan is one document: write each plan in its own file"}}
		}
		body = doc.Body
	}
	if body == nil {
		return nil, Problems{emptyPlan()}
	}
	return body, nil
}

func syntaxProblem(err error) Problem {
	p := Problem{Code: "syntax", Hint: "check indentation (spaces, no tabs), quotes and brackets around that place"}
	var known yaml.Error
	if !errors.As(err, &known) {
		p.Text = "the plan is not YAML: " + err.Error()
		return p
	}
	p.Text = "the plan is not YAML: " + known.GetMessage() // Error() would draw the text around the place, at the price of reading all of it
	if t := known.GetToken(); t != nil {
		p.At = placeOfToken(t)
	}
	return p
}

// checkTokens refuses what a plan has no use for, before a tree is built of it: references that can blow up, and nesting
// that can exhaust the stack.
func checkTokens(tokens token.Tokens) (Problem, bool) {
	depth, run, keys := 0, 0, 0
	for i, t := range tokens {
		if what := notRead(t.Type); what != "" {
			return Problem{At: placeOfToken(t), Code: "unsupported", Text: what + " are not read",
				Hint: "write the value out; a text that begins with & * ! % or ? needs quotes"}, true
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.MappingValueType:
			run, keys = run+1, keys+1
		case token.SequenceEntryType:
			run++
		default:
			run = 0
		}
		if keys > maxKeys || i > maxTokens {
			return Problem{At: placeOfToken(t), Code: "too_large", Text: fmt.Sprintf("the plan has more than %d keys or %d values", maxKeys, maxTokens/2),
				Hint: "put prompts and other data in a file and name it in workload.dataset.path"}, true
		}
		if depth > maxDepth || run > maxDepth {
			return Problem{At: placeOfToken(t), Code: "unsupported", Text: "the plan nests too deep", Hint: "no key of a plan stands deeper than four"}, true
		}
	}
	return Problem{}, false
}

// notRead names the YAML feature of a token that a plan may not use; "" for the others.
func notRead(t token.Type) string {
	switch t {
	case token.AnchorType, token.AliasType, token.MergeKeyType:
		return "anchors (&x), aliases (*x) and merges (<<)"
	case token.TagType:
		return "tags (!x)"
	case token.DirectiveType:
		return "directives (%x)"
	case token.MappingKeyType:
		return "keys marked with ?"
	}
	return ""
}

// PlaceOf says where a node begins.
func PlaceOf(n ast.Node) Place {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		return placeOfToken(m.Values[0].Key.GetToken())
	}
	if m, ok := n.(*ast.MappingValueNode); ok {
		return placeOfToken(m.Key.GetToken())
	}
	return placeOfToken(n.GetToken())
}

func placeOfToken(t *token.Token) Place {
	return Place{Line: t.Position.Line, Column: t.Position.Column}
}
