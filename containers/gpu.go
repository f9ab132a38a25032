package containers

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

// gpuAccess is what a container needs to see accelerators.
type gpuAccess struct {
	Devices  []string // device files
	Groups   []string // numeric: a group's name is looked up in the image, where it may be missing or another number
	Requests []container.DeviceRequest
}

// findGPUs looks for what wanted ("all", "none" or indices) means on this machine; root is "/". "all" of a machine without
// accelerators is none; an index that is not there is an error.
func findGPUs(root, wanted string) (gpuAccess, error) {
	if wanted == "" || wanted == "none" {
		return gpuAccess{}, nil
	}
	indices, err := gpuIndices(wanted)
	if err != nil {
		return gpuAccess{}, err
	}
	if exists(filepath.Join(root, "dev/kfd")) {
		return amdGPUs(root, indices)
	}
	if exists(filepath.Join(root, "dev/nvidiactl")) {
		return gpuAccess{Requests: []container.DeviceRequest{nvidiaRequest(indices)}}, nil
	}
	if len(indices) > 0 {
		return gpuAccess{}, fault.New(fault.Server, "no_gpu", "check the driver, or write server.gpus: none", "server.gpus is %q but this machine shows no accelerator", wanted)
	}
	return gpuAccess{}, nil
}

// gpuIndices reads "0,1"; nothing for "all".
func gpuIndices(wanted string) ([]int, error) {
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

// amdGPUs gives /dev/kfd and the render nodes of the wanted GPUs: the nodes are what keeps the others out.
func amdGPUs(root string, indices []int) (gpuAccess, error) {
	nodes, err := renderNodes(root)
	if err != nil {
		return gpuAccess{}, err
	}
	chosen := nodes
	if len(indices) > 0 {
		chosen = nil
	}
	for _, i := range indices {
		if i >= len(nodes) {
			return gpuAccess{}, fault.New(fault.Server, "no_gpu", "correct server.gpus", "server.gpus names GPU %d but there are %d", i, len(nodes))
		}
		chosen = append(chosen, nodes[i])
	}
	a := gpuAccess{Devices: append([]string{"/dev/kfd"}, chosen...)}
	for _, dev := range a.Devices {
		var st syscall.Stat_t
		if err := syscall.Stat(filepath.Join(root, dev), &st); err != nil {
			return gpuAccess{}, fmt.Errorf("stat %s: %w", dev, err)
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

func nvidiaRequest(indices []int) container.DeviceRequest {
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
