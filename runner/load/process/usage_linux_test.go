package process

import (
	"testing"

	"assay/fault"
	"assay/runner/load/stream"
)

func TestLimitsOfThisMachine(t *testing.T) {
	to := []stream.Target{{Network: "tcp", Address: "127.0.0.1:80"}}
	if err := Check(1, to); err != nil {
		t.Errorf("one connection: %v", err)
	}
	if f := fault.Of(Check(1<<30, to), fault.Client); f == nil || f.Code != "client.too_few_files" || f.Hint == "" {
		t.Errorf("2^30 connections: %v", f)
	}
	if CPUTime() <= 0 || Resident() < 1<<20 || limitsOf("/proc").ports < 1 {
		t.Errorf("cpu %v, resident %d, %+v", CPUTime(), Resident(), limitsOf("/proc"))
	}
}
