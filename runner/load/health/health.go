package health

import (
	"time"

	"assay/runner/load/delay"
)

// Health is how the client itself fared in the window. What the recording tells beside it is counted from that.
type Health struct {
	StampSource string // kernel | user; user as soon as one connection had none of the kernel's
	TokenSource string
	LagUS       delay.Lag     // from when a request could have been sent to its sending
	Unseen      time.Duration // of the window, until the client came to look at itself: what follows knows nothing of it
	Seen        time.Duration // what follows is of: from the look as the window opened to the look as it ended; 0 where the first came after the window
	ReadLagUS   delay.Lag     // from the arrival of bytes to their reading
	WakeLagUS   delay.Lag     // from when a goroutine could have run to its running
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
