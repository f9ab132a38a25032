package paced

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Truth is what the server knows of one request.
type Truth struct {
	N         uint64 // ID(N) is its response id
	ArrivedNS int64  // it was there whole
	EndedNS   int64  // its last byte was handed to the kernel, or its connection was seen closed
	Whole     bool   // every token was sent
	SentNS    []int64
}

const magic = "assay.paced/v1\n"

// Log writes truths to a file.
type Log struct {
	out *bufio.Writer
	buf []byte
}

// NewLog begins a log.
func NewLog(w io.Writer) *Log {
	l := &Log{out: bufio.NewWriterSize(w, 64<<10)}
	_, _ = l.out.WriteString(magic) // a failure stays with the writer until Close
	return l
}

// append writes a truth: varints, instants as the difference to the one before.
func (l *Log) append(t Truth) {
	whole := uint64(0)
	if t.Whole {
		whole = 1
	}
	b := binary.AppendUvarint(l.buf[:0], t.N)
	b = binary.AppendVarint(b, t.ArrivedNS)
	b = binary.AppendVarint(b, t.EndedNS-t.ArrivedNS)
	b = binary.AppendUvarint(b, whole)
	b = binary.AppendUvarint(b, uint64(len(t.SentNS)))
	last := t.ArrivedNS
	for _, at := range t.SentNS {
		b = binary.AppendVarint(b, at-last)
		last = at
	}
	l.buf = b
	_, _ = l.out.Write(b)
}

// Close hands everything to the file.
func (l *Log) Close() error {
	if err := l.out.Flush(); err != nil {
		return fmt.Errorf("write the log: %w", err)
	}
	return nil
}

// ReadLog reads a whole log.
func ReadLog(r io.Reader) ([]Truth, error) {
	in := bufio.NewReader(r)
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(in, head); err != nil || string(head) != magic {
		return nil, fmt.Errorf("read the log: it does not begin as one")
	}
	var all []Truth
	for {
		if _, err := in.Peek(1); errors.Is(err, io.EOF) {
			return all, nil
		}
		t, err := readTruth(in)
		if err != nil {
			return all, fmt.Errorf("read the log, request %d of it: %w", len(all), err)
		}
		all = append(all, t)
	}
}

func readTruth(in *bufio.Reader) (t Truth, err error) {
	unsigned := func() (n uint64) {
		if err == nil {
			n, err = binary.ReadUvarint(in)
		}
		return n
	}
	signed := func() (n int64) {
		if err == nil {
			n, err = binary.ReadVarint(in)
		}
		return n
	}
	t.N, t.ArrivedNS = unsigned(), signed()
	t.EndedNS = t.ArrivedNS + signed()
	t.Whole = unsigned() == 1
	last := t.ArrivedNS
	for n := unsigned(); n > 0 && err == nil; n-- {
		last += signed()
		t.SentNS = append(t.SentNS, last)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return t, err
}
