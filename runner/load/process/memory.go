package process

import (
	"runtime"
	"runtime/debug"
)

const leanPercent = 25 // a stream's share of the heap and its stack are small and live long: with 100 half as much again lies unused

// Lean has the collector keep less in reserve while a load runs, unless it was set to something else already. Its work costs
// processor time alone: the kernel's stamps do not wait for it.
func Lean() (restore func()) {
	before := debug.SetGCPercent(leanPercent)
	if before != 100 {
		debug.SetGCPercent(before)
		return func() {}
	}
	return func() { debug.SetGCPercent(before) }
}

// TwoAtOnce has the scheduler run two goroutines at once while a load runs, even on one core: who reads for all streams keeps its place
// while it rests for some microseconds, and the others must not wait for that.
func TwoAtOnce() (restore func()) {
	if runtime.GOMAXPROCS(0) > 1 {
		return func() {}
	}
	runtime.GOMAXPROCS(2)
	return func() { runtime.GOMAXPROCS(1) }
}
