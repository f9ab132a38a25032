package docker

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/containerd/errdefs"

	"assay/containers/instance"
	"assay/fault"
)

// nameTaken tells whether a container could not be made for its name. Podman 4.3 answers with 500 where Docker has 409.
func nameTaken(err error) bool {
	return errdefs.IsConflict(err) || err != nil && strings.Contains(err.Error(), "is already in use")
}

// sourcesExist refuses mounts of what is not there. Podman, asked as Docker is, would make the missing folder on the host.
func (r Runtime) sourcesExist(s instance.Spec) error {
	if r.At.Remote {
		return nil
	}
	for _, m := range s.Mounts {
		if _, err := os.Stat(m.Source); errors.Is(err, fs.ErrNotExist) {
			return fault.New(fault.Preflight, "mount_missing", "correct the path in the plan, or put the folder there", "the container of the %s cannot mount %s: it is not there", s.Role, m.Source)
		}
	}
	return nil
}

// withoutInit is a container's command line as it was asked for: podman tells it with the init that it puts before.
func withoutInit(program string, args []string) []string {
	if path.Base(program) == "podman-init" && len(args) > 1 && args[0] == "--" {
		return args[1:]
	}
	return append([]string{program}, args...)
}
