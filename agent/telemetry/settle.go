package telemetry

import (
	"context"
	"time"
)

const (
	settleLimit  = 1500 * time.Millisecond // by then a program that reports each second has done so
	settlePause  = 250 * time.Millisecond
	settleSilent = 3 * time.Second // what told nothing for so long is not waited for
	firstReport  = 5 * time.Second // from the start of sampling, to a program's first report
)

// Settle samples every source once, and waits until those whose samples come by themselves, as of a program that goes on reporting, have
// told of a moment after this one: the edge of a window would else lie between two reports, and a short window would have no energy.
func (r *Recorder) Settle(ctx context.Context) {
	since := time.Now()
	r.Snapshot(ctx)
	for late := r.late(since); late; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(settlePause):
		}
		late = r.late(since)
		r.Snapshot(ctx) // once more when none is late any longer: of a report, half may have been there
	}
}

// late tells whether a source is to be waited for: one that does tell and has not told of what was since then, or one that is to tell for
// the first time.
func (r *Recorder) late(since time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.await) > 0 && time.Since(r.began) < firstReport {
		return true
	}
	if time.Since(since) >= settleLimit {
		return false
	}
	for _, atUS := range r.heard {
		if at := time.UnixMicro(atUS); at.Before(since) && since.Sub(at) < settleSilent {
			return true
		}
	}
	return false
}
