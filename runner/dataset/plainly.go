package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// plainly says what is wrong with a record without the names of Go: "prompt is a number, not a text".
func plainly(err error) error {
	var mistyped *json.UnmarshalTypeError
	if !errors.As(err, &mistyped) {
		return err
	}
	what := strings.ToLower(mistyped.Field) // fields without a tag have their name in Go
	if what == "" {
		what = "the record"
	}
	return fmt.Errorf("%s is %s, not %s", what, jsonKind(mistyped.Value), wantedKind(mistyped.Type))
}

func jsonKind(value string) string {
	switch value {
	case "string":
		return "a text"
	case "bool":
		return "true or false"
	case "array":
		return "a list"
	case "object":
		return "an object"
	}
	return "a " + value // number, or number -1.5
}

func wantedKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Slice:
		return "a list"
	case reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	}
	return "an object"
}
