package external

import (
	"math"
	"time"

	"assay/plan"
)

// extent is how long a point is, and what goes before it.
type extent struct {
	Requests int           // 0: by duration only
	Duration time.Duration // 0: by requests only

	WarmupRequests int
	WarmupDuration time.Duration
}

// extentOf is a sweep's as the plan has it. An open loop's is always so many requests: those of its duration at its rate.
func extentOf(p plan.Plan, at plan.Point) extent {
	switch {
	case p.Protocol.Sweep != nil:
		s := p.Protocol.Sweep
		e := extent{Requests: s.Requests, Duration: s.Duration.Std(), WarmupRequests: s.Warmup.Requests, WarmupDuration: s.Warmup.Duration.Std()}
		if e.Requests == 0 && e.Duration == 0 {
			e.Duration = s.MinDuration.Std()
		}
		return e
	case p.Protocol.Serve != nil:
		s := p.Protocol.Serve
		e := extent{Requests: s.Requests}
		if n := int(math.Ceil(at.Rate * s.Duration.Std().Seconds())); s.Duration > 0 && (e.Requests == 0 || n < e.Requests) {
			e.Requests = n
		}
		return e
	}
	return extent{Duration: p.Protocol.Matrix.Duration.Std()}
}

// manyPrompts is how many prompts are written for a point that ends by time.
const manyPrompts = 4096

// prompts is how many different prompts a point needs, as far as that is known.
func (e extent) prompts(at plan.Point) int {
	if e.Requests == 0 {
		return max(manyPrompts, 64*at.Concurrency)
	}
	return e.Requests + e.WarmupRequests
}
