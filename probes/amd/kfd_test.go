package amd

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/probes/host"
	"assay/probes/sut"
)

func TestGFXName(t *testing.T) {
	for in, want := range map[string]string{
		"90402": "gfx942", "90500": "gfx950", "90010": "gfx90a", "120500": "gfx1250", "110501": "gfx1151", "90008": "gfx908", "0": "", "": "", "-1": "", "x": "", "4294967295": "",
	} {
		if got, err := gfxName(in); got != want || (err == nil) != (want != "") {
			t.Errorf("gfxName(%q) is %q, %v", in, got, err)
		}
	}
}

// TestNodePlace: a place is bus, device (5 bits) and function; the memory is that of public and private banks, and no other.
func TestNodePlace(t *testing.T) {
	m := machine{}.node(1, "simd_count 4\nlocation_id 2815\ndomain 1").bank(1, 100) // 0a:1f.7
	m[nodes+"1/mem_banks/1/properties"] = "heap_type 2\nsize_in_bytes 20\n"         // of the frame buffer, not for the processor to see
	m[nodes+"1/mem_banks/2/properties"] = "heap_type 3\nsize_in_bytes 7\n"          // of a work group
	h := files(t, m)
	top := readTopology(h)
	if len(top.gpus) != 1 || top.gpus[0].address != "0001:0a:1f.0" || top.gpus[0].nodes[0].function != 7 || top.gpus[0].nodes[0].vram != 120 {
		t.Errorf("%+v", top.gpus)
	}
}

// TestCapturedTopologies compares what the topologies of real machines hold beyond the facts of a SUT.
func TestCapturedTopologies(t *testing.T) {
	text, err := os.ReadFile(fixtures + "EXPECTED.json")
	if err != nil {
		t.Skipf("no public captures here: %v", err)
	}
	type counts struct {
		CPUNodes   *int `json:"cpu_nodes"`
		GPUNodes   *int `json:"gpu_nodes"`
		XGMILinks  *int `json:"xgmi_links"`
		Partitions *int `json:"partitions"`
	}
	var all map[string]counts
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for name, peers := range map[string][2]int{"amd/kfd-mi210-x8-2hives": {3, 7}, "amd/kfd-mi300x-x8-cpx": {7, 7}, "amd/kfd-vega10-x1-dup": {0, 0}} {
		h := unpacked(t, name)
		top := readTopology(h)
		everyPeer(t, probed(t, h), peers[0], peers[1])
		partitions, links := 0, 0
		for _, g := range top.gpus {
			partitions += len(g.nodes)
		}
		for _, l := range top.links {
			if l.kind == typeXGMI {
				links++
			}
		}
		gpuNodes, want := partitions+top.twice, all[name]
		got := counts{}
		for _, c := range []struct {
			want *int
			got  **int
			n    int
		}{{want.CPUNodes, &got.CPUNodes, top.cpus}, {want.GPUNodes, &got.GPUNodes, gpuNodes}, {want.XGMILinks, &got.XGMILinks, links}, {want.Partitions, &got.Partitions, partitions}} {
			if c.want != nil {
				*c.got = &c.n
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestOlderTopology takes what a driver of before tells otherwise: memory beside its banks, and its clock.
func TestOlderTopology(t *testing.T) {
	a := one(t, captured(t, "amd/kfd-vega10-x1-dup/tree", "sys/class/kfd/kfd/topology"))
	if a.Clocks.MemMaxMHz.Value != 945 || a.Clocks.GfxMaxMHz.Value != 1500 || a.VRAMBytes.Value != 17163091968 || a.Partition.Count.Value != 1 {
		t.Errorf("%+v %+v", a.Clocks, a.VRAMBytes)
	}
	m := machine{}.node(1, gpuAt(0x6860, 25<<8, 256, 0)+"\nlocal_mem_size 17163091968")
	if a := one(t, files(t, m)); a.VRAMBytes.Value != 17163091968 {
		t.Errorf("%+v", a.VRAMBytes)
	}
}

// unpacked is a machine with the whole topology of a capture, of which the folder beside it holds a part.
func unpacked(t *testing.T, name string) host.Host {
	t.Helper()
	f, err := os.Open(fixtures + name + "/topology.tar.gz")
	if err != nil {
		t.Skipf("no public captures here: %v", err)
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	h := host.Host{Root: t.TempDir()}
	for tr := tar.NewReader(zr); ; {
		entry, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return h
		}
		if err != nil {
			t.Fatal(err)
		}
		if entry.Typeflag != tar.TypeReg || !filepath.IsLocal(entry.Name) {
			continue
		}
		text, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		put(t, h, "sys/class/kfd/kfd/topology/"+entry.Name, string(text))
	}
}

// everyPeer holds the neighbours of each GPU, over XGMI and over any link.
func everyPeer(t *testing.T, s sut.SUT, xgmi, all int) {
	t.Helper()
	for _, a := range s.Accelerators.Items {
		if a.XGMIPeers.Value != xgmi || a.P2PPeers.Value != all {
			t.Errorf("%s: %+v, not %d; %+v, not %d", a.PCI.Address.Value, a.XGMIPeers, xgmi, a.P2PPeers, all)
		}
	}
	if n := len(s.Interconnect.Links.Items); n != len(s.Accelerators.Items)*xgmi {
		t.Errorf("%d links between %d GPUs", n, len(s.Accelerators.Items))
	}
}

// TestMixedModes has one GPU whole and another of its model in partitions; neither lacks any.
func TestMixedModes(t *testing.T) {
	m := machine{}.node(2, gpuAt(mi300x, 5<<8, 1216, 8))
	for i := range 4 {
		m.node(3+i, gpuAt(mi300x, 0x26<<8+i, 304, 2))
	}
	s := probed(t, files(t, m))
	for i, want := range []string{"SPX 1 304", "QPX 4 304"} {
		a := s.Accelerators.Items[i]
		if got := fmt.Sprint(a.Partition.Compute.Value, " ", a.Partition.Count.Value, " ", a.ComputeUnits.Value); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

// TestNoModes: a GPU of one die whose driver has no file of modes cannot be divided; where the file may only lack in a capture, that is not said.
func TestNoModes(t *testing.T) {
	m := machine{}.card("0000:05:00.0", "0x73bf").node(1, gpuAt(0x73bf, 0x500, 320, 1))
	h := files(t, m)
	if p := one(t, h).Partition; p.Compute.NA != "" || p.Compute.IsKnown() || p.Count.Value != 1 {
		t.Errorf("a capture: %+v", p)
	}
	h.Live = true
	if p := one(t, h).Partition; p.Compute.NA == "" || p.Count.Value != 1 {
		t.Errorf("the machine: %+v", p)
	}
}

func TestModes(t *testing.T) {
	m := cpx(24 * gib)
	m[bus+"0000:05:00.0/current_compute_partition"] = "SPX"
	if p := one(t, files(t, m)).Partition; p.Compute.Value != "SPX" || !strings.Contains(p.Compute.Other, "CPX") {
		t.Errorf("%+v", p.Compute)
	}
	for _, c := range []struct {
		partitions, dies int
		want             string
	}{{1, 8, "SPX"}, {2, 4, "DPX"}, {3, 2, "TPX"}, {4, 2, "QPX"}, {8, 1, "CPX"}, {1, 1, ""}, {1, 0, ""}, {5, 3, ""}} {
		if got := modeOf(c.partitions, c.dies); got != c.want {
			t.Errorf("%d partitions of %d dies: %q, not %q", c.partitions, c.dies, got, c.want)
		}
	}
}

// TestHiddenNodes is in a container that was given one of two GPUs: the other is there, and not known to be broken.
func TestHiddenNodes(t *testing.T) {
	m := machine{}.card("0000:05:00.0", "0x74a1").card("0000:26:00.0", "0x74a1").node(2, gpuAt(mi300x, 5<<8, 1216, 8))
	m[nodes+"3/gpu_id"] = "1003" // properties cannot be read
	s := probed(t, files(t, m))
	if a := s.Accelerators.Items[1]; a.Usable.IsKnown() || !strings.Contains(a.Usable.Unknown, "hides") || a.ComputeUnits.IsKnown() {
		t.Errorf("%+v %+v", a.Usable, a.ComputeUnits)
	}
	if a := s.Accelerators.Items[0]; a.XGMIPeers.IsKnown() || a.P2PPeers.IsKnown() || s.Interconnect.Links.Unknown == "" || s.Interconnect.Kind.IsKnown() {
		t.Errorf("%+v %+v %+v", a.XGMIPeers, a.P2PPeers, s.Interconnect.Links)
	}
	delete(m, nodes+"3/gpu_id")
	if a := probed(t, files(t, m)).Accelerators.Items[1]; !a.Usable.IsKnown() || a.Usable.Value {
		t.Errorf("on the bus alone: %+v", a.Usable)
	}
}

func FuzzKFDNode(f *testing.F) {
	f.Add("simd_count 1216\nsimd_per_cu 4\ngfx_target_version 90402\nlocation_id 6912\ndomain 0\nunique_id 18446744073709551615\n")
	f.Fuzz(func(t *testing.T, text string) {
		n, ok := parseKFDNode("1", text)
		if !ok {
			return
		}
		g := kfdGPU{address: n.address, nodes: []kfdNode{n}}
		if cu := g.computeUnits(0); cu.IsKnown() && cu.Value < 0 {
			t.Errorf("%d compute units", cu.Value)
		}
		_, _ = gfxName(n.props["gfx_target_version"])
		_ = topology{gpus: []kfdGPU{g}}.missing(g)
	})
}

func FuzzLink(f *testing.F) {
	f.Add("type 11\nnode_from 2\nnode_to 3\nweight 15\nmax_bandwidth 50000\n")
	f.Fuzz(func(t *testing.T, text string) {
		l, _, ok := parseLink(text)
		if ok && (l.bandwidth < 0 || l.hops() < 0) {
			t.Errorf("%+v, hops %d", l, l.hops())
		}
	})
}

// TestProcesses lists a process once for a GPU, with what it holds of all partitions; one that holds nothing is one where it has a queue, or
// where queues are not told. The driver names every GPU at every process.
func TestProcesses(t *testing.T) {
	m := cpx(24 * gib)
	const proc = "sys/class/kfd/kfd/proc/"
	m[proc+"77/vram_1002"], m[proc+"77/vram_1003"], m["proc/77/comm"] = "1000", "500", "vllm"
	m[proc+"78/vram_1004"] = "0"
	m[proc+"79/vram_9999"] = "5" // of another GPU
	m[proc+"80/vram_1005"], m[proc+"80/queues/0/gpuid"] = "0", "1005"
	m[proc+"81/vram_1005"], m[proc+"81/vram_9999"], m[proc+"81/queues/0/gpuid"] = "0", "5", "9999"
	var got []string
	for _, p := range one(t, files(t, m)).Processes.Items {
		got = append(got, fmt.Sprint(p.PID.Value, p.Name.Value, p.VRAMBytes.Value))
	}
	if diff := cmp.Diff([]string{"77vllm1500", "780", "800"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestProductTable: what is told by the table says so, and a device that is not in it may be a part of another.
func TestProductTable(t *testing.T) {
	for id, want := range map[string]string{"0x740c": "AMD Instinct MI250X / MI250 false", "0x75b3": "AMD Instinct MI355X VF true"} {
		a := one(t, files(t, machine{}.card("0000:05:00.0", id)))
		if got := fmt.Sprint(a.Name.Value, " ", a.VirtualFunction.Value); got != want {
			t.Errorf("%s: %s", id, got)
		}
		for _, source := range []string{a.Name.Source, a.MemoryType.Source, a.Kind.Source, a.VirtualFunction.Source} {
			if !strings.HasPrefix(source, "table of products: ") {
				t.Errorf("%s: %s", id, source)
			}
		}
	}
	if a := one(t, files(t, machine{}.card("0000:05:00.0", "0x7461"))); a.VirtualFunction.IsKnown() || a.MemoryType.IsKnown() {
		t.Errorf("%+v %+v", a.VirtualFunction, a.MemoryType)
	}
}

// BenchmarkProbe reads eight MI300X in eight partitions each, all joined, which 64 processes use: the reads of ordinary files stand for
// those of the driver.
func BenchmarkProbe(b *testing.B) {
	m := machine{}
	for i := range 64 {
		location := (16*(i/8)+5)<<8 + i%8
		m.card(fmt.Sprintf("0000:%02x:00.0", location>>8), "0x74a1").node(i, gpuAt(mi300x, location, 152, 1)).bank(i, 24*gib)
		for other := range 64 {
			m.joined(i, other, typeXGMI, weightAcross, 0)
			m[fmt.Sprintf("sys/class/kfd/kfd/proc/%d/vram_%d", 100+i, 1000+other)] = "0"
		}
		m[fmt.Sprintf("sys/class/kfd/kfd/proc/%d/queues/0/gpuid", 100+i)] = fmt.Sprint(1000 + i)
	}
	h := host.Live()
	h.Root = files(b, m).Root
	for b.Loop() {
		if s := probed(b, h); len(s.Accelerators.Items) != 8 || len(s.Accelerators.Items[0].Processes.Items) != 8 {
			b.Fatalf("%+v", s.Accelerators)
		}
	}
}
