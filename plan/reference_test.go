package plan

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"assay/plan/keys"
)

// TestReference: docs/plan.md says what the types say.
func TestReference(t *testing.T) { golden(t, "../docs/plan.md", reference(t)) }

func reference(t *testing.T) []byte {
	t.Helper()
	var doc bytes.Buffer
	doc.Write(readFile(t, "testdata/reference.head.md"))
	example, err := Example("sweep")
	if err != nil {
		t.Fatal(err)
	}
	doc.Write(example)
	doc.WriteString("```\n\n## Keys\n\nKeys in **bold** must be there. Where no default stands but the meaning names one, it depends on other keys.\n")
	notes := keys.Comments(source)
	eachSection(reflect.TypeFor[Plan](), "", func(path string, section reflect.Type) {
		title := "### `" + path + "`"
		if path == "" {
			title = "### Top level"
		}
		fmt.Fprintf(&doc, "\n%s\n\n%s\n\n| key | type | default | meaning |\n|---|---|---|---|\n", title, notes[section.Name()])
		for _, k := range keys.Of(section) {
			fmt.Fprintf(&doc, "| %s | %s | %s | %s |\n", nameCell(k), typeCell(k), defaultCell(k), cell(notes[section.Name()+"."+k.Field]))
		}
	})
	doc.WriteByte('\n')
	doc.Write(readFile(t, "testdata/reference.tail.md"))
	return doc.Bytes()
}

func nameCell(k keys.Key) string {
	if k.Required {
		return "**`" + k.Name + "`**"
	}
	return "`" + k.Name + "`"
}

func typeCell(k keys.Key) string {
	t, list, many := k.Type, "", ""
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Slice {
		t, list, many = t.Elem(), "list of ", "s"
	}
	if len(k.Enum) > 0 {
		return list + "`" + strings.Join(k.Enum, "`, `") + "`"
	}
	return list + kindCell(t) + many + boundsCell(k)
}

func kindCell(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[Duration]():
		return "duration"
	case t == reflect.TypeFor[Length]():
		return "length"
	}
	switch t.Kind() {
	case reflect.Struct:
		return "section"
	case reflect.Map:
		return "free keys"
	case reflect.Bool:
		return "switch"
	case reflect.Float64:
		return "number"
	case reflect.String:
		return "text"
	}
	return "whole number"
}

func boundsCell(k keys.Key) string {
	switch {
	case k.Longest > 0:
		return fmt.Sprintf(", at most %d characters", k.Longest)
	case k.Above != nil:
		return fmt.Sprintf(" > %.0f", *k.Above)
	case k.Min != nil && k.Max != nil:
		return fmt.Sprintf(", %.0f to %.0f", *k.Min, *k.Max)
	case k.Min != nil:
		return fmt.Sprintf(" ≥ %.0f", *k.Min)
	}
	return ""
}

func defaultCell(k keys.Key) string {
	if k.Default != "" {
		return "`" + k.Default + "`"
	}
	return ""
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestEveryKeyIsDescribed: no key without a meaning, no section without one.
func TestEveryKeyIsDescribed(t *testing.T) {
	notes := keys.Comments(source)
	eachSection(reflect.TypeFor[Plan](), "", func(path string, section reflect.Type) {
		if notes[section.Name()] == "" {
			t.Errorf("section %s (%s) has no comment", path, section.Name())
		}
		for _, k := range keys.Of(section) {
			if notes[section.Name()+"."+k.Field] == "" {
				t.Errorf("%s has no comment beside %s.%s", keys.Join(path, k.Name), section.Name(), k.Field)
			}
		}
	})
}
