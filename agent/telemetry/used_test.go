package telemetry

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/plan"
	"assay/probes"
	"assay/result"
	"assay/runner/metrics"
)

func TestUsed(t *testing.T) {
	two := probes.List[probes.Accelerator]{Items: make([]probes.Accelerator, 2)}
	good := func() result.Point {
		return result.Point{Phase: plan.PhaseSweep, State: result.PointValid, Window: &result.Window{DurationS: 60}, Metrics: &metrics.Summary{SystemTPS: pointer(500)},
			Telemetry: map[string]result.Telemetry{
				"gpu0.power_w": {EnergyJ: pointer(20_000), Method: result.MethodCounter, Coverage: 1},
				"gpu1.power_w": {EnergyJ: pointer(10_000), Method: result.MethodTrapezoid, Coverage: 0.97},
				"cpu0.power_w": {EnergyJ: pointer(9000)}, "cpu1.power_w": {EnergyJ: pointer(8000)},
				"host.wall_w": {EnergyJ: pointer(60_000)},
			}}
	}
	want := &result.Energy{Accelerators: 2, AcceleratorJ: pointer(30_000), CPUJ: pointer(17_000), WallJ: pointer(60_000), Method: "counter, trapezoid", Coverage: 0.97, TokensPerJoule: pointer(1)}
	if diff := cmp.Diff(want, Used(good(), two)); diff != "" {
		t.Error(diff)
	}
	dies := probes.List[probes.Accelerator]{Items: make([]probes.Accelerator, 4)}
	dies.Items[2].PowerW.NA, dies.Items[3].PowerW.NA = "at the first die", "at the first die"
	if got := Used(good(), dies); got.Accelerators != 4 || got.TokensPerJoule == nil || *got.TokensPerJoule != 1 {
		t.Errorf("dies that others report for: %+v", got)
	}
	beside := probes.List[probes.Accelerator]{Items: make([]probes.Accelerator, 3)}
	beside.Items[0].Kind, beside.Items[1].Kind, beside.Items[2].Kind = probes.Known("discrete", "t"), probes.Known("discrete", "t"), probes.Known("integrated", "t")
	if got := Used(good(), beside); got.Accelerators != 2 || got.TokensPerJoule == nil || *got.TokensPerJoule != 1 {
		t.Errorf("a processor's own GPU beside cards, which tells no power: %+v", got)
	}
	cases := []struct {
		name    string
		list    probes.List[probes.Accelerator]
		change  func(*result.Point)
		unknown string
	}{
		{"not valid", two, func(p *result.Point) { p.State = result.PointNotValid }, "the point is not valid"},
		{"prefill", two, func(p *result.Point) { p.Phase = plan.PhasePrefill }, "a prefill point measures no output"},
		{"no output", two, func(p *result.Point) { p.Metrics.SystemTPS = nil }, "the output is not known"},
		{"no figures", two, func(p *result.Point) { p.Metrics = nil }, "the output is not known"},
		{"one lost", two, func(p *result.Point) { delete(p.Telemetry, "gpu1.power_w") }, "gpu1.power_w was not sampled"},
		{"one with a hole", two, func(p *result.Point) { p.Telemetry["gpu1.power_w"] = result.Telemetry{EnergyUnknown: "a hole"} }, "gpu1.power_w: a hole"},
		{"not read", probes.List[probes.Accelerator]{Unknown: "timed out"}, func(*result.Point) {}, "the accelerators are not known: timed out"},
		{"none", probes.List[probes.Accelerator]{}, func(*result.Point) {}, "the machine has no accelerators"},
	}
	for _, c := range cases {
		p := good()
		c.change(&p)
		got := Used(p, c.list)
		if got == nil || got.Unknown != c.unknown || got.TokensPerJoule != nil {
			t.Errorf("%s: %+v", c.name, got)
		}
		if lost := strings.HasPrefix(c.name, "one"); lost && got.AcceleratorJ != nil {
			t.Errorf("%s: the sum of a part stands for all: %g J", c.name, *got.AcceleratorJ)
		}
	}
	if got := Used(result.Point{}, probes.List[probes.Accelerator]{}); got != nil {
		t.Errorf("nothing is known, and it gives %+v", got)
	}
}

func TestDoubts(t *testing.T) {
	got := Doubts(map[string]result.Telemetry{"gpu0.power_w": {OffPct: pointer(2.9)}, "gpu1.power_w": {OffPct: pointer(-4.25)}, "gpu2.power_w": {}})
	want := []string{"gpu1.power_w: the energy by its readings is -4.2 % off the one by its counter, which was taken"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
