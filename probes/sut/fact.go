package sut

import (
	"encoding/json"
	"fmt"
)

// Fact is a value with its source, or the reason why there is none. Zero is a value; a sentinel never is.
// JSON: {"value": …, "source": "…"} | {"unknown": "reason"} | {"na": "reason"}.
type Fact[T any] struct {
	Value   T
	Source  string // where the value was read: a path, a command, an SMBIOS structure
	Unknown string // why the value is not known
	NA      string // why the fact does not apply to this machine
	Other   string // a second source that disagrees, and why it was not chosen
}

// Known makes a fact with a value.
func Known[T any](v T, source string) Fact[T] { return Fact[T]{Value: v, Source: source} }

// Unknown makes a fact without a value and says why.
func Unknown[T any](format string, args ...any) Fact[T] {
	return Fact[T]{Unknown: fmt.Sprintf(format, args...)}
}

// NA makes a fact that does not apply and says why.
func NA[T any](reason string) Fact[T] { return Fact[T]{NA: reason} }

// IsKnown tells whether there is a value. The zero Fact is unknown.
func (f Fact[T]) IsKnown() bool { return f.Source != "" }

// Get gives the value and whether it is known.
func (f Fact[T]) Get() (T, bool) { return f.Value, f.IsKnown() }

type factJSON struct {
	Value   json.RawMessage `json:"value,omitempty"`
	Source  string          `json:"source,omitempty"`
	Other   string          `json:"other,omitempty"`
	Unknown string          `json:"unknown,omitempty"`
	NA      string          `json:"na,omitempty"`
}

// MarshalJSON writes one of the three forms.
func (f Fact[T]) MarshalJSON() ([]byte, error) {
	if f.NA != "" {
		return json.Marshal(factJSON{NA: f.NA})
	}
	if !f.IsKnown() {
		reason := f.Unknown
		if reason == "" {
			reason = "not probed"
		}
		return json.Marshal(factJSON{Unknown: reason})
	}
	v, err := json.Marshal(f.Value)
	if err != nil {
		return nil, err
	}
	return json.Marshal(factJSON{Value: v, Source: f.Source, Other: f.Other})
}

// UnmarshalJSON reads one of the three forms.
func (f *Fact[T]) UnmarshalJSON(b []byte) error {
	var j factJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("read fact: %w", err)
	}
	*f = Fact[T]{Source: j.Source, Unknown: j.Unknown, NA: j.NA, Other: j.Other}
	if j.Value == nil {
		return nil
	}
	return json.Unmarshal(j.Value, &f.Value)
}

// List is a list of the SUT. JSON: an array, or {"unknown": "reason"} when it could not be read; [] means known to be empty.
type List[T any] struct {
	Items   []T
	Unknown string
}

// MarshalJSON writes the array or the reason.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l.Unknown != "" {
		return json.Marshal(factJSON{Unknown: l.Unknown})
	}
	if l.Items == nil {
		return []byte("[]"), nil
	}
	return json.Marshal(l.Items)
}

// UnmarshalJSON reads the array or the reason.
func (l *List[T]) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var j factJSON
		if err := json.Unmarshal(b, &j); err != nil {
			return fmt.Errorf("read list: %w", err)
		}
		*l = List[T]{Unknown: j.Unknown}
		return nil
	}
	l.Unknown = ""
	return json.Unmarshal(b, &l.Items)
}
