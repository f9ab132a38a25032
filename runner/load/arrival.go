package load

import (
	"math"
	"math/rand/v2"
	"time"
)

// How the gaps of an open loop are spread.
const (
	constantArrival = "constant"
	gammaArrival    = "gamma"
	traceArrival    = "trace"
)

// timetable gives the instants of an open loop one after another: absolute offsets from its start. t is the turn that is due next; nil
// asks for the end of issue behind the last one.
type timetable interface {
	next(t *talk) time.Duration
}

func newTimetable(o Open) timetable {
	if o.Arrival == traceArrival {
		return &recorded{speed: o.Speed}
	}
	return newArrivals(o)
}

// arrivals are drawn, the first at 0. Gaps are drawn with the mean 1 and count requests; the profile lays their sums onto the clock. That
// is exact for constant gaps, and for random ones the time change that makes a Poisson process of rate 1 one of the profile's rate.
type arrivals struct {
	rng      *rand.Rand
	kind     string
	shape    float64
	profile  profile
	expected float64 // requests before the next instant
	n        int
}

func newArrivals(o Open) *arrivals {
	a := &arrivals{rng: rand.New(rand.NewPCG(o.Seed, 0x61737361)), kind: o.Arrival, shape: o.Burstiness, profile: profileOf(o)}
	if a.shape <= 0 {
		a.shape = 1
	}
	return a
}

// next gives the next instant.
func (a *arrivals) next(*talk) time.Duration {
	at := a.profile.reach(a.expected)
	a.n++
	if a.kind == constantArrival {
		a.expected = float64(a.n) // a sum of gaps would drift
	} else {
		a.expected += a.gap()
	}
	return time.Duration(math.Round(at * float64(time.Second)))
}

func (a *arrivals) gap() float64 {
	if a.kind == gammaArrival {
		return gamma(a.rng, a.shape) / a.shape
	}
	return a.rng.ExpFloat64()
}

// gamma draws from the gamma distribution of a shape with scale 1 (Marsaglia and Tsang, 2000).
func gamma(rng *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return gamma(rng, shape+1) * math.Pow(rng.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// recorded are the instants of a trace, speed times as fast as it was recorded.
type recorded struct {
	speed float64
	last  time.Duration
	first time.Duration
	n     int
}

// next gives the turn's instant; one that was recorded before its predecessor is due with it. Behind the last one the trace lasts for one
// more mean gap, so that its requests over its length are its rate.
func (r *recorded) next(t *talk) time.Duration {
	if t == nil {
		return r.last + r.gap()
	}
	at := time.Duration(float64(t.at) / r.speed)
	if r.n == 0 {
		r.first = at
	}
	r.n++
	r.last = max(r.last, at)
	return r.last
}

func (r *recorded) gap() time.Duration {
	if r.n < 2 || r.last == r.first {
		return time.Second
	}
	return (r.last - r.first) / time.Duration(r.n-1)
}
