package runner

import (
	"time"

	"assay/runner/load"
	"assay/runner/metrics"
)

// clientOf puts a load's own health into the form of a result.
func clientOf(h load.Health) metrics.Client {
	c := metrics.Client{
		StampSource: h.StampSource, TokenSource: h.TokenSource, LagUS: metrics.Lag(h.LagUS),
		StampDelayUS: metrics.Lag(h.ReadLagUS), SchedLatencyUS: metrics.Lag(h.WakeLagUS),
		CPUS: h.CPU.Seconds(), CPUWaitS: h.CPUWait.Seconds(), GOMAXPROCS: h.Procs, RSSBytes: h.RSSBytes,
		Reads: h.Reads, BytesIn: h.BytesIn, ClockSteps: h.ClockSteps, GCPauseUS: micros(h.GCPause), GCPauseMaxUS: micros(h.GCPauseMax),
		UnseenS: h.Unseen.Seconds(),
		Sockets: metrics.Sockets{Opened: h.Sockets.Opened, Reused: h.Sockets.Reused, AtOnce: h.Sockets.AtOnce, Files: h.Files},
	}
	if h.Seen > 0 && h.Procs > 0 {
		c.CPUShare = c.CPUS / h.Seen.Seconds() / float64(h.Procs)
	}
	return c
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
