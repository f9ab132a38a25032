package plan

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"assay/plan/keys"
)

func TestSchemaGolden(t *testing.T) { golden(t, "testdata/schema.json", Schema()) }

// TestSchemaHasEveryKey: the schema knows the keys that Parse knows, with their meaning, and no others.
func TestSchemaHasEveryKey(t *testing.T) {
	type section struct {
		Properties map[string]struct{ Description string }
		Required   []string
		Additional *bool `json:"additionalProperties"`
	}
	var s struct {
		section
		Defs map[string]section `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	eachSection(reflect.TypeFor[Plan](), "", func(path string, typ reflect.Type) {
		got := s.Defs[typ.Name()]
		if path == "" {
			got = s.section
		}
		if got.Additional == nil || *got.Additional {
			t.Errorf("%s takes unknown keys", path)
		}
		wanted := keys.Of(typ)
		if len(got.Properties) != len(wanted) {
			t.Errorf("%s has %d keys in the schema, %d in the type", path, len(got.Properties), len(wanted))
		}
		for _, k := range wanted {
			if got.Properties[k.Name].Description == "" {
				t.Errorf("%s is not described", keys.Join(path, k.Name))
			}
			if slices.Contains(got.Required, k.Name) != k.Required {
				t.Errorf("%s: required differs", keys.Join(path, k.Name))
			}
		}
	})
}
