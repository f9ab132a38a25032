package api

import (
	"context"

	"assay/plan"
	"assay/probes"
	"assay/result"
	"assay/store"
)

// Submission is what comes with a plan.
type Submission struct {
	Key       string // Idempotency-Key; "" when none
	BaseDir   string // relative file names of the plan begin here; "" when they cannot be resolved
	NoArchive bool   // do not pack the run at its end
	Guest     bool   // it came over the network, and may not have everything of this machine
}

// Change is what can be asked of a run.
type Change string

// The changes of a run.
const (
	Cancel Change = "cancel"
	Resume Change = "resume"
)

// Controller is what the API needs of the daemon.
type Controller interface {
	// Submit queues a plan. A key that was used before gives the run it made then.
	Submit(ctx context.Context, p plan.Plan, s Submission) (store.Run, error)
	// Change cancels a queued or running run, or queues one that ended early again.
	Change(ctx context.Context, id string, to Change) error
	// Events streams what happens after seq (0: from now on, or with a run from where it was queued last) until ctx ends; the channel is
	// closed then, or when the reader is too slow.
	Events(ctx context.Context, seq int64, run string) (<-chan result.Event, error)
	// Probe reads the machine now.
	Probe(ctx context.Context) (probes.SUT, []probes.Check, error)
	// Reschedule re-reads the schedules from the store.
	Reschedule(ctx context.Context) error
}
