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
	// countTolerance is how far the engine's counter and the client's may be apart: beyond it one of them is wrong, or others use the server.
	countTolerance = 0.02
)

// counters are the engine's own, by the names of containers.Metrics.
type counters map[string]float64

// counters reads the engine's counters once nothing runs any more; false when it shows none of output tokens.
func (x *execution) counters(ctx context.Context) (counters, bool) {
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	var last counters
	for {
		m, err := containers.Scrape(ctx, x.server.BaseURLs(), x.preset, x.access)
		if _, ok := m.Values["generation_tokens"]; err == nil && ok {
			last = m.Values
		} else if last == nil {
			return nil, false
		}
		if err == nil && m.Values["running"]+m.Values["waiting"] == 0 {
			return last, true
		}
		select {
		case <-ctx.Done():
			return last, last != nil
		case <-tick.C:
		}
	}
}

// growth is how far a counter went from before to after; nil when it was not shown both times.
func growth(before, after counters, name string) *int64 {
	from, told := before[name]
	to, still := after[name]
	if !told || !still {
		return nil
	}
	n := int64(math.Round(to - from))
	return &n
}

// compareCounts holds the engine's counters against the recording. Requests that were cut off make them differ by right.
func compareCounts(before, after counters, told runner.Reading, out *result.Point) {
	c := result.EngineCount{ClientTokens: told.OutputTokens, PrefixQueries: growth(before, after, "prefix_queries"), PrefixHits: growth(before, after, "prefix_hits")}
	if n := growth(before, after, "generation_tokens"); n != nil {
		c.GenerationTokens = *n
	}
	if c.PrefixHits != nil && c.PrefixQueries != nil && *c.PrefixQueries > 0 {
		rate := 100 * float64(*c.PrefixHits) / float64(*c.PrefixQueries)
		c.PrefixHitRate = &rate
	}
	out.Engine = &c
	if d := math.Abs(float64(c.GenerationTokens - c.ClientTokens)); told.Unfinished == 0 && d > countTolerance*float64(c.ClientTokens) {
		out.Reasons = append(out.Reasons, result.Reason{Code: "tokens_differ", Text: "the engine counted other output tokens than it told the client; its usage is wrong, or somebody else uses the server",
			Evidence: fmt.Sprintf("engine %d, client %d, the limit is %.0f %%", c.GenerationTokens, c.ClientTokens, 100*countTolerance)})
		if out.State == result.PointValid {
			out.State = result.PointNotValid
		}
	}
}
