package load

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"time"

	"assay/runner/load/delay"
	"assay/runner/load/process"
	"assay/runner/load/stream"
)

// Health is how the client itself fared in the window. What the recording tells beside it is counted from that.
type Health struct {
	StampSource string // kernel | user; user as soon as one connection had none of the kernel's
	TokenSource string
	LagUS       Lag           // from when a request could have been sent to its sending
	ReadLagUS   Lag           // from the arrival of bytes to their reading
	WakeLagUS   Lag           // from when a goroutine could have run to its running
	CPU         time.Duration // of the whole process
	CPUWait     time.Duration // its threads could have run and had no processor; 0 where the system does not tell
	Procs       int           // processors it may use at once
	RSSBytes    int64         // at the end of the window
	Files       int           // open then; 0 where the system does not tell
	ClockSteps  int
	GCPause     time.Duration
	GCPauseMax  time.Duration
	Reads       int64 // that brought bytes
	BytesIn     int64
	Sockets     Sockets
}

// Sockets are the connections of a whole load, its warm-up and drain too.
type Sockets struct {
	Opened int64
	Reused int64 // requests sent on one that had carried another before
	AtOnce int64 // open together at most
}

// Lag is how late the client was at something, in microseconds.
type Lag = delay.Lag

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

// usage is what the process had used and done at an instant.
type usage struct {
	cpu    time.Duration
	wait   time.Duration
	gc     time.Duration
	steps  int
	wakes  delay.Histogram
	pauses delay.Histogram
	wire   stream.Counts
}

func usageNow(clock *Clock, vitals *stream.Vitals) usage {
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	u := usage{cpu: process.CPUTime(), wait: process.CPUWait(), gc: gc.PauseTotal, steps: clock.Steps(), wire: vitals.Now()}
	told := []metrics.Sample{{Name: "/sched/latencies:seconds"}, {Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(told)
	u.wakes, u.pauses = delay.OfRuntime(told[0]), delay.OfRuntime(told[1])
	return u
}

// since is how the client fared from one instant to another.
func (u usage) since(before usage) Health {
	longest := u.pauses.Since(before.pauses).Lag().Max
	return Health{
		ReadLagUS: delay.OfReads(u.wire).Since(delay.OfReads(before.wire)).Lag(), WakeLagUS: u.wakes.Since(before.wakes).Lag(),
		CPU: u.cpu - before.cpu, CPUWait: max(0, u.wait-before.wait), ClockSteps: u.steps - before.steps,
		GCPause: u.gc - before.gc, GCPauseMax: min(u.gc-before.gc, time.Duration(longest*float64(time.Microsecond))),
		Reads: u.wire.Reads - before.wire.Reads, BytesIn: u.wire.Bytes - before.wire.Bytes,
	}
}

// watchWakeups measures how late reads are where no stamp of the kernel's tells.
func (l *load) watchWakeups(ctx context.Context) {
	if err := l.vitals.Wakeups(ctx, l.cfg.Clock); err != nil {
		l.note("%v", err)
	}
}
