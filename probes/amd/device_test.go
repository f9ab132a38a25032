package amd

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/probes/host"
	"assay/probes/sut"
)

// TestNoInventedLimits reads limits as broken drivers give them.
func TestNoInventedLimits(t *testing.T) {
	for text, want := range map[string]float64{"300000000": 300, "0": -1, "18446744073709551615": -1, "4294967295000000": -1, "N/A": -1, "": -1, "-5": -1} {
		g := gpu{h: files(t, map[string]string{"hw/power1_cap": text}), hwmon: "/hw"}
		if f := g.limit("power1_cap"); orMinus(f) != want || (want < 0 && f.Unknown == "") {
			t.Errorf("%q gives %+v", text, f)
		}
		if f := g.limit("absent"); f.IsKnown() || !strings.Contains(f.Unknown, "absent") {
			t.Errorf("%+v", f)
		}
	}
}

func TestLevels(t *testing.T) {
	for text, want := range map[string][2]float64{ // highest, now
		"0: 500Mhz *\n1: 2660Mhz \n":               {2660, 500},
		"S: 133Mhz *\n0: 500Mhz\n1: 2100Mhz\n":     {2100, 133},
		"0: 96Mhz\n1: 456Mhz\n":                    {456, -1}, // none in force
		"0: 852Mhz\n1: 1590Mhz *\n2: 991Mhz\n":     {1590, 1590},
		"0: 0Mhz *\n1: 0Mhz *\n":                   {-1, -1},
		"":                                         {-1, -1},
		"0: 2.5GT/s, x1 310Mhz\n":                  {-1, -1},
		"S: 500Mhz\n1: 789Mhz *\n2: 2070Mhz\n":     {2070, 789},
		"0: 99999999999999999999Mhz *\n1: 5 Mhz\n": {-1, -1},
	} {
		f := levels(sut.Known(text, "f"))
		if got := [2]float64{orMinus(highest(f)), orMinus(now(f))}; got != want {
			t.Errorf("%q gives %v, not %v", text, got, want)
		}
	}
}

func FuzzLevels(f *testing.F) {
	f.Add("S: 133Mhz *\n0: 500Mhz\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseLevels(text)
		if (err == nil) != (len(list) > 0) {
			t.Errorf("%v, %v", list, err)
		}
		for _, l := range list {
			if l.mhz <= 0 {
				t.Errorf("%+v", list)
			}
		}
	})
}

// TestCapturedClocks reads the levels and sensors of real cards.
func TestCapturedClocks(t *testing.T) {
	for name, want := range map[string]string{
		"amd/sysfs-rx6900xt card0 auto":                    "500 2660 1000 1000 59 110 54 100",
		"amd/sysfs-rx9070 card1 manual":                    "900 2070 1124 1258 52 110 72 108",
		"amd/sysfs-vega56 card0 auto":                      "26 1590 167 920 38 105 39 95",
		"amd/drm-vega10-procfs/sys/class/drm card0 manual": "852 1630 167 945 -1 -1 -1 -1",
	} {
		words := strings.Fields(name)
		g := capturedCard(t, words[0], words[1])
		c, at := g.clocks(), g.temperatures()
		got := fmt.Sprint(orMinus(c.GfxMHz), orMinus(c.GfxMaxMHz), orMinus(c.MemMHz), orMinus(c.MemMaxMHz), orMinus(at.HotspotC), orMinus(at.HotspotLimitC), orMinus(at.MemC), orMinus(at.MemLimitC))
		if level := g.waking("power_dpm_force_performance_level"); got != want || level.Value != words[2] {
			t.Errorf("%s: %s, not %s; %+v", name, got, want, level)
		}
	}
}

// TestCapturedVega reads the card that the exporter's tests hold.
func TestCapturedVega(t *testing.T) {
	h := captured(t, "amd/drm-vega10-procfs", "")
	put(t, h, "usr/share/libdrm/amdgpu.ids", "687F,\tC0,\tAMD Radeon RX Vega\n687F,\tC1,\tAMD Radeon RX Vega 64\n")
	a := one(t, h)
	if a.Name.Value != "AMD Radeon RX Vega 64" || a.VRAMBytes.Value != 8573157376 || a.VRAMUsedBytes.Value != 1490378752 || a.VBIOS.Value != "115-D050PIL-100" || a.Link.GTS.Value != 8 || a.Link.Width.Value != 16 || a.NUMANode.IsKnown() || a.UtilPct.Value != 4 || a.MemoryVendor.Value != "samsung" || a.PCI.SubsystemVendorID.Value != "0x1043" {
		t.Errorf("%+v", a)
	}
	if e := a.LinkErrors; orMinus(e.Replays) != 0 || orMinus(e.AERCorrectable) != 0 || orMinus(e.AERNonfatal) != 0 || orMinus(e.AERFatal) != 0 || e.NAKsSent.IsKnown() {
		t.Errorf("%+v", e)
	}
}

// TestFirmware takes the driver's folder, else the list for root of the card.
func TestFirmware(t *testing.T) {
	m := machine{}.card("0000:05:00.0", "0x74a1", "fw_version/smc_fw_version", "0x00557f00", "fw_version/vcn_fw_version", "0x00000000", "fw_version/sdma_fw_version", "0x00000018")
	got := ""
	for _, f := range one(t, files(t, m)).Firmware.Items {
		got += f.Name.Value + " " + f.Version.Value + ", "
	}
	if got != "sdma 0x00000018, smc 0x00557f00, " {
		t.Error(got)
	}
	h := files(t, machine{}.card("0000:05:00.0", "0x687f", "drm/card3/dev", "226:3"))
	text, err := os.ReadFile(fixtures + "amd/debugfs-vega10/amdgpu_firmware_info")
	if err != nil {
		t.Skipf("no public captures here: %v", err)
	}
	put(t, h, "sys/kernel/debug/dri/3/amdgpu_firmware_info", string(text))
	a := one(t, h)
	byName := map[string]string{}
	for _, f := range a.Firmware.Items {
		byName[f.Name.Value] = f.Version.Value
	}
	if byName["smc"] != "0x001c2800" || byName["sdma0"] != "0x00000197" || byName["sos"] != "0x00161a92" || byName["mc"] != "" || len(byName) != strings.Count(string(text), "firmware version: 0x")-strings.Count(string(text), "version: 0x00000000") {
		t.Errorf("%v", byName)
	}
	if _, want, ok := strings.Cut(string(text), "VBIOS version: "); ok && a.VBIOS.Value != strings.TrimSpace(want) {
		t.Errorf("%+v, not %s", a.VBIOS, want)
	}
}

func FuzzFirmwareInfo(f *testing.F) {
	f.Add("SMC feature version: 0, firmware version: 0x001c2800\nVBIOS version: 113-D0513700-001\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, vbios := parseFirmwareInfo(text, "f")
		for _, fw := range list {
			if strings.Trim(fw.Version.Value, "0x") == "" {
				t.Errorf("%+v", fw)
			}
		}
		if vbios.IsKnown() && vbios.Value == "" {
			t.Error("an empty version is known")
		}
	})
}

// TestMemoryErrors sums the blocks that can be read and counts pages by their flags.
func TestMemoryErrors(t *testing.T) {
	m := machine{}.card("0000:05:00.0", "0x74a1", "ras/umc_err_count", "ue: 1\nce: 40\nde: 2\n", "ras/gfx_err_count", "ue: 0\nce: 2\n", "ras/sdma_err_count", "garbage", "ras/features", "feature mask: 0x3fff",
		"ras/gpu_vram_bad_pages", "0x00000001 : 0x00001000 : R\n0x00000002 : 0x00001000 : P\n0x00000003 : 0x00001000 : R\n")
	a := one(t, files(t, m))
	r := a.RAS
	if r.Correctable.Value != 42 || r.Uncorrectable.Value != 1 || !strings.Contains(r.Correctable.Other, "sdma_err_count") || r.BadPages.Value != 2 || r.PendingPages.Value != 1 || r.RemapFailed.Value || r.FabricUncorrectable.IsKnown() || !a.ECC.Value {
		t.Errorf("%+v", r)
	}
	m[bus+"0000:05:00.0/ras/gpu_vram_bad_pages"] = "0x00000003 : 0x00001000 : F\n"
	if r := one(t, files(t, m)).RAS; !r.RemapFailed.Value || r.BadPages.Value != 0 {
		t.Errorf("%+v", r)
	}
	r = one(t, files(t, machine{}.card("0000:05:00.0", "0x74a1"))).RAS
	if r.Correctable.IsKnown() || r.Uncorrectable.Unknown == "" || r.BadPages.Unknown == "" || r.FabricUncorrectable.Unknown == "" {
		t.Errorf("%+v", r)
	}
}

// TestWordsForNone: what stands in a device's files where there is no value is none.
func TestWordsForNone(t *testing.T) {
	for _, none := range []string{"N/A", "[N/A]", "ERR!", "[Not Supported]", "Unknown Error", "-1", "0xffffffff", "\xff\xff\xff\xff", "\x1b[31m7\x1b[0m"} {
		a := one(t, files(t, machine{}.card("0000:05:00.0", "0x74a1", "vbios_version", none, "mem_info_vram_vendor", none, "unique_id", none, "fw_version/smc_fw_version", none,
			"current_compute_partition", none, "available_memory_partition", none, "power_dpm_force_performance_level", none, "ras/features", none, "ras/gpu_vram_bad_pages", none)))
		for _, known := range []bool{
			a.VBIOS.IsKnown(), a.MemoryVendor.IsKnown(), a.SerialHash.IsKnown(), a.Partition.Compute.IsKnown(), a.PerfLevel.IsKnown(), a.ECC.IsKnown(),
			a.RAS.BadPages.IsKnown(), a.RAS.PendingPages.IsKnown(), a.RAS.RemapFailed.IsKnown(), len(a.Partition.AvailableMemory.Items) > 0, len(a.Firmware.Items) > 0 && a.Firmware.Items[0].Version.IsKnown(),
		} {
			if known {
				t.Errorf("%q is taken for a value: %+v", none, a)
				break
			}
		}
	}
}

func FuzzErrors(f *testing.F) {
	f.Add("ue: 1\nce: 40\n")
	f.Add("0x00000001 : 0x00001000 : R\n")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := parseErrorCount(text); err == nil && (c.correctable < 0 || c.uncorrectable < 0) {
			t.Errorf("%+v", c)
		}
		flags, _ := pageFlags("pages", text)
		for flag, n := range flags {
			if n <= 0 {
				t.Errorf("%d pages %q", n, flag)
			}
		}
	})
}

// TestSleep leaves a device asleep: nothing is read that would wake it, and each such fact says why.
func TestSleep(t *testing.T) {
	m := machine{}.card("0000:05:00.0", "0x74a1", "power/runtime_status", "suspended", "gpu_metrics", string(table("1.3", 120, card1x()...)), "hwmon/hwmon1/power1_cap", "750000000",
		"gpu_busy_percent", "3", "current_compute_partition", "SPX", "pcie_replay_count", "3", "ras/umc_err_count", "ue: 0\nce: 0\n", "mem_info_vram_total", "206141652992", "vbios_version", "113-M3000100-103")
	h := files(t, m)
	a := one(t, h)
	for what, reason := range map[string]string{
		"power": a.PowerW.Unknown, "cap": a.PowerCapW.Unknown, "partition": a.Partition.Compute.Unknown, "load": a.UtilPct.Unknown, "replays": a.LinkErrors.Replays.Unknown,
		"RAS": a.RAS.Correctable.Unknown, "throttle": a.Throttle.Unknown, "clock": a.Clocks.GfxMHz.Unknown, "link": a.Link.MaxGTS.Unknown,
	} {
		if reason != "the device is suspended, and a read would wake it" {
			t.Errorf("%s: %q", what, reason)
		}
	}
	if a.VRAMBytes.Value != 206141652992 || a.VBIOS.Value != "113-M3000100-103" || a.RuntimeStatus.Value != "suspended" {
		t.Errorf("%+v %+v", a.VRAMBytes, a.VBIOS)
	}
	s, _ := NewSampler(h)
	if got := series0(t, s); got["power_w"] != 0 || got["temp_c"] != 0 {
		t.Errorf("%v", got)
	}
	put(t, h, bus+"0000:05:00.0/power/runtime_status", "active")
	if got := series0(t, s); got["power_w"] != 250 || got["temp_c"] != 61 {
		t.Errorf("awake: %v", got)
	}
}

// TestVirtualFunctions counts a device and not the functions that it is divided into.
func TestVirtualFunctions(t *testing.T) {
	h := files(t, machine{}.card("0000:05:00.0", "0x74a1").card("0000:05:02.0", "0x74b5"))
	for link, target := range map[string]string{"0000:05:00.0/virtfn0": "../0000:05:02.0", "0000:05:02.0/physfn": "../0000:05:00.0"} {
		if err := os.Symlink(target, filepath.Join(h.Root, bus, link)); err != nil {
			t.Fatal(err)
		}
	}
	a := one(t, h)
	if a.VirtualFunction.Value || fmt.Sprint(a.Partition.Instances.Items) != "[virtual function 0000:05:02.0]" {
		t.Errorf("%+v %+v", a.VirtualFunction, a.Partition.Instances)
	}
}

// TestDrivers reads who made the driver, what else is installed, and every tree of ROCm.
func TestDrivers(t *testing.T) {
	for _, c := range []struct{ version, installed, want, kind, other string }{
		{"6.10.5", "amdgpu-6.10.5-2084815.22.04", "6.10.5", "dkms", ""},
		{"6.10.5", "amdgpu-6.12.12-2164967.24.04", "6.10.5", "dkms", "amdgpu-6.12.12-2164967.24.04 is installed"},
		{"", "amdgpu-6.12.12-2164967.24.04", "in-tree 6.8.0-79-generic", "in-tree", "is not what is loaded"},
	} {
		m := map[string]string{"sys/module/amdgpu/srcversion": "AB", "proc/sys/kernel/osrelease": "6.8.0-79-generic", "usr/src/" + c.installed + "/dkms.conf": ""}
		if c.version != "" {
			m["sys/module/amdgpu/version"] = c.version
		}
		version, kind := readDriver(files(t, m))
		if version.Value != c.want || kind.Value != c.kind || (c.other == "") != (version.Other == "") || !strings.Contains(version.Other, c.other) {
			t.Errorf("%+v: %+v %+v", c, version, kind)
		}
	}
	if version, kind := readDriver(host.Host{Root: t.TempDir()}); version.IsKnown() || kind.IsKnown() {
		t.Errorf("no driver: %+v %+v", version, kind)
	}
	h := files(t, map[string]string{"opt/rocm-6.3.2/.info/version": "6.3.2-66", "opt/rocm-7.0.0/.info/version": "7.0.0-38"})
	if err := os.Symlink("rocm-6.3.2", filepath.Join(h.Root, "opt/rocm")); err != nil {
		t.Fatal(err)
	}
	version, trees := readROCm(h)
	if version.Value != "6.3.2-66" || fmt.Sprint(trees.Items) != "[6.3.2-66 in /opt/rocm-6.3.2 7.0.0-38 in /opt/rocm-7.0.0]" || !strings.Contains(version.Other, "7.0.0-38") {
		t.Errorf("%+v %+v", version, trees)
	}
	version, trees = readROCm(files(t, map[string]string{"opt/rocm/core-7.10/.info/version": "7.10.0"}))
	if version.Value != "7.10.0" || len(trees.Items) != 1 || version.Other != "" {
		t.Errorf("%+v %+v", version, trees)
	}
}

func FuzzLookupName(f *testing.F) {
	f.Add("# list\n73BF,\tC0,\tAMD Radeon RX 6900 XT\n", "73bf", "c0")
	f.Fuzz(func(t *testing.T, text, id, revision string) {
		if name := lookupName(text, id, revision); !strings.Contains(text, name) {
			t.Errorf("%q is not in the list", name)
		}
	})
}

// TestBrokenFiles overwrites every file of two GPUs and their topology with what a broken driver gives: nothing of it becomes a value.
func TestBrokenFiles(t *testing.T) {
	h := host.Host{Root: t.TempDir()}
	if err := os.CopyFS(filepath.Join(h.Root, "sys"), os.DirFS("../testdata/hosts/bare-metal-mi300x/sys")); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "N/A", "none", "UNKNOWN", "-1", "4294967295", "18446744073709551615", "0xffffffff", strings.Repeat("\xff", 4096), "\x00\x01\x02", "99999999999999999999999"} {
		overwrite(t, h.Root, bad)
		s := probed(t, h)
		if n := len(s.Accelerators.Items); n != 2 {
			t.Errorf("%.30q: %d accelerators", bad, n)
		}
		doc, err := json.MarshalIndent(s.Accelerators, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		sentinel := regexp.MustCompile(`(?i)"[a-z_]+": [{\n ]*"(value": (-1|4294967295|18446744073709551615|"(|n/a|none|unknown|-1|4294967295|0xffffffff|18446744073709551615|[^"\n]*[^ -~\n][^"\n]*)")|n/a|unknown)[,\n]`)
		if found := sentinel.Find(doc); found != nil {
			t.Errorf("%.30q became %.100s", bad, found)
		}
		sampler, _ := NewSampler(h)
		for series, v := range series0(t, sampler) {
			if v != 0 {
				t.Errorf("%.30q: %s %g", bad, series, v)
			}
		}
	}
}

// overwrite leaves what makes a device one.
func overwrite(t *testing.T, root, text string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		mine := strings.Contains(name, ":00.0/") || strings.Contains(name, "/kfd/")
		if err != nil || !d.Type().IsRegular() || !mine || slices.Contains([]string{"vendor", "class", "device"}, d.Name()) {
			return err
		}
		return os.WriteFile(name, []byte(text), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}
