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
	Stops     []Stop          `json:"stops,omitempty"`      // of each server and router that was started, in the order of their ends
	GPUMemory *Release        `json:"gpu_memory,omitempty"` // nil where no server was started, or nothing tells of memory
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
	Revision string   `json:"revision,omitempty"` // only when it is proved: by the model's folder, or by the server that was told to load it
	Path     string   `json:"path,omitempty"`
	SHA256   string   `json:"sha256,omitempty"` // of a model that is one file, or of the list of digests of its files (model.hash)
	Listed   []string `json:"listed,omitempty"` // by the server

	ConfigSHA256 string `json:"config_sha256,omitempty"` // of config.json, where the model is a folder of this machine
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

	// Of a client that is another program.
	Runtime string   `json:"runtime,omitempty"` // docker | process
	Image   string   `json:"image,omitempty"`   // name@sha256:…
	ImageID string   `json:"image_id,omitempty"`
	Argv    []string `json:"argv,omitempty"`          // the program; what it was told of a point stands in its folder
	SHA256  string   `json:"binary_sha256,omitempty"` // process: of the program file
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
	Warmup       *Warmup              `json:"warmup,omitempty"` // nil when nothing was sent before the window
	Metrics      *metrics.Summary     `json:"metrics,omitempty"`
	MLPerf       *metrics.Summary     `json:"mlperf,omitempty"` // over the whole issue-to-drain time
	Inside       *metrics.Summary     `json:"inside,omitempty"` // serve: of the requests sent and finished inside the window alone
	Cell         *metrics.Summary     `json:"cell,omitempty"`   // decode: of every request under way inside the window, also those cut off at its end
	Client       *metrics.Client      `json:"client,omitempty"`
	Engine       *EngineCount         `json:"engine,omitempty"` // nil when the engine shows no counters
	Telemetry    map[string]Telemetry `json:"telemetry,omitempty"`
	Energy       *Energy              `json:"energy,omitempty"` // nil where nothing tells of any
	Recording    *Recording           `json:"recording,omitempty"`
	Request      *Request             `json:"request,omitempty"`       // the body of the first measured request, exactly as it was sent
	Routing      *Routing             `json:"routing,omitempty"`       // nil without a router, and of an imported point
	PromptTokens *int64               `json:"prompt_tokens,omitempty"` // matrix: median length of the prompts by the server's count, beside the context asked for
	Notes        []string             `json:"notes,omitempty"`         // what the client noticed and a reader should know
	Imported     *Imported            `json:"imported,omitempty"`      // what the client that measured it told, when that was not assay
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

// Telemetry summarises one series over a point's window. What happened at its edges comes from the samples on both sides of them.
type Telemetry struct {
	Unit     string   `json:"unit"`
	Min      float64  `json:"min"`
	Mean     float64  `json:"mean"`
	Max      float64  `json:"max"`
	N        int      `json:"n"`
	SpanS    float64  `json:"span_s"`           // from the first sample to the last, a part of the window
	MaxGapS  float64  `json:"max_gap_s"`        // longest part of the window without a sample
	Coverage float64  `json:"coverage"`         // share of the window that is known, 0 to 1: of the counter where there is one, else between samples not far apart
	Growth   *float64 `json:"growth,omitempty"` // of a counter, over the window

	// Of a series of power.
	EnergyJ       *float64 `json:"energy_j,omitempty"`       // over the window; nil with the reason below
	Method        string   `json:"method,omitempty"`         // MethodCounter or MethodTrapezoid
	OffPct        *float64 `json:"off_pct,omitempty"`        // by how much the energy by trapezoid differs from the counter's, where there are both
	HeldS         float64  `json:"held_s,omitempty"`         // longest time that the reading did not change: more than its resolution explains means a slow or a stuck sensor
	EnergyUnknown string   `json:"energy_unknown,omitempty"` // why there is no energy
}

// How an energy was found.
const (
	MethodCounter   = "counter"   // the device counts it
	MethodTrapezoid = "trapezoid" // the readings of its power, summed over time
)

// Energy is what the machine used over a point's window, J. A part that nothing tells is nil.
type Energy struct {
	Accelerators   int      `json:"accelerators"`               // all of the machine, whether the server used them or not; beside cards a part of the processor is none
	AcceleratorJ   *float64 `json:"accelerator_j,omitempty"`    // of all of them together, by what each of them tells: its package or its board
	CPUJ           *float64 `json:"cpu_j,omitempty"`            // of all processor packages
	WallJ          *float64 `json:"wall_j,omitempty"`           // of the whole machine, by its power supplies
	Method         string   `json:"method,omitempty"`           // of the accelerators' energy; both where they differ
	Coverage       float64  `json:"coverage,omitempty"`         // of the accelerators' energy, the lowest of them
	TokensPerJoule *float64 `json:"tokens_per_joule,omitempty"` // output tokens inside the window / accelerator_j
	Unknown        string   `json:"unknown,omitempty"`          // why there are no tokens per joule
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
