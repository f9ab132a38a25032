package machine

import (
	"fmt"
	"strings"
	"testing"

	"assay/probes/hosttest"
	"assay/probes/sut"
)

func TestTopology(t *testing.T) {
	places := func(sockets, cores, threads int) []cpuPlace {
		var list []cpuPlace
		for s := range sockets {
			for c := range cores {
				for range threads {
					list = append(list, cpuPlace{len(list), fmt.Sprint(s), fmt.Sprintf("%d,%d", 100*s+c, 1000+100*s+c)})
				}
			}
		}
		return list
	}
	for _, tt := range []struct {
		name   string
		places []cpuPlace
		want   counts
		why    string // of the cores per socket
		mixed  string // of the threads per core
	}{
		{name: "alike", places: places(2, 40, 2), want: counts{2, 40, 2, 80, 160}},
		{name: "packages that differ", places: append(places(1, 4, 1), cpuPlace{9, "1", "x"}), want: counts{2, 0, 1, 5, 5}, why: "different numbers of cores: 1, 4"},
		{name: "cores that differ", places: append(places(1, 2, 2), cpuPlace{9, "0", "x"}), want: counts{1, 3, 2, 3, 5}, mixed: "2 × cores with 2 threads, 1 × cores with 1 threads"},
		{name: "no core lists", places: []cpuPlace{{0, "0", ""}}, why: "has no core lists"},
		{name: "nothing", why: "lists no CPU"},
	} {
		var c sut.CPU
		fillTopology(&c, tt.places, nil)
		if got := countsOf(c); got != tt.want || !strings.Contains(c.CoresPerSocket.Unknown, tt.why) || (tt.why == "") != c.CoresPerSocket.IsKnown() {
			t.Errorf("%s: %+v %+v", tt.name, got, c.CoresPerSocket)
		}
		if tt.mixed != "" && !sameWords(c.ThreadsPerCore.Other, tt.mixed) {
			t.Errorf("%s: %q", tt.name, c.ThreadsPerCore.Other)
		}
	}
}

// sameWords compares counts of which the order does not matter.
func sameWords(text, want string) bool {
	for part := range strings.SplitSeq(want, ", ") {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

func TestCPULists(t *testing.T) {
	for text, want := range map[string]string{"0-3,8": "0-3,8", "3,1,2,1": "1-3", "0": "0", "": "", "0-3,\n": "0-3", "5-4": "!", "x": "!", "-1": "!", "1-": "!", "0-9999999": "!"} {
		list, err := parseCPUList(text)
		if (err != nil) != (want == "!") || (err == nil && cpuList(list) != want) {
			t.Errorf("%q: %v, %v", text, list, err)
		}
	}
}

// TestSets: a kernel writes nothing, or "(null)", for a set without CPUs, and has no file for one it was built without.
func TestSets(t *testing.T) {
	c := probeCPU(t, live(t, map[string]string{
		cpuDir + "/online": "0-95", cpuDir + "/offline": "96-191", cpuDir + "/isolated": "\n", cpuDir + "/smt/active": "0", cpuDir + "/smt/control": "forceoff", cpuDir + "/nohz_full": " (null)\n",
	}))
	if c.Online.Value != "0-95" || c.Offline.Value != "96-191" || c.Isolated.NA == "" || c.NoHZFull.NA == "" || c.SMT.Value || !c.SMT.IsKnown() || c.SMTControl.Value != "forceoff" {
		t.Errorf("%+v", c)
	}
}

// TestHybrid: Intel's two kinds of core share a model; the kernel counts their events apart.
func TestHybrid(t *testing.T) {
	files := box{sockets: 1, cores: 4, threads: 1, model: "12th Gen Intel(R) Core(TM) i5-1240P"}.files()
	files["sys/devices/cpu_core/cpus"], files["sys/devices/cpu_atom/cpus"] = "0-1", "2-3"
	c := probeCPU(t, hosttest.Tree(t, files))
	if c.Model.Value != "12th Gen Intel(R) Core(TM) i5-1240P" || len(c.CoreTypes.Items) != 2 {
		t.Fatalf("%+v %+v", c.Model, c.CoreTypes)
	}
	if p := c.CoreTypes.Items[0]; p.Name.Value != "performance" || p.CPUs.Value != "0-1" || p.Cores.Value != 2 {
		t.Errorf("%+v", p)
	}
}

func TestModels(t *testing.T) {
	for _, tt := range []struct{ name, info, vendor, model string }{
		{"x86", "processor : 0\nvendor_id : AuthenticAMD\nmodel name : AMD EPYC 9654 96-Core Processor\n", "AuthenticAMD", "AMD EPYC 9654 96-Core Processor"},
		{"two models", "processor : 0\nmodel name : A\nprocessor : 1\nmodel name : B\nprocessor : 2\nmodel name : B\n", "", "1 × A, 2 × B"},
		{"Grace", "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd4f\n", "ARM", "Neoverse-V2"},
		{"an Arm part that came later", "processor : 0\nCPU implementer : 0x41\nCPU part : 0xfff\n", "ARM", "ARM part 0xfff"},
		{"an unknown maker", "processor : 0\nCPU implementer : 0x77\nCPU part : 0x001\n", "implementer 0x77", "implementer 0x77 part 0x001"},
		{"an Arm kernel that says v8l", "processor : 0\nmodel name : ARMv8 Processor rev 1 (v8l)\nCPU implementer : 0xc0\nCPU part : 0xac3\n", "Ampere", "Ampere-1"},
		{"POWER", "processor : 0\ncpu : POWER9, altivec supported\n", "", "POWER9"},
		{"nothing", "", "", ""},
	} {
		c := probeCPU(t, hosttest.Tree(t, map[string]string{"proc/cpuinfo": tt.info}))
		if c.Vendor.Value != tt.vendor || c.Model.Value != tt.model || (tt.model == "" && c.Model.Unknown == "") {
			t.Errorf("%s: %+v %+v", tt.name, c.Vendor, c.Model)
		}
	}
}

// TestMIDR: a program of 32 bits sees no parts in /proc/cpuinfo; the register names them.
func TestMIDR(t *testing.T) {
	c := probeCPU(t, hosttest.Tree(t, map[string]string{
		"proc/cpuinfo": "processor : 0\nBogoMIPS : 2\n", cpuDir + "/cpu0/regs/identification/midr_el1": "0x00000000410fd4f1", cpuDir + "/cpu1/regs/identification/midr_el1": "0x0",
	}))
	if c.Model.Value != "Neoverse-V2" || c.CoreTypes.Items[0].CPUs.Value != "0" {
		t.Errorf("%+v", c.Model)
	}
}

func TestFrequency(t *testing.T) {
	policy := func(files map[string]string, n int, values ...string) {
		for i, file := range []string{"scaling_driver", "scaling_governor", "cpuinfo_max_freq", "scaling_max_freq", "energy_performance_preference", "boost", "base_frequency"} {
			if i < len(values) && values[i] != "" {
				files[fmt.Sprintf("%s/policy%d/%s", cpufreq, n, file)] = values[i]
			}
		}
	}
	amd, mixed, intel := map[string]string{cpufreq + "/boost": "0"}, map[string]string{}, map[string]string{cpuDir + "/intel_pstate/no_turbo": "1"}
	policy(amd, 0, "acpi-cpufreq", "schedutil", "3707812", "2400000")
	amd[cpuDir+"/cpu0/acpi_cppc/nominal_freq"] = "2400"
	policy(mixed, 0, "amd-pstate-epp", "performance", "3707812", "3707812", "performance", "1")
	policy(mixed, 1, "amd-pstate-epp", "powersave", "3707812", "2000000", "balance_performance", "0")
	silent := map[string]string{}
	policy(silent, 0, "N/A", "N/A", "4294967295", "4294967295", "N/A", "N/A", "4294967295")
	policy(intel, 0, "intel_pstate", "performance", "x", "3800000", "performance", "", "2000000")
	for _, tt := range []struct {
		name             string
		files            map[string]string
		governor, epp    string
		boost            sut.Fact[bool]
		base, top, limit int
	}{
		{"AMD", amd, "schedutil", "", sut.Known(false, cpufreq+"/boost"), 2400, 3707, 2400},
		{"policies that differ", mixed, "1 × performance, 1 × powersave", "1 × balance_performance, 1 × performance", sut.Fact[bool]{}, 0, 3707, 2000},
		{"Intel", intel, "performance", "performance", sut.Known(false, cpuDir+"/intel_pstate/no_turbo"), 2000, 0, 3800},
		{"no values", silent, "", "", sut.Fact[bool]{}, 0, 0, 0},
		{"none", map[string]string{}, "", "", sut.Fact[bool]{}, 0, 0, 0},
	} {
		var c sut.CPU
		fillFrequency(live(t, tt.files), &c)
		if c.Governor.Value != tt.governor || c.EPP.Value != tt.epp || c.Boost.Value != tt.boost.Value || c.Boost.IsKnown() != tt.boost.IsKnown() || c.BaseMHz.Value != tt.base || c.MaxMHz.Value != tt.top || c.LimitMHz.Value != tt.limit {
			t.Errorf("%s: %+v", tt.name, c)
		}
		for _, f := range []sut.Fact[int]{c.BaseMHz, c.MaxMHz, c.LimitMHz} {
			if !f.IsKnown() && f.Unknown+f.NA == "" {
				t.Errorf("%s: a frequency without a reason", tt.name)
			}
		}
	}
}

func TestIdleStates(t *testing.T) {
	files := map[string]string{}
	for n := range 2 {
		for i, off := range []string{"0", "1", fmt.Sprint(n)} {
			dir := fmt.Sprintf("%s/cpu%d/cpuidle/state%d/", cpuDir, n, i)
			files[dir+"name"], files[dir+"latency"], files[dir+"disable"] = fmt.Sprint("C", i), fmt.Sprint(10*i), off
		}
	}
	list := readIdleStates(live(t, files)).Items
	if len(list) != 3 || !list[0].Enabled.Value || list[1].Enabled.Value || !list[1].Enabled.IsKnown() || list[2].Enabled.Value || list[2].Enabled.Other != "it is off on 1 of 2 CPUs" || list[1].LatencyUS.Value != 10 {
		t.Errorf("%+v", list)
	}
	if none := readIdleStates(live(t, nil)); none.Unknown != "" || len(none.Items) > 0 {
		t.Errorf("%+v", none)
	}
}

func TestCacheSizes(t *testing.T) {
	for text, want := range map[string]int64{"64K": 64 << 10, "32768K": 32 << 20, "1M": 1 << 20, "2G": 2 << 30, "512": 512, "": -1, "K": -1, "-5K": -1, "0K": -1, "5KK": -1, "9999999999K": -1} {
		if got, err := parseCacheSize(text); (err == nil) != (want >= 0) || (err == nil && got != want) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}

func TestPowercap(t *testing.T) {
	zone := func(files map[string]string, n int, name, tdp string) {
		dir := fmt.Sprintf("%s/intel-rapl:%d/", powercap, n)
		files[dir+"name"], files[dir+"constraint_0_name"], files[dir+"constraint_0_max_power_uw"], files[dir+"constraint_0_power_limit_uw"] = name, "long_term", tdp, "250000000"
	}
	equal, differ, dies, zero := map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}
	zone(equal, 0, "package-0", "300000000")
	zone(equal, 1, "package-1", "300000000")
	zone(equal, 2, "psys", "999000000")
	zone(differ, 0, "package-0", "300000000")
	zone(differ, 1, "package-1", "205000000")
	zone(dies, 0, "package-0-die-0", "200000000")
	zone(zero, 0, "package-0", "0")
	for name, tt := range map[string]struct {
		files map[string]string
		want  float64
	}{"equal": {equal, 300}, "processors that differ": {differ, 0}, "dies": {dies, 0}, "0 W": {zero, 0}, "none": {nil, 0}} {
		tdp, _ := readPowercap(live(t, tt.files))
		if tdp.Value != tt.want || tdp.IsKnown() != (tt.want > 0) || (tt.want == 0 && tdp.Unknown == "") {
			t.Errorf("%s: %+v", name, tdp)
		}
	}
	if _, limit := readPowercap(live(t, equal)); limit.Value != 250 {
		t.Errorf("%+v", limit)
	}
}

// TestDeviceNodes tells the memory of a GPU and of a CXL device from that of DIMMs.
func TestDeviceNodes(t *testing.T) {
	files := map[string]string{"proc/driver/nvidia/gpus/0000:01:00.0/numa_status": "Node: 2\nStatus: online\n"}
	for n, cpus := range []string{"0-3", "", "", ""} {
		files[fmt.Sprintf("sys/devices/system/node/node%d/cpulist", n)] = cpus
	}
	files["sys/bus/dax/devices/region0/dax_region0/dax0.0/target_node"] = "3"
	h := hosttest.Tree(t, files)
	link(t, h, "sys/bus/dax/devices/dax0.0", "region0/dax_region0/dax0.0")
	var kinds []string
	for _, n := range readNodes(h).Items {
		kinds = append(kinds, n.Kind.Value)
	}
	if fmt.Sprint(kinds) != "[cpu memory gpu cxl]" {
		t.Error(kinds)
	}
}
