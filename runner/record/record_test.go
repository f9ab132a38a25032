package record

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sample(i, events int) Request {
	r := Request{
		Index: i, ID: fmt.Sprintf("cmpl-%d", i), Session: "s", Turn: i % 3,
		IntendedUS: int64(i) * 1000, SentUS: int64(i)*1000 + 5, ConnectUS: Never, FirstByteUS: int64(i)*1000 + 90, DoneUS: int64(i)*1000 + 9000,
		Outcome: OK, Status: 200, FinishReason: "length", RetryAfterUS: Never,
		InputTokens: 0, OutputTokens: int64(events), CachedTokens: Never, TokenSource: "usage",
		BytesIn: 12345, SharedReads: 2, Retries: 1, FirstAnswer: -1,
	}
	at := r.SentUS
	for k := range events {
		at += 16000 + int64((k*7919)%300)
		r.Events = append(r.Events, Event{AtUS: at, Tokens: 1})
	}
	if events > 2 {
		r.FirstAnswer = 2
		r.Events[1].Tokens = 4
	}
	return r
}

func header() Header {
	return Header{Run: "r1", Point: "c4", EpochUS: 1_796_000_000_000_000, StampSource: "kernel"}
}

// file writes requests and gives the file's bytes.
func file(t testing.TB, requests ...Request) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.rec")
	w, err := Create(path, header())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		if err := w.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	failed := Request{
		Index: 3, Warmup: true, IntendedUS: 7, SentUS: Never, ConnectUS: Never, FirstByteUS: Never, DoneUS: 9, Outcome: Refused,
		Error: "connection refused", RetryAfterUS: 2_000_000, InputTokens: Never, OutputTokens: Never, CachedTokens: Never, FirstAnswer: -1,
	}
	odd := sample(4, 5)
	odd.Events = []Event{{math.MinInt64, math.MaxInt64}, {math.MaxInt64, 0}, {0, math.MinInt64}, {5, 3}, {5, 3}}
	want := []Request{sample(0, 0), sample(1, 1), sample(2, 1000), failed, odd}
	got, err := Decode(bytes.NewReader(file(t, want...)))
	if err != nil {
		t.Fatal(err)
	}
	h := header()
	h.Schema, h.TokenSource = Schema, "usage"
	if diff := cmp.Diff(Recording{Header: h, Requests: want}, got); diff != "" {
		t.Error(diff)
	}
}

func TestTokenSourceIsTheWeakestMeasured(t *testing.T) {
	a, b, warm := sample(0, 2), sample(1, 2), sample(2, 2)
	b.TokenSource, warm.TokenSource, warm.Warmup = "estimated", "events", true
	rec, err := Decode(bytes.NewReader(file(t, a, b, warm)))
	if err != nil || rec.Header.TokenSource != "estimated" {
		t.Errorf("token source %q, error %v", rec.Header.TokenSource, err)
	}
}

func TestTornAtEveryByte(t *testing.T) {
	whole := file(t, sample(0, 3), sample(1, 3), sample(2, 3))
	before := 0
	for cut := range whole {
		rec, err := Decode(bytes.NewReader(whole[:cut]))
		if err != nil || !rec.Torn {
			t.Fatalf("cut at %d of %d: torn %v, error %v", cut, len(whole), rec.Torn, err)
		}
		if len(rec.Requests) < before {
			t.Fatalf("cut at %d lost a request", cut)
		}
		before = len(rec.Requests)
	}
	if before != 3 {
		t.Errorf("the longest torn file gives %d requests, not 3", before)
	}
}

func TestCorruptionIsFoundAtEveryByte(t *testing.T) {
	whole := file(t, sample(0, 3), sample(1, 3))
	for i := range whole {
		b := slices.Clone(whole)
		b[i] ^= 0x41
		rec, err := Decode(bytes.NewReader(b))
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) && !rec.Torn {
			t.Fatalf("byte %d changed and nothing noticed: %v", i, err)
		}
		if corrupt != nil && (corrupt.Offset > int64(i) || corrupt.Offset < 0) {
			t.Errorf("byte %d changed, the error names byte %d", i, corrupt.Offset)
		}
	}
}

func TestNothingFollowsTheTrailer(t *testing.T) {
	b := append(file(t, sample(0, 1)), 'x')
	if _, err := Decode(bytes.NewReader(b)); err == nil {
		t.Error("a byte after the trailer was not noticed")
	}
}

func TestUnclosedFileKeepsItsBlocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.rec")
	w, err := Create(path, header())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Append(sample(0, 3)), w.Flush()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the final name exists before Close: %v", err)
	}
	rec, err := Read(path + Suffix)
	if err != nil || !rec.Torn || len(rec.Requests) != 1 {
		t.Errorf("%d requests, torn %v, %v", len(rec.Requests), rec.Torn, err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("second Close: %v", err)
	}
	if err := w.Append(sample(1, 1)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Append after Close: %v", err)
	}
}

func TestDiskFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here: ", err)
	}
	path := filepath.Join(t.TempDir(), "a.rec")
	w, err := Create(path, header())
	if err != nil {
		t.Fatal(err)
	}
	w.file.Close()
	w.file = full
	w.out.Reset(full)
	var failed error
	for i := 0; failed == nil && i < 100; i++ {
		failed = w.Append(sample(i, 1000))
	}
	if failed == nil {
		t.Error("writing to a full disk did not fail")
	}
	if _, err := w.Close(); err == nil {
		t.Error("Close hides that a write failed")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a recording that could not be written has its final name: %v", err)
	}
}

// TestEveryFieldIsKept: a field that is added to Request and not to the format would be lost without a word.
func TestEveryFieldIsKept(t *testing.T) {
	for i := range reflect.TypeFor[Request]().NumField() {
		want := Request{Outcome: OK, IntendedUS: Never, SentUS: Never, ConnectUS: Never, FirstByteUS: Never, DoneUS: Never, RetryAfterUS: Never,
			InputTokens: Never, OutputTokens: Never, CachedTokens: Never, FirstAnswer: -1}
		switch f := reflect.ValueOf(&want).Elem().Field(i); f.Kind() {
		case reflect.Int, reflect.Int64:
			f.SetInt(7)
		case reflect.String:
			f.SetString("seven")
		case reflect.Bool:
			f.SetBool(true)
		}
		want.Events = make([]Event, 8)
		block, _ := appendRequest(nil, nil, &want)
		got, err := decodeRequest(block[frameHead:len(block)-frameTail], nil)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%s: %v %s", reflect.TypeFor[Request]().Field(i).Name, err, d)
		}
	}
}

// TestDocumentListsEveryField: docs/recording.md is the format for readers in other languages.
func TestDocumentListsEveryField(t *testing.T) {
	doc, err := os.ReadFile("../../docs/recording.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := bytes.Cut(doc, []byte("## Request\n"))
	table, _, _ = bytes.Cut(table, []byte("## Events\n"))
	for n := 1; n <= fieldReasoning; n++ {
		if lines := regexp.MustCompile(fmt.Sprintf(`(?m)^\| ([\d, ]+, )?%d(, [\d, ]+)? \|`, n)).FindAll(table, -1); len(lines) != 1 {
			t.Errorf("field %d has %d lines", n, len(lines))
		}
	}
	if !bytes.Contains(doc, fmt.Appendf(nil, "format version, uint32: %d |", version)) {
		t.Errorf("version %d is not the document's", version)
	}
}

// TestHeadSkipsWhatItDoesNotKnow: a later version may add fields.
func TestHeadSkipsWhatItDoesNotKnow(t *testing.T) {
	want := sample(3, 0)
	f := fields{appendHead(nil, &want)}
	f.number(40, -12, 0)
	f.text(41, "new")
	got, err := decodeHead(f.b)
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Error(err, d)
	}
	f.number(fieldTurn, 2, 0)
	if _, err := decodeHead(f.b); err == nil {
		t.Error("fields out of their order were taken")
	}
}

// TestScanReusesItsMemory: a scan holds one request, however many the file has; Decode keeps them apart.
func TestScanReusesItsMemory(t *testing.T) {
	whole := file(t, sample(0, 500), sample(1, 20), sample(2, 500))
	var first *Event
	_, err := Scan(bytes.NewReader(whole), func(r *Request) error {
		if first == nil {
			first = &r.Events[0]
		}
		if first != &r.Events[0] {
			t.Errorf("request %d has memory of its own", r.Index)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := Decode(bytes.NewReader(whole))
	if err != nil || &rec.Requests[0].Events[0] == &rec.Requests[1].Events[0] {
		t.Errorf("decoded requests share their events, %v", err)
	}
}

// TestScanEndsWithItsVisitor: an error of the visitor is the scan's, and ends it.
func TestScanEndsWithItsVisitor(t *testing.T) {
	stop, seen := errors.New("enough"), 0
	_, err := Scan(bytes.NewReader(file(t, sample(0, 3), sample(1, 3), sample(2, 3))), func(r *Request) error {
		if seen++; r.Index == 1 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || seen != 2 {
		t.Errorf("%d requests seen, %v", seen, err)
	}
}

func TestConcurrentAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.rec")
	w, err := Create(path, header())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				if err := w.Append(sample(g*50+i, 20)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	f, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	rec, err := Read(path)
	if err != nil || len(rec.Requests) != 400 || f.Requests != 400 || f.Events != 8000 {
		t.Fatalf("%d requests read, file says %+v, %v", len(rec.Requests), f, err)
	}
}

func FuzzDecode(f *testing.F) {
	whole := file(f, sample(0, 3), sample(1, 0), Request{Outcome: Refused, SentUS: Never, IntendedUS: Never, FirstAnswer: -1})
	f.Add(whole)
	f.Add(whole[:len(whole)-5])
	f.Fuzz(func(t *testing.T, b []byte) {
		rec, err := Decode(bytes.NewReader(b))
		if err != nil && rec.Torn {
			t.Error("torn and corrupt at once")
		}
		n, events := 0, int64(0)
		again, scanned := Scan(bytes.NewReader(b), func(r *Request) error {
			if !slices.Equal(r.Events, rec.Requests[n].Events) {
				t.Errorf("request %d has other events when it is scanned", n)
			}
			n, events = n+1, events+int64(len(r.Events))
			return nil
		})
		if n != len(rec.Requests) || again.Requests != n || again.Events != events || again.Torn != rec.Torn || again.Header != rec.Header || (scanned == nil) != (err == nil) {
			t.Errorf("scan gives %+v, %v; decode %d requests, %v", again, scanned, len(rec.Requests), err)
		}
	})
}

// FuzzRequest looks past the checksum: whatever decodes must encode to the same again.
func FuzzRequest(f *testing.F) {
	payload := func(r Request) []byte {
		block, _ := appendRequest(nil, nil, &r)
		return block[frameHead : len(block)-frameTail]
	}
	f.Add(payload(sample(0, 9)))
	f.Add(payload(Request{Outcome: Timeout, Error: "x", SentUS: Never, IntendedUS: -7, FirstAnswer: -1}))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeRequest(b, nil)
		if err != nil {
			return
		}
		again, err := decodeRequest(payload(r), nil)
		if d := cmp.Diff(r, again); err != nil || d != "" {
			t.Errorf("%v %s", err, d)
		}
	})
}
