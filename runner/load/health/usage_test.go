package health

import (
	"runtime"
	"testing"
	"time"

	"assay/runner/load/stream"
)

// TestRuntimeTells holds the names we ask the Go runtime for, and the system's figures, against what happens here.
func TestRuntimeTells(t *testing.T) {
	before := Now(stream.NewClock(), stream.NewVitals())
	done := make(chan bool)
	for range 100 {
		go func() { runtime.Gosched(); done <- true }()
		<-done
	}
	runtime.GC()
	h := Now(stream.NewClock(), stream.NewVitals()).since(before)
	if h.WakeLagUS.Max <= 0 || h.GCPauseMax <= 0 || h.GCPause <= 0 || h.CPUWait < 0 || h.CPUWait > time.Hour {
		t.Errorf("%+v", h)
	}
}
