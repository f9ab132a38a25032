package sim

import (
	"bytes"
	"strconv"
)

// usage is OpenAI's usage object.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Total      int `json:"total_tokens"`
	Completion int `json:"completion_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func (x *exchange) usage() usage {
	u := usage{Prompt: x.truth.InputTokens, Completion: x.truth.OutputTokens}
	if f, ok := x.fault(UsageWrong); ok {
		u.Completion += f.Amount
	}
	u.Total = u.Prompt + u.Completion
	u.Details.Cached = x.truth.CachedTokens
	return u
}

func (x *exchange) asksUsage() bool {
	o := x.body.StreamOptions
	return o != nil && o.IncludeUsage && !x.has(UsageNone)
}

// open begins an event up to its choices.
func (x *exchange) open() {
	object := "text_completion"
	if x.chat {
		object = "chat.completion.chunk"
	}
	x.text = append(x.text[:0], `{"id":"`...)
	x.text = append(x.text, x.truth.ID...)
	x.text = append(x.text, `","object":"`...)
	x.text = append(x.text, object...)
	x.text = append(x.text, `","created":`...)
	x.text = strconv.AppendInt(x.text, x.created, 10)
	x.text = append(x.text, `,"model":`...)
	x.text = strconv.AppendQuote(x.text, x.server.cfg.Model)
	x.text = append(x.text, ',')
}

// end closes an event, with the usage so far when it is wanted.
func (x *exchange) end(usage bool) {
	if usage {
		x.text = append(x.text, `,"usage":`...)
		x.appendUsage()
	}
	x.text = append(x.text, '}')
	x.out = x.style.Append(x.out, x.text)
}

// continuous says whether each event has the usage so far.
func (x *exchange) continuous() bool {
	return x.asksUsage() && x.body.StreamOptions.ContinuousUsageStats && !x.has(UsageInside)
}

// roleChunk adds chat's first event, which carries no token.
func (x *exchange) roleChunk() {
	x.role = true
	x.open()
	x.text = append(x.text, `"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`...)
	x.end(x.continuous())
}

// emptyChunk adds an event without choices.
func (x *exchange) emptyChunk() {
	x.open()
	x.text = append(x.text, `"choices":[]`...)
	x.end(x.continuous())
}

// usageChunk adds the event with the final usage.
func (x *exchange) usageChunk() {
	x.open()
	x.text = append(x.text, `"choices":[]`...)
	x.end(true)
}

func (x *exchange) done() { x.out = x.style.Append(x.out, []byte("[DONE]")) }

// event adds an event with the next n tokens, which count as sent from here on.
func (x *exchange) event(n int, finish string) {
	if x.has(NoFinish) {
		finish = ""
	}
	from := x.truth.OutputTokens
	x.open()
	x.text = append(x.text, `"choices":[{"index":0,`...)
	x.delta(n)
	x.truth.OutputTokens += n
	x.text = append(x.text, `,"logprobs":null,"finish_reason":`...)
	if finish == "" {
		x.text = append(x.text, "null"...)
	} else {
		x.text = strconv.AppendQuote(x.text, finish)
	}
	if x.body.ReturnTokenIDs {
		x.appendIDs(from)
	}
	x.text = append(x.text, "}]"...)
	if f, ok := x.fault(LongLine); ok && from == f.AtToken {
		x.text = append(x.text, `,"padding":"`...)
		x.text = append(x.text, bytes.Repeat([]byte{'x'}, f.Amount)...)
		x.text = append(x.text, '"')
	}
	x.end(x.continuous() || finish != "" && x.asksUsage() && x.has(UsageInside))
}

// delta adds what holds the text of the next n tokens.
func (x *exchange) delta(n int) {
	if n == 0 && x.chat {
		x.text = append(x.text, `"delta":{}`...)
		return
	}
	before, after := `"text":"`, `"`
	switch {
	case x.chat && x.has(ToolCalls):
		before, after = `"delta":{"tool_calls":[{"index":0,"function":{"arguments":"`, `"}}]}`
	case x.reasoning():
		before, after = `"delta":{"`+x.server.cfg.ReasoningField+`":"`, `"}`
	case x.chat:
		before, after = `"delta":{"content":"`, `"}`
	}
	x.text = append(x.text, before...)
	if f, ok := x.fault(EmptyDelta); !ok || x.truth.OutputTokens < f.AtToken {
		x.words(n)
	}
	x.text = append(x.text, after...)
}

// words adds the next n tokens.
func (x *exchange) words(n int) {
	from := x.truth.OutputTokens
	for i := from; i < from+n; i++ {
		if i > 0 {
			x.text = append(x.text, ' ')
		}
		x.text = append(x.text, x.seq.reply.word(i)...)
		if x.style.MidRune {
			x.text = append(x.text, "é😀"...)
		}
	}
}

// reasoning says whether the next token is part of the reasoning.
func (x *exchange) reasoning() bool { return x.chat && x.truth.OutputTokens < x.server.cfg.Reasoning }

func (x *exchange) appendIDs(from int) {
	x.text = append(x.text, `,"token_ids":[`...)
	for i := from; i < x.truth.OutputTokens; i++ {
		if i > from {
			x.text = append(x.text, ',')
		}
		x.text = strconv.AppendInt(x.text, int64(x.seq.reply.token(i)), 10)
	}
	x.text = append(x.text, ']')
}

func (x *exchange) appendUsage() {
	u := x.usage()
	x.truth.Told = u.Completion
	for _, part := range []struct {
		key   string
		value int
	}{{`{"prompt_tokens":`, u.Prompt}, {`,"total_tokens":`, u.Total}, {`,"completion_tokens":`, u.Completion}, {`,"prompt_tokens_details":{"cached_tokens":`, u.Details.Cached}} {
		x.text = append(x.text, part.key...)
		x.text = strconv.AppendInt(x.text, int64(part.value), 10)
	}
	x.text = append(x.text, "}}"...)
}
