package archive

import (
	"strings"
	"testing"

	"assay/result"
	"assay/runner"
	"assay/runner/metrics"
)

// TestCompareEnergy: tokens per joule stand or fall with the recording's output, and with the energy of every accelerator.
func TestCompareEnergy(t *testing.T) {
	ptr := func(v float64) *float64 { return &v }
	made := runner.Reading{}
	made.Metrics = metrics.Summary{SystemTPS: ptr(500)}
	for _, c := range []struct {
		name   string
		change func(*result.Point)
		want   string
	}{
		{"as measured", func(*result.Point) {}, ""},
		{"none", func(p *result.Point) { p.Energy = nil }, ""},
		{"why not", func(p *result.Point) { p.Energy.TokensPerJoule, p.Energy.Unknown = nil, "a hole" }, ""},
		{"a better figure", func(p *result.Point) { p.Energy.TokensPerJoule = ptr(1.5) }, "energy.tokens_per_joule is 1.5, the recording gives 1"},
		{"less energy", func(p *result.Point) { p.Energy.AcceleratorJ, p.Energy.TokensPerJoule = ptr(15_000), ptr(2) }, "energy.accelerator_j is 15000, that of the accelerators together 30000"},
		{"an accelerator without any", func(p *result.Point) { p.Telemetry["gpu2.power_w"], p.Energy.Accelerators = result.Telemetry{}, 1<<40 }, "that of gpu2 is not"},
		{"an accelerator left out", func(p *result.Point) { delete(p.Telemetry, "gpu1.power_w") }, "energy.accelerator_j is 30000, that of the accelerators together 20000"},
		{"no energy at all", func(p *result.Point) { p.Energy.AcceleratorJ = nil }, "without the energy or the output"},
		{"not valid", func(p *result.Point) { p.State = result.PointNotValid }, "of a point that is not_valid"},
	} {
		p := result.Point{State: result.PointValid, Window: &result.Window{DurationS: 60},
			Energy:    &result.Energy{Accelerators: 2, AcceleratorJ: ptr(30_000), TokensPerJoule: ptr(1)},
			Telemetry: map[string]result.Telemetry{"gpu0.power_w": {EnergyJ: ptr(20_000)}, "gpu1.power_w": {EnergyJ: ptr(10_000)}}}
		c.change(&p)
		_, differ := compareEnergy(made, p)
		if got := strings.Join(differ, "; "); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
