package redact

import "io"

// Writer hides secrets in what is written through it, also one that comes in several pieces: it holds back only what may be the beginning of
// a secret, until more or Close comes. One goroutine uses it.
type Writer struct {
	to   io.Writer
	r    *Redactor
	held []byte
}

// Writer begins a stream to w; closing it leaves w open.
func (r *Redactor) Writer(w io.Writer) *Writer { return &Writer{to: w, r: r} }

// Write passes b on, without secrets.
func (w *Writer) Write(b []byte) (int, error) {
	if w.r == nil {
		return w.to.Write(b)
	}
	text := w.r.Bytes(append(w.held, b...))
	keep := w.r.begun(text)
	w.held = append([]byte(nil), text[len(text)-keep:]...)
	if _, err := w.to.Write(text[:len(text)-keep]); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Close writes what was held back.
func (w *Writer) Close() error {
	if len(w.held) == 0 {
		return nil
	}
	held := w.held
	w.held = nil
	_, err := w.to.Write(held)
	return err
}
