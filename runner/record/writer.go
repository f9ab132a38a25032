package record

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// Suffix marks a recording that is still being written; Close takes it away.
const Suffix = ".part"

// trailer closes a file: what was known only at the end.
type trailer struct {
	Header   Header `json:"header"`
	Requests int    `json:"requests"`
	Events   int64  `json:"events"`
}

// Writer writes one recording. Its methods may be called from any goroutine.
type Writer struct {
	path string

	mu   sync.Mutex
	file *os.File
	out  *bufio.Writer
	sum  hash.Hash
	buf  []byte
	head []byte // memory of each request's head in turn
	tail trailer
	err  error // the first failure; everything after it fails with it
}

// Create begins a recording at path, under a temporary name until Close. A file of that name is replaced at Close.
func Create(path string, h Header) (*Writer, error) {
	h.Schema = Schema
	file, err := os.Create(path + Suffix)
	if err != nil {
		return nil, fmt.Errorf("create recording: %w", err)
	}
	w := &Writer{path: path, file: file, sum: sha256.New(), tail: trailer{Header: h}}
	w.out = bufio.NewWriterSize(io.MultiWriter(file, w.sum), 64<<10)
	if err := w.begin(h); err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(path+Suffix))
	}
	return w, nil
}

func (w *Writer) begin(h Header) error {
	w.buf = binary.LittleEndian.AppendUint32(append(w.buf, magic...), version)
	if err := w.document(blockHeader, h); err != nil {
		return err
	}
	return w.out.Flush()
}

// document appends a block whose payload is JSON to buf and writes buf.
func (w *Writer) document(kind byte, v any) error {
	j, err := json.Marshal(v)
	if err != nil {
		return err
	}
	at := len(w.buf)
	w.buf = closeBlock(append(openBlock(w.buf, kind), j...), at)
	return w.write()
}

func (w *Writer) write() error {
	_, err := w.out.Write(w.buf)
	w.buf = w.buf[:0]
	if err != nil {
		return fmt.Errorf("write recording %s: %w", w.path, err)
	}
	return nil
}

// Append writes one ended request. After a failure (disk full) it and Close go on failing with the first error.
func (w *Writer) Append(r Request) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if w.file == nil {
		return fmt.Errorf("write recording %s: %w", w.path, os.ErrClosed)
	}
	w.buf, w.head = appendRequest(w.buf[:0], w.head, &r)
	if w.err = w.write(); w.err != nil {
		return w.err
	}
	w.count(r)
	return nil
}

func (w *Writer) count(r Request) {
	w.tail.Requests++
	w.tail.Events += int64(len(r.Events))
	if !r.Warmup {
		w.tail.Header.TokenSource = Weakest(w.tail.Header.TokenSource, r.TokenSource)
	}
}

// SetStampSource replaces the header's stamp source by what the connections really gave.
func (w *Writer) SetStampSource(source string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tail.Header.StampSource = source
}

// Flush hands what was appended so far to the kernel.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && w.file != nil {
		w.err = w.out.Flush()
	}
	return w.err
}

// Close writes the trailer, syncs the file and gives it its name. On failure the part that was written stays under the
// temporary name, where Read finds its whole blocks. A second Close fails.
func (w *Writer) Close() (File, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return File{}, fmt.Errorf("close recording %s: %w", w.path, os.ErrClosed)
	}
	file := w.file
	w.file = nil
	err := w.finish(file)
	if err = errors.Join(err, file.Close()); err == nil {
		err = rename(w.path+Suffix, w.path)
	}
	if err != nil {
		return File{}, fmt.Errorf("close recording %s: %w", w.path, err)
	}
	return File{
		Path: w.path, SHA256: hex.EncodeToString(w.sum.Sum(nil)),
		Requests: w.tail.Requests, Events: w.tail.Events,
	}, nil
}

func (w *Writer) finish(file *os.File) error {
	if w.err == nil {
		w.err = w.document(blockTrailer, w.tail)
	}
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if w.err == nil {
		w.err = file.Sync()
	}
	return w.err
}

// rename gives the file its name and syncs the folder, so that the name outlives a crash too.
func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// sources lists the token sources from the strongest to the weakest.
func sources() []string { return []string{"", "usage", "ids", "estimated", "events"} }

// Weakest gives the weaker of two token sources; "" (no token came) is the strongest.
func Weakest(a, b string) string {
	if slices.Index(sources(), b) > slices.Index(sources(), a) {
		return b
	}
	return a
}
