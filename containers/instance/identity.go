package instance

import (
	"assay/containers/engine"
	"assay/containers/image"
	"assay/containers/inside"
	"assay/containers/launch"
	"assay/containers/ready"
)

// Identity is what was asked and what the runtime made of it.
type Identity struct {
	Role           string          `json:"role,omitempty"` // server | router; server-0, server-1, … of several
	Runtime        string          `json:"runtime"`
	Name           string          `json:"name,omitempty"`  // container name or "pid 1234"
	Image          string          `json:"image,omitempty"` // name@sha256:…
	ImageID        string          `json:"image_id,omitempty"`
	ImageFacts     *image.Identity `json:"image_facts,omitempty"` // docker: digests, platform, layers, labels
	Argv           []string        `json:"argv,omitempty"`
	Version        string          `json:"version,omitempty"`         // of the server, by its API; of a router, by its program or package
	VersionUnknown string          `json:"version_unknown,omitempty"` // router: why its version is not known
	Models         []string        `json:"models,omitempty"`          // as /v1/models lists them
	MaxModelLen    int64           `json:"max_model_len,omitempty"`
	KVTokens       int64           `json:"kv_tokens,omitempty"`
	Quantization   string          `json:"quantization,omitempty"`  // of the weights, by the server's own word
	DType          string          `json:"dtype,omitempty"`         // of the computation, by the server's own word
	BinarySHA256   string          `json:"binary_sha256,omitempty"` // process: of the program file
	Launch         *launch.Record  `json:"launch,omitempty"`        // what was asked of the runtime, and what it made of it

	Settings []engine.Setting `json:"settings,omitempty"` // what it runs with, each by its best source: the server's API, its log, its arguments
	Start    *Start           `json:"start,omitempty"`    // how it got ready

	Files   []KeptFile       `json:"files,omitempty"`   // configuration that it was started with
	Inside  *inside.Software `json:"inside,omitempty"`  // what it stands on; nil for what was not started here
	Servers []Identity       `json:"servers,omitempty"` // each of several; then what stands above is theirs together, and what they have in common
}

// Start is how a server got ready.
type Start struct {
	Stages  []ready.Stage `json:"stages"`
	Loading []ready.Part  `json:"loading,omitempty"` // as its log tells it
}
