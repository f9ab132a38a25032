package runner

import (
	"context"
	"time"

	"assay/plan"
	"assay/runner/external"
	"assay/runner/load"
	"assay/runner/metrics"
	"assay/runner/record"
)

// Job is one point to measure.
type Job struct {
	Run      string
	Plan     plan.Plan
	Point    plan.Point
	BaseURLs []string // of the router or the servers, without path: http://127.0.0.1:8000, unix:///path/of/socket
	Model    string   // name in requests
	Access   Access
	Dir      string    // the run's folder; recordings go to Dir/recordings/<point>.rec
	Dataset  string    // local path of the dataset's file or folder; "" for synthetic
	OmitBody []string  // optional body fields the server refused before (stream_options.continuous_usage_stats, …)
	Prepared *Prepared // what earlier points of the run found out, and later ones will need; may be nil

	Engine func() (EngineState, bool) // the engine's latest word on its requests; false, or nil, when it says nothing

	Start func(ctx context.Context, c Command) error // starts a client that is another program and waits for its end; kills it when ctx ends
}

// Command is a client that is another program, and what it is told.
type Command = external.Command

// EngineState is what the engine said of its requests at an instant, summed over its engines.
type EngineState = load.EngineState

// Access is what each request carries so that the servers take it, with the secrets that a plan names only.
type Access struct {
	Token   string            // bearer token; "" when none
	Headers map[string]string // more headers
	Secrets []string          // is hidden in what the servers say, beside Token

	Insecure bool // their certificates are not checked
}

// Progress is a live view of a point, for people only: no figure of a result comes from it.
type Progress struct {
	Stage    string        `json:"stage"` // calibrate | prompts | warmup | measure | cooldown | drain
	Elapsed  time.Duration `json:"elapsed_ns"`
	Total    time.Duration `json:"total_ns"` // expected length of the stage; 0 when it is counted in requests
	Done     int           `json:"done"`     // requests ended in this stage
	Wanted   int           `json:"wanted"`   // requests wanted; 0 when it is counted in time
	InFlight int           `json:"in_flight"`
	Failed   int           `json:"failed"`
	TPS      float64       `json:"tps"`              // output tokens/s over the last second
	TTFTMS   float64       `json:"ttft_ms"`          // median of the last requests; 0 before there is one
	Asking   string        `json:"asking,omitempty"` // calibrate: what the server is asked
}

// Measurement is what a client hands back.
type Measurement struct {
	Window    metrics.Window // the measuring window (contract section 4)
	Issue     metrics.Window // from the first measured request's issue to the end of the drain
	Client    metrics.Client
	File      record.File
	Refused   []Refusal
	Dataset   string       // SHA-256 of the data that was read
	Lengths   Lengths      // prompts of a wanted length, as the server counted them
	Notes     []string     // bad dataset lines and other things a reader should know
	Stopped   string       // why issue ended before the plan said; "" when it did not
	FirstBody string       // body of the first measured request, below the run's folder; "" when none was sent
	Unready   string       // decode, and a sweep whose warm-up goes on until the load is stable: what was missing when the window opened without that; "" when nothing was
	Warmup    *load.Warmup // of such a sweep, unless it ended in its warm-up
	Said      Said         // what failed requests said; a verdict sets it from the recording
	Waiting   float64      // closed loop: mean number of slots inside the window that waited for a tool, a Retry-After or after a failure
	AtOnce    int          // open loop: the most requests that the plan lets be in flight; 0: no limit
	Foreign   *Foreign     // what another program measured and wrote, in place of window and recording; nil for the native client
}

// Foreign is what a client that is another program left of a point. Package imported makes a recording and figures of it.
type Foreign struct {
	Kind      string // client.kind
	Format    string // of its files: a name of package imported
	Dir       string // below the run's folder
	Results   string // in it: the file or folder of its results
	StartedUS int64  // UTC
	EndedUS   int64
	ClockUS   int64 // UTC less the machine's monotonic clock, on which most tools count
	Prompts   int   // different prompts it was given; 0 when it made its own
	Unlisted  int   // requests that it sends and lists nowhere
}

// Refusal is an optional body field that a server refused and that was left out, and what the server said.
type Refusal struct{ Field, Said string }

// String is the remark that a result has of it.
func (r Refusal) String() string {
	what := "it was left out"
	if r.Field == "max_tokens" {
		what = "max_completion_tokens was sent in its place"
	}
	return "the server refused the optional field " + r.Field + "; " + what + ": " + r.Said
}

// Client measures one point. It returns an error only when it could not measure at all; failed requests are in the recording.
type Client interface {
	Name() string
	Run(ctx context.Context, job Job, report func(Progress)) (Measurement, error)
}

// Reason says why a point or run is not valid, with what was seen.
type Reason struct {
	Code     string `json:"code"`
	Text     string `json:"text"`
	Evidence string `json:"evidence,omitempty"`
}
