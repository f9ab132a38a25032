package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// plainNumbers reads JSON as Python writes it: NaN and Infinity, which are no JSON, become null.
func plainNumbers(in io.Reader) *numbers { return &numbers{in: bufio.NewReaderSize(in, 1<<16)} }

type numbers struct {
	in      *bufio.Reader
	quoted  bool   // inside a string
	escaped bool   // behind a backslash
	left    string // of a null that did not fit

	none map[string]int // how often a word was replaced, by the key before it; nil counts nothing
	text []byte         // of the string that was read last, as far as a name goes
	key  string
}

// Bounds of what is remembered of keys.
const (
	mostKeys = 1000
	longKey  = 64
)

// Read copies, and replaces words outside of strings.
func (n *numbers) Read(b []byte) (int, error) {
	got := copy(b, n.left)
	n.left = n.left[got:]
	for got < len(b) {
		c, err := n.in.ReadByte()
		if errors.Is(err, io.EOF) && got > 0 {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		if word := n.follow(c); word != "" {
			part := copy(b[got:], word)
			got, n.left = got+part, word[part:]
			continue
		}
		b[got] = c
		got++
		if n.in.Buffered() == 0 {
			break
		}
	}
	return got, nil
}

// follow steps over a byte and gives what stands for the word that begins with it, or nothing.
func (n *numbers) follow(c byte) string {
	switch {
	case n.escaped:
		n.escaped = false
	case n.quoted && c == '\\':
		n.escaped = true
	case c == '"':
		if n.quoted = !n.quoted; n.quoted {
			n.text = n.text[:0]
		}
	case n.quoted:
		if n.none != nil && len(n.text) < longKey {
			n.text = append(n.text, c)
		}
	case c == ':' && n.none != nil:
		n.key = string(n.text)
	case c == 'N' && n.skip("aN"), c == 'I' && n.skip("nfinity"), c == '-' && n.skip("Infinity"):
		if _, known := n.none[n.key]; n.none != nil && (known || len(n.none) < mostKeys) {
			n.none[n.key]++
		}
		return "null"
	}
	return ""
}

// skip takes a word that follows.
func (n *numbers) skip(word string) bool {
	b, err := n.in.Peek(len(word))
	if err != nil || string(b) != word {
		return false
	}
	_, err = n.in.Discard(len(word))
	return err == nil
}

// named is how many keys a warning names.
const named = 5

// NoNumbers says where files hold NaN or Infinity, which are left out.
func (s Source) NoNumbers() ([]string, error) {
	var out []string
	for _, name := range s.Files {
		none := map[string]int{}
		err := s.Read(name, MaxStream, func(in io.Reader) error {
			if plain, is := in.(*numbers); is {
				plain.none = none
			}
			_, err := io.Copy(io.Discard, in)
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(none) > 0 {
			out = append(out, name+" holds NaN or Infinity in the place of numbers, which are left out: "+counts(none))
		}
	}
	return out, nil
}

// counts is how often by key, the first few of them.
func counts(of map[string]int) string {
	keys := slices.Sorted(maps.Keys(of))
	var parts []string
	for _, k := range keys[:min(len(keys), named)] {
		parts = append(parts, fmt.Sprintf("%s %d", k, of[k]))
	}
	if more := len(keys) - named; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, ", ")
}
