package stream

import (
	"encoding/json"
	"strings"

	"assay/runner/load/chunk"
)

// event takes one server-sent event. A token event is one that brings text, or grows a continuous usage. Behind [DONE] there is none: what
// still lies in the same read would else count, and the same bytes in the next one not.
func (x *Exchange) event(name, data []byte) {
	s, c := &x.seen, new(chunk.Chunk)
	if s.done || string(data) == "[DONE]" {
		s.done = true
		return
	}
	chunk.Parse(data, c)
	if string(name) == "error" && c.Failure == nil {
		c.Failure = data
	}
	switch {
	case c.Failure != nil:
		s.fail(c.Failure)
		return
	case !c.Valid:
		s.undecodable(data)
		return
	}
	if s.id == "" && c.ID != nil {
		s.id = string(c.ID)
	}
	if c.Finish != nil {
		s.finish = string(c.Finish)
	}
	x.tokenEvent(c)
	s.count(c)
}

// fail keeps the first error of a stream.
func (s *sight) fail(raw []byte) {
	if s.failure == "" {
		s.failure = message(raw)
	}
}

func (s *sight) undecodable(data []byte) {
	if s.broken == "" {
		s.broken = "an event is not a JSON object: " + string(data[:min(len(data), errorBytes)])
	}
}

// tokenEvent notes a token event. Usage counts as continuous when the stream's first token event, or an event before it
// that is not the last, brings one; a usage beside the finish reason alone is the final one.
func (x *Exchange) tokenEvent(c *chunk.Chunk) {
	s := &x.seen
	if c.Usage && c.Choices > 0 && x.marks.n == 0 && (c.Finish == nil || c.Text()) {
		s.continuous = true
	}
	grown := s.continuous && c.Usage && c.Choices > 0 && c.Output > s.output
	s.ids += max(c.IDs, 0)
	if !c.Text() && !grown {
		return
	}
	s.reasoned = s.reasoned || c.Reasoning
	if c.Answer && s.answer < 0 {
		s.answer = x.marks.n
	}
	x.marks.add(newMark(s.readUS, c, s.ids))
	x.tokens.Add(1)
	s.ids = 0
	if s.inRead++; s.inRead > 1 {
		s.shared++
	}
	if s.call.WantReply {
		x.reply = append(x.reply, c.Content...)
	}
}

// count keeps the largest usage told.
func (s *sight) count(c *chunk.Chunk) {
	s.cached = max(s.cached, c.Cached)
	if !c.Usage {
		return
	}
	s.usage = true
	s.output = max(s.output, c.Output)
	s.input = max(s.input, c.Input)
	s.thought = max(s.thought, c.Thought)
}

// hidden is how many reasoning tokens the usage tells that no event brought.
func (s *sight) hidden() int64 {
	if s.reasoned {
		return 0
	}
	return s.thought
}

// replyText is the answer's text. Its pieces were kept escaped: joined, they are the inside of one JSON string.
func (x *Exchange) replyText() string {
	if len(x.reply) == 0 {
		return ""
	}
	var text string
	if err := json.Unmarshal([]byte(`"`+string(x.reply)+`"`), &text); err != nil {
		return string(x.reply)
	}
	return text
}

// message finds the sentence in an error object; what has none is shown as it came.
func message(raw []byte) string {
	var outer struct {
		Message string          `json:"message"`
		Error   json.RawMessage `json:"error"`
	}
	var text string
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return text
	case json.Unmarshal(raw, &outer) != nil:
		return strings.TrimSpace(string(raw))
	case outer.Message != "":
		return outer.Message
	case len(outer.Error) > 0:
		return message(outer.Error)
	}
	return string(raw)
}
