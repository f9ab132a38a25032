package gpu

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// topology is what AMD's compute driver lists.
type topology struct {
	agents []agent
}

// agent is a GPU of the compute driver: a whole device, or one partition of it.
type agent struct {
	place   int    // among the GPUs, in the driver's order: what an index in ROCR_VISIBLE_DEVICES counts
	address string // of the physical device
	node    string // renderD128
	unique  uint64 // the same for all partitions of a device; 0: not told
}

// readTopology reads the nodes that this process may read.
func readTopology(root string) (t topology) {
	nodes := glob(root, "sys/class/kfd/kfd/topology/nodes/[0-9]*")
	slices.SortFunc(nodes, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	for _, dir := range nodes {
		props := map[string]string{}
		for line := range strings.Lines(text(dir, "properties")) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			props[key] = value
		}
		number := func(key string) uint64 { n, _ := strconv.ParseUint(props[key], 10, 64); return n } // what is no number is not told
		if number("simd_count") == 0 {
			continue // a processor
		}
		at := number("location_id")
		t.agents = append(t.agents, agent{
			place: len(t.agents), address: fmt.Sprintf("%04x:%02x:%02x.0", number("domain"), at>>8&0xff, at>>3&0x1f),
			node: "renderD" + props["drm_render_minor"], unique: number("unique_id"),
		})
	}
	return t
}

// partitionNodes are the render nodes of partitions beyond the first of each device: devices of the platform that do not say whose.
func partitionNodes(root string) []string {
	var list []string
	for _, node := range glob(root, "sys/devices/platform/amdgpu_xcp*/drm/renderD*") {
		list = append(list, "/dev/dri/"+path.Base(node))
	}
	slices.SortFunc(list, byNumber)
	return list
}
