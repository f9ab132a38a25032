package chunk

import (
	"encoding/binary"
	"math/bits"
)

// The scanner walks one JSON text in a single pass without allocation. It checks the structure it walks through; what
// it skips it checks only for balance, and strings stay escaped.

// space gives the index of the first byte at or after i that is no white space.
func space(b []byte, i int) int {
	if i < len(b) && b[i] > ' ' { // nearly always, and small enough to stand where it is called
		return i
	}
	return spaces(b, i)
}

func spaces(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString gives the index after the string that begins at b[i], or -1.
func skipString(b []byte, i int) int {
	for i = special(b, i+1); i < len(b); i = special(b, i+2) {
		if b[i] == '"' {
			return i + 1
		}
	}
	return -1
}

// special gives the index of the first quote or backslash at or after i, eight bytes at a time; len(b) or more when there is none.
func special(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		if found := zeros(w^quotes) | zeros(w^backslashes); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(b) && b[i] != '"' && b[i] != '\\'; i++ {
	}
	return i
}

const (
	ones        = 0x0101010101010101
	quotes      = '"' * ones
	backslashes = '\\' * ones
)

// zeros sets the top bit of the first byte of w that is 0. Bits above that one may be set wrongly.
func zeros(w uint64) uint64 { return (w - ones) &^ w & (0x80 * ones) }

// skipValue gives the index after the value that begins at b[i], or -1.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	from := i
	for i < len(b) && isScalar(b[i]) {
		i++
	}
	if i == from {
		return -1
	}
	return i
}

// isScalar tells the bytes of numbers, true, false and null.
func isScalar(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-' || c == '+' || c == '.' || c == 'E'
}

// skipNested gives the index after the object or array that begins at b[i], or -1.
func skipNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// members walks the members of an object. Use:
//
//	m := object(b, i)
//	for m.next() { switch string(m.key) { … m.done(index after the value) } }
//	m.end is the index after the object, -1 when it is broken
type members struct {
	b     []byte
	key   []byte // still escaped
	value int    // index of the value
	end   int
	at    int
	first bool
}

func object(b []byte, i int) members {
	if i < 0 || i >= len(b) || b[i] != '{' {
		return members{end: -1, at: -1}
	}
	return members{b: b, at: i + 1, end: -1, first: true}
}

// next steps to the next member; the caller tells by done where its value ended.
func (m *members) next() bool {
	if m.at < 0 {
		return false
	}
	i := space(m.b, m.at)
	if i < len(m.b) && m.b[i] == '}' {
		m.end, m.at = i+1, -1
		return false
	}
	if !m.first {
		if i >= len(m.b) || m.b[i] != ',' {
			return m.broken()
		}
		i = space(m.b, i+1)
	}
	m.first = false
	return m.member(i)
}

func (m *members) member(i int) bool {
	if i >= len(m.b) || m.b[i] != '"' {
		return m.broken()
	}
	j := skipString(m.b, i)
	if j < 0 {
		return m.broken()
	}
	m.key = m.b[i+1 : j-1]
	j = space(m.b, j)
	if j >= len(m.b) || m.b[j] != ':' {
		return m.broken()
	}
	if m.value = space(m.b, j+1); m.value >= len(m.b) {
		return m.broken()
	}
	return true
}

func (m *members) broken() bool {
	m.at = -1
	return false
}

// done tells where the value of the current member ended; -1 ends the walk as broken.
func (m *members) done(end int) { m.at = end }

// skip passes over the current value.
func (m *members) skip() { m.at = skipValue(m.b, m.value) }

// raw gives the current value's bytes and passes over it; nil when it is broken.
func (m *members) raw() []byte {
	m.skip()
	if m.at < 0 {
		return nil
	}
	return m.b[m.value:m.at]
}

// text gives the inside of a string value, still escaped, and passes over it; nil for other values and "".
func (m *members) text() []byte {
	raw := m.raw()
	if len(raw) > 2 && raw[0] == '"' {
		return raw[1 : len(raw)-1]
	}
	return nil
}

// number gives a whole number and passes over it; ok is false for anything else.
func (m *members) number() (n int64, ok bool) {
	raw := m.raw()
	if len(raw) == 0 || len(raw) > 18 {
		return 0, false
	}
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// keep puts a whole number that is told into its place.
func (m *members) keep(into *int64) bool {
	n, ok := m.number()
	if ok {
		*into = n
	}
	return ok
}

// elements walks an array as members walks an object.
type elements struct {
	b     []byte
	value int
	end   int
	at    int
	first bool
}

func array(b []byte, i int) elements {
	if i < 0 || i >= len(b) || b[i] != '[' {
		return elements{end: -1, at: -1}
	}
	return elements{b: b, at: i + 1, end: -1, first: true}
}

func (e *elements) next() bool {
	if e.at < 0 {
		return false
	}
	i := space(e.b, e.at)
	if i < len(e.b) && e.b[i] == ']' {
		e.end, e.at = i+1, -1
		return false
	}
	if !e.first {
		if i >= len(e.b) || e.b[i] != ',' {
			e.at = -1
			return false
		}
		i = space(e.b, i+1)
	}
	e.first = false
	if e.value = i; i >= len(e.b) {
		e.at = -1
		return false
	}
	return true
}

func (e *elements) done(end int) { e.at = end }
