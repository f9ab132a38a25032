package count

import (
	"context"
	"fmt"
	"math"
	"time"

	"assay/agent/verdict"
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

// Counters are the engine's own, by the names of containers.Metrics.
type Counters map[string]float64

// Read reads the counters of the engines at these addresses, summed, once nothing runs any more; false when they show none of output tokens.
func Read(ctx context.Context, urls []string, preset containers.Preset, access containers.Access) (Counters, bool) {
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	var last Counters
	for {
		m, err := containers.Scrape(ctx, urls, preset, access)
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
func growth(before, after Counters, name string) *int64 {
	from, told := before[name]
	to, still := after[name]
	if !told || !still {
		return nil
	}
	n := int64(math.Round(to - from))
	return &n
}

// Of puts the growth of the engine's counters beside the recording.
func Of(before, after Counters, told runner.Reading) result.EngineCount {
	c := result.EngineCount{ClientTokens: told.OutputTokens, PrefixQueries: growth(before, after, "prefix_queries"), PrefixHits: growth(before, after, "prefix_hits")}
	if n := growth(before, after, "generation_tokens"); n != nil {
		c.GenerationTokens = *n
	}
	if c.PrefixHits != nil && c.PrefixQueries != nil && *c.PrefixQueries > 0 {
		rate := 100 * float64(*c.PrefixHits) / float64(*c.PrefixQueries)
		c.PrefixHitRate = &rate
	}
	return c
}

// Compare holds the engine's counters against the recording. Requests that were cut off make them differ by right.
func Compare(c result.EngineCount, told runner.Reading, out *result.Point) {
	out.Engine = &c
	if d := math.Abs(float64(c.GenerationTokens - c.ClientTokens)); told.Unfinished == 0 && d > countTolerance*float64(c.ClientTokens) {
		verdict.Blame(out, result.Reason{Code: "tokens_differ", Text: "the engine counted other output tokens than it told the client; its usage is wrong, or somebody else uses the server",
			Evidence: fmt.Sprintf("engine %d, client %d, the limit is %.0f %%", c.GenerationTokens, c.ClientTokens, 100*countTolerance)}, true)
	}
}
