package plan

import _ "embed"

// source is the file whose types are a plan. It travels in the program, so that its comments are the one place where keys
// are described.
//
//go:embed plan.go
var source []byte

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
	Checks     map[string]any `json:"checks,omitempty"`                                    // check id → required | relaxed | ignore | a wanted value
	Telemetry  Telemetry      `json:"telemetry"`                                           // what is sampled beside the load
	Unpinned   bool           `json:"allow_unpinned,omitempty" jsonschema:"default=false"` // an image without digest is accepted, and the result says so
}

// Model is what is served.
type Model struct {
	Name     string `json:"name" jsonschema:"required,maxLength=200"`    // short name for reports; with runtime endpoint "*" is the one model the server lists
	Served   string `json:"served,omitempty" jsonschema:"maxLength=200"` // name in requests; by default the model's name
	Revision string `json:"revision,omitempty"`                          // commit of the model repository
	Path     string `json:"path,omitempty"`                              // file or folder on the host; in docker it is mounted read-only
	Hash     bool   `json:"hash,omitempty" jsonschema:"default=false"`   // every file of the model is hashed before the start, and the result says what it was; that takes minutes for hundreds of GB
	SHA256   string `json:"sha256,omitempty"`                            // of the model, as a run with hash tells it; when it is another, nothing is started
}

// Server is the inference server and how it is started.
type Server struct {
	Engine       string            `json:"engine" jsonschema:"enum=vllm,enum=sglang,enum=llamacpp,enum=trtllm,enum=tgi,enum=ollama,enum=sim,enum=openai"` // preset of port, health, metrics names and arguments; openai is any compatible server and the default of runtime endpoint
	Runtime      string            `json:"runtime" jsonschema:"enum=docker,enum=process,enum=endpoint"`                                                   // docker starts a container, process a program, endpoint uses a server that runs already; by default what url, image or command imply
	URL          string            `json:"url,omitempty"`                                                                                                 // endpoint only: the base URL, with or without /v1/…; unix:///path/of/socket reaches a Unix socket
	URLs         []string          `json:"urls,omitempty"`                                                                                                // endpoint only, in place of url: base URLs of several servers of the same model, between which client.balance shares the requests
	Image        string            `json:"image,omitempty"`                                                                                               // docker only: name@sha256:<64 hex>
	ImageFile    string            `json:"image_file,omitempty"`                                                                                          // docker only: file from which the image is loaded in place of a registry: what docker save wrote, or an OCI layout as a folder or tar; it must hold the digest that image names
	BaseImage    string            `json:"base_image,omitempty"`                                                                                          // docker only: name@sha256:<64 hex> of the image that this one must be built from, proved layer by layer
	Command      []string          `json:"command,omitempty"`                                                                                             // the program of runtime process; the override of the image's entry point in docker
	Args         []string          `json:"args,omitempty"`                                                                                                // arguments; the preset adds host, port, model, served name and metrics where args does not say it
	Env          map[string]string `json:"env,omitempty"`                                                                                                 // environment variables of the server; like args they stand in every result, so a name such as HF_TOKEN is refused here; of the environment of assay, a process inherits only what finds programs, home, libraries and devices, such as PATH, HOME, LD_LIBRARY_PATH, CUDA_* and NCCL_*
	EnvFrom      []string          `json:"env_from,omitempty"`                                                                                            // names of variables that the server gets from the environment of assay; their values stand in no plan and no result, and are hidden in what the server writes
	GPUs         string            `json:"gpus,omitempty"`                                                                                                // accelerators that the server sees: all, none, indices such as "0,1" or "0-3", PCI addresses, UUIDs, or "count:2" for the first two; with replicas one set for each, parted by ";", or one list that is dealt out evenly; what is written must be there; by default all that are there for vllm, sglang, trtllm and tgi in docker, none for others in docker, else what the program itself takes
	GPUAccess    string            `json:"gpu_access,omitempty" jsonschema:"enum=auto,enum=cdi,enum=driver"`                                              // docker only: how GPUs get into the container: cdi by the Container Device Interface, driver by the engine's own GPU driver (NVIDIA) or device files (AMD), auto cdi where the engine has it and this machine describes its GPUs; auto by default
	Replicas     int               `json:"replicas,omitempty" jsonschema:"minimum=0,maximum=64"`                                                          // servers of the same kind that are started on this machine, each with its own port, GPUs, log and metrics; 0: one
	CPUs         string            `json:"cpus,omitempty"`                                                                                                // CPUs of the server such as "0-31,64-95"; with replicas one set for each, parted by ";", or one list of which each range is dealt out evenly
	NUMA         string            `json:"numa,omitempty"`                                                                                                // memory nodes of the server such as "0" or "0,1", or gpu for those of its GPUs; its CPUs too, where cpus names none; with replicas one set for each, parted by ";", or one list that is dealt out evenly, one node to several servers where there are fewer
	Mounts       []Mount           `json:"mounts,omitempty"`                                                                                              // docker only: more folders of the host in the container
	ShmSize      string            `json:"shm_size,omitempty"`                                                                                            // docker only: shared memory such as 16g; 16g by default for vllm, sglang, trtllm and tgi
	Network      string            `json:"network,omitempty" jsonschema:"enum=host,enum=bridge"`                                                          // docker only; bridge by default
	IPC          string            `json:"ipc,omitempty" jsonschema:"enum=host,enum=private"`                                                             // docker only: whose shared memory the container uses; host has no shm_size; private by default
	Ulimits      map[string]string `json:"ulimits,omitempty"`                                                                                             // docker only: limits such as {memlock: unlimited, nofile: "1048576", stack: "67108864"}; one that this machine cannot give ends the run before anything is started
	Devices      []string          `json:"devices,omitempty"`                                                                                             // docker only: more device files of the host in the container, such as /dev/infiniband, a folder with all in it
	Capabilities []string          `json:"capabilities,omitempty"`                                                                                        // docker only: capabilities such as IPC_LOCK that the container gets beside the usual ones
	SecurityOpt  []string          `json:"security_opt,omitempty"`                                                                                        // docker only: options such as seccomp=unconfined, label=disable or apparmor=unconfined
	Privileged   bool              `json:"privileged,omitempty" jsonschema:"default=false"`                                                               // docker only: the container may do everything, and sees all GPUs whatever gpus says
	User         string            `json:"user,omitempty"`                                                                                                // docker only: user and group by number, such as "1000:1000"; by default the image's
	Port         int               `json:"port,omitempty" jsonschema:"minimum=0,maximum=65535,default=0"`                                                 // port of the server, with replicas of the first of them, the others have the next ones; 0 picks free ones
	Endpoint     string            `json:"endpoint,omitempty" jsonschema:"enum=chat,enum=completions"`                                                    // API that is measured; chat by default, completions when url ends in /v1/completions
	TokenEnv     string            `json:"token_env,omitempty"`                                                                                           // name of the variable that holds the bearer token; the token itself never stands in a plan
	TokenFile    string            `json:"token_file,omitempty"`                                                                                          // file that holds the bearer token, in place of token_env
	Ready        Ready             `json:"ready"`                                                                                                         // bounds of the wait from start to the first token
	Expect       Expect            `json:"expect,omitzero"`                                                                                               // what the server must say of itself once it is ready; when it does not, nothing is measured
	Stop         Stop              `json:"stop"`                                                                                                          // bounds of its stop
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
	Process Duration `json:"process,omitempty" jsonschema:"exclusiveMinimum=0"`   // longest start of the program or container itself; like the limits below it counts beside timeout, and without it timeout alone does
	Port    Duration `json:"port,omitempty" jsonschema:"exclusiveMinimum=0"`      // longest wait until its port takes connections; engines that load first and listen then need their whole load here
	Health  Duration `json:"health,omitempty" jsonschema:"exclusiveMinimum=0"`    // longest wait from then until its health path answers 200
	Model   Duration `json:"model,omitempty" jsonschema:"exclusiveMinimum=0"`     // longest wait from then until it lists the model
	Token   Duration `json:"token,omitempty" jsonschema:"exclusiveMinimum=0"`     // longest wait from then until a token has come
	Idle    Duration `json:"idle,omitempty" jsonschema:"exclusiveMinimum=0"`      // longest time in which its log says nothing new; 15m by default
}

// Expect is what the server must say of itself.
type Expect struct {
	Version      string `json:"version,omitempty"`                                  // as its API tells it; 0.32 fits 0.32.0 and 0.32.1+rocm
	MaxModelLen  Length `json:"max_model_len,omitempty" jsonschema:"minimum=0"`     // tokens of the longest context
	KVTokens     int    `json:"kv_tokens,omitempty" jsonschema:"minimum=0"`         // fewest tokens of its KV cache, over all engines
	Tensor       int    `json:"tensor_parallel,omitempty" jsonschema:"minimum=0"`   // devices that share each layer
	Pipeline     int    `json:"pipeline_parallel,omitempty" jsonschema:"minimum=0"` // devices that hold layers one after another
	Data         int    `json:"data_parallel,omitempty" jsonschema:"minimum=0"`     // engines that hold the whole model
	Expert       int    `json:"expert_parallel,omitempty" jsonschema:"minimum=0"`   // devices that share the experts of each layer
	ConfigSHA256 string `json:"config_sha256,omitempty"`                            // of the model's config.json, where model.path names a folder
}

// Stop bounds a clean stop of the server.
type Stop struct {
	Grace Duration `json:"grace" jsonschema:"default=30s"` // time for a clean stop; after it the server is killed
}

// Router stands between client and server at some of the points.
type Router struct {
	Points   string            `json:"points" jsonschema:"required"`                                                                                  // concurrencies it serves: "32-384", "512" or "all"; an open loop counts as its max_concurrency, prefill as 1
	Kind     string            `json:"kind" jsonschema:"required,enum=none,enum=nginx,enum=haproxy,enum=sglang-router,enum=vllm-router,enum=generic"` // the router's program; generic is any that is told its port and its servers by args
	Runtime  string            `json:"runtime,omitempty" jsonschema:"enum=docker,enum=process"`                                                       // docker when an image is named, else process
	Image    string            `json:"image,omitempty"`                                                                                               // docker only: name@sha256:<64 hex>
	Command  []string          `json:"command,omitempty"`                                                                                             // the program, when it is not the kind's own
	Args     []string          `json:"args,omitempty"`                                                                                                // not for nginx and haproxy: more arguments; for generic all of them, in which {host}, {port}, {session_header} and {upstreams} are filled in, the last by one argument for each server
	Env      map[string]string `json:"env,omitempty"`                                                                                                 // not for nginx and haproxy: environment variables of the router; they stand in every result
	Health   string            `json:"health,omitempty"`                                                                                              // generic only: path that answers 200 when it is up; none by default
	Upstream string            `json:"upstream_header,omitempty"`                                                                                     // header of its answers that names the server which gave them; X-Upstream for nginx and haproxy; without one the servers' own counters tell
}

// Client is who makes the load.
type Client struct {
	Kind           string            `json:"kind" jsonschema:"enum=native,enum=mlperf-endpoints,enum=vllm-bench,enum=llm-inference-bench,enum=aiperf,enum=guidellm,default=native"` // the load generator: this program's own, or another that is started and whose results are imported
	Runtime        string            `json:"runtime,omitempty" jsonschema:"enum=docker,enum=process"`                                                                               // not for native: docker when an image is named, else process
	Image          string            `json:"image,omitempty"`                                                                                                                       // docker only: name@sha256:<64 hex>
	Command        []string          `json:"command,omitempty"`                                                                                                                     // not for native: the program, when it is not the kind's usual one on the PATH
	Args           []string          `json:"args,omitempty"`                                                                                                                        // not for native: more arguments of it
	EnvFrom        []string          `json:"env_from,omitempty"`                                                                                                                    // not for native: names of variables that it gets from the environment of assay; their values stand in no plan and no result
	Tokenizer      string            `json:"tokenizer,omitempty"`                                                                                                                   // not for native: folder or repository of the tokenizer by which it makes and counts prompts; by default the model's folder, else its served name
	StallTimeout   Duration          `json:"stall_timeout" jsonschema:"default=5m,exclusiveMinimum=0"`                                                                              // no byte for this long ends a request with outcome stalled
	Timeout        Duration          `json:"timeout" jsonschema:"default=1h,exclusiveMinimum=0"`                                                                                    // time limit of a request: outcome timeout
	Drain          Duration          `json:"drain" jsonschema:"default=10m"`                                                                                                        // how long stragglers are awaited after issue stops
	Headers        map[string]string `json:"headers,omitempty"`                                                                                                                     // more headers of each request; they stand in every result, so a name such as X-API-Key is refused here
	HeadersEnv     map[string]string `json:"headers_env,omitempty"`                                                                                                                 // more headers whose values are in variables of the environment of assay: header: VARIABLE
	RoutingHeaders []string          `json:"routing_headers,omitempty"`                                                                                                             // headers that carry the session's id, for routers that keep a session on one server; by default X-Session-ID, and X-SMG-Routing-Key with an sglang-router
	Balance        string            `json:"balance,omitempty" jsonschema:"enum=round_robin,enum=sticky"`                                                                           // with server.urls, or server.replicas and no router: round_robin takes them in turn, sticky keeps a session on one; round_robin by default
	InsecureTLS    bool              `json:"insecure_tls,omitempty" jsonschema:"default=false"`                                                                                     // the server's certificate is not checked
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
	CachePrompt *bool    `json:"cache_prompt,omitempty"`                                         // llamacpp only: false has each prompt computed as a whole, since its greedy answers differ where part of one comes from the cache; not sent when absent
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
	Stable   float64  `json:"stable,omitempty" jsonschema:"exclusiveMinimum=0,maximum=0.5"` // a share up to 0.5, such as 0.05: after requests and duration the warm-up goes on until throughput and TTFT of its last three steps differ by no more
	Timeout  Duration `json:"timeout,omitempty"`                                            // with stable only: the longest warm-up until then, after which the point is measured and marked; by default 10m
}

// Cut leaves the first and last part of an open loop out of the window.
type Cut struct {
	Warmup   Duration `json:"warmup,omitempty"`   // left out at the start
	Cooldown Duration `json:"cooldown,omitempty"` // left out at the end
}

// Telemetry is what is sampled beside the load.
type Telemetry struct {
	Interval Duration `json:"interval" jsonschema:"default=1s,exclusiveMinimum=0"` // time between samples, from 10ms to 1m
}

// BaseURLs lists the base URLs of runtime endpoint: url, or urls.
func (s Server) BaseURLs() []string {
	if s.URL != "" {
		return []string{s.URL}
	}
	return s.URLs
}
