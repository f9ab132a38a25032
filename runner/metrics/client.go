package metrics

import (
	"slices"

	"assay/runner/record"
)

// Lag is how late the client was at something, in microseconds.
type Lag struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Client is the client's own health over the measured phase: the proof that it was not the bottleneck (docs/verdicts.md). What is zero and
// absent was not measured or is not told by the system.
type Client struct {
	StampSource    string   `json:"stamp_source"`              // kernel | user
	TokenSource    string   `json:"token_source"`              // usage | ids | estimated | events
	LagUS          Lag      `json:"lag_us,omitzero"`           // sent − due, less the time to open the connection
	RefillUS       Lag      `json:"refill_us,omitzero"`        // closed loop: from a slot's free to its next request sent
	IdleShare      *float64 `json:"idle_share,omitempty"`      // closed loop: share of the slots' time that the client left them free, opening connections apart
	StampDelayUS   Lag      `json:"stamp_delay_us,omitzero"`   // from the arrival of bytes to their reading; upper bounds, an eighth wide
	SchedLatencyUS Lag      `json:"sched_latency_us,omitzero"` // from when a goroutine could have run to its running; upper bounds
	UnseenS        float64  `json:"unseen_s,omitzero"`         // of the window, until the client came to look at itself: the figures of its process know nothing of it
	CPUS           float64  `json:"cpu_s,omitzero"`            // of the whole process
	CPUShare       float64  `json:"cpu_share,omitzero"`        // of the time of gomaxprocs processors
	CPUWaitS       float64  `json:"cpu_wait_s,omitzero"`       // its threads could have run and waited for a processor, summed over threads
	GOMAXPROCS     int      `json:"gomaxprocs,omitzero"`       // processors it may use at once
	RSSBytes       int64    `json:"rss_bytes"`
	Events         int64    `json:"events"`
	SharedReads    int64    `json:"shared_reads"` // token events that came in one read with an earlier one of their stream
	Reads          int64    `json:"reads,omitzero"`
	BytesIn        int64    `json:"bytes_in,omitzero"`
	Retries        int      `json:"retries"`
	ClockSteps     int      `json:"clock_steps"`
	GCPauseUS      float64  `json:"gc_pause_us"`               // sum
	GCPauseMaxUS   float64  `json:"gc_pause_max_us,omitempty"` // upper bound
	Sockets        Sockets  `json:"sockets,omitzero"`
}

// Sockets are the client's connections over the whole point, warm-up and drain too.
type Sockets struct {
	Opened int64 `json:"opened"`
	Reused int64 `json:"reused"`         // requests sent on one that had carried another before
	AtOnce int64 `json:"at_once"`        // open together at most
	Files  int   `json:"files,omitzero"` // descriptors the process had open as the window ended
}

// SharedShare is the share of token events that came in one read with an earlier one of their stream; 0 without events.
func (c Client) SharedShare() float64 {
	if c.Events == 0 {
		return 0
	}
	return float64(c.SharedReads) / float64(c.Events)
}

// Refills collects how fast a closed loop's slots are filled again. A slot is free from the intended instant of its next request, which is
// the end of the last one or of the wait for a tool or after a failure.
type Refills struct {
	window Window
	slots  int
	tookUS []int64
	idleUS int64
}

// OverRefills collects over a window; slots is the concurrency, 0 in an open loop, which has none.
func OverRefills(w Window, slots int) *Refills { return &Refills{window: w, slots: slots} }

// Add takes one request; it is not kept.
func (f *Refills) Add(r *record.Request) {
	if f.slots == 0 || r.Warmup || r.SentUS == record.Never {
		return
	}
	ready := r.SentUS - max(0, r.ConnectUS)
	f.idleUS += max(0, min(ready, f.window.EndUS)-max(r.IntendedUS, f.window.StartUS))
	if f.window.Holds(r.IntendedUS) {
		f.tookUS = append(f.tookUS, r.SentUS-r.IntendedUS)
	}
}

// Tell writes what was collected into c.
func (f *Refills) Tell(c *Client) {
	c.RefillUS, c.IdleShare = Lag{}, nil
	if span := f.window.EndUS - f.window.StartUS; f.slots > 0 && span > 0 {
		idle := float64(f.idleUS) / float64(int64(f.slots)*span)
		c.IdleShare = &idle
	}
	if len(f.tookUS) == 0 {
		return
	}
	sorted := make([]float64, len(f.tookUS))
	slices.Sort(f.tookUS)
	for i, us := range f.tookUS {
		sorted[i] = float64(us)
	}
	c.RefillUS = Lag{Percentile(sorted, 50), Percentile(sorted, 99), sorted[len(sorted)-1]}
}
