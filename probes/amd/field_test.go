package amd

import (
	"fmt"
	"strings"
	"testing"

	"assay/probes/sut"
)

const (
	mi300x = 0x74a1
	gib    = int64(1) << 30
)

// eight is a machine of eight MI300X.
func eight() machine {
	m := machine{}
	for i := range 8 {
		m.card(fmt.Sprintf("0000:%02x:00.0", 16*i+5), "0x74a1", "mem_info_vram_total", fmt.Sprint(192*gib-3*gib/4)).node(2+i, gpuAt(mi300x, (16*i+5)<<8, 1216, 8))
	}
	return m
}

func TestField_mlperfautomations_1108(t *testing.T) {
	s := probed(t, files(t, eight()))
	if n := len(s.Accelerators.Items); n != 8 {
		t.Fatalf("%d accelerators", n)
	}
	for _, a := range s.Accelerators.Items {
		if a.Name.Value != "AMD Instinct MI300X" || a.ComputeUnits.Value != 304 || a.Arch.Value != "gfx942" || a.VRAMBytes.Value != 192*gib-3*gib/4 || a.MemoryType.Value != "HBM3" || !a.Usable.Value || a.Kind.Value != "discrete" {
			t.Errorf("%+v", a)
		}
	}
}

func TestField_cm4mlops_288(t *testing.T) {
	m := eight()
	m[bus+"0000:01:00.0/vendor"], m[bus+"0000:01:00.0/class"] = "0x1a03", "0x030000" // the BMC's display
	m[bus+"0000:05:00.1/vendor"], m[bus+"0000:05:00.1/class"] = "0x1002", "0x040300" // a sound function
	if s := probed(t, files(t, m)); len(s.Accelerators.Items) != 8 {
		t.Errorf("%d accelerators", len(s.Accelerators.Items))
	}
}

// cpx is an MI300X in eight partitions, to each of which the driver gives so much memory.
func cpx(each int64) machine {
	m := machine{}.card("0000:05:00.0", "0x74a1", "mem_info_vram_total", fmt.Sprint(192*gib), "current_memory_partition", "NPS4", "available_compute_partition", "SPX, DPX, QPX, CPX", "available_memory_partition", "NPS1, NPS4")
	for i := range 8 {
		m.node(2+i, gpuAt(mi300x, 5<<8+i, 152, 1)).bank(2+i, each)
	}
	return m
}

func TestField_ROCm_4750(t *testing.T) {
	a := one(t, files(t, cpx(24*gib)))
	if p := a.Partition; a.VRAMBytes.Value != 192*gib || p.VRAMBytes.Value != 24*gib || p.Count.Value != 8 || p.Compute.Value != "CPX" || p.Memory.Value != "NPS4" || p.ComputeUnits.Value != 38 || a.ComputeUnits.Value != 304 || len(p.Instances.Items) != 8 {
		t.Errorf("%d bytes, %+v", a.VRAMBytes.Value, p)
	}
	if got := fmt.Sprint(a.Partition.AvailableCompute.Items, a.Partition.AvailableMemory.Items); got != "[SPX DPX QPX CPX] [NPS1 NPS4]" {
		t.Error(got)
	}
	m := cpx(192 * gib) // each partition is given the whole
	delete(m, bus+"0000:05:00.0/mem_info_vram_total")
	a = one(t, files(t, m))
	if a.VRAMBytes.Value != 192*gib || a.Partition.VRAMBytes.IsKnown() {
		t.Errorf("%+v, of a partition %+v", a.VRAMBytes, a.Partition.VRAMBytes)
	}
}

func TestField_amdsmi_97(t *testing.T) {
	const mi300a = 0x74a0
	m := machine{}.card("0000:01:00.0", "0x74a0", "mem_info_vram_total", fmt.Sprint(gib/2))
	for i := range 3 {
		m.node(4+i, gpuAt(mi300a, 1<<8+i, 304, 2)).bank(4+i, 32*gib)
	}
	a := one(t, files(t, m))
	if a.Partition.Compute.Value != "TPX" || a.VRAMBytes.Value != 96*gib || a.Partition.VRAMBytes.Value != 32*gib || !a.UnifiedMemory.Value || a.Kind.Value != "integrated" || a.ComputeUnits.Value != 228 {
		t.Errorf("%+v %+v %+v %+v", a.VRAMBytes, a.Partition, a.UnifiedMemory, a.ComputeUnits)
	}
}

func TestField_k8sdeviceplugin_157(t *testing.T) {
	m := machine{"sys/module/amdgpu/srcversion": "ABCDEF0123456789ABCDEF0", "proc/sys/kernel/osrelease": "6.8.0-79-generic"}
	for _, address := range []string{"0000:05:00.0", "0000:26:00.0"} {
		m.card(address, "0x74a1", "current_compute_partition", "CPX")
	}
	for i := range 14 {
		m[fmt.Sprintf("sys/devices/platform/amdgpu_xcp.%d/drm/renderD%d/dev", i, 130+i)] = "226:1"
	}
	s := probed(t, files(t, m))
	if s.Software.AMDGPU.Value != "in-tree 6.8.0-79-generic" || s.Software.AMDGPUSource.Value != "ABCDEF0123456789ABCDEF0" {
		t.Errorf("%+v %+v", s.Software.AMDGPU, s.Software.AMDGPUSource)
	}
	for _, a := range s.Accelerators.Items {
		if a.Partition.Count.Value != 8 || a.DriverKind.Value != "in-tree" || a.Partition.Instances.Unknown == "" {
			t.Errorf("%+v %+v", a.Partition, a.DriverKind)
		}
	}
	if len(s.Accelerators.Items) != 2 {
		t.Errorf("%d accelerators", len(s.Accelerators.Items))
	}
}

func TestField_ROCm_5231(t *testing.T) {
	limits := []string{"hwmon/hwmon1/power1_cap", "750000000", "hwmon/hwmon1/power1_cap_min", "0", "hwmon/hwmon1/power1_cap_max", "750000000"}
	for id, want := range map[string]bool{"0x74b5": false, "0x74a1": true} {
		a := one(t, files(t, machine{}.card("0000:05:00.0", id, limits...)))
		if settable, ok := a.PowerCapSettable.Get(); !ok || settable != want || a.VirtualFunction.Value == want {
			t.Errorf("%s: %+v, %+v", id, a.PowerCapSettable, a.VirtualFunction)
		}
	}
}

// charged is a card whose counter of energy is at so many steps.
func charged(steps uint64) string {
	return string(table("1.3", 120, card1x(at{24, 8, steps})...))
}

// growth reads a counter at two moments through the sampler.
func growth(t *testing.T, series, before, after string, more ...string) (float64, bool) {
	t.Helper()
	h := files(t, machine{}.card("0000:05:00.0", "0x74a1", append([]string{"gpu_metrics", before}, more...)...))
	s, ok := NewSampler(h)
	if !ok {
		t.Fatal("no GPU to sample")
	}
	first := series0(t, s)
	put(t, h, bus+"0000:05:00.0/gpu_metrics", after)
	second := series0(t, s)
	if _, there := second[series]; !there {
		return 0, false
	}
	return second[series] - first[series], true
}

func series0(t *testing.T, s *Sampler) map[string]float64 {
	t.Helper()
	list, err := s.Sample(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, v := range list {
		out[strings.TrimPrefix(v.Series, "gpu0.")] = v.Value
	}
	return out
}

func TestField_amdsmi_38(t *testing.T) {
	if j, _ := growth(t, "energy_j", charged(1_000_000), charged(1_000_000+65536*700)); j != 700 {
		t.Errorf("%g J", j)
	}
}

func TestField_rocmsystems_6654(t *testing.T) {
	g := capturedCard(t, "amd/sysfs-rx6900xt", "card0")
	if j := g.energyJ().Value; j < 269.94 || j > 269.97 {
		t.Errorf("%g J of 17691682 steps of 15.259 µJ", j)
	}
}

// package250 is a package of an MI250: of its two dies the first reports power and energy.
func package250() machine {
	first, second := table("1.3", 120, card1x()...), table("1.3", 120, card1x(at{22, 2, 0}, at{24, 8, 0})...)
	return machine{}.card("0000:29:00.0", "0x740c", "gpu_metrics", string(first), "hwmon/hwmon2/power1_average", "250000000",
		"hwmon/hwmon2/power1_cap", "560000000", "hwmon/hwmon2/power1_cap_default", "560000000", "hwmon/hwmon2/power1_cap_max", "560000000").
		card("0000:2c:00.0", "0x740c", "gpu_metrics", string(second), "hwmon/hwmon3/power1_cap", "0", "hwmon/hwmon3/power1_cap_default", "0", "hwmon/hwmon3/power1_cap_max", "0")
}

func TestField_rocmsmilib_180(t *testing.T) {
	h := files(t, package250())
	s, _ := NewSampler(h)
	got := series0(t, s)
	if got["energy_j"] != 3 {
		t.Errorf("%v", got)
	}
	if _, second := got["gpu1.energy_j"]; second {
		t.Errorf("the package's energy stands at both dies: %v", got)
	}
}

func TestField_variorum_553(t *testing.T) {
	s := probed(t, files(t, package250()))
	if p := s.Accelerators.Items[0].PowerW; p.Value != 250 {
		t.Errorf("%+v", p)
	}
	second := s.Accelerators.Items[1]
	for _, p := range []sut.Fact[float64]{second.PowerW, second.PowerCapW, second.PowerDefaultW, second.PowerMaxW} {
		if p.IsKnown() || !strings.Contains(p.NA, "first die") {
			t.Errorf("%+v", p)
		}
	}
	if c := s.Accelerators.Items[0].PowerCapW; c.Value != 560 {
		t.Errorf("%+v", c)
	}
}

func TestField_devicemetricsexporter_233(t *testing.T) {
	m := machine{}.card("0002:00:02.0", "0x74b5", "unique_id", "0000000000000000", "product_name", "Aqua Vanjaram [Instinct MI300X VF]", "mem_info_vram_total", "205822885888")
	a := one(t, files(t, m.node(1, strings.ReplaceAll(gpuAt(0x74b5, 16, 1216, 8), "domain 0", "domain 2")+"\nunique_id 0")))
	if a.SerialHash.IsKnown() || a.Name.Value != "AMD Instinct MI300X VF" || a.Partition.Count.Value != 1 || a.Virtualization.Value != "vgpu" || a.VRAMBytes.Value != 205822885888 {
		t.Errorf("%+v %+v %+v", a.SerialHash, a.Name, a.Partition)
	}
}

// busy is a table of version 1.7 with one reading of activity, its sum so far, and the cycles in which it was summed up.
func busy(reading, sum, cycles uint64) string {
	return string(table("1.7", 2208, at{12, 2, reading}, at{76, 4, sum}, at{40, 4, cycles}))
}

func TestField_devicemetricsexporter_160(t *testing.T) {
	if pct, ok := growth(t, "util_pct", busy(0, 5000, 100), busy(0, 105000, 1100), "gpu_busy_percent", "0"); !ok || pct != 100 {
		t.Errorf("%g %% of a device at work whose reading is stuck at 0", pct)
	}
}

func TestField_devicemetricsexporter_139(t *testing.T) {
	if pct, ok := growth(t, "util_pct", busy(13, 5000, 100), busy(13, 5000, 1100), "gpu_busy_percent", "13"); !ok || pct != 0 {
		t.Errorf("%g %% of a device at rest", pct)
	}
}

func TestField_devicemetricsexporter_353(t *testing.T) {
	silent := string(table("2.1", 120, at{4, 2, 0}, at{40, 2, 0}))
	for sensor, want := range map[string]float64{"": -1, "21000000": 21} {
		m := machine{}.card("0000:c4:00.0", "0x150e", "gpu_metrics", silent, "hwmon/hwmon1/name", "amdgpu")
		if sensor != "" {
			m[bus+"0000:c4:00.0/hwmon/hwmon1/power1_input"] = sensor
		}
		a := one(t, files(t, m))
		if orMinus(a.PowerW) != want || a.Temperatures.EdgeC.IsKnown() || a.Kind.Value != "integrated" || !a.UnifiedMemory.Value {
			t.Errorf("sensor %q: %+v %+v", sensor, a.PowerW, a.Temperatures.EdgeC)
		}
	}
}

func TestField_rocmsystems_11468(t *testing.T) {
	m := eight().card("0000:05:00.0", "0x74a1", "ras/umc_err_count", "ue: 1\nce: 4\n", "ras/xgmi_wafl_err_count", "ue: 2\nce: 0\n", "xgmi_error/unreadable", "")
	r := probed(t, files(t, m)).Accelerators.Items[0].RAS
	if r.FabricUncorrectable.Value != 2 || r.Uncorrectable.Value != 3 || r.Correctable.Value != 4 {
		t.Errorf("%+v", r)
	}
}

func TestField_rocmsystems_5763(t *testing.T) {
	m := machine{}
	for i := range 3 {
		m.node(2+i, gpuAt(0x740c, (0x29+i)<<8, 440, 1))
	}
	m.joined(2, 3, "11", 15, 200000).joined(2, 4, "11", 30, 50000)
	s := probed(t, files(t, m))
	want := "[0000:29:00.0 to 0000:2a:00.0: xgmi, weight 15, hops 1, 200000 MB/s 0000:29:00.0 to 0000:2b:00.0: xgmi, weight 30, hops 2, 50000 MB/s]"
	if got := fmt.Sprint(s.Interconnect.Links.Items); got != want {
		t.Error(got)
	}
}

func TestField_rccl_1290(t *testing.T) {
	m := machine{}
	for i := range 2 {
		for p := range 8 {
			m.node(2+8*i+p, gpuAt(mi300x, (5+i)<<8+p, 152, 1))
		}
	}
	m.joined(2, 3, "11", 13, 819200).joined(2, 10, "11", 41, 0).joined(10, 2, "11", 41, 0).joined(10, 9, "11", 41, 0)
	s := probed(t, files(t, m))
	if s.Interconnect.Kind.Value != "xgmi" || len(s.Interconnect.Links.Items) != 2 || s.Accelerators.Items[0].XGMIPeers.Value != 1 {
		t.Errorf("%+v %+v", s.Interconnect, s.Accelerators.Items[0].XGMIPeers)
	}
	if got := s.Interconnect.Links.Items[0]; got != "0000:05:00.0 to 0000:06:00.0: xgmi, weight 41, hops 1" {
		t.Error(got)
	}
}

func TestField_rocmsystems_2053(t *testing.T) {
	down := string(table("1.7", 2208, clocks(264, 0, 0, 0, 0, 0, 0, 0, 0)...))
	alone := machine{}.card("0000:05:00.0", "0x74a1", "gpu_metrics", down).node(2, gpuAt(mi300x, 5<<8, 1216, 8)).joined(2, 0, typePCIe, 20, 32000)
	if f := one(t, files(t, alone)).Fabric; f.LinksDown.NA == "" || f.LinkGbps.NA == "" {
		t.Errorf("without XGMI: %+v", f)
	}
	guest := machine{}.card("0000:05:00.0", "0x74b5", "gpu_metrics", down)
	if f := one(t, files(t, guest)).Fabric; f.LinksDown.IsKnown() || !strings.Contains(f.LinksUp.Unknown, "all 8 links are down") {
		t.Errorf("in a guest: %+v", f)
	}
}

func TestField_ROCm_4454(t *testing.T) {
	m := machine{}.card("0000:05:00.0", "0x75a3", "product_name", "").node(2, gpuAt(0x75a3, 5<<8, 1024, 8))
	m[nodes+"2/name"] = "ip discovery"
	if a := one(t, files(t, m)); a.Name.Value != "AMD Instinct MI355X" {
		t.Errorf("%+v", a.Name)
	}
}

func TestField_gfx942_gfx943(t *testing.T) {
	m := eight()
	for name, text := range map[string]string{"major": "9", "minor": "4", "revision": "3"} {
		m[bus+"0000:05:00.0/ip_discovery/die/0/GC/0/"+name] = text
	}
	if a := probed(t, files(t, m)).Accelerators.Items[0]; a.Arch.Value != "gfx942" || !strings.Contains(a.Arch.Other, "9.4.3") {
		t.Errorf("%+v", a.Arch)
	}
}

func TestField_nvtop_341(t *testing.T) {
	a := one(t, files(t, machine{}.card("0000:05:00.0", "0x74a1", "class", "0x120000")))
	if a.PCI.Address.Value != "0000:05:00.0" || a.Name.Value != "AMD Instinct MI300X" {
		t.Errorf("%+v", a.PCI)
	}
}

func TestField_ROCm_1434(t *testing.T) {
	for _, text := range []string{"", "unknown"} {
		a := one(t, files(t, machine{}.card("0000:05:00.0", "0x738c", "mem_info_vram_total", "34342961152", "mem_info_vram_vendor", text)))
		if a.MemoryVendor.IsKnown() || a.MemoryVendor.Unknown == "" || a.VRAMBytes.Value != 34342961152 {
			t.Errorf("%q: %+v %+v", text, a.MemoryVendor, a.VRAMBytes)
		}
	}
	if a := one(t, files(t, machine{}.card("0000:05:00.0", "0x738c", "mem_info_vram_vendor", "samsung"))); a.MemoryVendor.Value != "samsung" {
		t.Errorf("%+v", a.MemoryVendor)
	}
}

func TestField_pciutils_151(t *testing.T) {
	window := []string{"resource", "0x00000038000000000 0x0000003800fffffff 0x000000000014220c\n"} // 256 MiB
	if a := one(t, files(t, machine{}.card("0000:05:00.0", "0x740f", window...))); a.VRAMBytes.IsKnown() {
		t.Errorf("%+v", a.VRAMBytes)
	}
	if a := one(t, files(t, machine{}.card("0000:05:00.0", "0x740f", append(window, "mem_info_vram_total", "68702699520")...))); a.VRAMBytes.Value != 68702699520 {
		t.Errorf("%+v", a.VRAMBytes)
	}
}

func TestField_amdgpu_127(t *testing.T) {
	renoir := machine{}.card("0000:04:00.0", "0x1636", "class", "0x030000").node(0, "cpu_cores_count 12\nsimd_count 108\ndevice_id 5686\nlocation_id 1024\ndomain 0")
	a := one(t, files(t, renoir))
	if a.ComputeUnits.IsKnown() || !strings.Contains(a.ComputeUnits.Unknown, "27") || a.Kind.Value != "integrated" {
		t.Errorf("%+v %+v", a.ComputeUnits, a.Kind)
	}
	halo := machine{}.card("0000:c4:00.0", "0x1586", "class", "0x030000").node(1, gpuAt(0x1586, 0xc4<<8, 160, 1)+"\ngfx_target_version 110501")
	halo[nodes+"1/properties"] = strings.ReplaceAll(halo[nodes+"1/properties"], "gfx_target_version 90402", "")
	if a := one(t, files(t, halo)); a.ComputeUnits.Value != 40 || a.Kind.Value != "integrated" || !a.UnifiedMemory.Value {
		t.Errorf("an APU with a node of its own: %+v %+v", a.ComputeUnits, a.Kind)
	}
}

func TestField_MxGPUVirtualization_26(t *testing.T) {
	const all = "18446744073709551615"
	a := one(t, files(t, machine{}.card("0000:05:00.0", "0x740f", "hwmon/hwmon1/power1_cap", "300000000", "hwmon/hwmon1/power1_cap_default", "0", "hwmon/hwmon1/power1_cap_min", all, "hwmon/hwmon1/power1_cap_max", all)))
	if a.PowerCapW.Value != 300 || a.PowerDefaultW.IsKnown() || a.PowerMinW.IsKnown() || a.PowerMaxW.IsKnown() || a.PowerCapSettable.IsKnown() {
		t.Errorf("%+v %+v %+v %+v", a.PowerCapW, a.PowerDefaultW, a.PowerMinW, a.PowerMaxW)
	}
}

func TestField_btop_818(t *testing.T) {
	for _, c := range []struct {
		files []string
		want  float64
	}{
		{nil, -1},
		{[]string{"hwmon/hwmon1/power1_input", "0"}, -1},
		{[]string{"hwmon/hwmon1/power1_input", "0", "hwmon/hwmon1/power1_average", "8000000"}, 8},
		{[]string{"hwmon/hwmon1/power1_input", "141000000", "hwmon/hwmon1/power1_average", "8000000"}, 141},
	} {
		h := files(t, machine{}.card("0000:05:00.0", "0x687f", c.files...))
		s, _ := NewSampler(h)
		sample, there := series0(t, s)["power_w"]
		if a := one(t, h); orMinus(a.PowerW) != c.want || there != (c.want >= 0) || (there && sample != c.want) {
			t.Errorf("%v: %+v, sampled %g", c.files, a.PowerW, sample)
		}
	}
}
