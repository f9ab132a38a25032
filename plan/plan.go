package plan

// APIVersion is the only value of Plan.APIVersion this program reads.
const APIVersion = "assay/v1"

// AnyModel as a model's name stands for the one model that a running server lists. Only runtime endpoint has it.
const AnyModel = "*"

// The comments on the fields below are the descriptions of the JSON Schema and of docs/plan.md, and the jsonschema tags are the
// rules that Parse applies: both are read from here, so a key is described and bounded in one place.

// Plan is the recipe of a run. Parse gives it with its defaults filled, and valid.
type Plan struct {
	APIVersion string         `json:"apiVersion" jsonschema:"required,enum=assay/v1"`      // version of the plan's form
	Name       string         `json:"name" jsonschema:"required,maxLength=100"`            // name of the runs this plan makes, in lists and reports
	Model      Model          `json:"model" jsonschema:"required"`                         // what is served
	Server     Server         `json:"server" jsonschema:"required"`                        // the inference server and how it is started
	Routers    []Router       `json:"routers,omitempty"`                                   // what stands between client and server, by point
	Client     Client         `json:"client"`                                              // who makes the load
	Workload   Workload       `json:"workload"`                                            // what is asked
	Protocol   Protocol       `json:"protocol" jsonschema:"required"`                      // how the load is shaped: exactly one of sweep, serve, matrix
	Checks     map[string]any `json:"checks,omitempty"`                                    // check id → required | ignore | a wanted value
	Telemetry  Telemetry      `json:"telemetry"`                                           // what is sampled beside the load
	Unpinned   bool           `json:"allow_unpinned,omitempty" jsonschema:"default=false"` // an image without digest is accepted, and the result says so
}

// Model is what is served.
type Model struct {
	Name     string `json:"name" jsonschema:"required,maxLength=200"`    // short name for reports; with runtime endpoint "*" is the one model the server lists
	Served   string `json:"served,omitempty" jsonschema:"maxLength=200"` // name in requests; by default the model's name
	Revision string `json:"revision,omitempty"`                          // commit of the model repository
	Path     string `json:"path,omitempty"`                              // file or folder on the host; in docker it is mounted read-only
}

// Server is the inference server and how it is started.
type Server struct {
	Engine    string            `json:"engine" jsonschema:"enum=vllm,enum=sglang,enum=llamacpp,enum=trtllm,enum=tgi,enum=ollama,enum=sim,enum=openai"` // preset of port, health, metrics names and arguments; openai is any compatible server and the default of runtime endpoint
	Runtime   string            `json:"runtime" jsonschema:"enum=docker,enum=process,enum=endpoint"`                                                   // docker starts a container, process a program, endpoint uses a server that runs already; by default what url, image or command imply
	URL       string            `json:"url,omitempty"`                                                                                                 // endpoint only: the base URL, with or without /v1/…; unix:///path/of/socket reaches a Unix socket
	URLs      []string          `json:"urls,omitempty"`                                                                                                // endpoint only, in place of url: base URLs of several servers of the same model, between which client.balance shares the requests
	Image     string            `json:"image,omitempty"`                                                                                               // docker only: name@sha256:<64 hex>
	Command   []string          `json:"command,omitempty"`                                                                                             // the program of runtime process; the override of the image's entry point in docker
	Args      []string          `json:"args,omitempty"`                                                                                                // arguments; the preset adds host, port, model, served name and metrics where args does not say it
	Env       map[string]string `json:"env,omitempty"`                                                                                                 // environment variables of the server; like args they stand in every result, so a name such as HF_TOKEN is refused here; of the environment of assay, a process inherits only what finds programs, home, libraries and devices, such as PATH, HOME, LD_LIBRARY_PATH, CUDA_* and NCCL_*
	EnvFrom   []string          `json:"env_from,omitempty"`                                                                                            // names of variables that the server gets from the environment of assay; their values stand in no plan and no result, but what the server itself writes into its log is kept as it is
	GPUs      string            `json:"gpus,omitempty"`                                                                                                // docker only: all, none or indices such as "0,1"; by default all for vllm, sglang, trtllm and tgi, else none
	Mounts    []Mount           `json:"mounts,omitempty"`                                                                                              // docker only: more folders of the host in the container
	ShmSize   string            `json:"shm_size,omitempty"`                                                                                            // docker only: shared memory such as 16g; 16g by default for vllm, sglang, trtllm and tgi
	Network   string            `json:"network,omitempty" jsonschema:"enum=host,enum=bridge"`                                                          // docker only; bridge by default
	Port      int               `json:"port,omitempty" jsonschema:"minimum=0,maximum=65535,default=0"`                                                 // port of the server; 0 picks a free one
	Endpoint  string            `json:"endpoint,omitempty" jsonschema:"enum=chat,enum=completions"`                                                    // API that is measured; chat by default, completions when url ends in /v1/completions
	TokenEnv  string            `json:"token_env,omitempty"`                                                                                           // name of the variable that holds the bearer token; the token itself never stands in a plan
	TokenFile string            `json:"token_file,omitempty"`                                                                                          // file that holds the bearer token, in place of token_env
	Ready     Ready             `json:"ready"`                                                                                                         // bounds of the wait from start to the first token
	Stop      Stop              `json:"stop"`                                                                                                          // bounds of its stop
}

// Mount binds a host path into the container.
type Mount struct {
	Source   string `json:"source" jsonschema:"required"`                  // absolute path on the host
	Target   string `json:"target" jsonschema:"required"`                  // absolute path in the container
	Writable bool   `json:"writable,omitempty" jsonschema:"default=false"` // the container may write there
}

// Ready bounds the wait from start to the first token.
type Ready struct {
	Timeout Duration `json:"timeout" jsonschema:"default=30m,exclusiveMinimum=0"` // longest wait from start to the first token
}

// Stop bounds a clean stop of the server.
type Stop struct {
	Grace Duration `json:"grace" jsonschema:"default=30s"` // time for a clean stop; after it the server is killed
}

// Router stands between client and server at some of the points.
type Router struct {
	Points  string   `json:"points" jsonschema:"required"`                                 // concurrencies it serves: "32-384", "512" or "all"; an open loop counts as its max_concurrency, prefill as 1
	Kind    string   `json:"kind" jsonschema:"required,enum=none,enum=nginx,enum=haproxy"` // the router's program
	Runtime string   `json:"runtime,omitempty" jsonschema:"enum=docker,enum=process"`      // docker when an image is named, else process
	Image   string   `json:"image,omitempty"`                                              // docker only: name@sha256:<64 hex>
	Command []string `json:"command,omitempty"`                                            // the program, when it is not the kind's own
}

// Client is who makes the load.
type Client struct {
	Kind           string            `json:"kind" jsonschema:"enum=native,default=native"`                // the load generator
	StallTimeout   Duration          `json:"stall_timeout" jsonschema:"default=5m,exclusiveMinimum=0"`    // no byte for this long ends a request with outcome stalled
	Timeout        Duration          `json:"timeout" jsonschema:"default=1h,exclusiveMinimum=0"`          // time limit of a request: outcome timeout
	Drain          Duration          `json:"drain" jsonschema:"default=10m"`                              // how long stragglers are awaited after issue stops
	Headers        map[string]string `json:"headers,omitempty"`                                           // more headers of each request; they stand in every result, so a name such as X-API-Key is refused here
	HeadersEnv     map[string]string `json:"headers_env,omitempty"`                                       // more headers whose values are in variables of the environment of assay: header: VARIABLE
	RoutingHeaders []string          `json:"routing_headers,omitempty"`                                   // headers that carry the session's id, for routers that keep a session on one server; X-Session-ID by default
	Balance        string            `json:"balance,omitempty" jsonschema:"enum=round_robin,enum=sticky"` // with server.urls: round_robin takes them in turn, sticky keeps a session on one; round_robin by default
	InsecureTLS    bool              `json:"insecure_tls,omitempty" jsonschema:"default=false"`           // the server's certificate is not checked
}

// Workload is what is asked.
type Workload struct {
	Kind          string   `json:"kind" jsonschema:"default=synthetic,enum=synthetic,enum=sharegpt,enum=text,enum=jsonl,enum=agentic,enum=trace"` // where prompts come from
	Dataset       Dataset  `json:"dataset,omitzero"`                                                                                              // the prompts' file, or a built-in one
	InputLen      Length   `json:"input_len,omitempty" jsonschema:"minimum=1,maximum=16777216"`                                                   // tokens of a prompt; 1024 by default for synthetic and text, not used in a matrix; sharegpt glues and cuts its turns to it
	Lengths       string   `json:"lengths,omitempty" jsonschema:"enum=tokens,enum=words"`                                                         // what input_len and contexts count: tokens by the server's own tokenizer or usage, or words, which need no asking; tokens by default
	SharedPrompts int      `json:"shared_prompts,omitempty" jsonschema:"minimum=0,maximum=10000000"`                                              // only so many different prompts, used again and again, so that a prefix cache serves most of them; 0: every prompt is another one
	Turns         int      `json:"turns,omitempty" jsonschema:"minimum=0,maximum=10000"`                                                          // synthetic: turns of a conversation, else at most so many are used; 0: one, or all
	Strict        bool     `json:"strict,omitempty" jsonschema:"default=false"`                                                                   // a bad line of the data ends the run; else it is counted and named
	Seed          uint64   `json:"seed,string" jsonschema:"default=0"`                                                                            // seed of everything random; the canonical form writes it as a text
	Salt          string   `json:"salt" jsonschema:"default=run"`                                                                                 // run: no prompt was ever cached; session: a mark per session; none; or a text. true means session for agentic, else run; false means none
	ToolDelay     bool     `json:"tool_delay,omitempty" jsonschema:"default=false"`                                                               // agentic: wait the recorded time of tool calls between turns
	System        string   `json:"system,omitempty"`                                                                                              // a system prompt put before each conversation
	Sampling      Sampling `json:"sampling"`                                                                                                      // is sent with each request
}

// Dataset is a file of prompts; builtin names one that ships with the program.
type Dataset struct {
	Path    string `json:"path,omitempty"`    // file or folder of prompts
	Builtin string `json:"builtin,omitempty"` // name of a dataset that ships with the program, such as agentic-small
	SHA256  string `json:"sha256,omitempty"`  // digest the file or folder must have; the result always names the digest that was found
}

// Sampling is sent with each request.
type Sampling struct {
	Temperature *float64 `json:"temperature,omitempty" jsonschema:"minimum=0"`                   // not sent when absent
	TopP        *float64 `json:"top_p,omitempty" jsonschema:"minimum=0,maximum=1"`               // not sent when absent
	Seed        *int64   `json:"seed,omitempty,string"`                                          // not sent when absent; the canonical form writes it as a text
	MaxTokens   int      `json:"max_tokens" jsonschema:"default=256,minimum=1,maximum=16777216"` // longest answer in tokens
	IgnoreEOS   bool     `json:"ignore_eos,omitempty" jsonschema:"default=false"`                // answers always have max_tokens tokens
}

// Protocol holds exactly one of its members.
type Protocol struct {
	Sweep  *Sweep  `json:"sweep,omitempty"`  // a closed loop at each concurrency
	Serve  *Serve  `json:"serve,omitempty"`  // an open loop at each rate
	Matrix *Matrix `json:"matrix,omitempty"` // contexts × concurrencies
}

// Sweep is a closed loop at each concurrency.
type Sweep struct {
	Concurrency  []int    `json:"concurrency" jsonschema:"required,minimum=1,maximum=100000"`       // requests in flight, a point each; one number or a list
	Requests     int      `json:"requests,omitempty" jsonschema:"minimum=0,maximum=1000000000"`     // measured requests per point; 0: by duration only
	Duration     Duration `json:"duration,omitempty"`                                               // length of the window; 0: by requests only
	MinDuration  Duration `json:"min_duration,omitempty"`                                           // the window lasts at least this long, also when the requests are done; alone it is the length of the window
	Trajectories int      `json:"trajectories,omitempty" jsonschema:"minimum=0,maximum=1000000000"` // conversations that are begun; issue stops when one ends and none is left to take its slot; 0: no limit
	Warmup       Warmup   `json:"warmup,omitzero"`                                                  // is sent before a point's window opens and is in no figure
}

// Serve is an open loop at a rate.
type Serve struct {
	Rate           []float64 `json:"rate,omitempty" jsonschema:"exclusiveMinimum=0,maximum=1000000"`                        // requests per second, a point each; one number or a list; not with arrival trace
	Speed          []float64 `json:"speed,omitempty" jsonschema:"exclusiveMinimum=0,maximum=1000000"`                       // arrival trace only: how many times faster than recorded, a point each; 1 by default
	Arrival        string    `json:"arrival" jsonschema:"default=poisson,enum=poisson,enum=gamma,enum=constant,enum=trace"` // how the gaps between requests are spread; trace takes the instants of workload kind trace
	Ramp           *Ramp     `json:"ramp,omitempty"`                                                                        // the rate grows to rate
	Burstiness     float64   `json:"burstiness,omitempty" jsonschema:"exclusiveMinimum=0"`                                  // gamma only: shape of the gaps, 1 is poisson, less is burstier; 1 by default
	MaxConcurrency int       `json:"max_concurrency,omitempty" jsonschema:"minimum=0,maximum=100000,default=0"`             // most requests in flight; what it holds back counts from its intended time; 0: no limit
	Requests       int       `json:"requests,omitempty" jsonschema:"minimum=0,maximum=1000000000"`                          // requests that are issued; 0: by duration only
	Duration       Duration  `json:"duration,omitempty"`                                                                    // how long requests are issued; 0: by requests only
	Window         Cut       `json:"window,omitzero"`                                                                       // what is left out of the measuring window
	DecodeNodes    int       `json:"decode_nodes,omitempty" jsonschema:"minimum=0"`                                         // nodes that decode, for tokens/s per node
}

// Ramp lets an open loop's rate grow.
type Ramp struct {
	From  float64  `json:"from" jsonschema:"required,exclusiveMinimum=0,maximum=1000000"`  // requests per second at the start
	Over  Duration `json:"over" jsonschema:"required,exclusiveMinimum=0"`                  // time until the point's rate is reached
	Shape string   `json:"shape" jsonschema:"default=linear,enum=linear,enum=exponential"` // how it grows
}

// Matrix is contexts × concurrencies.
type Matrix struct {
	Contexts        []Length `json:"contexts" jsonschema:"required,minimum=1,maximum=16777216"`          // lengths of the prompt in tokens, such as 8k; one or a list
	PrefillContexts []Length `json:"prefill_contexts,omitempty" jsonschema:"minimum=1,maximum=16777216"` // contexts of the prefill passes, where those are others; by default contexts
	Concurrency     []int    `json:"concurrency" jsonschema:"required,minimum=1,maximum=100000"`         // requests in flight; one number or a list
	Duration        Duration `json:"duration" jsonschema:"default=30s,exclusiveMinimum=0"`               // measured time of a decode cell
	PrefillDuration Duration `json:"prefill_duration" jsonschema:"default=30s,exclusiveMinimum=0"`       // a context's prefill pass begins no request after it, but for the second
	PrefillRepeats  int      `json:"prefill_repeats,omitempty" jsonschema:"minimum=0,maximum=1000000"`   // at most so many requests of a context's prefill pass; 0: by prefill_duration
	WarmupTimeout   Duration `json:"warmup_timeout,omitempty"`                                           // longest wait for a decode cell to be ready, after which it is measured and marked; by default 60s for contexts up to 32k, 120s up to 64k, 180s above
	Stable          Duration `json:"stable" jsonschema:"default=3s"`                                     // how long a decode cell must be ready without a break before its window opens
	MaxTokens       int      `json:"max_tokens" jsonschema:"default=4096,minimum=1,maximum=16777216"`    // longest answer in a decode cell
}

// Warmup is sent before a point's window opens and is in no figure.
type Warmup struct {
	Requests int      `json:"requests,omitempty" jsonschema:"minimum=0,maximum=1000000000"` // number of requests
	Duration Duration `json:"duration,omitempty"`                                           // length in time
}

// Cut leaves the first and last part of an open loop out of the window.
type Cut struct {
	Warmup   Duration `json:"warmup,omitempty"`   // left out at the start
	Cooldown Duration `json:"cooldown,omitempty"` // left out at the end
}

// Telemetry is what is sampled beside the load.
type Telemetry struct {
	Interval Duration `json:"interval" jsonschema:"default=1s,exclusiveMinimum=0"` // time between samples
}

// BaseURLs lists the base URLs of runtime endpoint: url, or urls.
func (s Server) BaseURLs() []string {
	if s.URL != "" {
		return []string{s.URL}
	}
	return s.URLs
}
