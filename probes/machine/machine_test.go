package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/probes/host"
	"assay/probes/smbios"
	"assay/probes/sut"
)

// tree writes files below a new folder and gives a host of it.
func tree(t *testing.T, files map[string]string) host.Host {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return host.Host{Root: dir}
}

func TestTopology(t *testing.T) {
	places := func(sockets, cores, threads int, name func(s, c int) string) []cpuPlace {
		var list []cpuPlace
		for s := range sockets {
			for c := range cores {
				for range threads {
					list = append(list, cpuPlace{fmt.Sprint(s), name(s, c)})
				}
			}
		}
		return list
	}
	own := func(s, c int) string { return fmt.Sprintf("%d,%d", 100*s+c, 1000+100*s+c) }
	for _, tt := range []struct {
		name                    string
		places                  []cpuPlace
		sockets, cores, threads int
	}{
		{"2 sockets of 40 cores and 2 threads", places(2, 40, 2, own), 2, 40, 2},
		{"24 cores in one socket, not 24 sockets", places(1, 24, 1, own), 1, 24, 1},
		{"core ids that repeat in each socket", places(2, 12, 2, own), 2, 12, 2},
		{"a guest of 10 cores with 8 threads", places(1, 10, 8, own), 1, 10, 8},
		{"packages that differ", append(places(1, 4, 1, own), cpuPlace{"1", "x"}), 0, 0, 0},
		{"no core lists", places(1, 2, 1, func(int, int) string { return "" }), 0, 0, 0},
		{"nothing", nil, 0, 0, 0},
	} {
		s, c, n, err := countTopology(tt.places)
		if s != tt.sockets || c != tt.cores || n != tt.threads || (err == nil) != (tt.sockets > 0) {
			t.Errorf("%s: %d sockets, %d cores, %d threads, %v", tt.name, s, c, n, err)
		}
	}
}

func TestVirtualization(t *testing.T) {
	cpu := func(flags string) string { return "processor : 0\nflags : fpu " + flags + "\n" }
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"bare metal", map[string]string{"proc/cpuinfo": cpu("vmx")}, "none"},
		{"a host with KVM loaded", map[string]string{"proc/cpuinfo": cpu("vmx"), "sys/module/kvm/x": "", "sys/class/dmi/id/sys_vendor": "Dell Inc."}, "none"},
		{"QEMU", map[string]string{"proc/cpuinfo": cpu("hypervisor"), "sys/class/dmi/id/sys_vendor": "QEMU"}, "qemu"},
		{"Amazon", map[string]string{"proc/cpuinfo": cpu("hypervisor"), "sys/class/dmi/id/sys_vendor": "Amazon EC2", "sys/class/dmi/id/product_name": "p5.48xlarge"}, "amazon"},
		{"Amazon's bare metal", map[string]string{"proc/cpuinfo": cpu("vmx"), "sys/class/dmi/id/sys_vendor": "Amazon EC2", "sys/class/dmi/id/product_name": "m7i.metal"}, "none"},
		{"KVM without firmware", map[string]string{"proc/cpuinfo": cpu("hypervisor"), "sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc kvm-clock"}, "kvm"},
		{"unknown hypervisor", map[string]string{"proc/cpuinfo": cpu("hypervisor")}, "vm-other"},
		{"Xen's own domain", map[string]string{"proc/cpuinfo": cpu("hypervisor"), "proc/xen/capabilities": "control_d"}, "none"},
		{"a container", map[string]string{"proc/cpuinfo": cpu("hypervisor"), ".dockerenv": ""}, "docker"},
		{"Arm without firmware", map[string]string{"proc/cpuinfo": "processor : 0\nFeatures : fp asimd\n"}, ""},
		{"nothing", nil, ""},
	} {
		if f := readVirtualization(tree(t, tt.files)); f.Value != tt.want || (f.Value == "" && f.Unknown == "") {
			t.Errorf("%s: %+v", tt.name, f)
		}
	}
}

func TestBoardText(t *testing.T) {
	h := tree(t, map[string]string{
		"sys/class/dmi/id/sys_vendor": "To Be Filled By O.E.M.", "sys/class/dmi/id/board_vendor": "empty", "sys/class/dmi/id/product_name": "Default string\n",
		"sys/class/dmi/id/board_name": "H12", "sys/class/dmi/id/bios_date": "13/45/2025",
	})
	var s sut.SUT
	if err := ProbeSystem(t.Context(), h, &s); err != nil {
		t.Fatal(err)
	}
	if s.System.Vendor.IsKnown() || s.System.Product.Value != "H12" || s.System.BIOS.Date.IsKnown() || s.System.BIOS.Version.IsKnown() {
		t.Errorf("%+v", s.System)
	}
}

// table builds an SMBIOS table: structures with their strings.
func table(structures ...smbios.Structure) string {
	var b strings.Builder
	for _, s := range structures {
		data := append([]byte{s.Kind, byte(len(s.Data) + 4), 0, 0}, s.Data...)
		b.Write(data)
		b.WriteString(strings.Join(s.Strings, "\x00") + "\x00\x00")
	}
	return b.String()
}

// dimm gives the formatted part of a structure of type 17, from offset 4 on.
func dimm(size, extended uint32, kind byte, speed, configured uint16) []byte {
	d := make([]byte, 0x22-4)
	put := func(at int, v uint32, n int) {
		for i := range n {
			d[at-4+i] = byte(v >> (8 * i))
		}
	}
	put(0x0c, size, 2)
	put(0x10, 1, 1)
	put(0x12, uint32(kind), 1)
	put(0x15, uint32(speed), 2)
	put(0x18, 2, 1)
	put(0x1c, extended, 4)
	put(0x20, uint32(configured), 2)
	return d
}

func TestDIMMs(t *testing.T) {
	text := table(
		smbios.Structure{Kind: 17, Data: dimm(0x7fff, 65536, 0x22, 5600, 4800), Strings: []string{"A1", "SERIAL7"}},
		smbios.Structure{Kind: 17, Data: dimm(0, 0, 0x02, 0, 0), Strings: []string{"A2", "x"}},
		smbios.Structure{Kind: 17, Data: dimm(16384, 0, 0x1a, 2400, 1866), Strings: []string{"A3", "SERIAL8"}},
		smbios.Structure{Kind: 17, Data: dimm(0xffff, 0, 0x7f, 0, 0), Strings: []string{"A4", "x"}},
		smbios.Structure{Kind: 127},
	)
	list, err := smbios.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	dimms, slots := firmware{structures: list}.memorySlots()
	if slots != 4 || len(dimms) != 3 {
		t.Fatalf("%d of %d", len(dimms), slots)
	}
	if d := dimms[0]; d.SizeBytes.Value != 64<<30 || d.Type.Value != "DDR5" || d.SpeedMTS.Value != 5600 || d.ConfiguredMTS.Value != 4800 || d.Slot.Value != "A1" {
		t.Errorf("%+v", d)
	}
	if d := dimms[1]; d.SizeBytes.Value != 16<<30 || d.Type.Value != "DDR4" {
		t.Errorf("%+v", d)
	}
	if d := dimms[2]; d.SizeBytes.IsKnown() || d.Type.IsKnown() || d.SpeedMTS.IsKnown() {
		t.Errorf("%+v", d)
	}
	if sumDIMMs(dimms, "x").IsKnown() || sumDIMMs(dimms[:2], "x").Value != 80<<30 {
		t.Error("the sum")
	}
	if got := dimmSummary(dimms[:2]); got != "1 × 64 GiB DDR5-4800 + 1 × 16 GiB DDR4-1866" {
		t.Error(got)
	}
	if clean := string(smbios.Clean([]byte(text))); strings.Contains(clean, "SERIAL") || !strings.Contains(clean, "A3") {
		t.Errorf("%q", clean)
	}
}

// TestRealSMBIOS reads the table of a Dell R630: 2 of 24 slots hold a DIMM.
func TestRealSMBIOS(t *testing.T) {
	b, err := os.ReadFile("../../../shared/fixtures/system/smbios/Dell-PowerEdge-R630-Dual-Xeon.dmi")
	if err != nil {
		t.Skipf("no public captures here: %v", err)
	}
	var s sut.SUT
	h := tree(t, map[string]string{smbios.Path: string(b)})
	for _, probe := range []func() error{func() error { return ProbeSystem(t.Context(), h, &s) }, func() error { return ProbeMemory(t.Context(), h, &s) }} {
		if err := probe(); err != nil {
			t.Fatal(err)
		}
	}
	if s.System.BIOS.Version.Value != "2.3.4" || s.System.BIOS.Date.Value != "2016-11-08" || s.Memory.Slots.Value != 24 || s.Memory.InstalledBytes.Value != 32<<30 {
		t.Errorf("%+v %+v", s.System.BIOS, s.Memory)
	}
	if d := s.Memory.DIMMs.Items; len(d) != 2 || d[0].Type.Value != "DDR4" || d[0].SpeedMTS.Value != 2400 || d[0].ConfiguredMTS.Value != 1866 {
		t.Errorf("%+v", d)
	}
}

func TestMeminfo(t *testing.T) {
	for text, want := range map[string]int64{
		"MemTotal:  790747444 kB\n": 790747444 << 10, "Node 0 MemTotal: 16 kB": 16 << 10, "MemTotal: x kB": -1, "": -1, "MemTotal:": -1, "MemTotal: -5 kB": -1, "XMemTotal: 5 kB": -1,
	} {
		if got, err := meminfoBytes(text, "MemTotal"); (err == nil) != (want >= 0) || (err == nil && got != want) {
			t.Errorf("%q: %d %v", text, got, err)
		}
	}
}

func TestMountinfo(t *testing.T) {
	got := parseMountinfo("36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 shared:7 - ext3 /dev/root rw,errors=continue\nbroken\n1 2 0:3 / / rw - \n")
	want := []mount{{"98:0", "/mnt1", "/mnt 2", "ext3", "/dev/root"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(mount{})); diff != "" {
		t.Error(diff)
	}
}

func TestCgroup(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		cpus  float64
		bytes int64
	}{
		{"no limit", map[string]string{"proc/self/cgroup": "0::/a", "sys/fs/cgroup/a/cpu.max": "max 100000", "sys/fs/cgroup/a/memory.max": "max"}, 0, 0},
		{"a parent's limit", map[string]string{"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/cpu.max": "250000 100000", "sys/fs/cgroup/a/b/cpu.max": "400000 100000", "sys/fs/cgroup/a/memory.max": "1024"}, 2.5, 1024},
		{"version 1", map[string]string{"proc/self/cgroup": "4:memory:/d\n3:cpu,cpuacct:/d", "sys/fs/cgroup/cpu,cpuacct/d/cpu.cfs_quota_us": "150000", "sys/fs/cgroup/cpu,cpuacct/d/cpu.cfs_period_us": "100000",
			"sys/fs/cgroup/memory/d/memory.limit_in_bytes": "4096"}, 1.5, 4096},
		{"version 1 without", map[string]string{"proc/self/cgroup": "4:memory:/\n3:cpu:/", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712"}, 0, 0},
		{"nonsense", map[string]string{"proc/self/cgroup": "0::/a\n::\nx", "sys/fs/cgroup/a/cpu.max": "5 0"}, 0, 0},
	} {
		cpus, bytes := readCgroup(tree(t, tt.files))
		if cpus.Value != tt.cpus || bytes.Value != tt.bytes || (tt.cpus == 0) != (cpus.NA != "") {
			t.Errorf("%s: %+v %+v", tt.name, cpus, bytes)
		}
	}
}

func TestNetworkTraps(t *testing.T) {
	for in, want := range map[string]int{"2500": 2500, "-1": 0, "0": 0, "4294967295": 0, "": 0, "x": 0} {
		if got, err := linkSpeed(in); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d %v", in, got, err)
		}
	}
	h := tree(t, map[string]string{
		"sys/class/infiniband/mlx5_0/fw_ver": "28.39", "sys/class/infiniband/mlx5_0/ports/1/rate": "400 Gb/sec (4X NDR)", "sys/class/infiniband/mlx5_0/ports/1/state": "1: DOWN",
		"sys/class/infiniband/hfi1_0/ports/1/rate": "N/A (no PMA)", "sys/class/infiniband/hfi1_0/ports/2/rate": "100 Gb/sec (4X EDR)",
	})
	var s sut.SUT
	if err := ProbeInfiniBand(t.Context(), h, &s); err != nil {
		t.Fatal(err)
	}
	ports := s.Network.InfiniBand.Items
	if len(ports) != 3 || ports[0].Name.Value != "hfi1_0/1" || ports[0].RateGbps.IsKnown() || ports[1].RateGbps.Value != 100 || ports[2].State.Value != "DOWN" || ports[2].RateGbps.Value != 400 {
		t.Errorf("%+v", ports)
	}
}

// TestRealInfiniBand reads a node of 12 adapters.
func TestRealInfiniBand(t *testing.T) {
	const dir = "../../../shared/fixtures/system/ib-h100-x12hca"
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no public captures here: %v", err)
	}
	var s sut.SUT
	if err := ProbeInfiniBand(t.Context(), host.Host{Root: dir}, &s); err != nil {
		t.Fatal(err)
	}
	active := 0
	for _, p := range s.Network.InfiniBand.Items {
		if p.LinkLayer.Value == "InfiniBand" && p.State.Value == "ACTIVE" && p.RateGbps.Value == 400 {
			active++
		}
		if p.Name.Value == "mlx5_bond_0" && p.LinkLayer.Value != "Ethernet" {
			t.Errorf("%+v", p)
		}
	}
	if active != 8 {
		t.Errorf("%d active ports of 400 Gb/s: %+v", active, s.Network.InfiniBand)
	}
}

func TestDockerVersion(t *testing.T) {
	for body, want := range map[string][2]string{
		`{"Version":"29.2.1","Components":[{"Name":"containerd","Version":"2.2"}]}`: {"29.2.1", "2.2"},
		`{"Client":{"Version":"9"},"Server":{"Version":"29.2.1"}}`:                  {"29.2.1", ""},
		`{"Client":{"Version":"9"},"Server":null}`:                                  {"", ""},
		`<html>`: {"", ""}, ``: {"", ""},
	} {
		engine, containerd := parseDockerVersion([]byte(body), "x")
		if engine.Value != want[0] || containerd.Value != want[1] || (want[0] == "" && engine.Unknown == "") {
			t.Errorf("%s: %+v %+v", body, engine, containerd)
		}
	}
}

func FuzzMountinfo(f *testing.F) {
	f.Add("36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 - ext3 /dev/root rw\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range parseMountinfo(text) {
			if m.fstype == "" || m.device == "" {
				t.Errorf("%+v", m)
			}
		}
	})
}

func FuzzSMBIOS(f *testing.F) {
	f.Add([]byte(table(smbios.Structure{Kind: 17, Data: dimm(0x7fff, 65536, 0x22, 5600, 4800), Strings: []string{"A1", "S"}})))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := smbios.Parse(b)
		dimms, slots := firmware{list, err}.memorySlots()
		if len(dimms) > slots {
			t.Errorf("%d DIMMs in %d slots", len(dimms), slots)
		}
		smbios.Clean(b)
	})
}

func FuzzText(f *testing.F) {
	f.Add("E:MEMORY_ARRAY_NUM_DEVICES=2\nE:MEMORY_DEVICE_0_SIZE=5\nMemTotal: 5 kB\ncpu  1 2 3 4 5 6 7 8\nflags : fpu")
	f.Fuzz(func(t *testing.T, text string) {
		if dimms, slots := parseUdevDIMMs(text); len(dimms) > max(slots, 0) {
			t.Errorf("%d DIMMs in %d slots", len(dimms), slots)
		}
		if n, err := meminfoBytes(text, "MemTotal"); err == nil && n < 0 {
			t.Errorf("%d bytes", n)
		}
		if busy, total, ok := parseCPUTimes(text); ok && busy > total {
			t.Errorf("busy %g of %g", busy, total)
		}
		cpuFlags(text)
		parseDiskstats(text, map[string]bool{"sda": true})
		parseNetDev(text, map[string]bool{"eth0": true})
	})
}
