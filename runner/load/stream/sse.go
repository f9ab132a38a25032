package stream

import "bytes"

// sse splits a body into events as the WHATWG text says: lines end by LF, CR or CRLF, data lines are joined, comments
// and unknown fields are dropped, a byte order mark at the start too, and an event without its blank line never was.
// Bytes may be split anywhere. An event whose one data line lies whole in the fed bytes is handed on without a copy. An event
// longer than maxEvent ends the reading.
type sse struct {
	emit func(name, data []byte) // the slices are valid during the call only

	line    []byte // the begun line of earlier feeds
	data    []byte // data lines joined so far, when they had to be kept
	alias   []byte // the one data line so far, still inside the fed bytes
	name    []byte
	hasData bool
	skipLF  bool // the last byte was CR: a LF next belongs to it
	begun   bool // the byte order mark was looked for
	tooLong bool // an event passed maxEvent; nothing is read any more
}

const (
	maxEvent  = 64 << 20 // bytes of an event: its data, or one of its lines
	keptEvent = 16 << 10 // a larger buffer is given back after its response
)

// reset makes s ready for a new body; its buffers stay.
func (s *sse) reset() {
	*s = sse{emit: s.emit, line: kept(s.line), data: kept(s.data), name: kept(s.name)}
}

// kept gives a buffer for use again, unless it grew large.
func kept(b []byte) []byte {
	if cap(b) > keptEvent {
		return nil
	}
	return b[:0]
}

// feed takes the next bytes of the body.
func (s *sse) feed(b []byte) {
	for len(b) > 0 {
		if s.tooLong = s.tooLong || len(s.line)+len(s.data) > maxEvent; s.tooLong {
			return
		}
		if s.skipLF {
			s.skipLF = false
			if b[0] == '\n' {
				b = b[1:]
				continue
			}
		}
		end := lineEnd(b)
		if end < 0 {
			s.line = append(s.line, b...)
			break
		}
		s.skipLF = b[end] == '\r'
		s.take(b[:end])
		b = b[end+1:]
	}
	s.keep()
}

// lineEnd finds the first CR or LF.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf < 0 {
		return bytes.IndexByte(b, '\r')
	}
	if cr := bytes.IndexByte(b[:lf], '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// take handles the rest of a line, which may have begun in an earlier feed.
func (s *sse) take(rest []byte) {
	if len(s.line) == 0 {
		s.field(s.mark(rest), true)
		return
	}
	s.line = append(s.line, rest...)
	s.field(s.mark(s.line), false)
	s.line = s.line[:0]
}

// mark drops the byte order mark of the first line.
func (s *sse) mark(line []byte) []byte {
	if s.begun {
		return line
	}
	s.begun = true
	return bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
}

// field handles one whole line; alive says that the slice lives until the end of this feed.
func (s *sse) field(line []byte, alive bool) {
	if len(line) == 0 {
		s.dispatch()
		return
	}
	name, value, _ := bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		s.dataLine(value, alive)
	case "event":
		s.name = append(s.name[:0], value...)
	}
}

func (s *sse) dataLine(value []byte, alive bool) {
	if !s.hasData {
		s.hasData = true
		s.alias, s.data = value, s.data[:0]
		if !alive {
			s.keep()
		}
		return
	}
	s.keep()
	s.data = append(append(s.data, '\n'), value...)
}

// keep copies the data line that still lies in bytes of the caller.
func (s *sse) keep() {
	if s.alias != nil {
		s.data = append(s.data[:0], s.alias...)
		s.alias = nil
	}
}

func (s *sse) dispatch() {
	if s.hasData {
		data := s.data
		if s.alias != nil {
			data = s.alias
		}
		s.emit(s.name, data)
	}
	s.alias, s.hasData, s.name, s.data = nil, false, s.name[:0], s.data[:0]
}
