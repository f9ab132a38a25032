package plan

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/invopop/jsonschema"

	"assay/plan/keys"
)

// Schema is the JSON Schema of a plan, for editors: what Parse reads before it looks at how keys go together.
func Schema() []byte {
	notes := keys.Comments(source)
	r := jsonschema.Reflector{
		ExpandedStruct:             true,
		RequiredFromJSONSchemaTags: true,
		Mapper:                     ownSchema,
		LookupComment: func(t reflect.Type, field string) string {
			if field == "" {
				return notes[t.Name()]
			}
			return notes[t.Name()+"."+field]
		},
	}
	s := r.Reflect(Plan{})
	s.ID, s.Title = "", "assay plan"
	loosen(s, reflect.TypeFor[Plan]())
	eachSection(reflect.TypeFor[Plan](), "", func(_ string, t reflect.Type) {
		if def, ok := s.Definitions[t.Name()]; ok {
			loosen(def, t)
		}
	})
	s.Definitions["Protocol"].OneOf = oneProtocol()
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("plan: the schema is not JSON: %v", err))
	}
	return append(b, '\n')
}

// ownSchema describes the types with a text form of their own.
func ownSchema(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[Duration]():
		return &jsonschema.Schema{Type: "string", Pattern: `^([0-9]+(\.[0-9]*)?(ns|us|ms|s|m|h))+$|^0$`}
	case reflect.TypeFor[Length]():
		return eitherOf(&jsonschema.Schema{Type: "integer"}, &jsonschema.Schema{Type: "string", Pattern: "^[0-9]+[kK]?$"})
	}
	return nil
}

func eitherOf(of ...*jsonschema.Schema) *jsonschema.Schema { return &jsonschema.Schema{AnyOf: of} }

func oneProtocol() []*jsonschema.Schema {
	var of []*jsonschema.Schema
	for _, name := range keys.Names(reflect.TypeFor[Protocol]()) {
		of = append(of, &jsonschema.Schema{Required: []string{name}})
	}
	return of
}

// loosen makes a section's schema take what Parse takes beside the type's own form.
func loosen(s *jsonschema.Schema, t reflect.Type) {
	for _, k := range keys.Of(t) {
		old, ok := s.Properties.Get(k.Name)
		if !ok {
			continue
		}
		s.Properties.Set(k.Name, looseKey(old, k))
	}
}

func looseKey(old *jsonschema.Schema, k keys.Key) *jsonschema.Schema {
	loose := *old
	switch {
	case k.Name == "env":
		loose.AdditionalProperties = eitherOf(ofType("string"), ofType("number"), ofType("boolean"))
	case k.Name == "checks":
		list := ofType("array")
		list.Items = eitherOf(ofType("string"), ofType("number"), ofType("boolean"))
		loose.AdditionalProperties = eitherOf(ofType("string"), ofType("number"), ofType("boolean"), list)
	case k.Name == "salt":
		loose.Type, loose.AnyOf = "", []*jsonschema.Schema{ofType("string"), ofType("boolean")}
	case k.Name == "seed":
		loose.Type, loose.Default, loose.AnyOf = "", nil, []*jsonschema.Schema{ofType("integer"), {Type: "string", Pattern: "^-?[0-9]+$"}}
	case k.Type.Kind() == reflect.Slice && k.Type.Elem().Kind() != reflect.Struct:
		loose.Type, loose.Items = "", nil
		one := *old
		one.Description, one.MinItems = "", nil
		loose.AnyOf = []*jsonschema.Schema{old.Items, &one}
	}
	return &loose
}

func ofType(name string) *jsonschema.Schema { return &jsonschema.Schema{Type: name} }
