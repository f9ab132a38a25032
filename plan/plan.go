package plan

// APIVersion is the only value of Plan.APIVersion this program reads.
const APIVersion = "assay/v1"

// Plan is a parsed, defaulted and valid plan.
type Plan struct {
	APIVersion string         `json:"apiVersion" jsonschema:"required,enum=assay/v1"`
	Name       string         `json:"name" jsonschema:"required"`
	Model      Model          `json:"model"`
	Server     Server         `json:"server"`
	Routers    []Router       `json:"routers,omitempty"`
	Client     Client         `json:"client"`
	Workload   Workload       `json:"workload"`
	Protocol   Protocol       `json:"protocol"`
	Checks     map[string]any `json:"checks,omitempty"` // check id → required | ignore | a wanted value
	Telemetry  Telemetry      `json:"telemetry"`
	Unpinned   bool           `json:"allow_unpinned,omitempty"` // an image or dataset without digest is accepted, and the result says so
}

// Model is what is served.
type Model struct {
	Name     string `json:"name"`               // short name for reports
	Served   string `json:"served,omitempty"`   // name in requests; default Name
	Revision string `json:"revision,omitempty"` // commit of the model repository
	Path     string `json:"path,omitempty"`     // file or folder on the host; in docker it is mounted read-only
}

// Server is the inference server and how it is started.
type Server struct {
	Engine   string            `json:"engine"`            // preset: vllm | sglang | llamacpp | sim | openai
	Runtime  string            `json:"runtime"`           // docker | process | endpoint
	URL      string            `json:"url,omitempty"`     // runtime endpoint: the base URL, with or without /v1/…
	Image    string            `json:"image,omitempty"`   // runtime docker: name@sha256:<64 hex>
	Command  []string          `json:"command,omitempty"` // the program of runtime process; the entry point's override in docker
	Args     []string          `json:"args,omitempty"`    // the preset adds host, port, model, served name, metrics where Args does not say it
	Env      map[string]string `json:"env,omitempty"`
	GPUs     string            `json:"gpus,omitempty"`      // all | none | "0,1,…"; docker only
	Mounts   []Mount           `json:"mounts,omitempty"`    // docker only, read-only by default
	ShmSize  string            `json:"shm_size,omitempty"`  // docker only, "16g"
	Network  string            `json:"network,omitempty"`   // docker only: host | bridge
	Port     int               `json:"port,omitempty"`      // 0 picks a free one
	Endpoint string            `json:"endpoint,omitempty"`  // chat | completions
	TokenEnv string            `json:"token_env,omitempty"` // name of the variable that holds the bearer token; the token itself never stands in a plan
	Ready    Ready             `json:"ready"`
	Stop     Stop              `json:"stop"`
}

// Mount binds a host path into the container.
type Mount struct {
	Source   string `json:"source"`
	Target   string `json:"target"`
	Writable bool   `json:"writable,omitempty"`
}

// Ready bounds the wait from start to the first token.
type Ready struct {
	Timeout Duration `json:"timeout"`
}

// Stop bounds a graceful stop; after Grace the server is killed.
type Stop struct {
	Grace Duration `json:"grace"`
}

// Router stands between client and server at the points of Points.
type Router struct {
	Points  string   `json:"points"` // "32-384" | "512" | "all": concurrencies it serves
	Kind    string   `json:"kind"`   // none | nginx | haproxy
	Runtime string   `json:"runtime,omitempty"`
	Image   string   `json:"image,omitempty"`
	Command []string `json:"command,omitempty"`
}

// Client is who makes the load.
type Client struct {
	Kind         string   `json:"kind"`                    // native
	StallTimeout Duration `json:"stall_timeout,omitempty"` // no byte for this long: outcome stalled
	Timeout      Duration `json:"timeout,omitempty"`       // a request's time limit: outcome timeout
	Drain        Duration `json:"drain,omitempty"`         // how long stragglers are awaited after issue stops
}

// Workload is what is asked.
type Workload struct {
	Kind      string   `json:"kind"` // synthetic | sharegpt | text | jsonl | agentic | trace
	Dataset   Dataset  `json:"dataset,omitzero"`
	InputLen  Length   `json:"input_len,omitempty"`  // tokens of a prompt, synthetic and text
	Seed      uint64   `json:"seed,omitempty"`       // canonical JSON writes it as a string
	Salt      string   `json:"salt,omitempty"`       // run | session | none | a text
	ToolDelay bool     `json:"tool_delay,omitempty"` // agentic: wait the recorded time of tool calls between turns
	System    string   `json:"system,omitempty"`     // a system prompt put before each conversation
	Sampling  Sampling `json:"sampling"`
}

// Dataset is a file of prompts; builtin names one that ships with the program.
type Dataset struct {
	Path    string `json:"path,omitempty"`
	Builtin string `json:"builtin,omitempty"`
	SHA256  string `json:"sha256,omitempty"`
}

// Sampling is sent with each request.
type Sampling struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	Seed        *int64   `json:"seed,omitempty"`
	MaxTokens   int      `json:"max_tokens"`
	IgnoreEOS   bool     `json:"ignore_eos,omitempty"`
}

// Protocol holds exactly one of its members.
type Protocol struct {
	Sweep  *Sweep  `json:"sweep,omitempty"`
	Serve  *Serve  `json:"serve,omitempty"`
	Matrix *Matrix `json:"matrix,omitempty"`
}

// Sweep is a closed loop at each concurrency.
type Sweep struct {
	Concurrency []int    `json:"concurrency"`
	Requests    int      `json:"requests,omitempty"`     // measured requests per point; 0: by duration only
	Duration    Duration `json:"duration,omitempty"`     // length of the window; 0: by requests only
	MinDuration Duration `json:"min_duration,omitempty"` // the window lasts at least this long, also when Requests are done
	Warmup      Warmup   `json:"warmup,omitzero"`
}

// Serve is an open loop at a rate.
type Serve struct {
	Rate           []float64 `json:"rate"`    // requests/s, a point each; a plan may write one number
	Arrival        string    `json:"arrival"` // poisson | gamma | constant
	Burstiness     float64   `json:"burstiness,omitempty"`
	MaxConcurrency int       `json:"max_concurrency,omitempty"`
	Requests       int       `json:"requests,omitempty"`
	Duration       Duration  `json:"duration,omitempty"`
	Window         Cut       `json:"window,omitzero"`
	DecodeNodes    int       `json:"decode_nodes,omitempty"` // for tps_per_node
}

// Matrix is contexts × concurrencies.
type Matrix struct {
	Contexts        []Length `json:"contexts"`
	Concurrency     []int    `json:"concurrency"`
	Duration        Duration `json:"duration"`                   // measured time of a decode cell
	PrefillDuration Duration `json:"prefill_duration,omitempty"` // limit of a context's prefill pass
	MaxTokens       int      `json:"max_tokens"`
}

// Warmup is sent before a point's window opens and is in no figure.
type Warmup struct {
	Requests int      `json:"requests,omitempty"`
	Duration Duration `json:"duration,omitempty"`
}

// Cut leaves the first and last part of an open loop out of the window.
type Cut struct {
	Warmup   Duration `json:"warmup,omitempty"`
	Cooldown Duration `json:"cooldown,omitempty"`
}

// Telemetry is what is sampled beside the load.
type Telemetry struct {
	Interval Duration `json:"interval"`
}

// Point is one measured setting of a plan, in the order it runs.
type Point struct {
	ID          string  // "c32", "r140", "prefill-8192", "decode-8192x64"
	Phase       string  // sweep | serve | prefill | decode
	Concurrency int     // 0 when the phase has none
	Rate        float64 // requests/s; 0 when the phase has none
	Context     int     // tokens; 0 when the phase has none
	Router      Router  // Kind "none" when no router of the plan serves it
}
