package paced

import (
	"time"

	"golang.org/x/sys/unix"
)

// Monotonic reads CLOCK_MONOTONIC, in nanoseconds.
func Monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return ts.Nano()
}

// clock gives the same without a system call: the runtime's monotonic clock is that clock.
type clock struct {
	start time.Time
	ns    int64 // CLOCK_MONOTONIC at start
}

func newClock() clock {
	c := clock{start: time.Now()}
	gap := time.Duration(1 << 62)
	for range 100 { // the try in which the two were read closest together
		before := time.Since(c.start)
		ns := Monotonic()
		after := time.Since(c.start)
		if after-before < gap {
			gap, c.ns = after-before, ns-int64(before+after)/2
		}
	}
	return c
}

func (c clock) now() int64 { return c.ns + int64(time.Since(c.start)) }
