package arrival

import (
	"math"
	"time"
)

// Rate is the rate of an open loop over its time, requests/s: it grows from From to To within Over, and stays there.
type Rate struct {
	From        float64
	To          float64
	Over        time.Duration // 0: To from the start
	Exponential bool          // else it grows by the same number each second
}

// growth is the rate constant of an exponential ramp, 1/s.
func (r Rate) growth() float64 { return math.Log(r.To/r.From) / r.Over.Seconds() }

// ramped is the number of requests expected in the ramp: the integral of its rate.
func (r Rate) ramped() float64 {
	if r.Exponential && r.From != r.To {
		return (r.To - r.From) / r.growth()
	}
	return (r.From + r.To) / 2 * r.Over.Seconds()
}

// Expected is the number of requests within a time: the integral of the rate.
func (r Rate) Expected(within time.Duration) float64 {
	t, over := within.Seconds(), r.Over.Seconds()
	switch {
	case t >= over:
		return r.ramped() + r.To*(t-over)
	case r.Exponential && r.From != r.To:
		k := r.growth()
		return r.From * math.Expm1(k*t) / k
	}
	return r.From*t + (r.To-r.From)/over*t*t/2
}

// reach is the instant, in seconds, by which so many requests are expected: the inverse of the integral of the rate.
func (r Rate) reach(requests float64) float64 {
	if all := r.ramped(); requests >= all {
		return r.Over.Seconds() + (requests-all)/r.To
	}
	if r.Exponential && r.From != r.To {
		k := r.growth()
		return math.Log1p(k*requests/r.From) / k
	}
	slope := (r.To - r.From) / r.Over.Seconds()
	return 2 * requests / (r.From + math.Sqrt(r.From*r.From+2*slope*requests)) // the root that stays exact where the slope is small
}
