package node

import (
	"context"
	"time"

	"assay/probes"
	"assay/result"
)

// How long memory is waited for. Drivers tear down what a server of eight GPUs held in seconds to minutes.
const (
	AfterRun    = 5 * time.Minute  // once a run's servers have ended
	Interrupted = 20 * time.Second // when the program was told to stop: the next start looks again
	BeforeRun   = 30 * time.Second // of what an earlier run left
)

// lookEvery is between two looks.
const lookEvery = 2 * time.Second

// Wait looks at a machine until nothing is left on it.
type Wait struct {
	Look  func(context.Context) probes.SUT
	Left  func(probes.SUT) []result.Mark // what a look finds that is still to go
	Tell  func([]result.Mark)            // called after each look that found any
	Limit time.Duration
}

// Run looks at once and then again and again. It gives the last look with what was left at it, also when ctx ends before.
func (w Wait) Run(ctx context.Context) (probes.SUT, []result.Mark) {
	end := time.NewTimer(w.Limit)
	defer end.Stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		now := w.Look(context.WithoutCancel(ctx)) // half a look misses what is held
		left := w.Left(now)
		if len(left) == 0 {
			return now, nil
		}
		w.Tell(left)
		select {
		case <-tick.C:
		case <-end.C:
			return now, left
		case <-ctx.Done():
			return now, left
		}
	}
}
