package probes

import (
	"math"
	"os"
	"path/filepath"
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
			if v.AtUS == 0 || Unit(v.Series) == "" || math.IsNaN(v.Value) {
				t.Errorf("sample %+v", v)
			}
			out[v.Series] = v.Value
		}
	}
	return out
}

func TestSampleAMD(t *testing.T) {
	got := sampled(t, Samplers(openCapture(t, "testdata/hosts/sysfs-rx6900xt")))
	want := map[string]float64{"gpu0.power_w": 36, "gpu0.temp_c": 59, "gpu0.util_pct": 3, "gpu0.clock_mhz": 500, "gpu0.vram_used_bytes": 668274688}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	got = sampled(t, Samplers(openCapture(t, "testdata/hosts/bare-metal-mi300x")))
	if got["gpu1.power_w"] != 141 || got["gpu1.temp_c"] != 43 || got["gpu0.vram_used_bytes"] != 297795584 {
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
	want := map[string]float64{"gpu0.power_w": 631.95, "gpu0.temp_c": 59, "gpu0.util_pct": 100, "gpu0.clock_mhz": 1980, "gpu0.vram_used_bytes": 19818 << 20}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestSampleHost samples a host before and after its counters moved.
func TestSampleHost(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) { write(t, filepath.Join(dir, name), text) }
	put("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB\n")
	put("proc/stat", "cpu  100 0 100 700 100 0 0 0 50 0\n")
	put("proc/diskstats", " 8 0 sda 1 0 100 0 1 0 200 0\n 8 1 sda1 1 0 100 0 1 0 200 0\n")
	put("proc/net/dev", "h\nh\n eth0: 1000 0 0 0 0 0 0 0 500 0 0 0 0 0 0 0\n docker0: 9 0 0 0 0 0 0 0 9 0 0 0 0 0 0 0\n")
	put("sys/block/sda/device/model", "disk")
	put("sys/class/net/eth0/device/vendor", "0x1")
	put("sys/class/net/docker0/bridge/x", "")
	list := Samplers(openCapture(t, dir))
	if got := sampled(t, list); len(got) != 1 || got["host.mem_used_bytes"] != 600*1024 {
		t.Errorf("first round: %v", got)
	}
	put("proc/stat", "cpu  160 0 115 725 100 0 0 0 90 0\n") // 75 busy of 100
	put("proc/diskstats", " 8 0 sda 1 0 300 0 1 0 200 0\n 8 1 sda1 1 0 900 0 1 0 900 0\n")
	put("proc/net/dev", "h\nh\n eth0: 10 0 0 0 0 0 0 0 900 0 0 0 0 0 0 0\n docker0: 99 0 0 0 0 0 0 0 99 0 0 0 0 0 0 0\n")
	got := sampled(t, list)
	if got["host.cpu_pct"] != 75 {
		t.Errorf("cpu: %v", got)
	}
	if got["host.disk_read_bytes_per_s"] <= 0 || got["host.disk_write_bytes_per_s"] != 0 || got["host.net_tx_bytes_per_s"] <= 0 {
		t.Errorf("throughput: %v", got)
	}
	if _, ok := got["host.net_rx_bytes_per_s"]; ok {
		t.Error("a counter that started anew gave a rate")
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
