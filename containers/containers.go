package containers

import (
	"context"
	"time"
)

// Spec is what to start: pure data.
type Spec struct {
	Owner     string // mark of the data directory that starts it
	Run       string
	Role      string   // server | router
	Runtime   string   // docker | process | endpoint
	Image     string   // docker: name@sha256:…
	Argv      []string // process: the whole command line; docker: entry point override (empty: the image's)
	Args      []string // docker: arguments after the entry point
	Env       map[string]string
	Mounts    []Mount
	GPUs      string
	ShmBytes  int64
	HostNet   bool
	Port      int      // port the program listens on (inside the container when bridged)
	HostPort  int      // port on 127.0.0.1 that reaches it
	URLs      []string // endpoint: base URLs
	Dir       string   // the run's folder: logs and configuration files go there
	Files     []File   // written before the start
	Unpinned  bool     // docker: an image without digest is accepted
	StopGrace time.Duration
}

// File is a configuration file of what is started: it is kept as Dir/Name and, in docker, copied into the container.
type File struct {
	Name   string // in the run's folder
	Target string // absolute path in the container
	Data   []byte
}

// Mount binds a host path into a container.
type Mount struct {
	Source, Target string
	Writable       bool
}

// Exit is how an instance ended.
type Exit struct {
	Code   int
	OOM    bool
	Reason string // "exited with code 1", "was killed by signal 9", …
}

// Instance is a started server or router.
type Instance interface {
	BaseURLs() []string                     // http://127.0.0.1:port, no path; several, https or unix only for endpoint
	Identity() Identity                     // what runs, as the runtime tells it
	LogPath() string                        // file with the output so far; "" for endpoint
	Exited() <-chan Exit                    // closed after one value when the instance ends by itself, without a value after Stop
	Stop(ctx context.Context) (Exit, error) // graceful, then hard after the grace; idempotent
}

// Identity is what was asked and what the runtime made of it.
type Identity struct {
	Role         string   `json:"role,omitempty"` // server | router
	Runtime      string   `json:"runtime"`
	Name         string   `json:"name,omitempty"`  // container name or "pid 1234"
	Image        string   `json:"image,omitempty"` // name@sha256:…
	ImageID      string   `json:"image_id,omitempty"`
	Argv         []string `json:"argv,omitempty"`
	Version      string   `json:"version,omitempty"` // of the server, by its API
	Models       []string `json:"models,omitempty"`  // as /v1/models lists them
	MaxModelLen  int64    `json:"max_model_len,omitempty"`
	KVTokens     int64    `json:"kv_tokens,omitempty"`
	Quantization string   `json:"quantization,omitempty"`  // of the weights, by the server's own word
	DType        string   `json:"dtype,omitempty"`         // of the computation, by the server's own word
	BinarySHA256 string   `json:"binary_sha256,omitempty"` // process: of the program file

	Servers []Identity `json:"servers,omitempty"` // endpoint: each of several; then the figures above are theirs together
}

// Runtime starts specs of one kind.
type Runtime interface {
	Name() string
	Prepare(ctx context.Context, s Spec, progress func(Pull)) error // pull by digest and verify; nothing to do for process
	Start(ctx context.Context, s Spec) (Instance, error)
	Reap(ctx context.Context, owner string) ([]string, error) // removes what owner left; returns their names
}

// Pull is progress of an image pull.
type Pull struct {
	Layer       string
	Status      string
	Done, Total int64
}
