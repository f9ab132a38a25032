package api

import (
	"context"

	"assay/plan"
	"assay/probes"
	"assay/result"
	"assay/store"
)

// Controller is what the API needs of the daemon.
type Controller interface {
	// Submit queues a plan; key makes a repeated submission return the first run (Idempotency-Key; "" when none).
	Submit(ctx context.Context, p plan.Plan, key string) (store.Run, error)
	// Cancel ends a queued or running run.
	Cancel(ctx context.Context, id string) error
	// Events streams what happens after seq (0: from now on) until ctx ends; the channel is closed then or when the reader is too slow.
	Events(ctx context.Context, seq int64) (<-chan result.Event, error)
	// Probe reads the machine now.
	Probe(ctx context.Context) (probes.SUT, []probes.Check, error)
	// Reschedule re-reads the schedules from the store.
	Reschedule(ctx context.Context) error
}
