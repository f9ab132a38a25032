package follow

import (
	"testing"

	"assay/result"
)

func TestProgressText(t *testing.T) {
	for _, c := range []struct {
		name, want string
		event      result.Event
	}{
		{"readiness", "ready    process up", result.Event{Phase: "ready", Text: "process up", Progress: &result.Progress{Stage: "ready"}}},
		{"pull", "pull     downloading, 3 of 12 layers [##########..........] 5/10 MB",
			result.Event{Phase: "pull", Text: "downloading, 3 of 12 layers", Progress: &result.Progress{Stage: "pull", Done: 5e6, Total: 1e7, Unit: "bytes"}}},
		{"measure", "c2       measure  [#####...............] 1/4 s  in flight 2  9 tok/s  TTFT 3 ms  failed 1",
			result.Event{Point: "c2", Progress: &result.Progress{Stage: "measure", Done: 1, Total: 4, Unit: "s", InFlight: 2, TPS: 9, TTFTMS: 3, Failed: 1}}},
		{"no token yet", "c2       measure  [#####...............] 1/4 s  in flight 2  0 tok/s",
			result.Event{Point: "c2", Progress: &result.Progress{Stage: "measure", Done: 1, Total: 4, Unit: "s", InFlight: 2}}},
		{"calibrate", "c2       calibrate [##########..........] 30/60 s  asks how the server counts: its tokenizer, POST /tokenize",
			result.Event{Point: "c2", Text: "asks how the server counts: its tokenizer, POST /tokenize", Progress: &result.Progress{Stage: "calibrate", Done: 30, Total: 60, Unit: "s"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := progressText(c.event, bar(c.event.Progress.Done, c.event.Progress.Total)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
