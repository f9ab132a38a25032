package nvidia

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/probes/host"
	"assay/probes/sut"
)

const legend = `
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)

NIC Legend:

  NIC0: mlx5_0
  NIC1: mlx5_bond_0
`

// fourGPUs is a matrix as terminals get it: underlined, with tabs, and columns of affinity that are no devices.
const fourGPUs = "\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n" +
	"GPU0\t X \tNV18\tNV18\tNV18\tPIX\tSYS\t0-51\t0\t\tN/A\n" +
	"GPU1\tNV18\t X \tNV18\tNV18\tNODE\tSYS\t0-51\t0\t\tN/A\n" +
	"GPU2\tNV18\tNV18\t X \tNV18\tSYS\tPXB\t52-103\t1\t\tN/A\n" +
	"GPU3\tNV18\tNV18\tNV18\t X \tSYS\tSYS\t52-103\t1\t\tN/A\n" +
	"NIC0\tPIX\tNODE\tSYS\tSYS\t X \tSYS\t\t\t\t\n" +
	"NIC1\tSYS\tSYS\tPXB\tSYS\tSYS\t X \t\t\t\t\n" + legend

func TestTopology(t *testing.T) {
	m := parseTopology(fourGPUs)
	want := []string{
		"a to b: NV18", "a to c: NV18", "a to d: NV18", "b to c: NV18", "b to d: NV18", "c to d: NV18",
		"a to mlx5_0: PIX", "b to mlx5_0: NODE", "c to mlx5_bond_0: PXB", "d to mlx5_0: SYS", "d to mlx5_bond_0: SYS",
	}
	if diff := cmp.Diff(want, m.pairs([]string{"a", "b", "c", "d"})); diff != "" || !m.linked() {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for name, text := range map[string]string{
		"empty": "", "failure": "Failed to run topology matrix\n", "cut off": fourGPUs[:strings.Index(fourGPUs, "GPU3\tNV18")], "cut off in a row": fourGPUs[:strings.Index(fourGPUs, "\t X \tSYS\tSYS")],
		"other words": strings.ReplaceAll(fourGPUs, "NV18", "FAST"), "not itself": strings.Replace(fourGPUs, " X ", "PIX", 1), "no number": strings.ReplaceAll(fourGPUs, "NV18", "NV-1"),
	} {
		if m := parseTopology(text); len(m.rows) > 0 || m.linked() {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if m := parseTopology("\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNODE\t0-1\nGPU1\tNODE\t X \t0-1\n"); m.linked() || len(m.rows) != 2 {
		t.Errorf("two cards without NVLink: %+v", m)
	}
}

// TestPeers counts whom each GPU reads by itself, by the tool's words for that.
func TestPeers(t *testing.T) {
	const text = " \t\x1b[4mGPU0\tGPU1\tGPU2\x1b[0m\n GPU0\t X \tOK\tCNS\n GPU1\tOK\t X \tNS\n GPU2\tTNS\tU\t X \n\nLegend:\n\n  X    = Self\n  OK   = Status Ok\n"
	m := parsePeers(text)
	if len(m.rows) != 3 || m.reached(0) != 1 || m.reached(1) != 1 || m.reached(2) != 0 {
		t.Errorf("%+v", m)
	}
	if m := parsePeers(fourGPUs); len(m.rows) != 0 {
		t.Errorf("the other matrix: %+v", m)
	}
	log := &node{}
	for range 3 {
		log.add("gpu", "")
	}
	of := func(r report, i int) sut.Fact[int] {
		return r.gpu(hostWithout(), i, r.log.all("gpu")[i], driver{}).reached()
	}
	if f := of(report{log: log, peers: m}, 1); f.Value != 1 || !f.IsKnown() {
		t.Errorf("%+v", f)
	}
	log.add("gpu", "")
	if f := of(report{log: log, peers: m}, 1); f.IsKnown() || f.Unknown == "" {
		t.Errorf("of four GPUs: %+v", f)
	}
}

func TestNVLinks(t *testing.T) {
	got := parseNVLinks("warning\nGPU 0: X (UUID: u)\n\t Link 0: 26.562 GB/s\n\t Link 1: <inactive>\n\t Link 2: 25 GB/s\nGPU 1: Y\nDevice does not have or support Nvlink\n" +
		"GPU 2: Z\nNvlink queries are not supported for Devices in MIG mode\nGPU 3: W\nGPU 4: V\n Link 0: N/A\n Link 1: ERR! GB/s\n")
	if len(got) != 5 {
		t.Fatalf("%+v", got)
	}
	if d := got[0]; d.uuid != "u" || d.up.Value != 2 || d.down.Value != 1 || d.gbps.Value != 200 {
		t.Errorf("%+v", d)
	}
	if d := got[1]; !d.up.IsKnown() || d.up.Value != 0 || d.gbps.NA == "" {
		t.Errorf("%+v", d)
	}
	if d := got[2]; d.up.IsKnown() || !strings.Contains(d.up.Unknown, "MIG") || d.gbps.IsKnown() {
		t.Errorf("%+v", d)
	}
	if got[3].up.IsKnown() || got[4].up.Value != 0 || got[4].down.Value != 2 || got[4].gbps.IsKnown() {
		t.Errorf("%+v", got[3:])
	}
}

// gpusWith makes GPUs of which nvidia-smi counts links.
func gpusWith(links ...sut.Fact[int]) []sut.Accelerator {
	var list []sut.Accelerator
	for _, n := range links {
		list = append(list, sut.Accelerator{NVLinks: n})
	}
	return list
}

// TestInterconnect: one active link makes the kind; without links the matrix tells; what cannot be matched to the record is no list.
func TestInterconnect(t *testing.T) {
	four, up, none, silent := parseTopology(fourGPUs), sut.Known(18, nvlinkSource), sut.Known(0, nvlinkSource), sut.Unknown[int]("MIG mode")
	two := parseTopology("\tGPU0\tGPU1\nGPU0\t X \tSYS\nGPU1\tSYS\t X \n")
	for name, c := range map[string]struct {
		gpus  []sut.Accelerator
		m     matrix
		kind  string
		links int
		why   string
	}{
		"links and matrix":  {gpusWith(up, up, up, up), four, "nvlink", 11, ""},
		"matrix alone":      {gpusWith(silent, silent, silent, silent), four, "nvlink", 11, ""},
		"cards":             {gpusWith(none, none), two, "pcie", 1, ""},
		"cards, no word":    {gpusWith(silent, silent), two, "pcie", 1, ""},
		"one of them loose": {gpusWith(none, up), two, "nvlink", 1, ""},
		"a GPU is lost":     {gpusWith(up, up, up), four, "nvlink", 0, "4 GPUs and the record 3"},
		"no matrix":         {gpusWith(up, up), matrix{}, "nvlink", 0, "gives no matrix"},
		"nothing":           {gpusWith(silent, silent), matrix{}, "", 0, "gives no matrix"},
		"one card":          {gpusWith(none), matrix{}, "pcie", 0, ""},
	} {
		log := &node{}
		for range c.gpus {
			log.add("gpu", "")
		}
		i := report{log: log, source: "x", matrix: c.m}.interconnect(hostWithout(), c.gpus)
		if i.Kind.Value != c.kind || len(i.Links.Items) != c.links || !strings.Contains(i.Links.Unknown, c.why) || (c.why == "") != (i.Links.Unknown == "") {
			t.Errorf("%s: %+v", name, i)
		}
		if i.Kind.IsKnown() != (c.kind != "") || i.Switches.IsKnown() || i.Manager.IsKnown() {
			t.Errorf("%s: %+v", name, i)
		}
	}
}

// TestFabricManager: switches are counted on the bus, and their program is looked for where there are some.
func TestFabricManager(t *testing.T) {
	const pidFile = "run/nvidia-fabricmanager/nv-fabricmanager.pid"
	bus := func(classes ...string) map[string]string {
		files := map[string]string{}
		for i, class := range classes {
			at := "sys/bus/pci/devices/0000:0" + string(rune('0'+i)) + ":00.0/"
			files[at+"vendor"], files[at+"class"] = "0x10de", class
		}
		return files
	}
	for name, c := range map[string]struct {
		files    map[string]string
		more     [2]string
		switches int
		manager  string
	}{
		"no switch":    {files: bus("0x030200", "0x040300")},
		"runs":         {files: bus("0x030200", "0x068000", "0x068000"), more: [2]string{"nv-fabricmanage", "77"}, switches: 2, manager: "running"},
		"died":         {files: bus("0x068000"), more: [2]string{"", "77"}, switches: 1, manager: "not running"},
		"other":        {files: bus("0x068000"), more: [2]string{"bash", "77"}, switches: 1, manager: "not running"},
		"none":         {files: bus("0x068000"), switches: 1, manager: "not running"},
		"no number":    {files: bus("0x068000"), more: [2]string{"", "x"}, switches: 1},
		"not readable": {},
	} {
		if c.more[1] != "" {
			c.files[pidFile] = c.more[1] + "\n"
		}
		if c.more[0] != "" {
			c.files["proc/77/comm"] = c.more[0] + "\n"
		}
		h := hostWith(t, c.files)
		n := switches(h)
		if m := fabricManager(h, n); n.Value != c.switches || n.IsKnown() != (c.files != nil) || m.Value != c.manager {
			t.Errorf("%s: %+v %+v", name, n, m)
		}
	}
}

// hostWith is a live machine that has these files and runs nothing.
func hostWith(t *testing.T, files map[string]string) host.Host {
	t.Helper()
	h := host.Host{Root: t.TempDir(), Live: true}
	for name, text := range files {
		put(t, h.Root+"/"+name, text)
	}
	return h
}

func FuzzTopology(f *testing.F) {
	f.Add(fourGPUs)
	f.Fuzz(func(t *testing.T, text string) {
		peers := parsePeers(text)
		for i := range peers.rows {
			if peers.reached(i) >= len(peers.rows) {
				t.Errorf("%+v", peers)
			}
		}
		m := parseTopology(text)
		addresses := make([]string, len(m.rows))
		for _, pair := range m.pairs(addresses) {
			if _, way, ok := strings.Cut(pair, ": "); !ok || !isWay(way) {
				t.Errorf("%q", pair)
			}
		}
	})
}

func FuzzNVLinks(f *testing.F) {
	f.Add("GPU 0: X (UUID: u)\n Link 0: 26.562 GB/s\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range parseNVLinks(text) {
			if d.up.Value < 0 || d.down.Value < 0 || d.gbps.Value < 0 || (d.gbps.IsKnown() && d.up.Value == 0) {
				t.Errorf("%+v", d)
			}
		}
		parseInstances(text)
	})
}
