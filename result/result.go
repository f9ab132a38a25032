package result

import (
	"encoding/json"

	"assay/fault"
	"assay/probes"
	"assay/runner/metrics"
)

// Schema is the schema name of the document.
const Schema = "assay.result/v1"

// Result is one run as a document.
type Result struct {
	Schema    string          `json:"schema"`
	Run       Run             `json:"run"`
	Plan      json.RawMessage `json:"plan"` // canonical form
	Identity  Identity        `json:"identity"`
	SUT       SUT             `json:"sut"`
	Checks    []probes.Check  `json:"checks"`
	Points    []Point         `json:"points"`
	Artifacts []Artifact      `json:"artifacts"`
}

// State is where a run stands.
type State string

// The states of a run; the document of an ended run holds one of the last four.
const (
	Queued      State = "queued"
	Running     State = "running"
	Done        State = "done"
	Failed      State = "failed"
	Interrupted State = "interrupted"
	Canceled    State = "canceled"
)

// Ended tells whether a run in this state will not change by itself.
func (s State) Ended() bool { return s != Queued && s != Running }

// Verdicts of a run.
const (
	Valid    = "valid"
	NotValid = "not_valid"
)

// Run is the run's own data.
type Run struct {
	ID         string         `json:"id"`
	Name       string         `json:"name"`
	State      State          `json:"state"`
	Verdict    string         `json:"verdict,omitempty"`
	Reasons    []Reason       `json:"reasons"`
	Error      *fault.Fault   `json:"error,omitempty"`
	PlanSHA256 string         `json:"plan_sha256"`
	CreatedUS  int64          `json:"created_us"`
	StartedUS  int64          `json:"started_us,omitempty"`
	EndedUS    int64          `json:"ended_us,omitempty"`
	Program    probes.Program `json:"program"`
	Phases     []Phase        `json:"phases"`
}

// Reason says why something is not valid.
type Reason struct {
	Code     string `json:"code"`
	Text     string `json:"text"`
	Evidence string `json:"evidence,omitempty"`
}

// Phase is a step of the run as it happened.
type Phase struct {
	Name      string       `json:"name"`
	Point     string       `json:"point,omitempty"`
	StartedUS int64        `json:"started_us"`
	EndedUS   int64        `json:"ended_us,omitempty"`
	Error     *fault.Fault `json:"error,omitempty"`
}

// Identity is what was pinned and what was found.
type Identity struct {
	Server  json.RawMessage   `json:"server,omitempty"`  // containers.Identity
	Routers []json.RawMessage `json:"routers,omitempty"` // one per started router
	Model   ModelIdentity     `json:"model"`
	Dataset DatasetIdentity   `json:"dataset"`
	Client  ClientIdentity    `json:"client"`
	Notes   []string          `json:"notes,omitempty"` // e.g. "image not pinned"
}

// ModelIdentity is the model asked for and found.
type ModelIdentity struct {
	Name     string   `json:"name"`
	Served   string   `json:"served"`
	Revision string   `json:"revision,omitempty"`
	Path     string   `json:"path,omitempty"`
	SHA256   string   `json:"sha256,omitempty"` // of a model that is one file
	Listed   []string `json:"listed,omitempty"` // by the server
}

// DatasetIdentity is the data that was sent.
type DatasetIdentity struct {
	Kind   string `json:"kind"`
	Path   string `json:"path,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	Seed   string `json:"seed"`
}

// ClientIdentity is who made the load.
type ClientIdentity struct {
	Kind    string `json:"kind"`
	Version string `json:"version"`
}

// SUT is the machine before and after.
type SUT struct {
	Before *probes.SUT `json:"before,omitempty"`
	After  *probes.SUT `json:"after,omitempty"`
	Drift  []Reason    `json:"drift"`
}

// PointState is how a point ended.
type PointState string

// The states of a point.
const (
	PointValid    PointState = "valid"
	PointNotValid PointState = "not_valid"
	PointQueued   PointState = "requests_queued"
	PointOver     PointState = "over_capacity"
	PointSkipped  PointState = "skipped"
	PointFailed   PointState = "failed"
)

// Point is one measured setting.
type Point struct {
	ID           string               `json:"id"`
	Phase        string               `json:"phase"`
	Concurrency  *int                 `json:"concurrency"`
	Rate         *float64             `json:"rate"`
	Speed        *float64             `json:"speed,omitempty"` // of a replayed trace
	Context      *int                 `json:"context"`
	Router       string               `json:"router,omitempty"`
	State        PointState           `json:"state"`
	Reasons      []Reason             `json:"reasons"`
	Window       *Window              `json:"window,omitempty"`
	Metrics      *metrics.Summary     `json:"metrics,omitempty"`
	MLPerf       *metrics.Summary     `json:"mlperf,omitempty"` // over the whole issue-to-drain time
	Inside       *metrics.Summary     `json:"inside,omitempty"` // serve: of the requests sent and finished inside the window alone
	Cell         *metrics.Summary     `json:"cell,omitempty"`   // decode: of every request under way inside the window, also those cut off at its end
	Client       *metrics.Client      `json:"client,omitempty"`
	Engine       *EngineCount         `json:"engine,omitempty"` // nil when the engine shows no counters
	Telemetry    map[string]Telemetry `json:"telemetry,omitempty"`
	Recording    *Recording           `json:"recording,omitempty"`
	Request      *Request             `json:"request,omitempty"`       // the body of the first measured request, exactly as it was sent
	PromptTokens *int64               `json:"prompt_tokens,omitempty"` // matrix: median length of the prompts by the server's count, beside the context asked for
	Notes        []string             `json:"notes,omitempty"`         // what the client noticed and a reader should know
}

// EngineCount holds the engine's own counters against the client's count, over all requests of a point, warm-up too. A pointer is nil when
// the engine keeps no such counter.
type EngineCount struct {
	GenerationTokens int64    `json:"generation_tokens"`         // growth of the engine's counter, from before the first request to after the last
	ClientTokens     int64    `json:"client_tokens"`             // output tokens of the recording
	PrefixQueries    *int64   `json:"prefix_queries,omitempty"`  // growth of the tokens looked up in the prefix cache
	PrefixHits       *int64   `json:"prefix_hits,omitempty"`     // growth of the tokens found there
	PrefixHitRate    *float64 `json:"prefix_hit_rate,omitempty"` // 100 · hits / queries
}

// Window is the measuring window in UTC microseconds.
type Window struct {
	StartedUS int64   `json:"started_us"`
	EndedUS   int64   `json:"ended_us"`
	DurationS float64 `json:"duration_s"`
}

// Telemetry summarises one series over a point's window.
type Telemetry struct {
	Unit    string   `json:"unit"`
	Min     float64  `json:"min"`
	Mean    float64  `json:"mean"`
	Max     float64  `json:"max"`
	N       int      `json:"n"`
	SpanS   float64  `json:"span_s"`             // from the first sample to the last, a part of the window; what counters and energy grew in
	EnergyJ *float64 `json:"energy_j,omitempty"` // where the series is power
}

// Request points to the kept body of a request.
type Request struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// Recording points to the raw data of a point.
type Recording struct {
	Path     string   `json:"path"`
	SHA256   string   `json:"sha256"`
	Requests int      `json:"requests"`
	Events   int64    `json:"events"`
	EpochUS  int64    `json:"epoch_us"`
	IssueUS  [2]int64 `json:"issue_us"`  // first measured issue and end of drain, since the epoch
	WindowUS [2]int64 `json:"window_us"` // the measuring window since the epoch, exact
}
