package allow

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// List is what plans from the network may have. What it does not name is refused.
type List struct {
	Images       []string `yaml:"images"`          // repositories, "host/path/*", digests "sha256:…", "repository@sha256:…", or "*"
	Mounts       []string `yaml:"mounts"`          // folders whose files plans may name and mount read-only
	Writable     []string `yaml:"writable_mounts"` // folders that a container may mount writable, each as a whole
	Devices      []string `yaml:"devices"`         // device files, or folders of them
	Capabilities []string `yaml:"capabilities"`
	SecurityOpt  []string `yaml:"security_opt"`
	Runtimes     []string `yaml:"runtimes"`  // docker, process, endpoint
	Commands     []string `yaml:"commands"`  // how commands of runtime process begin, such as "python3 -m vllm.entrypoints"
	Endpoints    []string `yaml:"endpoints"` // hosts, "*.domain", networks "10.0.0.0/8", "unix:///path", "*"
	Variables    []string `yaml:"variables"` // variables and credentials that plans may name
	HostNetwork  bool     `yaml:"host_network"`
	HostIPC      bool     `yaml:"host_ipc"`
	Privileged   bool     `yaml:"privileged"`
}

// Default is the list where the owner wrote none: pinned images without anything of the host, the simulated engine, the routers that this
// program configures, and servers on this machine's loopback.
func Default() List {
	return List{
		Images:      []string{"*"},
		SecurityOpt: []string{"no-new-privileges", "no-new-privileges:true", "no-new-privileges=true"},
		Runtimes:    []string{"docker", "process", "endpoint"},
		Endpoints:   []string{"localhost", "127.0.0.0/8", "::1/128"},
	}
}

// Problem says what is wrong with a list, "" when nothing is.
func (l List) Problem() string {
	for _, folders := range []struct {
		key   string
		paths []string
	}{{"mounts", l.Mounts}, {"writable_mounts", l.Writable}, {"devices", l.Devices}} {
		for _, one := range folders.paths {
			if !filepath.IsAbs(one) {
				return fmt.Sprintf("allow.%s: %q is no whole path", folders.key, one)
			}
		}
	}
	for _, one := range l.Runtimes {
		if !slices.Contains(Default().Runtimes, one) {
			return fmt.Sprintf("allow.runtimes: %q is not docker, process or endpoint", one)
		}
	}
	for _, one := range l.Images {
		name := strings.TrimSuffix(one, "/*")
		if _, _, ok := parseImage(name); one != "*" && (!ok || strings.Contains(name, "*")) {
			return fmt.Sprintf("allow.images: %q is no repository, repository/*, digest or *", one)
		}
	}
	for _, one := range l.Endpoints {
		if strings.Contains(one, "://") && !strings.HasPrefix(one, "unix:///") {
			return fmt.Sprintf("allow.endpoints: %q is an address: write its host alone", one)
		}
	}
	return ""
}

// Machine is what of this machine a list is held against.
type Machine struct {
	Closed  []Place                           // beside those of every machine: the data directory, the engine's socket, the configuration
	Resolve func(path string) (string, error) // follows links, as filepath.EvalSymlinks
}
