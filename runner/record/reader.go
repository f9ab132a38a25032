package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Read reads a recording file; a file that was never closed lies under path+Suffix.
func Read(path string) (Recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return Recording{}, fmt.Errorf("read recording: %w", err)
	}
	defer f.Close()
	rec, err := Decode(f)
	if err != nil {
		return rec, fmt.Errorf("read recording %s: %w", path, err)
	}
	return rec, nil
}

// Decode reads a recording. A file that ends early gives the whole blocks before its end with Torn set, and no error. A
// corrupt block gives the blocks before it and an error that names its offset (CorruptError).
func Decode(in io.Reader) (Recording, error) {
	r := &blockReader{in: bufio.NewReaderSize(in, 256<<10)}
	var rec Recording
	err := r.preamble()
	if err == nil {
		err = decodeHeader(r, &rec)
	}
	if err == nil {
		err = decodeBlocks(r, &rec)
	}
	if errors.Is(err, errTorn) || errors.Is(err, io.EOF) {
		rec.Torn = true
		return rec, nil
	}
	return rec, err
}

func decodeHeader(r *blockReader, rec *Recording) error {
	kind, payload, err := r.next()
	if err != nil {
		return err
	}
	if kind != blockHeader {
		return &CorruptError{r.start, fmt.Sprintf("a block of kind %q stands where the header should", kind)}
	}
	return decodeDocument(r.start, payload, &rec.Header)
}

func decodeDocument(offset int64, payload []byte, v any) error {
	if err := json.Unmarshal(payload, v); err != nil {
		return &CorruptError{offset, "its document is not JSON: " + err.Error()}
	}
	return nil
}

// decodeBlocks reads requests up to the trailer.
func decodeBlocks(r *blockReader, rec *Recording) error {
	var events int64
	for {
		kind, payload, err := r.next()
		if err != nil {
			return err
		}
		switch kind {
		case blockRequest:
			req, err := decodeRequest(payload)
			if err != nil {
				return &CorruptError{r.start, err.Error()}
			}
			rec.Requests = append(rec.Requests, req)
			events += int64(len(req.Events))
			if !req.Warmup { // holds for a torn file; the trailer says the same
				rec.Header.TokenSource = Weakest(rec.Header.TokenSource, req.TokenSource)
			}
		case blockTrailer:
			return decodeTrailer(r, payload, rec, events)
		default:
			return &CorruptError{r.start, fmt.Sprintf("a block of kind %q is not known", kind)}
		}
	}
}

// decodeTrailer takes the final header and compares the counts; nothing may follow.
func decodeTrailer(r *blockReader, payload []byte, rec *Recording, events int64) error {
	var t trailer
	if err := decodeDocument(r.start, payload, &t); err != nil {
		return err
	}
	if t.Requests != len(rec.Requests) || t.Events != events {
		return &CorruptError{r.start, fmt.Sprintf("the trailer counts %d requests and %d events, the file holds %d and %d",
			t.Requests, t.Events, len(rec.Requests), events)}
	}
	rec.Header = t.Header
	_, _, err := r.next()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return &CorruptError{r.offset, "something follows the trailer"}
}
