package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Whole is what a recording that was read to its end says of itself.
type Whole struct {
	Header   Header
	Requests int
	Events   int64
	Torn     bool // the file ended in the middle of a block; what stood before it is whole
}

// ScanFile is Scan of a file; one that was never closed lies under path+Suffix.
func ScanFile(path string, visit func(*Request) error) (Whole, error) {
	f, err := os.Open(path)
	if err != nil {
		return Whole{}, fmt.Errorf("read recording: %w", err)
	}
	defer f.Close()
	whole, err := Scan(f, visit)
	if err != nil {
		return whole, fmt.Errorf("read recording %s: %w", path, err)
	}
	return whole, nil
}

// Scan reads a recording request by request, in the memory of one: what visit is given, events too, is valid until it returns. A file that
// ends early gives the whole blocks before its end with Torn set, and no error. A corrupt block gives the blocks before it and an error
// that names its offset (CorruptError). An error of visit ends the scan and is returned.
func Scan(in io.Reader, visit func(*Request) error) (Whole, error) {
	s := scan{blocks: blockReader{in: bufio.NewReaderSize(in, 256<<10)}, visit: visit}
	err := s.blocks.preamble()
	if err == nil {
		err = s.header()
	}
	if err == nil {
		err = s.requests()
	}
	if errors.Is(err, errTorn) {
		s.whole.Torn = true
		return s.whole, nil
	}
	return s.whole, err
}

// Read reads a recording file into memory, 16 bytes a token event.
func Read(path string) (Recording, error) {
	var rec Recording
	whole, err := ScanFile(path, rec.keep)
	rec.Header, rec.Torn = whole.Header, whole.Torn
	return rec, err
}

// Decode is Read of bytes from anywhere, with the errors of Scan.
func Decode(in io.Reader) (Recording, error) {
	var rec Recording
	whole, err := Scan(in, rec.keep)
	rec.Header, rec.Torn = whole.Header, whole.Torn
	return rec, err
}

// keep appends a copy of r.
func (r *Recording) keep(q *Request) error {
	own := *q
	own.Events = slices.Clone(q.Events)
	r.Requests = append(r.Requests, own)
	return nil
}

// scan is one pass over a recording.
type scan struct {
	blocks  blockReader
	visit   func(*Request) error
	whole   Whole
	request Request
	events  []Event // the memory of each request's events in turn
}

func (s *scan) header() error {
	kind, payload, err := s.next()
	if err != nil {
		return err
	}
	if kind != blockHeader {
		return &CorruptError{s.blocks.start, fmt.Sprintf("a block of kind %q stands where the header should", kind)}
	}
	return decodeDocument(s.blocks.start, payload, &s.whole.Header)
}

// next reads a block; a file that ends between two is torn too.
func (s *scan) next() (kind byte, payload []byte, err error) {
	kind, payload, err = s.blocks.next()
	if errors.Is(err, io.EOF) {
		err = errTorn
	}
	return kind, payload, err
}

func decodeDocument(offset int64, payload []byte, v any) error {
	if err := json.Unmarshal(payload, v); err != nil {
		return &CorruptError{offset, "its document is not JSON: " + err.Error()}
	}
	return nil
}

// requests reads up to the trailer.
func (s *scan) requests() error {
	for {
		kind, payload, err := s.next()
		if err != nil {
			return err
		}
		switch kind {
		case blockRequest:
			err = s.one(payload)
		case blockTrailer:
			return s.trailer(payload)
		default:
			err = &CorruptError{s.blocks.start, fmt.Sprintf("a block of kind %q is not known", kind)}
		}
		if err != nil {
			return err
		}
	}
}

// one decodes a request and hands it on.
func (s *scan) one(payload []byte) error {
	var err error
	s.request, err = decodeRequest(payload, s.events[:0])
	if err != nil {
		return &CorruptError{s.blocks.start, err.Error()}
	}
	if cap(s.request.Events) > cap(s.events) {
		s.events = s.request.Events
	}
	s.whole.Requests++
	s.whole.Events += int64(len(s.request.Events))
	if !s.request.Warmup { // holds for a torn file; the trailer says the same
		s.whole.Header.TokenSource = Weakest(s.whole.Header.TokenSource, s.request.TokenSource)
	}
	return s.visit(&s.request)
}

// trailer takes the final header and compares the counts; nothing may follow.
func (s *scan) trailer(payload []byte) error {
	var t trailer
	if err := decodeDocument(s.blocks.start, payload, &t); err != nil {
		return err
	}
	if t.Requests != s.whole.Requests || t.Events != s.whole.Events {
		return &CorruptError{s.blocks.start, fmt.Sprintf("the trailer counts %d requests and %d events, the file holds %d and %d",
			t.Requests, t.Events, s.whole.Requests, s.whole.Events)}
	}
	s.whole.Header = t.Header
	if _, _, err := s.blocks.next(); !errors.Is(err, io.EOF) {
		return &CorruptError{s.blocks.offset, "something follows the trailer"}
	}
	return nil
}
