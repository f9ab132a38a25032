package chunk

import "bytes"

// callText says whether a tool-call delta brings a name or arguments; its opening chunk may bring neither.
func callText(raw []byte) bool { return hasText(raw, "name", "arguments") }

// hasText says whether a value holds, at any depth, a member of one of these names that is a non-empty text; or is such a text itself.
func hasText(raw []byte, names ...string) bool {
	if len(raw) > 2 && raw[0] == '"' {
		return true
	}
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
		if !among(names, key) {
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

func among(names []string, key []byte) bool {
	for _, name := range names {
		if name == string(key) {
			return true
		}
	}
	return false
}

// countElements counts the elements of an array; -1 for anything else.
func countElements(raw []byte) int {
	if len(raw) < 2 || raw[0] != '[' {
		return -1
	}
	n := 0
	e := array(raw, 0)
	for e.next() {
		n++
		e.done(skipValue(raw, e.value))
	}
	return n
}

// countLogged counts the tokens that have log probabilities: content of a chat, tokens of completions; -1 when there are none.
func countLogged(m *members) int {
	if m.b[m.value] != '{' {
		m.skip()
		return -1
	}
	n := -1
	o := object(m.b, m.value)
	for o.next() {
		switch string(o.key) {
		case "content", "tokens":
			n = max(n, countElements(o.raw()))
		default:
			o.skip()
		}
	}
	m.done(o.end)
	return n
}
