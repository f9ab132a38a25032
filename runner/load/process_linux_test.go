package load

import (
	"testing"

	"assay/fault"
)

func TestLimitsOfThisMachine(t *testing.T) {
	to := []Target{{Network: "tcp", Address: "127.0.0.1:80"}}
	if err := CheckLimits(1, to); err != nil {
		t.Errorf("one connection: %v", err)
	}
	if f := fault.Of(CheckLimits(1<<30, to), fault.Client); f == nil || f.Code != "client.too_few_files" || f.Hint == "" {
		t.Errorf("2^30 connections: %v", f)
	}
	if cpuTime() <= 0 || residentBytes() < 1<<20 || limitsOf("/proc").ports < 1 {
		t.Errorf("cpu %v, resident %d, %+v", cpuTime(), residentBytes(), limitsOf("/proc"))
	}
}
