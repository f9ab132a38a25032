package load

import (
	"time"

	"assay/runner/load/stream"
)

// Names of package stream that belong to a load's configuration.
type (
	// Target is the server to send to.
	Target = stream.Target
	// Clock is the one clock of a recording.
	Clock = stream.Clock
	// Request is what each request has in common.
	Request = stream.Request
)

// NewClock makes a clock whose time 0 is now.
func NewClock() *Clock { return stream.NewClock() }

// ParseTarget reads a base URL.
func ParseTarget(base string) (Target, error) { return stream.ParseTarget(base) }

// Config is a load: where to, what each request looks like, and how requests are paced. Exactly one of Closed and Open is set.
type Config struct {
	Target  Target
	Token   string            // bearer token; "" when none
	Headers map[string]string // extra headers of each request
	Request Request
	Salt    Salt
	Clock   *Clock
	Stall   time.Duration // no byte for this long ends a request as stalled; 0: no limit
	Timeout time.Duration // a request's time limit; 0: no limit
	Drain   time.Duration // how long stragglers are awaited after the last issue; then they are cut off as censored
	Closed  *Closed
	Open    *Open
}

// Salt says what stands before each prompt so that no prefix cache knows it.
type Salt struct {
	Kind  string // run | session | none | text
	Text  string // of kind text
	Run   string
	Point string
}

// Closed keeps Concurrency requests in flight. The window opens at the instant at which the last slot sends its first measured
// request, and lasts until issue stops: after Duration, or when a slot first finds that Requests have been issued in the window.
type Closed struct {
	Concurrency    int
	Requests       int
	Duration       time.Duration
	MinDuration    time.Duration
	WarmupRequests int
	WarmupDuration time.Duration
	Streaming      bool          // the window opens only when each slot has had a token of a measured request
	ReadyLimit     time.Duration // of Streaming: the window opens after this at the latest
	ToEnd          bool          // the window lasts until the last request has ended
}

// Open sends on an absolute schedule and never waits for a reply. The window is the issue time less its cuts.
type Open struct {
	Rate           float64 // requests/s
	Arrival        string  // poisson | gamma | constant
	Burstiness     float64 // shape of gamma
	Seed           uint64
	MaxConcurrency int // 0: no limit
	Requests       int
	Duration       time.Duration
	Warmup         time.Duration // cut from the window's start
	Cooldown       time.Duration // cut from its end
}

// Span is a span of the clock, microseconds; StartUS inside, EndUS outside.
type Span struct{ StartUS, EndUS int64 }

func (s Span) holds(us int64) bool { return us >= s.StartUS && us < s.EndUS }

// Result is what a load came to, beside the requests it handed on.
type Result struct {
	Window  Span
	Issue   Span // from the first measured request's issue to the end of the last one
	Health  Health
	Refused []string // optional body fields the server refused
	Stopped string   // why issue ended before it was asked to; "" when it did not
	Waiting float64  // closed loop: mean number of slots inside the window that waited for a tool, a Retry-After or after a failure
	Notes   []string
}

// Progress is a live view for people.
type Progress struct {
	Stage    string // warmup | measure | drain
	Elapsed  time.Duration
	Total    time.Duration // 0 when the stage is counted in requests
	Done     int
	Wanted   int // 0 when the stage is counted in time
	InFlight int
	Failed   int
	TPS      float64
	TTFTMS   float64
}
