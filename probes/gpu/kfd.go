package gpu

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

const kfdNodes = "/sys/class/kfd/kfd/topology/nodes"

// kfdNode is a GPU node of the kernel driver's topology: a whole GPU, or one partition of it.
type kfdNode struct {
	id       string
	address  string // of the physical device: function 0, since the functions number the partitions
	function int
	props    map[string]string
	vram     int64 // sum of the memory banks; 0 when there are none
}

// kfdGPU is a physical GPU with its nodes.
type kfdGPU struct {
	address string
	nodes   []kfdNode
}

// xgmiLink is a link of the topology between two physical GPUs, in the direction the driver lists it.
type xgmiLink struct{ from, to, weight string }

// readKFD reads the topology: physical GPUs in the order of their addresses, and the XGMI links between them.
func readKFD(h host.Host) ([]kfdGPU, []xgmiLink, error) {
	if _, err := h.List(kfdNodes); err != nil {
		return nil, nil, err
	}
	var gpus []kfdGPU
	owner := map[string]string{} // node → address
	for _, dir := range h.Match(kfdNodes, "[0-9]*") {
		text, err := h.Text(dir + "/properties")
		if err != nil {
			continue // a GPU that a container may not use: the PCI bus still lists it
		}
		n, ok := parseKFDNode(path.Base(dir), text)
		if !ok {
			continue
		}
		n.vram = kfdMemory(h, dir, n.props)
		owner[n.id] = n.address
		i := slices.IndexFunc(gpus, func(g kfdGPU) bool { return g.address == n.address })
		if i < 0 {
			gpus = append(gpus, kfdGPU{address: n.address})
			i = len(gpus) - 1
		}
		twice := slices.ContainsFunc(gpus[i].nodes, func(o kfdNode) bool { return o.function == n.function })
		if !twice { // two nodes at one place are one GPU listed twice
			gpus[i].nodes = append(gpus[i].nodes, n)
		}
	}
	slices.SortFunc(gpus, func(a, b kfdGPU) int { return strings.Compare(a.address, b.address) })
	return gpus, readXGMI(h, owner), nil
}

// parseKFDNode reads a node's properties; false for CPUs.
func parseKFDNode(id, text string) (kfdNode, bool) {
	props := host.KeyValues(text, " ")
	number := func(key string) uint64 { v, _ := strconv.ParseUint(props[key], 10, 64); return v }
	if number("simd_count") == 0 {
		return kfdNode{}, false
	}
	at := number("location_id")
	address := fmt.Sprintf("%04x:%02x:%02x.0", number("domain"), at>>8&0xff, at>>3&0x1f)
	return kfdNode{id: id, address: address, function: int(at & 7), props: props}, true
}

// kfdMemory sums the banks of the frame buffer, public (1) and private (2); newer drivers leave local_mem_size 0.
func kfdMemory(h host.Host, dir string, props map[string]string) int64 {
	var sum int64
	for _, bank := range h.Match(dir+"/mem_banks", "[0-9]*") {
		text, _ := h.Text(bank + "/properties")
		p := host.KeyValues(text, " ")
		if n, err := strconv.ParseInt(p["size_in_bytes"], 10, 64); err == nil && n > 0 && (p["heap_type"] == "1" || p["heap_type"] == "2") {
			sum += n
		}
	}
	if sum == 0 {
		sum, _ = strconv.ParseInt(props["local_mem_size"], 10, 64)
	}
	return max(sum, 0)
}

// readXGMI gives the links of type 11 between different physical GPUs, each pair once in each direction. The weight differs between
// modes and is no sign of XGMI.
func readXGMI(h host.Host, owner map[string]string) []xgmiLink {
	var links []xgmiLink
	seen := map[[2]string]bool{}
	for _, node := range h.Match(kfdNodes, "[0-9]*") {
		from, ok := owner[path.Base(node)]
		if !ok {
			continue
		}
		for _, dir := range h.Match(node+"/io_links", "[0-9]*") {
			text, _ := h.Text(dir + "/properties")
			p := host.KeyValues(text, " ")
			to := owner[p["node_to"]]
			if p["type"] != "11" || to == "" || to == from || seen[[2]string{from, to}] {
				continue
			}
			seen[[2]string{from, to}] = true
			links = append(links, xgmiLink{from, to, p["weight"]})
		}
	}
	return links
}

// gfxName turns 90402 into gfx942: major decimal, minor and stepping one hex digit each.
func gfxName(s string) (string, error) {
	v, err := strconv.Atoi(s)
	if err != nil || v < 10000 || v > 999999 {
		return "", sut.ErrNoValue
	}
	return fmt.Sprintf("gfx%d%x%x", v/10000, v/100%100, v%100), nil
}

func (g kfdGPU) source() string { return kfdNodes + "/" + g.nodes[0].id + "/properties" }

// property gives a property of the first node that is the same for the whole GPU.
func (g kfdGPU) property(key string) sut.Fact[string] {
	if v, ok := g.nodes[0].props[key]; ok && v != "" {
		return sut.Known(v, g.source())
	}
	return sut.Unknown[string]("%s has no %s", g.source(), key)
}

// computeUnits sums the units of the partitions; whole is how many partitions a GPU of this kind has here.
func (g kfdGPU) computeUnits(whole int) sut.Fact[int] {
	if len(g.nodes) < whole {
		return sut.Unknown[int]("the driver lists %d of %d partitions of this GPU", len(g.nodes), whole)
	}
	sum := 0
	for _, n := range g.nodes {
		simds, err := strconv.Atoi(n.props["simd_count"])
		per, err2 := strconv.Atoi(n.props["simd_per_cu"])
		if err != nil || err2 != nil || per <= 0 {
			return sut.Unknown[int]("%s has no simd_per_cu", g.source())
		}
		sum += simds / per
	}
	f := sut.Known(sum, g.source())
	if len(g.nodes) > 1 {
		f.Source = fmt.Sprintf("%s, sum of %d partitions", kfdNodes, len(g.nodes))
	}
	return f
}

func (g kfdGPU) vram() sut.Fact[int64] {
	var sum int64
	for _, n := range g.nodes {
		sum += n.vram
	}
	if sum == 0 {
		return sut.Unknown[int64]("neither mem_info_vram_total nor KFD memory banks are there")
	}
	return sut.Known(sum, kfdNodes+"/"+g.nodes[0].id+"/mem_banks")
}

// hives counts the XGMI fabrics.
func hives(gpus []kfdGPU) int {
	var ids []string
	for _, g := range gpus {
		if id := g.nodes[0].props["hive_id"]; id != "" && id != "0" {
			ids = append(ids, id)
		}
	}
	return len(host.Distinct(ids))
}
