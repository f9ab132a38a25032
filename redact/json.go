package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// JSON gives a document, or lines of them, without secrets in its texts. A key that happens to be the word that is somebody's password stays.
// What is no JSON is taken as a text.
func (r *Redactor) JSON(doc []byte) []byte {
	if r == nil || !r.Holds(doc) && !bytes.Contains(doc, []byte(`\\`)) {
		return doc
	}
	if !isJSON(doc) {
		return r.Bytes(doc)
	}
	var out bytes.Buffer
	for len(doc) > 0 {
		open := bytes.IndexByte(doc, '"')
		if open < 0 {
			break
		}
		end := endOfText(doc, open)
		out.Write(doc[:open])
		if text := doc[open:end]; isKey(doc[end:]) {
			out.Write(r.key(text))
		} else {
			out.Write(r.quoted(text))
		}
		doc = doc[end:]
	}
	out.Write(doc)
	return out.Bytes()
}

// quoted gives a text in its quotes without secrets, also one that stands in it escaped once more, as in a line of a log that is JSON itself.
func (r *Redactor) quoted(text []byte) []byte {
	text = r.Bytes(text)
	var said string
	if !bytes.Contains(text, []byte(`\\`)) || json.Unmarshal(text, &said) != nil || !r.Holds([]byte(said)) {
		return text
	}
	clean, err := json.Marshal(r.Text(said))
	if err != nil {
		return text // never: every text can be written
	}
	return clean
}

// key gives a key without the secrets that are no plain words.
func (r *Redactor) key(text []byte) []byte {
	for _, f := range r.forms {
		if bytes.ContainsFunc(f.text, func(c rune) bool { return c != '_' && (c < 'a' || c > 'z') }) {
			text = bytes.ReplaceAll(text, f.text, f.mark)
		}
	}
	return text
}

func isJSON(doc []byte) bool {
	d := json.NewDecoder(bytes.NewReader(doc))
	for {
		var one json.RawMessage
		if err := d.Decode(&one); err != nil {
			return err == io.EOF
		}
	}
}

// endOfText is the place after the quote that ends the text begun at open.
func endOfText(doc []byte, open int) int {
	for i := open + 1; i < len(doc); i++ {
		switch doc[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(doc)
}

func isKey(after []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(after, " \t\r\n"), []byte(":")) }

// Value gives a value, as JSON writes it, without secrets.
func Value[T any](r *Redactor, v T) (T, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return v, err
	}
	hidden := r.JSON(b)
	if bytes.Equal(hidden, b) {
		return v, nil
	}
	var clean T
	if err := json.Unmarshal(hidden, &clean); err != nil {
		return v, fmt.Errorf("take secrets out of a document: %w", err)
	}
	return clean, nil
}
