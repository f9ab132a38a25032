package arrival

import (
	"math"
	"math/rand/v2"
	"time"
)

// How requests arrive.
const (
	Constant = "constant"
	Poisson  = "poisson"
	Gamma    = "gamma"
	Trace    = "trace"
)

// Plan says when requests are due.
type Plan struct {
	Kind  string  // one of the above
	Shape float64 // of gamma's gaps: 1 is poisson, less is burstier; 0 is 1
	Seed  uint64
	Rate  Rate
	Speed float64 // of a trace: how many times faster than recorded
}

// Timetable gives the instants of an open loop one after another: absolute offsets from its start. recorded is the instant that a trace has
// for the next request; without more requests it gives the end of issue behind the last one.
type Timetable interface {
	Next(recorded time.Duration, more bool) time.Duration
}

// New makes the timetable of a plan. The same plan gives the same instants.
func New(p Plan) Timetable {
	if p.Kind == Trace {
		return &replayed{speed: p.Speed}
	}
	return newDrawn(p)
}

// drawn instants begin at 0. Their gaps have the mean 1 and count requests; the rate lays their sums onto the clock. That is exact for constant
// gaps, and for random ones the time change that makes a process of rate 1 one of the rate wanted.
type drawn struct {
	rng      *rand.Rand
	kind     string
	shape    float64
	rate     Rate
	expected float64 // requests before the next instant
	n        int
}

func newDrawn(p Plan) *drawn {
	d := &drawn{rng: rand.New(rand.NewPCG(p.Seed, 0x61737361)), kind: p.Kind, shape: p.Shape, rate: p.Rate}
	if d.shape <= 0 {
		d.shape = 1
	}
	return d
}

// Next gives the next instant.
func (d *drawn) Next(time.Duration, bool) time.Duration {
	at := d.rate.reach(d.expected)
	d.n++
	if d.kind == Constant {
		d.expected = float64(d.n) // a sum of gaps would drift
	} else {
		d.expected += d.gap()
	}
	return time.Duration(math.Round(at * float64(time.Second)))
}

func (d *drawn) gap() float64 {
	if d.kind == Gamma {
		return gamma(d.rng, d.shape) / d.shape
	}
	return d.rng.ExpFloat64()
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

// replayed are the instants of a trace, speed times as fast as it was recorded.
type replayed struct {
	speed float64
	last  time.Duration
	first time.Duration
	n     int
}

// Next gives the request's instant; one that was recorded before its predecessor is due with it. Behind the last one the trace lasts for one
// more mean gap, so that its requests over its length are its rate.
func (r *replayed) Next(recorded time.Duration, more bool) time.Duration {
	if !more {
		return r.last + r.gap()
	}
	at := time.Duration(float64(recorded) / r.speed)
	if r.n == 0 {
		r.first = at
	}
	r.n++
	r.last = max(r.last, at)
	return r.last
}

func (r *replayed) gap() time.Duration {
	if r.n < 2 || r.last == r.first {
		return time.Second
	}
	return (r.last - r.first) / time.Duration(r.n-1)
}
