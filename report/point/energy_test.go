package point

import (
	"testing"

	"assay/result"
)

// TestEnergyIsOfAllDevices: the sum of those that are known does not stand for all.
func TestEnergyIsOfAllDevices(t *testing.T) {
	ptr := func(v float64) *float64 { return &v }
	p := result.Point{Telemetry: map[string]result.Telemetry{"gpu0.power_w": {EnergyJ: ptr(4000)}, "gpu1.power_w": {EnergyJ: ptr(7000)}, "cpu0.power_w": {EnergyJ: ptr(1)}}}
	if got := Energy(p, "gpu.power_w"); got == nil || *got != 11_000 {
		t.Errorf("%v, want 11000", got)
	}
	p.Telemetry["gpu2.power_w"] = result.Telemetry{N: 1}
	if got := Energy(p, "gpu.power_w"); got != nil {
		t.Errorf("a device whose energy is not known gives %v", *got)
	}
	if got := Energy(p, "host.wall_w"); got != nil {
		t.Errorf("no device gives %v", *got)
	}
}
