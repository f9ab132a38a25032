package health

import (
	"runtime/debug"
	"runtime/metrics"
	"time"

	"assay/runner/load/delay"
	"assay/runner/load/process"
	"assay/runner/load/stream"
)

// Usage is what the process had used and done at an instant.
type Usage struct {
	AtUS   int64
	CPU    time.Duration
	Wait   time.Duration
	GC     time.Duration
	Steps  int
	Wakes  delay.Histogram
	Pauses delay.Histogram
	Wire   stream.Counts
}

// Now is the usage of this process until now.
func Now(clock *stream.Clock, vitals *stream.Vitals) Usage {
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	u := Usage{GC: gc.PauseTotal, Steps: clock.Steps(), Wire: vitals.Now()}
	told := []metrics.Sample{{Name: "/sched/latencies:seconds"}, {Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(told)
	u.Wakes, u.Pauses = delay.OfRuntime(told[0]), delay.OfRuntime(told[1])
	u.CPU, u.AtUS = process.CPUTime(), clock.Now() // what comes after this is read from many files, and has no limit
	u.Wait = process.CPUWait()
	return u
}

// since is how the client fared from one instant to another.
func (u Usage) since(before Usage) Health {
	longest := u.Pauses.Since(before.Pauses).Lag().Max
	return Health{
		Seen:      time.Duration(u.AtUS-before.AtUS) * time.Microsecond,
		ReadLagUS: delay.OfReads(u.Wire).Since(delay.OfReads(before.Wire)).Lag(), WakeLagUS: u.Wakes.Since(before.Wakes).Lag(),
		CPU: u.CPU - before.CPU, CPUWait: max(0, u.Wait-before.Wait), ClockSteps: u.Steps - before.Steps,
		GCPause: u.GC - before.GC, GCPauseMax: min(u.GC-before.GC, time.Duration(longest*float64(time.Microsecond))),
		Reads: u.Wire.Reads - before.Wire.Reads, BytesIn: u.Wire.Bytes - before.Wire.Bytes,
	}
}
