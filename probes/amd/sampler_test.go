package amd

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// throttling is a table of version 1.7 with counters at so many of so many cycles.
func throttling(prochot, power, thermal, cycles uint64) string {
	return string(table("1.7", 2208, at{10, 2, 740}, at{40, 4, cycles}, at{44, 4, prochot}, at{48, 4, power}, at{52, 4, thermal}, at{56, 4, 0}, at{60, 4, 0}))
}

// samplesOf gives the samples of a device after its table changed.
func samplesOf(t *testing.T, before, after string) map[string]float64 {
	t.Helper()
	h := files(t, machine{}.card("0000:05:00.0", "0x74a1", "gpu_metrics", before))
	s, _ := NewSampler(h)
	first := series0(t, s)
	if _, ok := first["throttle_pct"]; ok && before != after {
		t.Errorf("one sample alone gave a share: %v", first)
	}
	put(t, h, bus+"0000:05:00.0/gpu_metrics", after)
	return series0(t, s)
}

// TestThrottleShares takes the growth of the counters, also over the end of a counter, and nothing where they were set back.
func TestThrottleShares(t *testing.T) {
	all := map[string]float64{"power_w": 740, "throttle_pct": 75, "throttle_power_pct": 75, "throttle_thermal_pct": 10, "throttle_prochot_pct": 0, "throttle_mem_thermal_pct": 0, "throttle_vr_thermal_pct": 0}
	if diff := cmp.Diff(all, samplesOf(t, throttling(7, 1000, 50, 10_000), throttling(7, 1750, 150, 11_000))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	const end = 1<<32 - 2 // all ones stand for none
	if diff := cmp.Diff(all, samplesOf(t, throttling(7, end, 50, end), throttling(7, 748, 150, 998))); diff != "" {
		t.Errorf("over the end (-want +got)\n%s", diff)
	}
	for name, after := range map[string]string{"driver loaded anew": throttling(0, 10, 0, 100), "nothing counted": throttling(7, 1000, 50, 10_000)} {
		got := samplesOf(t, throttling(7, 1000, 50, 10_000), after)
		for series, v := range got {
			if series != "power_w" && v != 0 {
				t.Errorf("%s: %s %g", name, series, v)
			}
		}
	}
}

// TestThrottleBits takes a share of all or nothing where a device states reasons instead of counting.
func TestThrottleBits(t *testing.T) {
	hot := string(table("1.3", 120, at{112, 8, 1 << 36}))
	got := samplesOf(t, hot, hot)
	if got["throttle_thermal_pct"] != 100 || got["throttle_power_pct"] != 0 || got["throttle_pct"] != 100 {
		t.Errorf("%v", got)
	}
}

// TestLinkTraffic takes GB/s of the table as Gb/s, unless the link could not carry them.
func TestLinkTraffic(t *testing.T) {
	for rate, want := range map[uint64]float64{25: 200, 128: 1024, 129: -1, 40_000: -1} {
		b := string(table("1.7", 2208, at{68, 2, 16}, at{70, 2, 320}, at{96, 8, rate}))
		got, ok := samplesOf(t, b, b)["pcie_gbps"]
		if ok != (want >= 0) || (ok && got != want) {
			t.Errorf("%d GB/s: %g", rate, got)
		}
	}
}

// TestSampleDies gives the mean and the slowest of the compute dies.
func TestSampleDies(t *testing.T) {
	b := string(table("1.7", 2208, clocks(296, 2100, 2100, 1800, 2000)...))
	if got := samplesOf(t, b, b); got["clock_mhz"] != 2000 || got["clock_min_mhz"] != 1800 {
		t.Errorf("%v", got)
	}
}

// TestSampleUnreadable gives what is left when the table is cut off or of a version that is not known.
func TestSampleUnreadable(t *testing.T) {
	for _, b := range []string{"", "x", string(table("1.3", 120)[:50]), string(table("9.9", 120)), string(make([]byte, 4096))} {
		h := files(t, machine{}.card("0000:05:00.0", "0x74a1", "gpu_metrics", b, "hwmon/hwmon1/power1_average", "36000000", "mem_info_vram_used", "5"))
		s, _ := NewSampler(h)
		if diff := cmp.Diff(map[string]float64{"power_w": 36, "vram_used_bytes": 5}, series0(t, s)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

// BenchmarkSample is the cost of a sample of eight MI300X: the reads of ordinary files stand for those of the driver.
func BenchmarkSample(b *testing.B) {
	m := machine{}
	for i := range 8 {
		m.card(fmt.Sprintf("0000:%02x:00.0", 16*i+5), "0x74a1", "gpu_metrics", string(table("1.8", 3872, at{6, 2, 60}, at{4, 2, 60}, at{10, 2, 740}, at{40, 4, 1000}, at{44, 4, 0}, at{48, 4, 0}, at{76, 4, 0}, at{80, 4, 0}, at{112, 8, 0}, at{336, 2, 1300}, at{296, 2, 2100})), "mem_info_vram_used", "5", "power/runtime_status", "active")
	}
	s, ok := NewSampler(files(b, m))
	if !ok {
		b.Fatal("no GPU to sample")
	}
	for b.Loop() {
		if _, err := s.Sample(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
