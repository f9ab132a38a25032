package gpu

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/docker/docker/api/types/container"

	"assay/fault"
)

// Engine is what matters here of a container engine.
type Engine struct {
	CDI        bool
	WhyNot     string   // it has no CDI
	Dirs       []string // where it looks for specifications; none: the usual folders
	Discovered []string // names of the devices that it knows by them, where it tells
	OnlyCDI    bool     // it takes no request for an NVIDIA driver, as Podman
	Remote     bool     // it runs on another machine, whose devices are not seen here
}

// Access is what a container gets to see the chosen devices.
type Access struct {
	By       string   // cdi | driver | device files; "" for none
	Devices  []string // device files
	Groups   []string // numeric: a group's name is looked up in the image, where it may be missing or another number
	Requests []container.DeviceRequest
	Ptrace   bool // ROCm shares memory between ranks by ptrace calls
}

// For says how a container gets the choice: how is cdi, driver, or auto for cdi where the engine has it and a specification describes the devices.
func For(root, how string, c Choice, e Engine) (Access, error) {
	if !c.Of(AMD) && !c.Of(NVIDIA) {
		return Access{}, nil
	}
	names, why := c.byCDI(root, e)
	switch {
	case why == "" && how != "driver":
		a := Access{By: "cdi", Requests: []container.DeviceRequest{{Driver: "cdi", DeviceIDs: names}}, Ptrace: c.Of(AMD)}
		if c.Of(AMD) { // a server that is not root inside needs the groups all the same
			var err error
			a.Groups, err = groups(root, c.amdFiles())
			return a, err
		}
		return a, nil
	case how == "cdi":
		return Access{}, fault.New(fault.Preflight, "cdi_unavailable",
			"turn CDI on in the engine and describe the GPUs (nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml, or amd-ctk cdi generate), or write server.gpu_access: driver",
			"server.gpu_access is cdi, which cannot be: %s", why)
	case e.OnlyCDI && c.Of(NVIDIA):
		return Access{}, fault.New(fault.Preflight, "cdi_unavailable", "nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml describes the GPUs",
			"this engine gives NVIDIA GPUs to containers by CDI alone, which cannot be: %s", why)
	}
	return c.byDriver(root)
}

// byCDI are the names of the chosen devices, or why they cannot be asked for by CDI.
func (c Choice) byCDI(root string, e Engine) (names []string, why string) {
	if !e.CDI {
		return nil, e.WhyNot
	}
	names, ok := c.cdiNames(readCDI(root, e.Dirs))
	dirs := e.Dirs
	if len(dirs) == 0 {
		dirs = cdiDirs()
	}
	if !ok {
		return nil, "no specification in " + strings.Join(dirs, " or ") + " describes the chosen GPUs"
	}
	for _, name := range names {
		if len(e.Discovered) > 0 && !slices.Contains(e.Discovered, name) {
			return nil, "the engine does not know " + name + " of the specification in " + strings.Join(dirs, " or ")
		}
	}
	return names, ""
}

// byDriver asks for NVIDIA devices by UUID, and gives AMD's render nodes, which are what keeps the others out.
func (c Choice) byDriver(root string) (a Access, err error) {
	if c.Of(NVIDIA) {
		a.By, a.Requests = "driver", []container.DeviceRequest{c.request()}
	}
	if !c.Of(AMD) {
		return a, nil
	}
	if a.By == "" {
		a.By = "device files"
	}
	a.Devices, a.Ptrace = c.amdFiles(), true
	a.Groups, err = groups(root, a.Devices)
	return a, err
}

func (c Choice) amdFiles() []string {
	files := []string{"/dev/kfd"}
	for _, d := range c.Devices {
		if d.Vendor == AMD {
			files = append(files, d.Files...)
		}
	}
	return files
}

// request names devices by UUID. One that the driver does not tell is named by its place among the NVIDIA devices on the bus, as the
// container toolkit counts.
func (c Choice) request() container.DeviceRequest {
	r := container.DeviceRequest{Driver: "nvidia", Capabilities: [][]string{{"gpu", "compute", "utility"}}, DeviceIDs: slices.Clone(c.Parts)}
	if c.unlisted {
		r.Count = -1
		return r
	}
	for _, d := range c.Devices {
		switch {
		case d.Vendor != NVIDIA:
		case d.UUID != "":
			r.DeviceIDs = append(r.DeviceIDs, d.UUID)
		default:
			r.DeviceIDs = append(r.DeviceIDs, c.placeOf(d))
		}
	}
	return r
}

// groups are those that may open device files, by number.
func groups(root string, files []string) ([]string, error) {
	var list []string
	for _, file := range files {
		var st syscall.Stat_t
		if err := syscall.Stat(filepath.Join(root, file), &st); err != nil {
			return nil, fault.New(fault.Preflight, "no_gpu", "check the driver: its device file is missing", "GPU device file %s: %w", file, err)
		}
		if g := strconv.Itoa(int(st.Gid)); !slices.Contains(list, g) {
			list = append(list, g)
		}
	}
	return list, nil
}

// Elsewhere is what a container gets on an engine of another machine, whose devices are not seen from here: all NVIDIA devices, some by UUID, or
// as many as are wanted. nvidia tells whether the engine has a way to give them: without one, all are none.
func Elsewhere(wanted string, nvidia bool) (Access, error) {
	r := container.DeviceRequest{Driver: "nvidia", Capabilities: [][]string{{"gpu", "compute", "utility"}}}
	wanted = strings.TrimSpace(wanted)
	count, isCount := strings.CutPrefix(wanted, "count:")
	switch {
	case wanted == "" || wanted == "none" || wanted == "all" && !nvidia:
		return Access{}, nil
	case wanted == "all":
		r.Count = -1
	case isCount:
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return Access{}, invalid(wanted, count)
		}
		r.Count = n
	default:
		for one := range strings.SplitSeq(wanted, ",") {
			one = strings.TrimSpace(one)
			if !strings.HasPrefix(one, "GPU-") && !strings.HasPrefix(one, "MIG-") {
				return Access{}, fault.New(fault.Preflight, "gpu_elsewhere", "name them by UUID, write all, or start assay on the machine that has them",
					"server.gpus %q: the container engine is on another machine, whose GPUs are not seen from here", wanted)
			}
			r.DeviceIDs = append(r.DeviceIDs, one)
		}
	}
	return Access{By: "driver", Requests: []container.DeviceRequest{r}}, nil
}
