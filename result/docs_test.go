package result

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"assay/probes"
	"assay/runner/metrics"
)

// TestDocsNameEveryField: docs/result.md names each field of the document; those of a summary and of a machine have pages of their own.
func TestDocsNameEveryField(t *testing.T) {
	b, err := os.ReadFile("../docs/result.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[reflect.Type]bool{reflect.TypeFor[metrics.Summary](): true, reflect.TypeFor[probes.SUT](): true}
	n := 0
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ] {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if name == "" || name == "-" {
				continue
			}
			if n++; !strings.Contains(string(b), "`"+name+"`") {
				t.Errorf("docs/result.md does not name %s of %s", name, typ)
			}
			walk(typ.Field(i).Type)
		}
	}
	walk(reflect.TypeFor[Result]())
	if n < 100 {
		t.Errorf("only %d fields were looked at", n)
	}
}
