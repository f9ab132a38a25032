package machine

import (
	"fmt"
	"strings"
	"testing"

	"assay/probes/host"
	"assay/probes/hosttest"
	"assay/probes/smbios"
	"assay/probes/sut"
)

// TestField_mlperfautomations1017 gives frequency and caches, which stood empty, or the reason why not.
func TestField_mlperfautomations1017(t *testing.T) {
	files := box{sockets: 1, cores: 2, threads: 1, model: "AMD EPYC 9654 96-Core Processor"}.files()
	for n := range 2 {
		dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/cache/index3/", n)
		files[dir+"level"], files[dir+"type"], files[dir+"size"], files[dir+"shared_cpu_list"] = "3", "Unified", "32768K", "0-1"
		files[fmt.Sprintf("sys/devices/system/cpu/cpufreq/policy%d/cpuinfo_max_freq", n)] = "3707812"
	}
	c := probeCPU(t, hosttest.Tree(t, files))
	if c.MaxMHz.Value != 3707 || len(c.Caches.Items) != 1 || c.Caches.Items[0].Bytes.Value != 32<<20 || c.Caches.Items[0].Instances.Value != 1 {
		t.Errorf("%+v %+v", c.MaxMHz, c.Caches)
	}
	if c = probeCPU(t, live(t, box{sockets: 1, cores: 2, threads: 1, model: "x"}.files())); c.MaxMHz.NA == "" || c.Caches.Unknown == "" || c.Model.Value != "x" {
		t.Errorf("without the files: %+v %+v", c.MaxMHz, c.Caches)
	}
}

// boxes reads boxes whole.
func boxes(t *testing.T, b box, want counts) sut.CPU {
	t.Helper()
	c := probeCPU(t, hosttest.Tree(t, b.files()))
	if got := countsOf(c); got != want {
		t.Errorf("%+v, not %+v", got, want)
	}
	return c
}

// TestField_ck623: two Xeons 8380 with two threads have 40 cores each, not 160.
func TestField_ck623(t *testing.T) {
	boxes(t, box{sockets: 2, cores: 40, threads: 2, model: "Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz"}, counts{2, 40, 2, 80, 160})
}

// TestField_mlperfsysinfo: the example host of 2 × 56 cores has 56 cores for each processor, and sizes are bytes.
func TestField_mlperfsysinfo(t *testing.T) {
	boxes(t, box{sockets: 2, cores: 56, threads: 2, model: "Intel(R) Xeon(R) Platinum 8480+"}, counts{2, 56, 2, 112, 224})
	if m := probeMemory(t, hosttest.Tree(t, map[string]string{"proc/meminfo": "MemTotal:       2377900000 kB\n"})); m.Bytes.Value != 2377900000<<10 {
		t.Errorf("%+v", m.Bytes)
	}
}

// TestField_gopsutil849: a logical CPU is no processor of one core.
func TestField_gopsutil849(t *testing.T) {
	boxes(t, box{sockets: 1, cores: 4, threads: 2, model: "Intel(R) Core(TM) i7-8550U CPU @ 1.80GHz"}, counts{1, 4, 2, 4, 8})
}

// TestField_psutil1620: core ids that begin anew in each socket are different cores.
func TestField_psutil1620(t *testing.T) {
	boxes(t, box{sockets: 2, cores: 12, threads: 2, model: "Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz"}, counts{2, 12, 2, 24, 48})
}

// TestField_utillinux3902: 24 cores with physical id 0 everywhere are one socket.
func TestField_utillinux3902(t *testing.T) {
	boxes(t, box{sockets: 1, cores: 24, threads: 1, model: "Intel(R) Core(TM) Ultra 9 285K", coreIDs: true}, counts{1, 24, 1, 24, 24})
}

// TestField_utillinux698: a POWER9 guest whose core_siblings are its thread_siblings has one socket; where the firmware numbers no package, the
// cores are known and the sockets are not.
func TestField_utillinux698(t *testing.T) {
	b := box{sockets: 1, cores: 10, threads: 8, model: "POWER9 (architected), altivec supported", siblings: true}
	boxes(t, b, counts{1, 10, 8, 10, 80})
	b.pkg = "-1"
	if c := boxes(t, b, counts{0, 0, 8, 10, 80}); c.Sockets.Unknown == "" || c.CoresPerSocket.Unknown == "" {
		t.Errorf("%+v", c.Sockets)
	}
}

// TestField_psutil1317: "cpu cores : 65534" is not looked at.
func TestField_psutil1317(t *testing.T) {
	boxes(t, box{sockets: 1, cores: 4, threads: 1, model: "ARMv8", cpuCores: 65534}, counts{1, 4, 1, 4, 4})
}

// TestField_sigar63: an i7-3930K is one socket of 6 cores with two threads.
func TestField_sigar63(t *testing.T) {
	boxes(t, box{sockets: 1, cores: 6, threads: 2, model: "Intel(R) Core(TM) i7-3930K CPU @ 3.20GHz"}, counts{1, 6, 2, 6, 12})
}

// TestField_utillinux3265: CPUs go off line while the topology is read; it is read again, so that no half of a package counts.
func TestField_utillinux3265(t *testing.T) {
	whole := []cpuPlace{{0, "0", "0-1"}, {1, "0", "0-1"}, {2, "1", "2-3"}, {3, "1", "2-3"}}
	torn := []cpuPlace{{0, "0", "0-1"}, {1, "0", "0"}, {2, "1", "2-3"}, {3, "2", "3"}}
	sets := []string{"0-3", "0-2", "0-3", "0-3"} // before and after the first look, before and after the second
	reads := [][]cpuPlace{torn, whole}
	places, err := settled(func() string { s := sets[0]; sets = sets[1:]; return s }, func() []cpuPlace { r := reads[0]; reads = reads[1:]; return r })
	var c sut.CPU
	fillTopology(&c, places, err)
	if got, want := countsOf(c), (counts{2, 1, 2, 2, 4}); got != want {
		t.Errorf("%+v, not %+v", got, want)
	}
	n := 0
	_, err = settled(func() string { n++; return fmt.Sprint(n) }, func() []cpuPlace { return torn })
	fillTopology(&c, torn, err)
	if err == nil || c.Sockets.IsKnown() || !strings.Contains(c.Sockets.Unknown, "off line") {
		t.Errorf("%+v, %v", c.Sockets, err)
	}
}

// TestField_hyperion842: a machine with two kinds of core has both models, each with its number of cores.
func TestField_hyperion842(t *testing.T) {
	files := box{sockets: 1, cores: 6, threads: 1, model: "x"}.files()
	var info strings.Builder
	for n := range 6 {
		part := "0xd03"
		if n > 3 {
			part = "0xd08"
		}
		fmt.Fprintf(&info, "processor\t: %d\nBogoMIPS\t: 48.00\nCPU implementer\t: 0x41\nCPU part\t: %s\n\n", n, part)
	}
	files["proc/cpuinfo"] = info.String()
	c := probeCPU(t, hosttest.Tree(t, files))
	if c.Model.Value != "2 × Cortex-A72, 4 × Cortex-A53" || c.Vendor.Value != "ARM" || len(c.CoreTypes.Items) != 2 {
		t.Fatalf("%+v %+v", c.Model, c.CoreTypes)
	}
	if little := c.CoreTypes.Items[0]; little.Name.Value != "Cortex-A53" || little.Cores.Value != 4 || little.CPUs.Value != "0-3" {
		t.Errorf("%+v", little)
	}
}

// TestField_numactl165: a Threadripper with memory at two of its four nodes has four nodes.
func TestField_numactl165(t *testing.T) {
	files := map[string]string{}
	for n := range 4 {
		dir := fmt.Sprintf("sys/devices/system/node/node%d/", n)
		files[dir+"cpulist"] = fmt.Sprintf("%d-%d", 8*n, 8*n+7)
		files[dir+"meminfo"] = fmt.Sprintf("Node %d MemTotal: %d kB\n", n, 32768000*(1-n%2))
		files[dir+"distance"] = "10 16 16 16"
	}
	with := 0
	list := readNodes(hosttest.Tree(t, files)).Items
	for _, n := range list {
		if n.Kind.Value != "cpu" || !n.Bytes.IsKnown() || n.Distances.Value != "10 16 16 16" {
			t.Errorf("%+v", n)
		}
		if n.Bytes.Value > 0 {
			with++
		}
	}
	if len(list) != 4 || with != 2 {
		t.Errorf("%d nodes, %d with memory", len(list), with)
	}
	files["sys/devices/system/node/node3/cpulist"] = "\n"
	if n := readNodes(hosttest.Tree(t, files)).Items[3]; n.Kind.Value != "memory" || n.CPUs.NA == "" {
		t.Errorf("a node of memory alone: %+v", n)
	}
}

// TestField_hwloc445: memory is the machine's total, not the sum of its nodes.
func TestField_hwloc445(t *testing.T) {
	m := probeMemory(t, hosttest.Tree(t, map[string]string{
		"proc/meminfo": "MemTotal:       790747444 kB\n", "sys/devices/system/node/node0/meminfo": "Node 0 MemTotal:       394900000 kB\n",
		"sys/devices/system/node/node1/meminfo": "Node 1 MemTotal:       320100000 kB\n",
	}))
	if m.Bytes.Value != 790747444<<10 {
		t.Errorf("%+v", m.Bytes)
	}
}

// TestField_UnixAgent5: DIMMs whose sizes stand in MiB, in KiB and in the field for large ones are all bytes.
func TestField_UnixAgent5(t *testing.T) {
	text := table(
		smbios.Structure{Kind: 17, Data: dimm(16384, 0, 0x1a, 2400, 2400), Strings: []string{"A1", "s"}},
		smbios.Structure{Kind: 17, Data: dimm(0x7fff, 32768, 0x1a, 2400, 2400), Strings: []string{"A2", "s"}},
		smbios.Structure{Kind: 17, Data: dimm(0x8000|512, 0, 0x1a, 2400, 2400), Strings: []string{"A3", "s"}},
		smbios.Structure{Kind: 127},
	)
	m := probeMemory(t, hosttest.Tree(t, map[string]string{smbios.Path: text}))
	var sizes []int64
	for _, d := range m.DIMMs.Items {
		sizes = append(sizes, d.SizeBytes.Value)
	}
	if fmt.Sprint(sizes) != fmt.Sprint([]int64{16 << 30, 32 << 30, 512 << 10}) || m.InstalledBytes.Value != 48<<30+512<<10 {
		t.Errorf("%v %+v", sizes, m.InstalledBytes)
	}
}

// TestField_ROCm1062: a board whose maker and product are the word "empty" has neither.
func TestField_ROCm1062(t *testing.T) {
	s := probeSystem(t, live(t, map[string]string{
		"sys/class/dmi/id/sys_vendor": "empty\n", "sys/class/dmi/id/product_name": "empty\n", "sys/class/dmi/id/board_vendor": "empty\n", "sys/class/dmi/id/board_name": "empty\n",
		"sys/class/dmi/id/product_version": "empty\n", "sys/class/dmi/id/bios_version": "R1.0a\n",
	}))
	for name, f := range map[string]sut.Fact[string]{"vendor": s.Vendor, "product": s.Product, "board": s.Board, "version": s.Version} {
		if f.IsKnown() || f.Unknown == "" {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if s.BIOS.Version.Value != "R1.0a" {
		t.Errorf("%+v", s.BIOS)
	}
}

// TestField_VMAware324: the root partition of Hyper-V, the first domain of Xen and a host with KVM loaded are no guests.
func TestField_VMAware324(t *testing.T) {
	const clock = "sys/devices/system/clocksource/clocksource0/available_clocksource"
	flagged := "processor : 0\nflags : fpu hypervisor\n"
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"root partition by its board", map[string]string{"proc/cpuinfo": flagged, clock: "hyperv_clocksource_tsc_page tsc", dmiDir + "sys_vendor": "Dell Inc."}, "none"},
		{"root partition by its driver", map[string]string{"proc/cpuinfo": flagged, "sys/class/misc/mshv/dev": "10:1"}, "none"},
		{"guest of Hyper-V", map[string]string{"proc/cpuinfo": flagged, clock: "hyperv_clocksource_tsc_page", dmiDir + "sys_vendor": "Microsoft Corporation", dmiDir + "product_name": "Virtual Machine"}, "microsoft"},
		{"host with KVM loaded", map[string]string{"proc/cpuinfo": "processor : 0\nflags : fpu svm\n", "sys/module/kvm_amd/parameters/sev": "Y", dmiDir + "sys_vendor": "Supermicro"}, "none"},
		{"first domain of Xen", map[string]string{"proc/cpuinfo": flagged, "proc/xen/capabilities": "control_d", "sys/hypervisor/type": "xen", dmiDir + "sys_vendor": "HPE"}, "none"},
		{"guest of Xen", map[string]string{"proc/cpuinfo": flagged, "proc/xen/capabilities": "", "sys/hypervisor/type": "xen"}, "xen"},
	} {
		if s := probeSystem(t, live(t, tt.files)); s.Hypervisor.Value != tt.want || s.Virtualization.Value != tt.want {
			t.Errorf("%s: %+v", tt.name, s.Hypervisor)
		}
	}
}

// TestField_mlperfnotes: inside a container, what is the container's own is not taken for the host's.
func TestField_mlperfnotes(t *testing.T) {
	s := probeSystem(t, live(t, map[string]string{"proc/cpuinfo": "processor : 0\nflags : fpu\n", ".dockerenv": ""}))
	if s.Container.Value != "docker" || s.Hypervisor.Value != "none" || s.Virtualization.Value != "docker" {
		t.Errorf("%+v", s)
	}
	s = probeSystem(t, live(t, map[string]string{"proc/cpuinfo": "processor : 0\nflags : fpu\n"}))
	if s.Container.Value != "none" || s.Virtualization.Value != "none" {
		t.Errorf("%+v", s)
	}
	if f := readContainer(host.Host{Root: t.TempDir()}); f.IsKnown() {
		t.Errorf("a capture that lacks the marks says %+v", f)
	}
}
