package stream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"assay/runner/dataset"
)

// Optional body fields, as Omit and Result.Refused name them. A server that refuses one is asked again without it.
const (
	fieldContinuous = "stream_options.continuous_usage_stats"
	fieldMinTokens  = "min_tokens"
	fieldIgnoreEOS  = "ignore_eos"
	fieldOptions    = "stream_options"
)

// Request is what each request has in common.
type Request struct {
	Endpoint    string // chat | completions
	Model       string
	Dialect     string // engine preset's name, which says the optional fields to send
	Omit        []string
	MaxTokens   int // when a turn has none of its own
	IgnoreEOS   bool
	Temperature *float64
	TopP        *float64
	Seed        *int64
}

// Offers lists the optional fields of a request in a dialect.
func (q Request) Offers() []string {
	var fields []string
	switch q.Dialect {
	case "vllm", "sglang", "sim":
		fields = append(fields, fieldContinuous)
		if q.IgnoreEOS {
			fields = append(fields, fieldMinTokens)
		}
	case "llamacpp": // ignores both
	default: // unknown servers: often vLLM behind an address
		fields = append(fields, fieldContinuous)
	}
	if q.IgnoreEOS {
		fields = append(fields, fieldIgnoreEOS)
	}
	return append(fields, fieldOptions)
}

// sends says whether an optional field stands in the body.
func (q Request) sends(field string) bool {
	return slices.Contains(q.Offers(), field) && !slices.Contains(q.Omit, field)
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
	Continuous   bool `json:"continuous_usage_stats,omitempty"`
}

// wire is the body. What comes before the prompt has a fixed form, so that its place can be found again.
type wire struct {
	Model       string            `json:"model"`
	Messages    []dataset.Message `json:"messages,omitempty"`
	Prompt      any               `json:"prompt,omitempty"` // a text, or token ids
	Tools       json.RawMessage   `json:"tools,omitempty"`
	MaxTokens   int               `json:"max_tokens"`
	MinTokens   int               `json:"min_tokens,omitempty"`
	IgnoreEOS   bool              `json:"ignore_eos,omitempty"`
	Temperature *float64          `json:"temperature,omitempty"`
	TopP        *float64          `json:"top_p,omitempty"`
	Seed        *int64            `json:"seed,omitempty"`
	Stream      bool              `json:"stream"`
	Options     *streamOptions    `json:"stream_options,omitempty"`
}

// Body is an encoded request: the prompt's text begins at salt, where a salt can be put in.
type Body struct {
	bytes []byte
	salt  int
}

// Encode makes the body that asks for the next message after messages. tools are OpenAI's definitions, nil for none; the
// completions endpoint knows none.
func (q Request) Encode(messages []dataset.Message, tools json.RawMessage, maxTokens int) (Body, error) {
	w := q.wire(maxTokens)
	if q.Endpoint == "completions" {
		w.Prompt = flatten(messages)
		return w.encode(`"prompt":"`)
	}
	w.Messages, w.Tools = messages, tools
	return w.encode(`"content":"`)
}

// EncodeIDs makes the body that asks the completions endpoint for what follows token ids. Its salt is more ids, each with a comma after it.
func (q Request) EncodeIDs(ids []int32, maxTokens int) (Body, error) {
	if q.Endpoint != "completions" || len(ids) == 0 {
		return Body{}, fmt.Errorf("encode a request: %d token ids cannot be sent to the %s endpoint", len(ids), q.Endpoint)
	}
	w := q.wire(maxTokens)
	w.Prompt = ids
	return w.encode(`"prompt":[`)
}

// wire is everything of a body but the prompt.
func (q Request) wire(maxTokens int) wire {
	w := wire{Model: q.Model, MaxTokens: q.MaxTokens, Temperature: q.Temperature, TopP: q.TopP, Seed: q.Seed, Stream: true}
	if maxTokens > 0 {
		w.MaxTokens = maxTokens
	}
	w.IgnoreEOS = q.IgnoreEOS && q.sends(fieldIgnoreEOS)
	if q.sends(fieldMinTokens) {
		w.MinTokens = w.MaxTokens
	}
	if q.sends(fieldOptions) {
		w.Options = &streamOptions{IncludeUsage: true, Continuous: q.sends(fieldContinuous)}
	}
	return w
}

// encode writes the body, whose salt comes after key.
func (w wire) encode(key string) (Body, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(w); err != nil {
		return Body{}, fmt.Errorf("encode a request: %w", err)
	}
	b := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	at := bytes.Index(b, []byte(key)) // inside a string its quotes would be escaped
	if at < 0 {
		return Body{}, fmt.Errorf("encode a request: it has no message")
	}
	return Body{bytes: b, salt: at + len(key)}, nil
}

// append appends the body with a salt before its prompt.
func (b Body) append(to []byte, salt string) []byte {
	to = append(to, b.bytes[:b.salt]...)
	to = append(to, salt...)
	return append(to, b.bytes[b.salt:]...)
}

// With gives the body with a salt, the inside of a JSON string, before its prompt.
func (b Body) With(salt string) []byte { return b.append(nil, salt) }

// flatten makes one text of a conversation for the completions endpoint.
func flatten(messages []dataset.Message) string {
	if len(messages) == 1 {
		return messages[0].Content
	}
	texts := make([]string, len(messages))
	for i, m := range messages {
		texts[i] = m.Content
	}
	return strings.Join(texts, "\n\n")
}
