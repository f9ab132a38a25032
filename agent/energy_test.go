package agent

import (
	"math"
	"strings"
	"testing"

	"assay/probes"
	"assay/result"
)

// TestEnergyOfARun: on a machine with two GPUs that are busy with something else, each point says what they used, how that is
// known and how many tokens a joule gave; while it is measured the latest samples can be had, and after it none.
func TestEnergyOfARun(t *testing.T) {
	a := newAgent(t)
	host, done, err := probes.FromCapture(t.Context(), "../probes/testdata/hosts/bare-metal-mi300x")
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	a.Host = host
	_, url := startSim(t, quickSim("sim"))
	seen := make(chan []probes.Sample, 1)
	onEvent(t, a, func(e result.Event) bool { return e.Progress != nil && e.Progress.Stage == "measure" }, func() {
		samples, running := a.Live()
		if !running {
			t.Error("no run is under way while one measures")
		}
		seen <- samples
	})
	r := execute(t, a, submit(t, a, sweepOf(t, atURL(url), "protocol.sweep.concurrency=[2]", "protocol.sweep.requests=8", "workload.sampling.max_tokens=64", "checks={idle: ignore}")))
	if len(r.Points) != 1 || r.Points[0].Energy == nil {
		t.Fatalf("%+v %+v", r.Run, r.Points)
	}
	p := r.Points[0]
	e, watts := p.Energy, p.Telemetry["gpu0.power_w"].Mean+p.Telemetry["gpu1.power_w"].Mean
	seldom := onlyBusy(p) && strings.Contains(e.Unknown, "samples tell of") // the machine is too busy to be looked at as often as that takes
	if seldom {
		t.Log(e.Unknown)
	} else if e.Accelerators != 2 || e.AcceleratorJ == nil || math.Abs(*e.AcceleratorJ/(watts*p.Window.DurationS)-1) > 1e-6 || e.Method != result.MethodTrapezoid || e.Coverage < 0.95 {
		t.Errorf("%+v of %g W in %g s", e, watts, p.Window.DurationS)
	}
	if p.State == result.PointValid && (e.TokensPerJoule == nil || math.Abs(*e.TokensPerJoule*watts / *p.Metrics.SystemTPS - 1) > 1e-6) {
		t.Errorf("%+v, %g tok/s at %g W", e, *p.Metrics.SystemTPS, watts)
	}
	if p.State != result.PointValid && !seldom && !strings.HasPrefix(e.Unknown, "the point is ") {
		t.Errorf("%s, %+v", p.State, e)
	}
	live := map[string]bool{}
	for _, s := range <-seen {
		live[s.Series] = true
	}
	if !live["gpu1.power_w"] || !live["engine.running"] {
		t.Errorf("live: %v", live)
	}
	if samples, running := a.Live(); samples != nil || running {
		t.Errorf("after the run: %v, under way %t", samples, running)
	}
}
