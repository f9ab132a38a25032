package probes

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sampled gives the series of one round over all samplers of a host.
func sampled(t *testing.T, list []Sampler) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for _, s := range list {
		samples, err := s.Sample(t.Context())
		if err != nil && s.Name() != "host" { // captures of GPUs alone have no /proc
			t.Fatal(err)
		}
		for _, v := range samples {
			if v.AtUS == 0 || math.IsNaN(v.Value) {
				t.Errorf("sample %+v", v)
			}
			described(t, v.Series)
			out[v.Series] = v.Value
		}
	}
	return out
}

func TestSampleAMD(t *testing.T) {
	got := sampled(t, Samplers(openCapture(t, "testdata/hosts/sysfs-rx6900xt")))
	want := map[string]float64{
		"gpu0.power_w": 36, "gpu0.energy_j": 17691682.0 / 65536, "gpu0.temp_c": 59, "gpu0.mem_temp_c": 54, "gpu0.util_pct": 3, "gpu0.mem_util_pct": 0,
		"gpu0.clock_mhz": 500, "gpu0.mem_clock_mhz": 1000, "gpu0.vram_used_bytes": 668274688, "gpu0.pcie_replays_total": 0,
		"gpu0.throttle_pct": 0, "gpu0.throttle_power_pct": 0, "gpu0.throttle_current_pct": 0, "gpu0.throttle_thermal_pct": 0, "gpu0.throttle_prochot_pct": 0, "gpu0.throttle_other_pct": 0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	gpus := slices.DeleteFunc(Samplers(openCapture(t, "testdata/hosts/bare-metal-mi300x")), func(s Sampler) bool { return s.Name() != "amd" })
	sampled(t, gpus)
	got = sampled(t, gpus) // what is a growth needs two samples
	if got["gpu1.power_w"] != 141 || got["gpu1.mem_temp_c"] != 36 || got["gpu0.clock_min_mhz"] != 131 || got["gpu1.pcie_replays_total"] != 2 || got["gpu1.temp_c"] != 43 || got["gpu0.vram_used_bytes"] != 297795584 {
		t.Errorf("%v", got)
	}
}

func TestSampleNVIDIA(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/hosts/nvidia-h100")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "proc/driver/nvidia/version"), "NVRM version: NVIDIA UNIX x86_64 Kernel Module  590.48.01  Release Build")
	got := sampled(t, Samplers(openCapture(t, dir)))
	want := map[string]float64{
		"gpu0.power_w": 625.68, "gpu0.temp_c": 59, "gpu0.mem_temp_c": 54, "gpu0.util_pct": 100, "gpu0.mem_util_pct": 11, "gpu0.clock_mhz": 1980, "gpu0.mem_clock_mhz": 2619,
		"gpu0.vram_used_bytes": 19818 << 20, "gpu0.pcie_gts": 32, "gpu0.pcie_width": 16,
		"gpu0.throttle_power_s": 0, "gpu0.throttle_thermal_s": 0, "gpu0.throttle_hw_thermal_s": 0, "gpu0.throttle_power_brake_s": 0, "gpu0.throttle_sync_boost_s": 0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSampleLive(t *testing.T) {
	list := Samplers(Live())
	sampled(t, list)
	got := sampled(t, list)
	if got["host.mem_used_bytes"] <= 0 {
		t.Errorf("%v", got)
	}
	if pct, ok := got["host.cpu_pct"]; ok && (pct < 0 || pct > 100) {
		t.Errorf("host.cpu_pct %g", pct)
	}
}

func TestUnit(t *testing.T) {
	for series, want := range map[string]string{
		"gpu0.power_w": "W", "gpu7.temp_c": "°C", "host.cpu_pct": "%", "host.mem_used_bytes": "B", "host.net_rx_bytes_per_s": "B/s", "gpu0.clock_mhz": "MHz", "engine.running": "",
	} {
		if got := Unit(series); got != want {
			t.Errorf("Unit(%s) is %q, not %q", series, got, want)
		}
	}
}
