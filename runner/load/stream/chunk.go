package stream

import (
	"bytes"

	"assay/runner/record"
)

// chunk is what one streamed event says. Texts are slices of the event, still escaped.
type chunk struct {
	valid     bool // it is a JSON object that could be read
	id        []byte
	choices   int    // number of choices
	content   []byte // answer text of the first choice that has some
	answer    bool   // a non-empty answer text or tool-call delta
	reasoning bool   // a non-empty reasoning delta
	finish    []byte // finish reason; nil when none
	tokenIDs  int    // number of token ids; -1 when not told
	usage     bool   // a usage object with completion_tokens
	output    int64  // usage.completion_tokens
	input     int64  // usage.prompt_tokens; Never when not told
	cached    int64  // usage.prompt_tokens_details.cached_tokens; Never when not told
	failure   []byte // the error's value; nil when none
}

// text says that the chunk brought text of any kind.
func (c *chunk) text() bool { return c.answer || c.reasoning }

// parseChunk reads one event's data.
func parseChunk(b []byte, c *chunk) {
	*c = chunk{tokenIDs: -1, input: record.Never, cached: record.Never}
	i := space(b, 0)
	m := object(b, i)
	for m.next() {
		switch string(m.key) {
		case "choices":
			c.readChoices(&m)
		case "usage":
			c.readUsage(&m)
		case "id":
			c.id = m.text()
		case "error":
			c.readError(m.raw())
		case "object": // some servers tell an error by this member alone
			if string(m.text()) == "error" && c.failure == nil {
				c.failure = b
			}
		default:
			m.skip()
		}
	}
	c.valid = m.end >= 0 && space(b, m.end) == len(b)
}

// readError keeps an error unless its value says that there is none.
func (c *chunk) readError(raw []byte) {
	switch string(raw) {
	case "", "null", "false", `""`:
		return
	}
	c.failure = raw
}

func (c *chunk) readUsage(m *members) {
	u := object(m.b, m.value)
	if m.b[m.value] != '{' {
		m.skip()
		return
	}
	for u.next() {
		switch string(u.key) {
		case "completion_tokens":
			if n, ok := u.number(); ok {
				c.usage, c.output = true, n
			}
		case "prompt_tokens":
			if n, ok := u.number(); ok {
				c.input = n
			}
		case "prompt_tokens_details":
			c.readDetails(&u)
		default:
			u.skip()
		}
	}
	m.done(u.end)
}

func (c *chunk) readDetails(m *members) {
	if m.b[m.value] != '{' {
		m.skip()
		return
	}
	d := object(m.b, m.value)
	for d.next() {
		if string(d.key) != "cached_tokens" {
			d.skip()
			continue
		}
		if n, ok := d.number(); ok {
			c.cached = n
		}
	}
	m.done(d.end)
}

func (c *chunk) readChoices(m *members) {
	if m.b[m.value] != '[' {
		m.skip()
		return
	}
	e := array(m.b, m.value)
	for e.next() {
		c.choices++
		e.done(c.readChoice(m.b, e.value))
	}
	m.done(e.end)
}

func (c *chunk) readChoice(b []byte, i int) int {
	if b[i] != '{' {
		return skipValue(b, i)
	}
	m := object(b, i)
	for m.next() {
		switch string(m.key) {
		case "delta":
			c.readDelta(&m)
		case "text":
			c.takeAnswer(m.text())
		case "finish_reason":
			if f := m.text(); f != nil {
				c.finish = f
			}
		case "token_ids":
			c.tokenIDs = max(c.tokenIDs, countElements(m.raw()))
		default:
			m.skip()
		}
	}
	return m.end
}

func (c *chunk) readDelta(m *members) {
	if m.b[m.value] != '{' {
		m.skip()
		return
	}
	d := object(m.b, m.value)
	for d.next() {
		switch string(d.key) {
		case "content", "refusal":
			c.takeAnswer(d.text())
		case "reasoning", "reasoning_content":
			c.reasoning = d.text() != nil || c.reasoning
		case "tool_calls", "function_call":
			c.answer = callText(d.raw()) || c.answer
		default:
			d.skip()
		}
	}
	m.done(d.end)
}

func (c *chunk) takeAnswer(text []byte) {
	if text == nil {
		return
	}
	c.answer = true
	if c.content == nil {
		c.content = text
	}
}

// callText says whether a tool-call delta brings a name or arguments; its opening chunk may bring neither.
func callText(raw []byte) bool {
	for len(raw) > 0 {
		i := bytes.IndexByte(raw, '"')
		if i < 0 {
			return false
		}
		j := skipString(raw, i)
		if j < 0 {
			return false
		}
		key := raw[i+1 : j-1]
		raw = raw[j:]
		if string(key) != "name" && string(key) != "arguments" {
			continue
		}
		if v := space(raw, 0); v < len(raw) && raw[v] == ':' {
			if v = space(raw, v+1); v+1 < len(raw) && raw[v] == '"' && raw[v+1] != '"' {
				return true
			}
		}
	}
	return false
}

// countElements counts the elements of a flat array; -1 for anything else.
func countElements(raw []byte) int {
	if len(raw) < 2 || raw[0] != '[' {
		return -1
	}
	if space(raw, 1) == len(raw)-1 {
		return 0
	}
	return bytes.Count(raw, []byte{','}) + 1
}
