package keys

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// Comments gives what the comments of a source file's types say: "Server" → its doc, "Server.Image" → the comment beside the field.
func Comments(source []byte) map[string]string {
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ParseComments)
	if err != nil {
		panic(fmt.Sprintf("keys: the source does not parse: %v", err))
	}
	notes := map[string]string{}
	for _, decl := range file.Decls {
		types, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range types.Specs {
			t, ok := spec.(*ast.TypeSpec)
			if !ok {
				continue
			}
			notes[t.Name.Name] = strings.TrimSpace(types.Doc.Text())
			if s, ok := t.Type.(*ast.StructType); ok {
				fieldComments(notes, t.Name.Name, s)
			}
		}
	}
	return notes
}

func fieldComments(notes map[string]string, typeName string, s *ast.StructType) {
	for _, f := range s.Fields.List {
		for _, name := range f.Names {
			notes[typeName+"."+name.Name] = strings.TrimSpace(f.Comment.Text())
		}
	}
}
