package runner

import (
	"context"
	"time"

	"assay/runner/length"
)

// calibrateEvery is how often a person is told that the server is still being asked.
const calibrateEvery = time.Second

// findRule asks the server how it counts, and reports what it is asked and for how long, while it is.
func findRule(ctx context.Context, cfg length.Config, report func(Progress)) (length.Rule, error) {
	asked, ended := make(chan string), make(chan struct{})
	go func() {
		defer close(ended)
		begun, tick := time.Now(), time.NewTicker(calibrateEvery)
		defer tick.Stop()
		now, more := "", true
		for more {
			report(Progress{Stage: "calibrate", Elapsed: time.Since(begun), Total: askingLimit, Asking: now})
			select {
			case what, open := <-asked:
				now, more = what, open
			case <-tick.C:
			}
		}
	}()
	cfg.Asking = func(what string) { asked <- what }
	rule, err := length.Find(ctx, cfg)
	close(asked)
	<-ended
	return rule, err
}
