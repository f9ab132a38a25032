package files

import (
	"encoding/json"
	"fmt"
)

// Fields walks the members of the object that comes next. take reads the value of a key it wants, and says false of one to be skipped.
func Fields(dec *json.Decoder, take func(key string) (bool, error)) error {
	if err := begins(dec, '{'); err != nil {
		return err
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		took, err := take(key)
		if err == nil && !took {
			err = skip(dec)
		}
		if err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// Elements walks the array that comes next; each reads one element. A null is an empty one.
func Elements(dec *json.Decoder, each func() error) error {
	t, err := dec.Token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('[') {
		return fmt.Errorf("a list was expected, not %v", t)
	}
	for dec.More() {
		if err := each(); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}

func begins(dec *json.Decoder, with json.Delim) error {
	t, err := dec.Token()
	if err != nil {
		return err
	}
	if t != with {
		return fmt.Errorf("%v was expected, not %v", with, t)
	}
	return nil
}

// skip passes over the value that comes next, however large, without keeping it.
func skip(dec *json.Decoder) error {
	for depth := 0; ; {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth <= 0 {
			return nil
		}
	}
}
