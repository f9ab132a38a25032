package delay

import (
	"runtime/metrics"
	"testing"

	"assay/runner/load/stream"
)

func TestHistogramOfAWindow(t *testing.T) {
	var before, after stream.Counts
	before.Delays[100], after.Delays[100] = 7, 7 // before the window
	after.Delays[5], after.Delays[40], after.Delays[90] = 98, 1, 1
	got := OfReads(after).Since(OfReads(before)).Lag()
	if want := (Lag{5, stream.DelayUS(40), stream.DelayUS(90)}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := (Histogram{}).Since(Histogram{}).Lag(); got != (Lag{}) {
		t.Errorf("nothing counted gives %v", got)
	}
	one := Histogram{counts: []int64{0, 1, 0}, upUS: func(i int) float64 { return float64(i) }}
	if got := one.Lag(); got != (Lag{1, 1, 1}) {
		t.Errorf("one sample gives %v", got)
	}
	if got := OfRuntime(metrics.Sample{}).Lag(); got != (Lag{}) {
		t.Errorf("a name that the runtime does not know gives %v", got)
	}
}
