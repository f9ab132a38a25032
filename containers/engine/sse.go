package engine

import (
	"bufio"
	"bytes"
	"io"
)

// eventData gives the data of each event of a stream to visit, until that is false or the stream ends, by the rules that the client reads
// by: lines end by LF, CR or CRLF, data lines are joined, comments and other fields are dropped, a byte order mark at the start too. Here
// an event without its blank line at the stream's end counts: a server that closes early has said what it said. Of a stream longer
// than answerCap the rest is not read.
func eventData(stream io.Reader, visit func(data string) bool) error {
	lines := bufio.NewScanner(io.LimitReader(stream, answerCap))
	lines.Buffer(nil, answerCap+1)
	lines.Split((&lineSplit{}).split)
	var data []byte
	has, first := false, true
	for lines.Scan() {
		line := lines.Bytes()
		if first {
			line, first = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), false
		}
		if len(line) == 0 {
			if has && !visit(string(data)) {
				return nil
			}
			data, has = data[:0], false
			continue
		}
		name, value, _ := bytes.Cut(line, []byte{':'})
		if string(name) != "data" {
			continue
		}
		if has {
			data = append(data, '\n')
		}
		data, has = append(data, bytes.TrimPrefix(value, []byte{' '})...), true
	}
	if has {
		visit(string(data))
	}
	return lines.Err()
}

// lineSplit splits at LF, CR and CRLF. A line that ends by CR is whole at once: the LF that may follow it need not have come yet, and is
// dropped when it comes.
type lineSplit struct{ skipLF bool }

func (s *lineSplit) split(b []byte, atEnd bool) (advance int, line []byte, err error) {
	drop := 0
	if s.skipLF && len(b) > 0 {
		s.skipLF = false
		if b[0] == '\n' {
			drop = 1
		}
	}
	rest := b[drop:]
	end := bytes.IndexAny(rest, "\r\n")
	switch {
	case end >= 0:
		s.skipLF = rest[end] == '\r'
		return drop + end + 1, rest[:end:end], nil
	case atEnd && len(rest) > 0:
		return len(b), rest, nil
	}
	return drop, nil, nil
}
