package agent

import (
	"context"
	"errors"
	"testing"

	"assay/agent/events"
	"assay/result"
)

// TestStoppedPhaseSaysByWhom: a phase that is cut short says who did it, and not how a program cuts its work short.
func TestStoppedPhaseSaysByWhom(t *testing.T) {
	for cause, want := range map[error]result.Event{
		nil:         {Text: "the program was told to stop", State: result.Interrupted}, // a signal ends the context without a cause
		errStopping: {Text: "the program was told to stop", State: result.Interrupted},
		errCanceled: {Text: "canceled by request", State: result.Canceled},
	} {
		a := newAgent(t)
		id := submit(t, a, sweepOf(t, atURL("http://127.0.0.1:1")))
		x := &execution{Config: a.Config, run: a.mustRun(t, id), bus: a.bus, log: &events.Log{}}
		heard := a.bus.Subscribe(t.Context(), 0)
		ctx, stop := context.WithCancelCause(t.Context())
		stop(cause)
		if err := x.step(ctx, "pull", "", func(context.Context) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: error %v", cause, err)
		}
		got := <-heard
		for got.Kind != result.PhaseEnded {
			got = <-heard
		}
		if got.Text != want.Text || got.State != want.State {
			t.Errorf("%v: %s %q, want %s %q", cause, got.State, got.Text, want.State, want.Text)
		}
	}
}
