package wire

import "iter"

// Style is how events are written. The zero Style is what vLLM sends: "data: " and LF LF, an event in one write.
type Style struct {
	LineEnd  string // "" is LF
	Tight    bool   // no space after a field's colon
	Comments bool   // a comment of its own before each event, as proxies send to keep a connection alive
	Fields   bool   // each event has the fields event, id and retry too
	Lines    bool   // an event's data stands in several lines; they are of JSON, cut where JSON allows a line end
	Piece    int    // bytes of a write; 0 is everything at once
	MidRune  bool   // a write ends inside each character of several bytes
}

// Mark is the byte order mark that may begin a stream.
const Mark = "\ufeff"

// Append adds an event with data, one JSON text or a word such as [DONE], to dst.
func (s Style) Append(dst, data []byte) []byte {
	if s.Comments {
		dst = s.AppendComment(dst)
	}
	if s.Fields {
		dst = s.field(dst, "event", "message")
		dst = s.field(dst, "id", "7")
		dst = s.field(dst, "retry", "3000")
	}
	dst = s.data(dst, data)
	return append(dst, s.end()...)
}

// AppendNamed adds an event of a type of its own.
func (s Style) AppendNamed(dst []byte, name string, data []byte) []byte {
	dst = s.field(dst, "event", name)
	dst = s.data(dst, data)
	return append(dst, s.end()...)
}

// AppendComment adds a comment and the empty line after it.
func (s Style) AppendComment(dst []byte) []byte {
	dst = append(dst, ": keep-alive"...)
	dst = append(dst, s.end()...)
	return append(dst, s.end()...)
}

func (s Style) end() string {
	if s.LineEnd == "" {
		return "\n"
	}
	return s.LineEnd
}

func (s Style) field(dst []byte, name, value string) []byte {
	dst = s.name(dst, name)
	dst = append(dst, value...)
	return append(dst, s.end()...)
}

func (s Style) name(dst []byte, name string) []byte {
	dst = append(dst, name...)
	if s.Tight {
		return append(dst, ':')
	}
	return append(dst, ": "...)
}

// data adds the data lines; the first and the last byte of an object are lines of their own where several are asked for.
func (s Style) data(dst, data []byte) []byte {
	if s.Lines && len(data) > 2 && data[0] == '{' {
		last := len(data) - 1
		return s.line(s.line(s.line(dst, data[:1]), data[1:last]), data[last:])
	}
	return s.line(dst, data)
}

func (s Style) line(dst, data []byte) []byte {
	dst = s.name(dst, "data")
	dst = append(dst, data...)
	return append(dst, s.end()...)
}

// Writes cuts b into what is handed to the kernel at once.
func (s Style) Writes(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(b) > 0 {
			n := s.write(b)
			if !yield(b[:n]) {
				return
			}
			b = b[n:]
		}
	}
}

// write is the length of the next write of b.
func (s Style) write(b []byte) int {
	n := len(b)
	if s.Piece > 0 {
		n = min(n, s.Piece)
	}
	if !s.MidRune {
		return n
	}
	for i, c := range b[:n] {
		if c >= 0xC0 { // the first byte of a character of several
			return i + 1
		}
	}
	return n
}
