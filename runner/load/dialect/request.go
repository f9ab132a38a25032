package dialect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"assay/runner/dataset"
)

// Request is what each request has in common.
type Request struct {
	Endpoint    string // chat | completions
	Model       string
	Dialect     string   // engine preset's name
	Omit        []string // optional fields that are left out
	MaxTokens   int      // when a turn has none of its own
	IgnoreEOS   bool
	Temperature *float64
	TopP        *float64
	Seed        *int64
	Cache       *bool // the server may take the beginning of a prompt from its cache; nil: its own way
}

// Offers lists the optional fields of a request. One that stands inside another comes after it.
func (q Request) Offers() []string {
	d := Named(q.Dialect)
	fields := []string{d.Usage, d.Counts, d.MaxTokens}
	if q.IgnoreEOS {
		fields = append(fields, d.IgnoreEOS, d.MinTokens)
	}
	if q.Cache != nil {
		fields = append(fields, d.Cache)
	}
	return slices.DeleteFunc(fields, func(f string) bool { return f == "" || slices.Contains(q.Omit, f) })
}

// Lacks says what is asked for that the server has no field for.
func (q Request) Lacks() (lacks []string) {
	if q.Cache != nil && Named(q.Dialect).Cache == "" {
		lacks = append(lacks, "engine "+q.Dialect+" has no cache_prompt: its prefix cache works as it is started")
	}
	if q.IgnoreEOS && Named(q.Dialect).IgnoreEOS == "" {
		lacks = append(lacks, "engine "+q.Dialect+" has no ignore_eos: answers end where the model ends them")
	}
	return lacks
}

// TakesIDs says that a prompt may be token ids.
func (q Request) TakesIDs() bool { return q.Endpoint == "completions" && Named(q.Dialect).TokenIDs }

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
func (q Request) wire(limit int) wire {
	w := wire{Model: q.Model, Temperature: q.Temperature, TopP: q.TopP, Seed: q.Seed, Stream: true}
	offers := q.Offers()
	sends := func(field string) bool { return slices.Contains(offers, field) }
	if limit == 0 {
		limit = q.MaxTokens
	}
	if w.MaxTokens = limit; slices.Contains(q.Omit, fieldMaxTokens) {
		w.MaxTokens, w.MaxCompletion = 0, limit
	}
	if w.IgnoreEOS = sends(fieldIgnoreEOS); sends(fieldMinTokens) {
		w.MinTokens = limit
	}
	if sends(fieldCache) {
		w.Cache = q.Cache
	}
	if w.Timings = sends(fieldTimings); sends(fieldUsage) {
		w.Options = &streamOptions{IncludeUsage: true, Continuous: sends(fieldContinuous)}
	}
	return w
}

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
