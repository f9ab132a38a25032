package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"assay/runner/dataset"
)

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
	Continuous   bool `json:"continuous_usage_stats,omitempty"`
}

// wire is the body. What comes before the prompt has a fixed form, so that its place can be found again.
type wire struct {
	Model         string            `json:"model"`
	Messages      []dataset.Message `json:"messages,omitempty"`
	Prompt        any               `json:"prompt,omitempty"` // a text, or token ids
	Tools         json.RawMessage   `json:"tools,omitempty"`
	MaxTokens     int               `json:"max_tokens,omitempty"`
	MaxCompletion int               `json:"max_completion_tokens,omitempty"`
	MinTokens     int               `json:"min_tokens,omitempty"`
	IgnoreEOS     bool              `json:"ignore_eos,omitempty"`
	Temperature   *float64          `json:"temperature,omitempty"`
	TopP          *float64          `json:"top_p,omitempty"`
	Seed          *int64            `json:"seed,omitempty"`
	Cache         *bool             `json:"cache_prompt,omitempty"`
	Stream        bool              `json:"stream"`
	Options       *streamOptions    `json:"stream_options,omitempty"`
	Timings       bool              `json:"timings_per_token,omitempty"`
}

// encode writes the body, whose salt comes after key.
func (w wire) encode(key string) (Body, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(w); err != nil {
		return Body{}, fmt.Errorf("encode a request: %w", err)
	}
	b := bytes.Clone(bytes.TrimSuffix(out.Bytes(), []byte("\n"))) // one is kept for each stream, without the room to grow
	at := bytes.Index(b, []byte(key))                             // inside a string its quotes would be escaped
	if at < 0 {
		return Body{}, errors.New("encode a request: it has no message")
	}
	return Body{bytes: b, salt: at + len(key)}, nil
}

// Body is an encoded request: the prompt begins at salt, where a salt can be put in.
type Body struct {
	bytes []byte
	salt  int
}

// Append appends the body with a salt before its prompt.
func (b Body) Append(to []byte, salt string) []byte {
	to = append(to, b.bytes[:b.salt]...)
	to = append(to, salt...)
	return append(to, b.bytes[b.salt:]...)
}

// With gives the body with a salt before its prompt: the inside of a JSON string, or of a list of ids.
func (b Body) With(salt string) []byte { return b.Append(nil, salt) }

// Len is the length of the body with a salt, in bytes.
func (b Body) Len(salt string) int { return len(b.bytes) + len(salt) }
