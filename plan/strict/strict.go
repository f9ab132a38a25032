package strict

import (
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"
)

// Decode reads one document into a struct with yaml tags; what it does not name keeps its value. Unknown keys, keys that stand twice and a
// second document are errors, which say the line.
func Decode(b []byte, into any) error {
	file, err := parser.ParseBytes(b, 0)
	if err != nil {
		return plainly(err)
	}
	if len(file.Docs) > 1 {
		return errors.New("there is a second document in it")
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil
	}
	if err := yaml.UnmarshalWithOptions(b, into, yaml.Strict()); err != nil {
		return plainly(err)
	}
	return nil
}

// plainly is an error with its line and without the library's drawing of the text around it.
func plainly(err error) error {
	return errors.New(strings.TrimSpace(yaml.FormatError(err, false, false)))
}
