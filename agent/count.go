package agent

import (
	"context"
	"fmt"
	"math"
	"time"

	"assay/containers"
	"assay/result"
	"assay/runner"
)

const (
	// settleLimit bounds the wait for an engine whose counters move only when a request has ended.
	settleLimit = 3 * time.Second
	settleEvery = 50 * time.Millisecond
	// countTolerance is how far the engine's counter and the client's may be apart before the point says so.
	countTolerance = 0.02
)

// generated reads the engine's counter of output tokens once nothing runs any more; false when it shows none.
func (x *execution) generated(ctx context.Context) (float64, bool) {
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	var last float64
	var seen bool
	for {
		m, err := containers.Scrape(ctx, x.server.BaseURLs(), x.preset, x.access)
		if v, ok := m.Values["generation_tokens"]; err == nil && ok {
			last, seen = v, true
		} else if !seen {
			return 0, false
		}
		if err == nil && m.Values["running"]+m.Values["waiting"] == 0 {
			return last, true
		}
		select {
		case <-ctx.Done():
			return last, seen
		case <-tick.C:
		}
	}
}

// compareCounts holds the engine's counter against the recording. Requests that were cut off make them differ by right.
func compareCounts(before, after float64, told runner.Reading, out *result.Point) {
	c := result.EngineCount{GenerationTokens: int64(math.Round(after - before)), ClientTokens: told.OutputTokens}
	out.Engine = &c
	if d := math.Abs(float64(c.GenerationTokens - c.ClientTokens)); told.Unfinished == 0 && d > countTolerance*float64(c.ClientTokens) {
		out.Reasons = append(out.Reasons, result.Reason{Code: "tokens_differ", Text: "the engine counted other output tokens than the client; somebody else may use the server",
			Evidence: fmt.Sprintf("engine %d, client %d", c.GenerationTokens, c.ClientTokens)})
	}
}
