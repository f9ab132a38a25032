package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// lineLimit bounds the memory of one line; longer ones are bad.
const lineLimit = 16 << 20

// lines reads a file line by line, without blank ones.
type lines struct {
	from   origin
	file   io.ReadCloser
	in     *bufio.Reader
	number int
}

func (l *lines) open() error {
	if l.in != nil {
		return nil
	}
	file, err := l.from.open(0)
	if err != nil {
		return err
	}
	l.file, l.in = file, bufio.NewReaderSize(file, 64<<10)
	if mark, _ := l.in.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = l.in.Discard(3) // was peeked
	}
	return nil
}

// next gives the next line that is not blank, without its end; io.EOF after the last. The bytes are the caller's.
func (l *lines) next() ([]byte, error) {
	if err := l.open(); err != nil {
		return nil, err
	}
	for {
		line, long, err := l.read()
		if err != nil {
			return nil, err
		}
		l.number++
		line = bytes.TrimSpace(line)
		switch {
		case long:
			return nil, badf("line %d: longer than %d MiB", l.number, lineLimit>>20)
		case len(line) == 0:
			continue
		case !utf8.Valid(line):
			return nil, badf("line %d: not UTF-8", l.number)
		}
		return line, nil
	}
}

// read takes one line; what is above the limit is dropped.
func (l *lines) read() (line []byte, long bool, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line)+len(part) > lineLimit {
			line, long = line[:0], true
		}
		if !long {
			line = append(line, part...)
		}
		switch {
		case err == nil:
			return line, long, nil
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (len(line) > 0 || long):
			return line, long, nil
		default:
			return nil, false, err
		}
	}
}

// Close closes the file.
func (l *lines) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}
