package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// texts cuts plain texts into prompts of exactly Config.InputLen words, one after the other without overlap; what is left at the end of a
// file is not used. Of a folder only the *.txt files in and below it are read; the seed orders them. Of a Project Gutenberg book only what stands between its START and END marks is read.
type texts struct {
	from   origin
	length int
	order  []int
	at     int // place in order
	file   io.ReadCloser
	in     *bufio.Scanner
	pieces int  // of this file
	rest   int  // words behind its last piece
	alien  bool // it turned out to be no UTF-8
}

const wordLimit = 1 << 16

func newText(from origin, cfg Config) reader {
	rng := rand.New(rand.NewPCG(cfg.Seed, 0))
	return &texts{from: from, length: cfg.InputLen, order: rng.Perm(from.count())}
}

func (r *texts) next() (Conversation, error) {
	for {
		if r.in == nil {
			if err := r.openNext(); err != nil {
				return Conversation{}, err
			}
		}
		words := make([]string, 0, min(r.length, 1<<12))
		for len(words) < r.length && r.in.Scan() {
			if r.alien = !utf8.Valid(r.in.Bytes()); r.alien {
				break
			}
			words = append(words, r.in.Text())
		}
		if len(words) == r.length {
			r.pieces++
			id := fmt.Sprintf("text-%d-%d", r.order[r.at-1]+1, r.pieces)
			return Conversation{ID: id, Turns: []Turn{{Messages: []Message{{Role: "user", Content: strings.Join(words, " ")}}}}}, nil
		}
		r.rest = len(words)
		if err := r.closeFile(); err != nil {
			return Conversation{}, err
		}
	}
}

func (r *texts) openNext() error {
	if r.at == len(r.order) {
		return io.EOF
	}
	file, err := r.from.open(r.order[r.at])
	if err != nil {
		return err
	}
	r.at++
	r.file, r.pieces = file, 0
	r.in = bufio.NewScanner(newBook(file))
	r.in.Buffer(nil, wordLimit)
	r.in.Split(bufio.ScanWords)
	return nil
}

// closeFile ends a file; one that gave nothing, or could not be read to its end as text, is named.
func (r *texts) closeFile() error {
	err, name := r.in.Err(), r.name()
	r.in = nil
	if closed := r.file.Close(); err == nil && closed != nil {
		return closed
	}
	r.file = nil
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return badf("%s: a word is longer than %d bytes; the file was not read further", name, wordLimit)
	case r.alien:
		return badf("%s: not UTF-8; the file was not read further", name)
	case err != nil:
		return err
	case r.pieces == 0:
		return badf("%s has %d words, a prompt needs %d words (input_len)", name, r.rest, r.length)
	}
	return nil
}

func (r *texts) name() string {
	if len(r.from.files) == 0 {
		return r.from.name
	}
	return filepath.Base(r.from.files[r.order[r.at-1]])
}

// Close closes the file that is being read.
func (r *texts) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

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
}

func newBook(r io.Reader) *book { return &book{in: bufio.NewReaderSize(r, bookHead)} }

// Read gives the text line by line.
func (b *book) Read(p []byte) (int, error) {
	if !b.begun {
		b.begin()
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

// begin skips to behind the START mark if there is one near the beginning.
func (b *book) begin() {
	b.begun, b.newline = true, true
	head, _ := b.in.Peek(bookHead) // a short file gives what there is
	at := strings.Index(string(head), bookStart)
	if at < 0 {
		return
	}
	if end := strings.IndexByte(string(head[at:]), '\n'); end >= 0 {
		_, _ = b.in.Discard(at + end + 1) // was peeked
	}
}
