package process

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestMemorySettingIsRestored: whatever it was, and one that somebody chose stays during the load too.
func TestMemorySettingIsRestored(t *testing.T) {
	first := debug.SetGCPercent(100)
	defer debug.SetGCPercent(first)
	for before, during := range map[int]int{100: leanPercent, 300: 300, -1: -1} {
		debug.SetGCPercent(before)
		restore := Lean()
		if got := debug.SetGCPercent(during); got != during {
			t.Errorf("with %d before, %d during a load", before, got)
		}
		restore()
		if got := debug.SetGCPercent(before); got != before {
			t.Errorf("with %d before, %d after a load", before, got)
		}
	}
}

func TestTwoAtOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for before, during := range map[int]int{1: 2, 2: 2, 5: 5} {
		runtime.GOMAXPROCS(before)
		restore := TwoAtOnce()
		if got := runtime.GOMAXPROCS(0); got != during {
			t.Errorf("with %d before, %d during a load", before, got)
		}
		restore()
		if got := runtime.GOMAXPROCS(0); got != before {
			t.Errorf("with %d before, %d after a load", before, got)
		}
	}
}
