package limits

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"
)

// Engine is what a container engine can give.
type Engine struct {
	API     string // version that was agreed on
	Podman  bool
	Remote  bool   // on another machine: of its processes and devices nothing is seen here
	Mapped  string // why root of a container is not root of the machine: "rootless", "user namespaces"; "" when it is
	NVIDIA  bool   // it has a runtime for NVIDIA's devices, or knows them by CDI
	CPUSet  bool   // containers can be kept to CPUs
	CDIDirs []string
	Found   []string // devices that it knows by CDI, where it tells
	Process Process  // of the engine, and of what starts containers for it
}

// Ask asks an engine. path is its socket on this machine, "" for one that is not here; root is where the machine's files are.
func Ask(ctx context.Context, c *client.Client, root, path string) (Engine, error) {
	info, err := c.Info(ctx)
	if err != nil {
		return Engine{}, fmt.Errorf("ask the container engine what it can give: %w", err)
	}
	version, err := c.ServerVersion(ctx)
	if err != nil {
		return Engine{}, fmt.Errorf("ask the container engine for its version: %w", err)
	}
	e := Engine{API: c.ClientVersion(), Remote: path == ""}
	for _, part := range version.Components {
		e.Podman = e.Podman || strings.Contains(part.Name, "Podman")
	}
	e.read(info)
	if !e.Remote {
		e.Process = findProcess(root, path)
	}
	if e.Mapped == "" && ownedByUser(path) { // podman 4.3 does not say so itself
		e.Mapped = "rootless"
	}
	return e, nil
}

// ownedByUser tells whether an engine's socket belongs to somebody else than root: then the engine runs as he.
func ownedByUser(socket string) bool {
	var st syscall.Stat_t
	return socket != "" && syscall.Stat(socket, &st) == nil && st.Uid != 0
}

// read takes over what an engine says of itself.
func (e *Engine) read(info system.Info) {
	e.CPUSet, e.CDIDirs = info.CPUSet, info.CDISpecDirs
	for _, option := range info.SecurityOptions {
		switch name, _, _ := strings.Cut(strings.TrimPrefix(option, "name="), ","); name {
		case "rootless":
			e.Mapped = "rootless"
		case "userns":
			e.Mapped = "user namespaces"
		}
	}
	for _, d := range info.DiscoveredDevices {
		if d.Source == "cdi" {
			e.Found = append(e.Found, d.ID)
		}
	}
	slices.Sort(e.Found)
	_, e.NVIDIA = info.Runtimes["nvidia"]
	e.NVIDIA = e.NVIDIA || slices.ContainsFunc(e.Found, func(name string) bool { return strings.HasPrefix(name, "nvidia.com/") })
}

// Has tells whether the engine's API is of a version or later.
func (e Engine) Has(version string) bool { return versions.GreaterThanOrEqualTo(e.API, version) }

// CDI tells whether devices can be asked for by CDI, or why not.
func (e Engine) CDI() (ok bool, why string) {
	switch {
	case e.Podman, len(e.CDIDirs) > 0:
		return true, ""
	case !e.Has("1.44"):
		return false, "the engine has API " + e.API + ", which has no CDI (Docker 25 and later have it)"
	}
	return false, "CDI is turned off in the engine (features.cdi of its daemon.json)"
}
