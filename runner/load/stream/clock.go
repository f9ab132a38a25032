package stream

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	clockEvery = 75 * time.Millisecond // how often the offset of the two clocks is read again
	clockStep  = time.Millisecond      // a larger change of the offset between two readings is a step of the system's clock
)

// Clock is the one clock of a recording: monotonic microseconds since it was made. It also converts the kernel's receive
// stamps, which are of the real-time clock, by an offset that is read again and again while it is kept.
type Clock struct {
	start  time.Time
	offset atomic.Int64 // real time less monotonic time, ns
	steps  atomic.Int64
}

// NewClock makes a clock whose time 0 is now.
func NewClock() *Clock {
	c := &Clock{start: time.Now()}
	c.offset.Store(c.measure())
	return c
}

// EpochUS is time 0 in UTC microseconds.
func (c *Clock) EpochUS() int64 { return c.start.UnixMicro() }

// Now is the monotonic time in microseconds.
func (c *Clock) Now() int64 { return time.Since(c.start).Microseconds() }

// Steps counts the steps of the system's clock that were seen.
func (c *Clock) Steps() int { return int(c.steps.Load()) }

// fromKernel converts a real-time stamp in nanoseconds.
func (c *Clock) fromKernel(ns int64) int64 { return (ns - c.offset.Load()) / 1000 }

// measure reads the offset: of five tries the one in which the two clocks were read closest together.
func (c *Clock) measure() int64 {
	var best, offset int64 = 1 << 62, 0
	for range 5 {
		before := time.Since(c.start)
		real := time.Now().UnixNano()
		after := time.Since(c.start)
		if gap := int64(after - before); gap < best {
			best, offset = gap, real-int64(before+after)/2
		}
	}
	return offset
}

// Keep reads the offset again until ctx ends, and counts steps.
func (c *Clock) Keep(ctx context.Context) {
	tick := time.NewTicker(clockEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c.reread(c.measure())
		}
	}
}

func (c *Clock) reread(offset int64) {
	change := offset - c.offset.Swap(offset)
	if time.Duration(change).Abs() > clockStep {
		c.steps.Add(1)
	}
}
