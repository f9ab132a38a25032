package chunk

import "assay/runner/record"

// readUsage reads OpenAI's object, with what others put into it.
func (c *Chunk) readUsage(m *members) {
	if m.b[m.value] != '{' {
		m.skip()
		return
	}
	u := object(m.b, m.value)
	for u.next() {
		switch string(u.key) {
		case "completion_tokens":
			if n, ok := u.number(); ok {
				c.Usage, c.Output = true, n
			}
		case "prompt_tokens":
			u.keep(&c.Input)
		case "prompt_tokens_details", "completion_tokens_details":
			c.readDetails(&u)
		case "prompt_cache_hit_tokens":
			u.keep(&c.Cached)
		case "reasoning_tokens":
			u.keep(&c.Thought)
		default:
			u.skip()
		}
	}
	m.done(u.end)
}

// readDetails reads an object that tells parts of the counts.
func (c *Chunk) readDetails(m *members) {
	if m.b[m.value] != '{' {
		m.skip()
		return
	}
	d := object(m.b, m.value)
	for d.next() {
		switch string(d.key) {
		case "cached_tokens":
			d.keep(&c.Cached)
		case "reasoning_tokens":
			d.keep(&c.Thought)
		default:
			d.skip()
		}
	}
	m.done(d.end)
}

// timings are llama.cpp's counts: on the last event, and on each where the request asks for it.
type timings struct {
	told                      bool
	cached, prompt, predicted int64
}

func (t *timings) read(m *members) {
	if m.b[m.value] != '{' {
		m.skip()
		return
	}
	o := object(m.b, m.value)
	for o.next() {
		switch string(o.key) {
		case "cache_n":
			o.keep(&t.cached)
		case "prompt_n":
			o.keep(&t.prompt)
		case "predicted_n":
			t.told = o.keep(&t.predicted)
		default:
			o.skip()
		}
	}
	m.done(o.end)
}

// standIn takes the place of a usage that is not told.
func (t *timings) standIn(c *Chunk) {
	if !t.told || c.Usage {
		return
	}
	c.Usage, c.Output, c.Input = true, t.predicted, t.cached+t.prompt
	if c.Cached == record.Never {
		c.Cached = t.cached
	}
}
