package gpu

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/docker/docker/api/types/container"

	"assay/fault"
)

// Access is what a container needs to see accelerators.
type Access struct {
	Devices  []string // device files
	Groups   []string // numeric: a group's name is looked up in the image, where it may be missing or another number
	Requests []container.DeviceRequest
}

// Find looks for what wanted ("all", "none" or indices) means on this machine; root is "/". "all" of a machine without
// accelerators is none; an index that is not there is an error.
func Find(root, wanted string) (Access, error) {
	if wanted == "" || wanted == "none" {
		return Access{}, nil
	}
	indices, err := indicesOf(wanted)
	if err != nil {
		return Access{}, err
	}
	if exists(filepath.Join(root, "dev/kfd")) {
		return amd(root, indices)
	}
	if exists(filepath.Join(root, "dev/nvidiactl")) {
		return Access{Requests: []container.DeviceRequest{nvidia(indices)}}, nil
	}
	if len(indices) > 0 {
		return Access{}, fault.New(fault.Server, "no_gpu", "check the driver, or write server.gpus: none", "server.gpus is %q but this machine shows no accelerator", wanted)
	}
	return Access{}, nil
}

// indicesOf reads "0,1"; nothing for "all".
func indicesOf(wanted string) ([]int, error) {
	if wanted == "all" {
		return nil, nil
	}
	var out []int
	for f := range strings.SplitSeq(wanted, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(f))
		if err != nil || n < 0 {
			return nil, fault.New(fault.Plan, "gpus_invalid", `write all, none or "0,1"`, "server.gpus %q is not a list of GPUs", wanted)
		}
		out = append(out, n)
	}
	return out, nil
}

// amd gives /dev/kfd and the render nodes of the wanted GPUs: the nodes are what keeps the others out.
func amd(root string, indices []int) (Access, error) {
	nodes, err := renderNodes(root)
	if err != nil {
		return Access{}, err
	}
	chosen := nodes
	if len(indices) > 0 {
		chosen = nil
	}
	for _, i := range indices {
		if i >= len(nodes) {
			return Access{}, fault.New(fault.Server, "no_gpu", "correct server.gpus", "server.gpus names GPU %d but there are %d", i, len(nodes))
		}
		chosen = append(chosen, nodes[i])
	}
	a := Access{Devices: append([]string{"/dev/kfd"}, chosen...)}
	for _, dev := range a.Devices {
		var st syscall.Stat_t
		if err := syscall.Stat(filepath.Join(root, dev), &st); err != nil {
			return Access{}, fmt.Errorf("stat %s: %w", dev, err)
		}
		if g := strconv.Itoa(int(st.Gid)); !slices.Contains(a.Groups, g) {
			a.Groups = append(a.Groups, g)
		}
	}
	return a, nil
}

// renderNodes lists the render nodes that the amdgpu driver serves, by number: other graphics have some too.
func renderNodes(root string) ([]string, error) {
	found, err := fs.Glob(os.DirFS(root), "dev/dri/renderD*")
	if err != nil {
		return nil, fmt.Errorf("list render nodes: %w", err)
	}
	var out []string
	for _, f := range found {
		driver, err := os.Readlink(filepath.Join(root, "sys/class/drm", filepath.Base(f), "device/driver"))
		if err == nil && filepath.Base(driver) == "amdgpu" {
			out = append(out, "/"+f)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	return out, nil
}

func nvidia(indices []int) container.DeviceRequest {
	r := container.DeviceRequest{Capabilities: [][]string{{"gpu", "compute", "utility"}}}
	if len(indices) == 0 {
		r.Count = -1
		return r
	}
	for _, i := range indices {
		r.DeviceIDs = append(r.DeviceIDs, strconv.Itoa(i))
	}
	return r
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
