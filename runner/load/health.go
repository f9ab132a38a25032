package load

import (
	"runtime"
	"runtime/debug"
	"slices"
	"time"
)

// Health is how the client itself fared in the window. What the recording tells beside it is counted from that (record.Counts).
type Health struct {
	StampSource string // kernel | user; user as soon as one connection had none of the kernel's
	TokenSource string
	LagUS       Lag
	CPU         time.Duration // of the whole process
	RSSBytes    int64         // at the end of the window
	ClockSteps  int
	GCPause     time.Duration
}

// Lag is how long after it could have been sent a request was sent, less the time to open its connection.
type Lag struct{ P50, P99, Max float64 }

// lateness is the lag of one request.
type lateness struct{ dueUS, us int64 }

// lagOf gives the exact percentiles, linear between closest ranks.
func lagOf(samples []int64) Lag {
	if len(samples) == 0 {
		return Lag{}
	}
	slices.Sort(samples)
	return Lag{P50: quantile(samples, 0.5), P99: quantile(samples, 0.99), Max: float64(samples[len(samples)-1])}
}

func quantile(sorted []int64, q float64) float64 {
	rank := q * float64(len(sorted)-1)
	low := int(rank)
	high := min(low+1, len(sorted)-1)
	return float64(sorted[low]) + (rank-float64(low))*float64(sorted[high]-sorted[low])
}

// usage is what the process had used at an instant.
type usage struct {
	cpu   time.Duration
	gc    time.Duration
	steps int
}

func usageNow(clock *Clock) usage {
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	return usage{cpu: cpuTime(), gc: gc.PauseTotal, steps: clock.Steps()}
}

// heldBytes is the fall-back for systems that do not tell the resident size: what the Go runtime holds of the system.
func heldBytes() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
