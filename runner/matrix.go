package runner

import (
	"time"

	"assay/plan"
	"assay/runner/load"
)

// minPrefills is the number of cold prompts of a context's prefill pass, however long one takes, unless fewer are asked for: one alone shows
// no spread.
const minPrefills = 2

// prefill sends one cold prompt after another, each for a single token; the first, which is another prompt, warms the engine up and counts
// for nothing. A request that has begun inside the limit is measured to its end.
func prefill(cfg *load.Config, m plan.Matrix) {
	cfg.Request.MaxTokens = 1
	least := minPrefills
	if m.PrefillRepeats > 0 {
		least = min(least, m.PrefillRepeats)
	}
	cfg.Closed = &load.Closed{Concurrency: 1, Requests: m.PrefillRepeats, MinRequests: least, Duration: m.PrefillDuration.Std(), WarmupRequests: 1, ToEnd: true}
}

// decode keeps streams busy for the cell's time once they are steady. All share one prompt, so the server computes it once, and the time to
// the first token leaves most of the prefill out. What still streams at the end is cut off.
func decode(cfg *load.Config, m plan.Matrix, p plan.Point) {
	cfg.Request.MaxTokens, cfg.Request.IgnoreEOS, cfg.Drain = m.MaxTokens, true, 0
	if cfg.Salt.Kind == "session" {
		cfg.Salt.Kind = "run" // the streams' sessions are apart, their prompt is not
	}
	cfg.Closed = &load.Closed{Concurrency: p.Concurrency, Duration: m.Duration.Std(),
		Cell: &load.Cell{Scouts: len(cfg.Targets), Stable: m.Stable.Std(), Timeout: warmupTimeout(m, p.Context)}}
}

// warmupTimeout is the longest wait for a cell of a context to be steady.
func warmupTimeout(m plan.Matrix, context int) time.Duration {
	const k = 1024
	switch {
	case m.WarmupTimeout > 0:
		return m.WarmupTimeout.Std()
	case context <= 32*k:
		return time.Minute
	case context <= 64*k:
		return 2 * time.Minute
	}
	return 3 * time.Minute
}
