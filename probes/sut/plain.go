package sut

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Plain is the SUT document with bare values in place of facts, null where there is none. The keys keep their order.
func Plain(s SUT) ([]byte, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write SUT: %w", err)
	}
	if b, err = bare(b); err != nil {
		return nil, fmt.Errorf("write plain SUT: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", "  "); err != nil {
		return nil, fmt.Errorf("write plain SUT: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// bare rewrites one JSON value, and everything in it.
func bare(raw json.RawMessage) (json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	switch raw[0] {
	case '[':
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return nil, err
		}
		for i := range items {
			var err error
			if items[i], err = bare(items[i]); err != nil {
				return nil, err
			}
		}
		return json.Marshal(items)
	case '{':
		return bareObject(raw)
	}
	return raw, nil
}

func bareObject(raw json.RawMessage) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	values := map[string]json.RawMessage{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		values[key.(string)] = value
		if value, err = bare(value); err != nil {
			return nil, err
		}
		name, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, ",%s:%s", name, value)
	}
	if _, ok := values["source"]; ok && values["value"] != nil {
		return values["value"], nil
	}
	if values["unknown"] != nil || values["na"] != nil {
		return json.RawMessage("null"), nil
	}
	if out.Len() == 0 {
		return raw, nil
	}
	return append(append([]byte{'{'}, out.Bytes()[1:]...), '}'), nil
}
