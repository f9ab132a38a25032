package process

import (
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
