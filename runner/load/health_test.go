package load

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"assay/runner/load/stream"
)

func TestHistogramOfAWindow(t *testing.T) {
	var before, after stream.Counts
	before.Delays[100], after.Delays[100] = 7, 7 // before the window
	after.Delays[5], after.Delays[40], after.Delays[90] = 98, 1, 1
	got := readDelays(after).since(readDelays(before)).lag()
	if want := (Lag{5, stream.DelayUS(40), stream.DelayUS(90)}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := (histogram{}).since(histogram{}).lag(); got != (Lag{}) {
		t.Errorf("nothing counted gives %v", got)
	}
	one := histogram{counts: []int64{0, 1, 0}, upUS: func(i int) float64 { return float64(i) }}
	if got := one.lag(); got != (Lag{1, 1, 1}) {
		t.Errorf("one sample gives %v", got)
	}
}

// TestRuntimeTells holds the names we ask the Go runtime for, and the system's figures, against what happens here.
func TestRuntimeTells(t *testing.T) {
	before := usageNow(NewClock(), stream.NewVitals())
	done := make(chan bool)
	for range 100 {
		go func() { runtime.Gosched(); done <- true }()
		<-done
	}
	runtime.GC()
	h := usageNow(NewClock(), stream.NewVitals()).since(before)
	if h.WakeLagUS.Max <= 0 || h.GCPauseMax <= 0 || h.GCPause <= 0 || h.CPUWait < 0 || h.CPUWait > time.Hour {
		t.Errorf("%+v", h)
	}
	if got := runtimeHistogram(metrics.Sample{}).lag(); got != (Lag{}) {
		t.Errorf("a name that the runtime does not know gives %v", got)
	}
}
