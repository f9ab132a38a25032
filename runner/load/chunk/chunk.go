package chunk

import "assay/runner/record"

// Chunk is what one streamed event says. Texts are slices of the event, still escaped.
type Chunk struct {
	Valid     bool // it is a JSON object that could be read
	ID        []byte
	Choices   int    // number of choices
	Content   []byte // answer text of the first choice that has some
	Answer    bool   // a non-empty answer text or tool-call delta
	Reasoning bool   // a non-empty reasoning delta
	Finish    []byte // finish reason; nil when none
	IDs       int    // number of tokens by their ids or log probabilities, over the choices; -1 when not told
	Usage     bool   // Output is told
	Output    int64  // output tokens so far
	Input     int64  // prompt tokens; Never when not told
	Cached    int64  // prompt tokens that a cache had; Never when not told
	Thought   int64  // reasoning tokens among Output; 0 when not told
	Failure   []byte // the error's value; nil when none
}

// Text says that the event brought text of any kind.
func (c *Chunk) Text() bool { return c.Answer || c.Reasoning }

// Parse reads one event's data. A null counts as absent everywhere.
func Parse(b []byte, c *Chunk) {
	*c = Chunk{IDs: -1, Input: record.Never, Cached: record.Never}
	var t timings
	m := object(b, space(b, 0))
	for m.next() {
		switch string(m.key) {
		case "choices":
			c.readChoices(&m)
		case "usage":
			c.readUsage(&m)
		case "timings":
			t.read(&m)
		case "meta_info":
			c.readDetails(&m)
		case "id":
			c.ID = m.text()
		case "error":
			c.readError(m.raw())
		case "object": // some servers tell an error by this member alone
			if string(m.text()) == "error" && c.Failure == nil {
				c.Failure = b
			}
		default:
			m.skip()
		}
	}
	c.Valid = m.end >= 0 && space(b, m.end) == len(b)
	t.standIn(c)
}

// readError keeps an error unless its value says that there is none.
func (c *Chunk) readError(raw []byte) {
	switch string(raw) {
	case "", "null", "false", `""`, "{}":
		return
	}
	c.Failure = raw
}

func (c *Chunk) readChoices(m *members) {
	if m.b[m.value] != '[' {
		m.skip()
		return
	}
	e := array(m.b, m.value)
	for e.next() {
		c.Choices++
		e.done(c.readChoice(m.b, e.value))
	}
	m.done(e.end)
}

func (c *Chunk) readChoice(b []byte, i int) int {
	if b[i] != '{' {
		return skipValue(b, i)
	}
	ids, logged := -1, -1
	m := object(b, i)
	for m.next() {
		switch string(m.key) {
		case "delta":
			c.readDelta(&m)
		case "text":
			c.takeAnswer(m.text())
		case "finish_reason":
			if f := m.text(); f != nil {
				c.Finish = f
			}
		case "token_ids":
			ids = countElements(m.raw())
		case "logprobs":
			logged = countLogged(&m)
		default:
			m.skip()
		}
	}
	if ids < 0 {
		ids = logged
	}
	if ids >= 0 {
		c.IDs = max(c.IDs, 0) + ids
	}
	return m.end
}

func (c *Chunk) readDelta(m *members) {
	if m.b[m.value] != '{' {
		m.skip()
		return
	}
	d := object(m.b, m.value)
	for d.next() {
		switch string(d.key) {
		case "content":
			c.readContent(&d)
		case "refusal":
			c.takeAnswer(d.text())
		case "reasoning", "reasoning_content", "thinking":
			c.Reasoning = d.text() != nil || c.Reasoning
		case "tool_calls", "function_call":
			c.Answer = callText(d.raw()) || c.Answer
		default:
			d.skip()
		}
	}
	m.done(d.end)
}

// readContent takes an answer text, or a list of parts that are answer or thinking.
func (c *Chunk) readContent(m *members) {
	if m.b[m.value] != '[' {
		c.takeAnswer(m.text())
		return
	}
	e := array(m.b, m.value)
	for e.next() {
		e.done(c.readPart(m.b, e.value))
	}
	m.done(e.end)
}

func (c *Chunk) readPart(b []byte, i int) int {
	if b[i] != '{' {
		return skipValue(b, i)
	}
	m := object(b, i)
	for m.next() {
		switch string(m.key) {
		case "text":
			c.takeAnswer(m.text())
		case "thinking":
			c.Reasoning = hasText(m.raw(), "text") || c.Reasoning
		default:
			m.skip()
		}
	}
	return m.end
}

func (c *Chunk) takeAnswer(text []byte) {
	if text == nil {
		return
	}
	c.Answer = true
	if c.Content == nil {
		c.Content = text
	}
}
