package point

import (
	"testing"

	"assay/result"
	"assay/runner/metrics"
)

// TestTokensPerJouleIsOfTheSampledSpan: readings lie inside the window; the energy between them is no more than a part of the window's.
func TestTokensPerJouleIsOfTheSampledSpan(t *testing.T) {
	ptr := func(v float64) *float64 { return &v }
	p := result.Point{Phase: "sweep", Metrics: &metrics.Summary{SystemTPS: ptr(3000), DurationS: 10}, Telemetry: map[string]result.Telemetry{
		"gpu0.power_w": {EnergyJ: ptr(4000), SpanS: 8},
		"gpu1.power_w": {EnergyJ: ptr(7000), SpanS: 7},
	}}
	if got := TokensPerJoule(p); got == nil || *got != 2 {
		t.Errorf("tokens per joule %v, want 3000 / (500 + 1000)", got)
	}
	p.Telemetry["gpu2.power_w"] = result.Telemetry{N: 1}
	if got := TokensPerJoule(p); got != nil {
		t.Errorf("a device whose power is not known gives %v", *got)
	}
}
