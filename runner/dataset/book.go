package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

const (
	bookStart = "*** START OF"
	bookEnd   = "*** END OF"
	bookHead  = 64 << 10 // how far in the START mark is looked for
)

// book reads a text without the licence a Project Gutenberg book carries before and after it.
type book struct {
	in      *bufio.Reader
	left    []byte
	begun   bool
	ended   bool
	newline bool
	bad     error // what the file is that is no UTF-8 text
}

func newBook(r io.Reader) *book { return &book{in: bufio.NewReaderSize(r, bookHead)} }

// Read gives the text line by line.
func (b *book) Read(p []byte) (int, error) {
	if !b.begun {
		b.begin()
	}
	if b.bad != nil {
		return 0, b.bad
	}
	for len(b.left) == 0 {
		if b.ended {
			return 0, io.EOF
		}
		part, err := b.in.ReadSlice('\n')
		whole := b.newline
		b.newline = err == nil
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) && len(part) == 0 {
			return 0, err
		}
		if whole && strings.HasPrefix(string(part), bookEnd) {
			b.ended = true
			continue
		}
		b.left = part
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	return n, nil
}

// begin skips to behind the START mark if there is one near the beginning, and looks which encoding the text has: readers begin anywhere
// in it, where a UTF-16 text can pass for UTF-8.
func (b *book) begin() {
	b.begun, b.newline = true, true
	head, _ := b.in.Peek(bookHead) // a short file gives what there is
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) || bytes.IndexByte(head, 0) >= 0 {
		b.bad = mended("save it as UTF-8, such as by `iconv -f UTF-16 -t UTF-8`", "not UTF-8 (UTF-16, or no text)")
		return
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		_, _ = b.in.Discard(3) // was peeked
		head = head[3:]
	}
	at := strings.Index(string(head), bookStart)
	if at < 0 {
		return
	}
	if end := strings.IndexByte(string(head[at:]), '\n'); end >= 0 {
		_, _ = b.in.Discard(at + end + 1) // was peeked
	}
}
