package load

import (
	"context"
	"time"

	"assay/runner/dataset"
	"assay/runner/load/arrival"
	"assay/runner/load/delay"
	"assay/runner/load/dialect"
	"assay/runner/load/health"
	"assay/runner/load/process"
	"assay/runner/load/salt"
	"assay/runner/load/stream"
	"assay/runner/load/warmup"
	"assay/runner/record"
)

// Names of other packages that belong to a load's configuration.
type (
	// Target is the server to send to.
	Target = stream.Target
	// Clock is the one clock of a recording.
	Clock = stream.Clock
	// Salt says what stands before each prompt so that no prefix cache knows it.
	Salt = salt.Spec
	// Warmup is what came of a warm-up that was to go on until the load is stable.
	Warmup = warmup.Outcome
	// Request is what each request has in common.
	Request = dialect.Request
	// Health is how the client itself fared in the window.
	Health = health.Health
	// Lag is how late the client was at something, in microseconds.
	Lag = delay.Lag
)

// CheckLimits fails when this machine cannot hold so many connections to targets, which share them evenly.
func CheckLimits(connections int, targets []Target) error { return process.Check(connections, targets) }

// NewClock makes a clock whose time 0 is now.
func NewClock() *Clock { return stream.NewClock() }

// ParseTarget reads a base URL.
func ParseTarget(base string) (Target, error) { return stream.ParseTarget(base) }

// Config is a load: where to, what each request looks like, and how requests are paced. Exactly one of Closed and Open is set.
type Config struct {
	Targets        []Target          // at least one; several share the requests
	Sticky         bool              // a session's requests go to one target; else requests go round
	Token          string            // bearer token; "" when none
	Headers        map[string]string // extra headers of each request
	SessionHeaders []string          // headers that carry the session; nil: X-Session-ID
	Secrets        []string          // is hidden in what the servers say, beside Token

	Request Request
	Salt    Salt
	Prepare func(context.Context, Ask) (dataset.Source, Salt, error) // gives source and salt once the server can be asked; nil: those of Run and Config
	Clock   *Clock
	Stall   time.Duration // no byte for this long ends a request as stalled; 0: no limit
	Timeout time.Duration // a request's time limit; 0: no limit
	Drain   time.Duration // how long stragglers are awaited after the last issue; then they are cut off as censored
	Closed  *Closed
	Open    *Open
	Engine  func() (EngineState, bool) // the engine's latest word; false or nil when it says nothing
}

// Ask sends a prompt for one token, which is recorded as warm-up, and gives what came of it. salt stands before the prompt: a text, or token ids
// each with a comma after it.
type Ask func(ctx context.Context, prompt dataset.Turn, salt string) (record.Request, error)

// Closed keeps Concurrency requests in flight. The window opens at the instant at which the last slot sends its first measured
// request, or as Cell says, and lasts until issue stops: after Duration, when a slot first finds that Requests have been issued in the
// window, when a slot finds that Trajectories conversations have been begun, or when a slot finds no more data and all conversations
// are under way.
type Closed struct {
	Concurrency    int
	Requests       int
	Trajectories   int // conversations that are begun with a measured request; 0: no limit
	Duration       time.Duration
	MinDuration    time.Duration
	MinRequests    int // so many are issued, also when Duration has passed
	WarmupRequests int
	WarmupDuration time.Duration
	WarmupStable   float64       // then the warm-up goes on until steps of it differ by so much at most (warmup.Steps); 0: it does not
	WarmupTimeout  time.Duration // of that, from the start; then the window opens all the same, and Result.Unready says why
	Cell           *Cell         // nil for any other closed loop
	ToEnd          bool          // the window lasts until the last request has ended
}

// Cell makes a closed loop a decode cell. Its streams share one prompt, which scouts bring into the server's prompt cache first. The window
// opens when the load is steady: each slot has had a token, and, where the engine tells of itself, it runs nearly all of them and none
// waits, for Stable without a break, in whose second half a stream has tokens as fast as in the first.
type Cell struct {
	Scouts  int           // requests of one token before the streams begin
	Stable  time.Duration // how long the load must be steady
	Timeout time.Duration // from the start of the streams; then the window opens all the same, and Result.Unready says why. 0: no limit
}

// EngineState is what the engine said of its requests at an instant, summed over its engines.
type EngineState struct {
	Running float64
	Waiting float64
	AtUS    int64 // UTC
}

// Open sends on an absolute schedule and never waits for a reply. The window is the issue time less its cuts.
type Open struct {
	Rate           float64 // requests/s
	Arrival        string  // poisson | gamma | constant | trace
	Ramp           *Ramp   // nil: Rate from the start
	Speed          float64 // of a trace: how many times faster than recorded
	Burstiness     float64 // shape of gamma
	Seed           uint64
	MaxConcurrency int // 0: no limit
	Requests       int
	Duration       time.Duration
	Warmup         time.Duration // cut from the window's start
	Cooldown       time.Duration // cut from its end
}

// once says that a trace is replayed up to its end, and not again until a number or a time is reached.
func (o Open) once() bool {
	return o.Arrival == arrival.Trace && o.Requests == 0 && o.Duration == 0
}

// arrivals is when the requests are due.
func (o Open) arrivals() arrival.Plan {
	p := arrival.Plan{Kind: o.Arrival, Shape: o.Burstiness, Seed: o.Seed, Speed: o.Speed, Rate: arrival.Rate{From: o.Rate, To: o.Rate}}
	if r := o.Ramp; r != nil {
		p.Rate.From, p.Rate.Over, p.Rate.Exponential = r.From, r.Over, r.Exponential
	}
	return p
}

// Ramp lets the rate of an open loop grow.
type Ramp struct {
	From        float64 // requests/s
	Over        time.Duration
	Exponential bool // else linear
}

// Span is a span of the clock, microseconds; StartUS inside, EndUS outside.
type Span struct{ StartUS, EndUS int64 }

// Result is what a load came to, beside the requests it handed on.
type Result struct {
	Window  Span
	Issue   Span // from the first measured request's issue to the end of the last one
	Health  Health
	Refused []Refusal // optional body fields that the servers refused
	Stopped string    // why issue ended before it was asked to; "" when it did not
	Waiting float64   // closed loop: mean number of slots inside the window that waited for a tool, a Retry-After or after a failure
	Unready string    // what was missing when a window opened without the steady load that was asked for; "" when nothing was
	Warmup  *Warmup   // nil where it was not to go on until the load is stable
	First   []byte    // body of the first measured request as it was sent; nil when none was
	Repeats int       // how often the data began again
	Notes   []string
}

// Progress is a live view for people.
type Progress struct {
	Stage    string // warmup | measure | cooldown | drain
	Elapsed  time.Duration
	Total    time.Duration // 0 when the stage is counted in requests
	Done     int
	Wanted   int // 0 when the stage is counted in time
	InFlight int
	Failed   int
	TPS      float64
	TTFTMS   float64
}
