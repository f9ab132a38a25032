package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// body is what is read of a request; unknown fields are ignored, as vLLM does.
type body struct {
	Model               *string         `json:"model"`
	Messages            []message       `json:"messages"`
	Prompt              json.RawMessage `json:"prompt"`
	Stream              bool            `json:"stream"`
	StreamOptions       *streamOptions  `json:"stream_options"`
	MaxTokens           *integer        `json:"max_tokens"`
	MaxCompletionTokens *integer        `json:"max_completion_tokens"`
	MinTokens           integer         `json:"min_tokens"`
	IgnoreEOS           bool            `json:"ignore_eos"`
	Temperature         *float64        `json:"temperature"`
	Seed                *integer        `json:"seed"`
	N                   *integer        `json:"n"`
	ReturnTokenIDs      bool            `json:"return_token_ids"`
	AddGenerationPrompt *bool           `json:"add_generation_prompt"` // of /tokenize
}

type streamOptions struct {
	IncludeUsage         bool `json:"include_usage"`
	ContinuousUsageStats bool `json:"continuous_usage_stats"`
}

type message struct {
	Role             string          `json:"role"`
	Content          json.RawMessage `json:"content"`
	ReasoningContent string          `json:"reasoning_content"`
	ToolCalls        json.RawMessage `json:"tool_calls"`
}

// apiError is an error in OpenAI's shape with its HTTP status.
type apiError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    int     `json:"code"`
}

func badRequest(param, format string, args ...any) *apiError {
	e := &apiError{Message: fmt.Sprintf(format, args...), Type: "BadRequestError", Code: http.StatusBadRequest}
	if param != "" {
		e.Param = &param
	}
	return e
}

// decode reads a body and refuses what is no JSON, has wrong types, or names a field this server was told to refuse.
func decode(raw []byte, refuse []string) (body, *apiError) {
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		e := badRequest("body", "1 validation error: %v", err)
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			e = badRequest("body."+wrong.Field, "1 validation error: %v", err)
		}
		e.Type = "Bad Request"
		return b, e
	}
	if len(refuse) == 0 {
		return b, nil
	}
	var fields, options map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields) // was decoded above, so it is an object
	_ = json.Unmarshal(fields["stream_options"], &options)
	for _, name := range refuse {
		if fields[name] != nil || options[name] != nil {
			return b, badRequest(name, "Unrecognized request argument supplied: %s", name)
		}
	}
	return b, nil
}

// check applies the rules that do not depend on the prompt.
func (b body) check(cfg Config) *apiError {
	switch limit := b.limit(); {
	case !b.means(cfg.Model):
		e := badRequest("model", "The model `%s` does not exist. Valid aliases: %s.", *b.Model, cfg.Model)
		e.Type, e.Code = "NotFoundError", http.StatusNotFound
		return e
	case b.StreamOptions != nil && !b.Stream:
		return badRequest("stream_options", "Stream options can only be defined when `stream=True`.")
	case limit != nil && *limit < 1:
		return badRequest("max_tokens", "max_tokens must be at least 1, got %d.", *limit)
	case limit != nil && *limit > cfg.ContextLen:
		return badRequest("max_tokens", "max_tokens=%d cannot be greater than max_model_len=%d.", *limit, cfg.ContextLen)
	case b.MinTokens < 0 || limit != nil && int(b.MinTokens) > *limit:
		return badRequest("min_tokens", "min_tokens must be between 0 and max_tokens, got %d.", b.MinTokens)
	case b.Temperature != nil && *b.Temperature < 0:
		return badRequest("temperature", "temperature must be non-negative, got %v.", *b.Temperature)
	case b.N != nil && *b.N != 1:
		return badRequest("n", "n must be 1, got %d.", *b.N)
	}
	return nil
}

// means says whether the request is for model, with or without faults.
func (b body) means(model string) bool {
	if b.Model == nil {
		return true
	}
	_, ok := named(*b.Model, model)
	return ok
}

func (b body) limit() *int {
	if b.MaxCompletionTokens != nil {
		return (*int)(b.MaxCompletionTokens)
	}
	return (*int)(b.MaxTokens)
}

// sequence turns a checked body into work for the engine.
func (b body) sequence(cfg Config, tokens tokenizer, chat bool) (*sequence, *apiError) {
	c := newChain(cfg.BlockTokens)
	if err := b.fill(c, cfg, tokens, chat); err != nil {
		return nil, err
	}
	if c.tokens >= cfg.ContextLen {
		return nil, badRequest("input_tokens", "This model's maximum context length is %d tokens. However, your prompt contains %d input tokens. "+
			"Please reduce the length of the input prompt.", cfg.ContextLen, c.tokens)
	}
	r := reply{seed: mix(cfg.Seed ^ c.hash), words: tokens.words}
	if b.Seed != nil {
		r.seed = mix(r.seed ^ uint64(*b.Seed))
	}
	return &sequence{chain: c, reply: r, input: c.tokens, target: b.target(cfg, r, c.tokens), wake: make(chan struct{}, 1)}, nil
}

// target is the length of the reply: its natural one unless ignore_eos, at least min_tokens, at most what limit and context leave.
func (b body) target(cfg Config, r reply, input int) int {
	room := cfg.ContextLen - input
	if limit := b.limit(); limit != nil {
		room = min(room, *limit)
	}
	if b.IgnoreEOS {
		return room
	}
	return min(room, max(int(b.MinTokens), r.length(cfg.OutputMean)))
}

// finishReason says why the reply ended at its target.
func (b body) finishReason(cfg Config, s *sequence) string {
	if b.IgnoreEOS || s.target < max(int(b.MinTokens), s.reply.length(cfg.OutputMean)) {
		return "length"
	}
	return "stop"
}

// fill adds the prompt's tokens to c.
func (b body) fill(c *chain, cfg Config, tokens tokenizer, chat bool) *apiError {
	if chat {
		return b.fillChat(c, cfg, tokens)
	}
	return b.fillPrompt(c, tokens)
}

// fillChat adds every message: its role as a mark and the tokens of the template, its text as tokens, and at the end the opening of
// the reply.
func (b body) fillChat(c *chain, cfg Config, tokens tokenizer) *apiError {
	if len(b.Messages) == 0 {
		return badRequest("messages", "messages must not be empty.")
	}
	for i, m := range b.Messages {
		if !slices.Contains([]string{"system", "developer", "user", "assistant", "tool"}, m.Role) {
			return badRequest("messages", "messages[%d]: unknown role %q.", i, m.Role)
		}
		text, ok := contentText(m.Content)
		if !ok {
			return badRequest("messages", "messages[%d]: content must be a string or a list of text parts.", i)
		}
		c.open(m.Role, cfg.TemplateTokens)
		for _, part := range []string{m.ReasoningContent, text, string(m.ToolCalls)} {
			tokens.add(c, part)
		}
	}
	if b.AddGenerationPrompt == nil || *b.AddGenerationPrompt {
		c.open("assistant", cfg.TemplateTokens)
	}
	if c.tokens == 0 {
		return badRequest("messages", "the prompt is empty.")
	}
	return nil
}

// contentText joins the text of a content field: a string, a list of text parts, or null.
func contentText(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", true
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, true
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal(raw, &parts) != nil {
		return "", false
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type != "text" {
			return "", false
		}
		b.WriteString(p.Text + " ")
	}
	return b.String(), true
}

// fillPrompt adds a text or a list of token ids.
func (b body) fillPrompt(c *chain, tokens tokenizer) *apiError {
	var text string
	var ids []int
	var texts []string
	switch {
	case json.Unmarshal(b.Prompt, &text) == nil:
		tokens.add(c, text)
	case json.Unmarshal(b.Prompt, &ids) == nil:
		for _, id := range ids {
			if id < 0 || id >= vocabularySize {
				return badRequest("prompt", "token id %d is out of the vocabulary of %d.", id, vocabularySize)
			}
			c.add(id)
		}
	case json.Unmarshal(b.Prompt, &texts) == nil && len(texts) == 1:
		tokens.add(c, texts[0])
	case len(b.Prompt) > 0:
		return badRequest("prompt", "prompt must be one string or one list of token ids.")
	}
	if c.tokens == 0 {
		return badRequest("prompt", "Either prompt or prompt_embeds must be provided and non-empty.")
	}
	return nil
}
