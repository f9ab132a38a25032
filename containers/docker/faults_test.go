package docker

import (
	"errors"
	"strings"
	"testing"

	"assay/containers/instance"
	"assay/fault"
)

// TestCreateFault: CPUs that only the engine can judge, as those of another machine.
func TestCreateFault(t *testing.T) {
	for text, code := range map[string]string{
		"Error response from daemon: Requested CPUs are not available - requested 0-9, available: 0-1":     "server.cpus_unavailable",
		"Error response from daemon: Requested memory nodes are not available - requested 3, available: 0": "server.numa_unavailable",
		`invalid mount config for type "bind": bind source path does not exist: /none`:                     "server.create_failed",
	} {
		f := fault.Of(createFault(instance.Spec{Role: "server"}, errors.New(text)), fault.Server)
		if f.Code != code || f.Hint == "" || !strings.Contains(f.Text, text) {
			t.Errorf("%q: %+v", text, f)
		}
	}
}

// TestStartFault names what an engine says only at the start, when its own processes are not seen from here.
func TestStartFault(t *testing.T) {
	for text, code := range map[string]string{
		"error setting rlimits for ready process: error setting rlimit type 8: operation not permitted": "server.ulimit_unavailable",
		"crun: setrlimit `RLIMIT_NPROC`: Operation not permitted: OCI permission denied":                "server.ulimit_unavailable",
		"unable to start container process: unable to apply caps: operation not permitted":              "server.capability_unavailable",
		`could not select device driver "" with capabilities: [[gpu]]`:                                  "server.start_failed",
	} {
		f := fault.Of(startFault(instance.Spec{Role: "server", GPUs: "all"}, errors.New(text)), fault.Server)
		if f.Code != code || f.Hint == "" || !strings.Contains(f.Text, text) {
			t.Errorf("%q: %+v", text, f)
		}
	}
}
