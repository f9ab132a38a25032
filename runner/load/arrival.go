package load

import (
	"math"
	"math/rand/v2"
	"time"
)

// arrivals gives the instants of an open loop: offsets from its start, absolute, the first at 0.
type arrivals struct {
	rng   *rand.Rand
	kind  string
	mean  float64 // seconds between two
	shape float64
	at    float64
	n     int
}

func newArrivals(o Open) *arrivals {
	a := &arrivals{rng: rand.New(rand.NewPCG(o.Seed, 0x61737361)), kind: o.Arrival, mean: 1 / o.Rate, shape: o.Burstiness}
	if a.shape <= 0 {
		a.shape = 1
	}
	return a
}

// next gives the next instant.
func (a *arrivals) next() time.Duration {
	at := a.at
	a.n++
	if a.kind == "constant" {
		a.at = float64(a.n) * a.mean // a sum of gaps would drift
	} else {
		a.at += a.gap()
	}
	return time.Duration(math.Round(at * float64(time.Second)))
}

func (a *arrivals) gap() float64 {
	if a.kind == "gamma" {
		return a.mean / a.shape * gamma(a.rng, a.shape)
	}
	return a.mean * a.rng.ExpFloat64()
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
