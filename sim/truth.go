package sim

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

// Sent is one token event as it was handed to the kernel.
type Sent struct {
	AtUS    int64 `json:"at_us"`    // UTC, microseconds, the instant before the write
	AfterUS int64 `json:"after_us"` // the instant after it
	Tokens  int   `json:"tokens"`   // by which the reply grew, those too that a fault hid
}

// Struck is a fault that met a request.
type Struck struct {
	Kind FaultKind `json:"kind"`
	AtUS int64     `json:"at_us"` // when its token was reached, or the request was read
}

// Truth is what the server did for one request. Times are UTC microseconds read from one monotonic clock whose zero was set at start.
type Truth struct {
	ID           string   `json:"id"`
	Path         string   `json:"path"`
	Remote       string   `json:"remote"`            // the client's end of the connection
	Session      string   `json:"session,omitempty"` // X-Session-ID
	Status       int      `json:"status"`
	End          string   `json:"end"` // finish reason, the kind of the fault that ended it, "gone" when the client left, or "refused"
	ArrivedUS    int64    `json:"arrived_us"`
	HeadersUS    int64    `json:"headers_us,omitempty"` // before the headers of an answer were written
	EndedUS      int64    `json:"ended_us"`
	InputTokens  int      `json:"input_tokens"`
	CachedTokens int      `json:"cached_tokens"`
	OutputTokens int      `json:"output_tokens"` // of the reply as far as it was sent, those too that a fault hid
	Told         int      `json:"told_tokens"`   // output tokens of the last usage; -1 when there was none
	Events       []Sent   `json:"events,omitempty"`
	Faults       []Struck `json:"faults,omitempty"`
}

// clock turns monotonic time into UTC microseconds.
type clock struct{ zero time.Time }

func (c clock) us(t time.Time) int64 { return c.zero.UnixMicro() + t.Sub(c.zero).Microseconds() }
func (c clock) now() int64           { return c.us(time.Now()) }

// ledger keeps the truth of ended requests, at most limit of them.
type ledger struct {
	limit int

	mu    sync.Mutex
	kept  []Truth
	first int // place of the oldest in kept once it is full
	log   *json.Encoder
	err   error
}

func (l *ledger) add(t Truth) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.log != nil && l.err == nil {
		l.err = l.log.Encode(t)
	}
	if len(l.kept) < l.limit {
		l.kept = append(l.kept, t)
		return
	}
	l.kept[l.first] = t
	l.first = (l.first + 1) % l.limit
}

// Truth gives what was sent and when for the ended requests, in the order they ended.
func (s *Server) Truth() []Truth {
	l := &s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	return append(append([]Truth{}, l.kept[l.first:]...), l.kept[:l.first]...)
}

// LogTruth writes each ended request as one JSON line to w from now on. Call TruthError after the last one.
func (s *Server) LogTruth(w io.Writer) {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	s.ledger.log = json.NewEncoder(w)
}

// TruthError is the first error of writing the log, after which it was not continued.
func (s *Server) TruthError() error {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	return s.ledger.err
}
