package load

import (
	"math"
	"time"
)

// profile is the rate of an open loop over its time: it grows from one rate to another, requests/s, within over seconds, and stays there.
type profile struct {
	from, to    float64
	over        float64 // 0: to from the start
	exponential bool
}

func profileOf(o Open) profile {
	p := profile{from: o.Rate, to: o.Rate}
	if r := o.Ramp; r != nil {
		p.from, p.over, p.exponential = r.From, r.Over.Seconds(), r.Exponential
	}
	return p
}

// growth is the rate constant of an exponential ramp, 1/s.
func (p profile) growth() float64 { return math.Log(p.to/p.from) / p.over }

// ramped is the number of requests expected in the ramp: the integral of its rate.
func (p profile) ramped() float64 {
	if p.exponential && p.from != p.to {
		return (p.to - p.from) / p.growth()
	}
	return (p.from + p.to) / 2 * p.over
}

// expected is the number of requests within a time: the integral of the rate.
func (p profile) expected(within time.Duration) float64 {
	t := within.Seconds()
	switch {
	case t >= p.over:
		return p.ramped() + p.to*(t-p.over)
	case p.exponential && p.from != p.to:
		k := p.growth()
		return p.from * math.Expm1(k*t) / k
	}
	return p.from*t + (p.to-p.from)/p.over*t*t/2
}

// reach is the instant, in seconds, by which so many requests are expected: the inverse of the integral of the rate.
func (p profile) reach(requests float64) float64 {
	if all := p.ramped(); requests >= all {
		return p.over + (requests-all)/p.to
	}
	if p.exponential && p.from != p.to {
		k := p.growth()
		return math.Log1p(k*requests/p.from) / k
	}
	slope := (p.to - p.from) / p.over
	return 2 * requests / (p.from + math.Sqrt(p.from*p.from+2*slope*requests)) // the root that stays exact where the slope is small
}
