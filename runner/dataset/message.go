package dataset

import (
	"encoding/json"
	"fmt"
	"strings"
)

// UnmarshalJSON reads a message whose content is a text, null, or a list of text parts, which are put together.
func (m *Message) UnmarshalJSON(b []byte) error {
	type plain Message
	var raw struct {
		plain
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	*m = Message(raw.plain)
	var err error
	m.Content, err = contentText(raw.Content)
	return err
}

func contentText(raw json.RawMessage) (string, error) {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil { // null leaves it empty
		return text, nil
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", fmt.Errorf("content is neither a text nor a list of parts")
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type != "text" {
			return "", fmt.Errorf("content has a part of type %q; only text can be sent", p.Type)
		}
		b.WriteString(p.Text)
	}
	return b.String(), nil
}
