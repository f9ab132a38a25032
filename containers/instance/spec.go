package instance

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"assay/containers/image"
	"assay/containers/leftover"
	"assay/fault"
)

// Spec is what to start: pure data.
type Spec struct {
	Owner      string // mark of the data directory that starts it
	Run        string
	Role       string   // server | router | client; of several servers server-0, server-1, …: it tells their containers, logs and marks apart
	Runtime    string   // docker | process | endpoint
	Image      string   // docker: name@sha256:…
	Argv       []string // process: the whole command line; docker: entry point override (empty: the image's)
	Args       []string // docker: arguments after the entry point
	Env        map[string]string
	Mounts     []Mount
	GPUs       string   // one set of server.gpus; "" leaves a process what it finds
	GPUsWished bool     `json:",omitempty"` // docker: GPUs are what the preset would like, given as far as they are there
	GPUAccess  string   // docker: auto | cdi | driver; "" is auto
	CPUs       string   // such as "0-31"; "" is any
	NUMA       string   // memory nodes such as "0", or gpu for those of its GPUs; "" is any
	Rights     Rights   // docker
	Secrets    []string `json:",omitempty"` // names of variables whose values are recorded nowhere
	Remarks    []string `json:",omitempty"` // what Prepare found that a reader of the result must know
	ShmBytes   int64
	HostNet    bool
	Port       int              // port the program listens on (inside the container when bridged)
	HostPort   int              // port on 127.0.0.1 that reaches it
	URLs       []string         // endpoint: base URLs
	Dir        string           // the run's folder: logs and configuration files go there
	Files      []File           // written before the start
	Unpinned   bool             // docker: an image without digest is accepted
	ImageFile  string           // docker: where the image is loaded from in place of a registry
	BaseImage  string           // docker: name@sha256:… that the image must be built from
	Prepared   *image.Identity  // docker: the image that Prepare found; it is started by its id
	StopGrace  time.Duration    // how long a graceful stop may take
	Journal    leftover.Journal `json:"-"` // where it is written down before it is started; nil: nowhere
}

// Rights are what a container may use of its host beside the usual.
type Rights struct {
	IPC          string            // host | private; "" is private
	Ulimits      map[string]string // asked for by the plan: "unlimited", "1024", "1024:2048" (soft:hard)
	Wishes       map[string]string // ulimits that the preset would like, given as far as the engine can
	Devices      []string          // device files, or folders of them
	Capabilities []string
	SecurityOpt  []string
	Privileged   bool
	User         string // by number; "" is the image's
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

// Layer is where a failure of what is started is reported.
func (s Spec) Layer() fault.Layer { return Layer(s.Role) }

// Layer is where a failure of what has this role is reported.
func Layer(role string) fault.Layer {
	switch role {
	case "router":
		return fault.Router
	case "client":
		return fault.Client
	}
	return fault.Server
}

// Name is that of its container, the same for each try of a run's role, so that one whose creation was not heard of is found again.
func (s Spec) Name() string { return leftover.Name(s.Run, s.Role) }

// StartedImage is what the engine is asked to start: an id cannot move between the pull and the start, and an image that was loaded from a
// file may have no other name.
func (s Spec) StartedImage() string {
	if s.Prepared != nil {
		return s.Prepared.ID
	}
	return s.Image
}

// WriteFiles puts the configuration files of a spec into its folder.
func (s Spec) WriteFiles() error {
	for _, f := range s.Files {
		if err := os.WriteFile(filepath.Join(s.Dir, f.Name), f.Data, 0o644); err != nil {
			return fmt.Errorf("write %s of the %s: %w", f.Name, s.Role, err)
		}
	}
	return nil
}

// EnvList is an environment as programs are given it: NAME=value, by name.
func EnvList(env map[string]string) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(env)) {
		out = append(out, k+"="+env[k])
	}
	return out
}
