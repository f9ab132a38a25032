package telemetry

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"assay/probes"
	"assay/result"
)

// series makes samples of pairs of a time, s, and a value.
func series(name string, atAndValue ...float64) []probes.Sample {
	var out []probes.Sample
	for i := 0; i < len(atAndValue); i += 2 {
		out = append(out, probes.Sample{AtUS: int64(atAndValue[i] * 1e6), Series: name, Value: atAndValue[i+1]})
	}
	return out
}

// each makes a sample a step from one time to another, s.
func each(name string, from, to, step float64, value func(t float64) float64) []probes.Sample {
	var out []probes.Sample
	for t := from; t <= to; t += step {
		out = append(out, probes.Sample{AtUS: int64(t * 1e6), Series: name, Value: value(t)})
	}
	return out
}

func pointer(v float64) *float64 { return &v }

// joined puts the samples of several series into the order of their times, as a run has them.
func joined(all ...[]probes.Sample) []probes.Sample {
	var out []probes.Sample
	for _, s := range all {
		out = append(out, s...)
	}
	return out
}

// TestSummarise: what is told of a window is of the samples in it; energy and growth reach to its edges.
func TestSummarise(t *testing.T) {
	samples := joined(
		series("gpu0.power_w", 9, 100, 10, 100, 11, 300, 13, 200, 14, 200),
		series("gpu1.power_w", 10, 70), // one sample spans no time
		series("host.cpu_pct", 8, 50, 9, 60),
		series("host.mem_used_bytes", 8, 1),
		series("gpu0.pcie_replays_total", 10, 4), // one sample tells no growth, not even none
		series("engine.generation_tokens", 9, 1000, 11, 1200, 13, 1400, 15, 1700))
	want := map[string]result.Telemetry{
		"gpu0.power_w": {Unit: "W", Min: 100, Mean: 200, Max: 300, N: 3, SpanS: 3, MaxGapS: 2, Coverage: 1, Method: "trapezoid",
			EnergyJ: pointer(0.5*100 + 1*(100+300)/2 + 2*(300+200)/2 + 0.5*200), HeldS: 0.5},
		"gpu1.power_w":            {Unit: "W", Min: 70, Mean: 70, Max: 70, N: 1, MaxGapS: 3.5, EnergyUnknown: "samples tell of 0.0 % of the window, the longest gap is 3.5 s"},
		"gpu0.pcie_replays_total": {Min: 4, Mean: 4, Max: 4, N: 1, MaxGapS: 3.5},
		// 1.5 s of 100/s up to 11, 2 s of 100/s, 0.5 s of 150/s
		"engine.generation_tokens": {Min: 1200, Mean: 1300, Max: 1400, N: 2, SpanS: 2, MaxGapS: 2, Coverage: 1, Growth: pointer(425)},
	}
	if diff := cmp.Diff(want, Summarise(samples, 9.5e6, 13.5e6), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Error(diff)
	}
	for _, w := range [][2]int64{{0, 0}, {5, 1}, {1e9, 2e9}} {
		if got := Summarise(samples, w[0], w[1]); got == nil || len(got) != 0 {
			t.Errorf("window %v gives %v", w, got)
		}
	}
}

// TestEnergy: a device that draws 200 + 100·sin(t) W for a minute, seen in different ways.
func TestEnergy(t *testing.T) {
	watts := func(t float64) float64 { return 200 + 100*math.Sin(t) }
	counted := func(t float64) float64 { return 5e6 + 200*t - 100*math.Cos(t) }
	const from, to = 100.3, 160.7
	truth := counted(to) - counted(from)
	power, counter := each("gpu0.power_w", 99, 162, 1, watts), each("gpu0.energy_j", 99, 162, 1, counted)
	without := func(all []probes.Sample, from, to float64) (kept []probes.Sample) {
		for _, s := range all {
			if at := float64(s.AtUS) / 1e6; at <= from || at >= to {
				kept = append(kept, s)
			}
		}
		return kept
	}
	restarted := each("gpu0.energy_j", 99, 162, 1, func(t float64) float64 {
		if t > 130 {
			return counted(t) - counted(130)
		}
		return counted(t)
	})
	flat := each("gpu0.power_w", 99, 162, 1, func(float64) float64 { return 183.2 })
	cases := []struct {
		name     string
		samples  []probes.Sample
		method   string
		within   float64 // of the truth
		coverage float64
		unknown  string // part of the reason
	}{
		{"counter and readings", joined(power, counter), "counter", 0.002, 1, ""},
		{"readings alone", power, "trapezoid", 0.02, 1, ""},
		{"readings faster than asked", each("gpu0.power_w", 99, 162, 0.1, watts), "trapezoid", 0.001, 1, ""},
		{"a counter bridges a hole of the samples", joined(power, without(counter, 110, 150)), "counter", 0.002, 1, ""},
		{"a counter that began anew loses one step", joined(power, restarted), "counter", 0.02, 59.4 / 60.4, ""},
		{"a counter that does not move", joined(power, each("gpu0.energy_j", 99, 162, 1, func(float64) float64 { return 0 })), "trapezoid", 0.02, 1, ""},
		{"a counter that began anew in a hole", joined(power, without(restarted, 120, 140)), "trapezoid", 0.02, 1, ""},
		{"a small hole", without(power, 120, 124), "", 0, 0, "samples tell of 93.4 % of the window, the longest gap is 4.0 s"},
		{"holes of readings and a counter that began anew in one", joined(without(power, 120, 140), without(restarted, 120, 140)), "", 0, 0, "; the counter tells of 66.9 %"},
		{"a start that is missing", without(power, 0, 102), "trapezoid", 0.02, 58.7 / 60.4, ""},
		{"an end that is missing", without(power, 150, 200), "", 0, 0, "samples tell of 82.3 %"},
		{"readings of nothing", each("gpu0.power_w", 99, 162, 1, func(float64) float64 { return 0 }), "", 0, 0, "the readings are 0 W"},
		{"a sensor that stands still under load", joined(flat, each("gpu0.util_pct", 99, 162, 1, func(float64) float64 { return 90 })), "", 0, 0, "stood still for 60 s while the device worked"},
	}
	for _, c := range cases {
		got := Summarise(c.samples, from*1e6, to*1e6)["gpu0.power_w"]
		if c.unknown != "" {
			if got.EnergyJ != nil || got.Method != "" || !strings.Contains(got.EnergyUnknown, c.unknown) {
				t.Errorf("%s: %+v", c.name, got)
			}
			continue
		}
		if got.EnergyJ == nil || got.Method != c.method || math.Abs(*got.EnergyJ/truth-1) > c.within || math.Abs(got.Coverage-c.coverage) > 1e-6 {
			t.Errorf("%s: %+v, truth %g J", c.name, got, truth)
		}
		if got.EnergyUnknown != "" {
			t.Errorf("%s: %s", c.name, got.EnergyUnknown)
		}
	}
	idle := joined(flat, each("gpu0.util_pct", 99, 162, 1, func(float64) float64 { return 0 }))
	if got := Summarise(idle, from*1e6, to*1e6)["gpu0.power_w"]; got.EnergyJ == nil || got.HeldS < 60 {
		t.Errorf("an idle device draws the same all the time: %+v", got)
	}
}

// TestEnergyCrossCheck: what readings say is held against the counter.
func TestEnergyCrossCheck(t *testing.T) {
	samples := joined(each("gpu0.power_w", 0, 60, 1, func(float64) float64 { return 500 }), each("gpu0.energy_j", 0, 60, 1, func(t float64) float64 { return 480 * t }))
	got := Summarise(samples, 5e6, 55e6)["gpu0.power_w"]
	if got.OffPct == nil || math.Abs(*got.OffPct-100*(500.0/480-1)) > 1e-6 || *got.EnergyJ != 480*50 {
		t.Errorf("%+v", got)
	}
}

// TestWallPowerIsReadRarely: a meter of the machine has a longer limit than a GPU's sensor.
func TestWallPowerIsReadRarely(t *testing.T) {
	meter := func(name string) []probes.Sample {
		return each(name, 0, 300, 20, func(float64) float64 { return 4000 })
	}
	got := Summarise(joined(meter("host.wall_w"), meter("gpu0.power_w")), 50e6, 250e6)
	if wall := got["host.wall_w"]; wall.EnergyJ == nil || math.Abs(*wall.EnergyJ-200*4000) > 1e-3 {
		t.Errorf("%+v", wall)
	}
	if gpu := got["gpu0.power_w"]; gpu.EnergyJ != nil || gpu.Coverage != 0 || gpu.MaxGapS != 20 {
		t.Errorf("%+v", gpu)
	}
}

// TestTrack: samples at one instant and in a window of one instant divide by nothing.
func TestTrack(t *testing.T) {
	same := track(series("x.energy_j", 1, 5, 1, 9, 1, 2))
	if grown, known := same.growth(span{0, 2e6}); grown != 0 || known != 0 {
		t.Errorf("growth %g in %d µs", grown, known)
	}
	if sum, known := same.integral(span{1e6, 1e6}, time.Second); sum != 0 || known != 0 {
		t.Errorf("integral %g in %d µs", sum, known)
	}
	if share := (span{7, 7}).share(3); share != 0 {
		t.Errorf("share %g", share)
	}
}
