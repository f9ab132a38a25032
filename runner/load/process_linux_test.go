package load

import (
	"testing"

	"assay/fault"
)

func TestLimitsOfThisMachine(t *testing.T) {
	if err := checkLimits(1, Target{Network: "tcp"}); err != nil {
		t.Errorf("one connection: %v", err)
	}
	if f := fault.Of(checkLimits(1<<30, Target{Network: "tcp"}), fault.Client); f == nil || f.Code != "client.too_few_files" || f.Hint == "" {
		t.Errorf("2^30 connections: %v", f)
	}
	if cpuTime() <= 0 || residentBytes() < 1<<20 || ephemeralPorts() < 1 {
		t.Errorf("cpu %v, resident %d, ports %d", cpuTime(), residentBytes(), ephemeralPorts())
	}
}
