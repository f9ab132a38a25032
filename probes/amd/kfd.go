package amd

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

const (
	kfdNodes    = "/sys/class/kfd/kfd/topology/nodes"
	hiddenNodes = "the compute driver hides nodes of its topology from this process"
)

// kfdNode is a GPU node of the kernel driver's topology: a whole GPU, or one partition of it.
type kfdNode struct {
	id       string // its number in the topology
	gpuID    string // the driver's id of it, by which processes hold it
	address  string // of the physical device: function 0, since the functions number the partitions
	function int
	props    map[string]string
	vram     int64 // sum of the memory banks; 0 when there are none
	memMHz   int   // the highest clock of its memory; 0 when it is not told
}

// number reads a property; 0 when there is none.
func (n kfdNode) number(key string) int {
	v, err := strconv.Atoi(n.props[key])
	if err != nil {
		return 0
	}
	return v
}

// kfdGPU is a physical GPU with its nodes.
type kfdGPU struct {
	address string
	nodes   []kfdNode
}

// topology is what the compute driver lists.
type topology struct {
	gpus   []kfdGPU // in the order of their addresses
	owner  map[string]string
	links  []link
	twice  int    // nodes that stand for a GPU or partition listed before
	cpus   int    // nodes of processors
	hidden int    // nodes that this process may not read, as in a container that was not given their GPU
	why    string // there is no topology

	holders []holder // processes
	unheld  string   // why they are not known
}

// readTopology reads the nodes and the links between them.
func readTopology(h host.Host) topology {
	t := topology{owner: map[string]string{}}
	t.holders, t.unheld = readHolders(h)
	if _, err := h.List(kfdNodes); err != nil {
		t.why = err.Error()
		return t
	}
	for _, dir := range h.Match(kfdNodes, "[0-9]*") {
		text, err := h.Text(dir + "/properties")
		if err != nil {
			t.hidden++
			continue
		}
		if n, ok := parseKFDNode(path.Base(dir), text); ok {
			n.readBanks(h, dir)
			n.gpuID, _ = h.Text(dir + "/gpu_id")
			t.add(n)
		} else {
			t.cpus++
		}
	}
	slices.SortFunc(t.gpus, func(a, b kfdGPU) int { return strings.Compare(a.address, b.address) })
	t.links = readLinks(h, t.owner)
	return t
}

// add puts a node to its GPU. Two nodes at one place are one GPU listed twice.
func (t *topology) add(n kfdNode) {
	t.owner[n.id] = n.address
	i := slices.IndexFunc(t.gpus, func(g kfdGPU) bool { return g.address == n.address })
	if i < 0 {
		t.gpus, i = append(t.gpus, kfdGPU{address: n.address}), len(t.gpus)
	}
	if slices.ContainsFunc(t.gpus[i].nodes, func(o kfdNode) bool { return o.function == n.function }) {
		t.twice++
		return
	}
	t.gpus[i].nodes = append(t.gpus[i].nodes, n)
}

// missing is how many partitions of a GPU are not listed, by the compute dies that another GPU of its model has.
func (t topology) missing(g kfdGPU) int {
	dies, nodes := g.dies(), len(g.nodes)
	for _, o := range t.gpus {
		if o.nodes[0].props["device_id"] == g.nodes[0].props["device_id"] {
			dies, nodes = max(dies, o.dies()), max(nodes, len(o.nodes))
		}
	}
	if each := g.nodes[0].number("num_xcc"); each > 0 {
		return (dies - g.dies()) / each
	}
	return nodes - len(g.nodes)
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

// readBanks sums the banks of the frame buffer, public (1) and private (2); newer drivers leave local_mem_size 0.
func (n *kfdNode) readBanks(h host.Host, dir string) {
	for _, bank := range h.Match(dir+"/mem_banks", "[0-9]*") {
		text, _ := h.Text(bank + "/properties")
		p := host.KeyValues(text, " ")
		if size, err := strconv.ParseInt(p["size_in_bytes"], 10, 64); err == nil && size > 0 && (p["heap_type"] == "1" || p["heap_type"] == "2") {
			n.vram += size
			n.memMHz = max(n.memMHz, kfdNode{props: p}.number("mem_clk_max"))
		}
	}
	if n.vram == 0 {
		n.vram = max(0, int64(n.number("local_mem_size")))
	}
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

// hasCPUs tells a processor with a GPU, whose node is both.
func (g *kfdGPU) hasCPUs() bool { return g != nil && g.nodes[0].number("cpu_cores_count") > 0 }

// dies sums the compute dies of the nodes; 0 where the driver does not tell.
func (g kfdGPU) dies() int {
	sum := 0
	for _, n := range g.nodes {
		sum += n.number("num_xcc")
	}
	return sum
}

// property gives a property of the first node that is the same for the whole GPU.
func (g kfdGPU) property(key string) sut.Fact[string] {
	if v, ok := g.nodes[0].props[key]; ok && v != "" {
		return sut.Known(v, g.source())
	}
	return sut.Unknown[string]("%s has no %s", g.source(), key)
}

// computeUnits sums the units of the partitions, of which so many are missing.
func (g kfdGPU) computeUnits(missing int) sut.Fact[int] {
	if missing > 0 {
		return sut.Unknown[int]("the driver lists %d of %d partitions of this GPU", len(g.nodes), len(g.nodes)+missing)
	}
	sum := 0
	for _, n := range g.nodes {
		simds, per := n.number("simd_count"), n.number("simd_per_cu")
		if per <= 0 {
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

// vram sums the memory of the nodes, unless each of them is given what the model has as a whole.
func (g kfdGPU) vram(nominal int64) sut.Fact[int64] {
	var sum int64
	for _, n := range g.nodes {
		sum += n.vram
	}
	if sum == 0 {
		return sut.Unknown[int64]("%s/%s/mem_banks holds no memory of the GPU", kfdNodes, g.nodes[0].id)
	}
	if nominal > 0 && sum > nominal+nominal/2 {
		sum = g.nodes[0].vram
	}
	return sut.Known(sum, kfdNodes+"/"+g.nodes[0].id+"/mem_banks")
}

// share is the memory that a partition can use; a driver that gives each the whole does not tell it.
func (g kfdGPU) share(whole sut.Fact[int64]) sut.Fact[int64] {
	f := g.vram(0)
	if !f.IsKnown() {
		return f
	}
	f.Value = g.nodes[0].vram
	if f.Value >= whole.Value {
		return sut.Unknown[int64]("%s gives every partition the memory of the whole GPU", f.Source)
	}
	return f
}

// computeUnits is the whole GPU's. The driver counts those of an APU askew whose node is the processor's too.
func (g gpu) computeUnits() sut.Fact[int] {
	if g.kfd == nil {
		return sut.Unknown[int]("%s", g.unlisted())
	}
	f := g.kfd.computeUnits(g.top.missing(*g.kfd))
	if g.kfd.hasCPUs() && g.product.name == "" {
		return sut.Unknown[int]("%s says %d, and its number of an APU is not to be trusted", f.Source, f.Value)
	}
	return f
}
