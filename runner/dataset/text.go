package dataset

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"unicode"
	"unicode/utf8"
)

// texts cuts plain texts into prompts of one length, without overlap; what is left at the end of a file is not used. A few files are read
// side by side, and the seed says in which order they are opened, where in its first pages each begins, and which gives the next prompt. Of
// a folder only the *.txt files in and below it are read; of a Project Gutenberg book only what stands between its START and END marks.
type texts struct {
	from   origin
	cut    Cutter
	length int
	unit   string
	rng    *rand.Rand
	order  []int
	at     int // place in order
	open   []*openText
}

const (
	together  = 16      // files that are read side by side
	wordLimit = 1 << 16 // bytes; what has longer words is no text
)

func newText(from origin, cfg Config) reader {
	rng := rand.New(rand.NewPCG(cfg.Seed, 0))
	return &texts{from: from, cut: cfg.Cut, length: cfg.InputLen, unit: cfg.unit(), rng: rng, order: rng.Perm(from.count())}
}

// unit is what lengths count.
func (c Config) unit() string {
	if c.Vocabulary.Counted {
		return "tokens"
	}
	return "words"
}

func (r *texts) next() (Conversation, error) {
	for {
		if err := r.fill(); err != nil {
			return Conversation{}, err
		}
		if len(r.open) == 0 {
			return Conversation{}, io.EOF
		}
		i := r.rng.IntN(len(r.open))
		t := r.open[i]
		turn, err := t.piece(r.cut, r.length)
		if err == nil {
			return Conversation{ID: fmt.Sprintf("text-%d-%d", t.number, t.pieces), Turns: []Turn{turn}}, nil
		}
		var bad *badLine
		if !errors.Is(err, io.EOF) && !errors.As(err, &bad) {
			return Conversation{}, err
		}
		r.open = slices.Delete(r.open, i, i+1)
		if closed := t.file.Close(); closed != nil {
			return Conversation{}, closed
		}
		switch {
		case bad != nil:
			return Conversation{}, mended(bad.mend, "%s: %s; the file was not read further", t.name, bad.text)
		case t.pieces == 0:
			return Conversation{}, mended("a shorter input_len (bench: --input-len), or longer texts", "%s is too short: a prompt needs %d %s (input_len)", t.name, r.length, r.unit)
		}
	}
}

// fill opens files until enough are open or none is left.
func (r *texts) fill() error {
	for len(r.open) < together && r.at < len(r.order) {
		i := r.order[r.at]
		file, err := r.from.open(i)
		if err != nil {
			return err
		}
		r.at++
		t := &openText{name: r.from.nameOf(i), number: i + 1, file: file, in: newBook(file)}
		if page := r.length * 8; r.from.sizeOf(i) > int64(16*page) {
			t.skip = r.rng.IntN(page)
		}
		r.open = append(r.open, t)
	}
	return nil
}

// nameOf is how the ith file is called in notes.
func (o origin) nameOf(i int) string {
	if len(o.files) == 0 {
		return o.name
	}
	return filepath.Base(o.files[i])
}

// Close closes the files that are being read.
func (r *texts) Close() error {
	var errs []error
	for _, t := range r.open {
		errs = append(errs, t.file.Close())
	}
	r.open = nil
	return errors.Join(errs...)
}

// openText is a text that is being read.
type openText struct {
	name   string
	number int
	file   io.ReadCloser
	in     io.Reader
	skip   int    // bytes that are left out at the beginning, and the rest of the word there
	buf    []byte // was read and is not used yet; it begins with a word
	ended  bool
	pieces int
}

// longestPiece is how many bytes of text are tried for a prompt of a length.
func longestPiece(length int) int { return length*64 + 2*wordLimit }

// piece cuts the next prompt; io.EOF when what is left is too short for one.
func (t *openText) piece(cut Cutter, length int) (Turn, error) {
	for want := length*6 + 64; ; want *= 2 {
		if err := t.read(want); err != nil {
			return Turn{}, err
		}
		whole, bad := t.usable()
		turn, used, ok, err := cut(string(t.buf[:whole]), length)
		switch {
		case err != nil:
			return Turn{}, err
		case ok:
			t.buf = t.buf[used:]
			t.pieces++
			return turn, nil
		case bad != nil:
			return Turn{}, bad
		case t.ended:
			return Turn{}, io.EOF
		case want > longestPiece(length):
			return Turn{}, badf("%d bytes hold less than a prompt", want)
		}
	}
}

// read has at least n bytes of text in buf, unless the file ends.
func (t *openText) read(n int) error {
	for len(t.buf) < n+t.skip && !t.ended {
		room := slices.Grow(t.buf, n+t.skip-len(t.buf))
		got, err := io.ReadFull(t.in, room[len(t.buf):n+t.skip])
		t.buf = room[:len(t.buf)+got]
		if t.ended = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); err != nil && !t.ended {
			return err
		}
	}
	t.begin()
	return nil
}

// usable is how many bytes of buf are whole words of text, and why it is not all of them but for a last half word.
func (t *openText) usable() (int, error) {
	begin := 0 // of the word
	for i := 0; i < len(t.buf); {
		r, size := utf8.DecodeRune(t.buf[i:])
		half := !utf8.FullRune(t.buf[i:]) && !t.ended
		switch {
		case half:
			return begin, nil
		case r == 0:
			return begin, badf("it holds NUL bytes, so it is no text")
		case r == utf8.RuneError && size == 1:
			return begin, badf("not UTF-8")
		case i-begin > wordLimit:
			return begin, badf("a word is longer than %d bytes", wordLimit)
		case unicode.IsSpace(r):
			begin = i + size
		}
		i += size
	}
	if t.ended {
		begin = len(t.buf)
	}
	return begin, nil
}

// begin leaves out what is to be skipped, and white space.
func (t *openText) begin() {
	if n := min(t.skip, len(t.buf)); n > 0 {
		t.buf, t.skip = t.buf[n:], 0
		if at := slices.IndexFunc(t.buf, isSpace); at >= 0 {
			t.buf = t.buf[at:]
		}
	}
	for len(t.buf) > 0 && isSpace(t.buf[0]) {
		t.buf = t.buf[1:]
	}
}

func isSpace(b byte) bool { return b < utf8.RuneSelf && unicode.IsSpace(rune(b)) }
