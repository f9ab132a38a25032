package record

// Schema is the schema name of a recording.
const Schema = "assay.recording/v1"

// Never is the time of an instant that did not come, and a count that was not told.
const Never int64 = -1

// Outcome is how a request ended; only OK counts as completed.
type Outcome string

// The outcomes of the contract, section 4.
const (
	OK          Outcome = "ok"
	Truncated   Outcome = "truncated"
	Aborted     Outcome = "aborted"
	ErrorFrame  Outcome = "error_frame"
	HTTPStatus  Outcome = "http_status"
	BadResponse Outcome = "bad_response"
	Refused     Outcome = "refused"
	Reset       Outcome = "reset"
	Stalled     Outcome = "stalled"
	Timeout     Outcome = "timeout"
	Dropped     Outcome = "dropped"
	Censored    Outcome = "censored" // still streaming when the drain limit cut it off; listed, never silently left out
)

// Header opens a recording.
type Header struct {
	Schema      string `json:"schema"`
	Run         string `json:"run"`
	Point       string `json:"point"`
	EpochUS     int64  `json:"epoch_us"`     // UTC, microseconds, of time 0
	StampSource string `json:"stamp_source"` // kernel | user
	TokenSource string `json:"token_source"` // usage | ids | estimated | events; the weakest of the measured requests, set at Close
}

// Event is one token event: a chunk that brought Tokens tokens at AtUS.
type Event struct {
	AtUS   int64
	Tokens int64
}

// Request is one request as the client saw it.
type Request struct {
	Index   int    // order of issue, from 0
	Warmup  bool   // sent before the window by the plan's warm-up
	ID      string // response id of the server
	Session string
	Turn    int

	IntendedUS  int64
	SentUS      int64 // before the first byte is handed to the kernel on an open connection
	ConnectUS   int64 // length of opening the connection; Never when one was reused
	FirstByteUS int64
	DoneUS      int64 // the stream's end as the client saw it

	Outcome      Outcome
	Status       int // HTTP status, 0 when none came
	FinishReason string
	Error        string // first error text, cut to 500 bytes
	RetryAfterUS int64

	InputTokens  int64 // as the server counts; Never when it did not tell
	OutputTokens int64
	CachedTokens int64

	ReasoningTokens int64  // of the output, as the server counts; 0 when it tells none
	TokenSource     string // usage | ids | estimated | events

	BytesIn     int64
	SharedReads int // token events that came in one read with an earlier one of their stream
	Retries     int
	Events      []Event
	FirstAnswer int // index in Events of the first answer (not reasoning) token event; -1 when none
}

// Output is the tokens of the reply: what the server counted, else what the events brought.
func (r *Request) Output() int64 {
	if r.OutputTokens != Never {
		return r.OutputTokens
	}
	var n int64
	for _, e := range r.Events {
		n += e.Tokens
	}
	return n
}

// Recording is a whole point in memory.
type Recording struct {
	Header   Header
	Requests []Request
	Torn     bool // the file ended in the middle of a block; what stands before it is whole
}

// File describes a written recording.
type File struct {
	Path     string `json:"path"` // relative to the run's folder
	SHA256   string `json:"sha256"`
	Requests int    `json:"requests"`
	Events   int64  `json:"events"`
}
