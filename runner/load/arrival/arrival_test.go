package arrival

import (
	"math"
	"testing"
	"time"
)

// ramps are the profiles that a rate can have.
func ramps() map[string]Rate {
	return map[string]Rate{
		"none":              {From: 200, To: 200},
		"linear":            {From: 20, To: 200, Over: 30 * time.Second},
		"linear, falling":   {From: 200, To: 20, Over: 30 * time.Second},
		"exponential":       {From: 2, To: 200, Over: 30 * time.Second, Exponential: true},
		"exponential, flat": {From: 50, To: 50, Over: 30 * time.Second, Exponential: true},
		"falling":           {From: 80, To: 5, Over: 30 * time.Second, Exponential: true},
	}
}

// rateAt is the rate that a plan asks for, written down apart from the code that inverts its integral.
func rateAt(r Rate, t float64) float64 {
	if t >= r.Over.Seconds() {
		return r.To
	}
	part := t / r.Over.Seconds()
	if r.Exponential {
		return r.From * math.Pow(r.To/r.From, part)
	}
	return r.From + (r.To-r.From)*part
}

// integrals are the requests expected by the ends of steps of 1 ms.
func integrals(r Rate, seconds int) []float64 {
	const h = 0.001
	sums := make([]float64, seconds*1000+1)
	for i := range sums[1:] {
		t := float64(i) * h
		sums[i+1] = sums[i] + h*(rateAt(r, t)+4*rateAt(r, t+h/2)+rateAt(r, t+h-1e-12))/6
	}
	return sums
}

// TestConstantArrivalsFollowTheRamp: the nth request is due when the integral of the rate reaches n.
func TestConstantArrivalsFollowTheRamp(t *testing.T) {
	for name, r := range ramps() {
		a, sums := New(Plan{Kind: Constant, Rate: r}), integrals(r, 40)
		var last time.Duration
		for n := 0; ; n++ {
			at := a.Next(0, true)
			if at >= 40*time.Second {
				break
			}
			ms := at.Seconds() * 1000
			i := int(ms)
			want := sums[i] + (ms-float64(i))*(sums[i+1]-sums[i])
			if math.Abs(want-float64(n)) > 1e-3 || at < last {
				t.Fatalf("%s: request %d is due at %v, when %.4f are expected", name, n, at, want)
			}
			last = at
		}
	}
}

// TestRandomArrivalsFollowTheRamp: over many schedules each second of the ramp has as many requests as its rate says, spread as the kind
// says.
func TestRandomArrivalsFollowTheRamp(t *testing.T) {
	const runs, seconds = 120, 40
	for _, kind := range []struct {
		name     string
		shape    float64
		variance float64 // of a second's count over its mean, where that is many requests
	}{{Poisson, 0, 1}, {Gamma, 0.25, 4}, {Gamma, 4, 0.25}} {
		for name, r := range ramps() {
			var sum, squares [seconds]float64
			for seed := range uint64(runs) {
				for i, n := range counts(New(Plan{Kind: kind.name, Shape: kind.shape, Seed: seed, Rate: r}), seconds) {
					sum[i] += n
					squares[i] += n * n
				}
			}
			expected := integrals(r, seconds)
			for i := range sum {
				want := expected[(i+1)*1000] - expected[i*1000]
				mean := sum[i] / runs
				if limit := 5 * math.Sqrt(kind.variance*want/runs); math.Abs(mean-want) > limit+1.6/math.Sqrt(want)+1 && i > 0 {
					t.Errorf("%s %v, %s: %.2f requests in second %d, want %.2f ± %.2f", kind.name, kind.shape, name, mean, i, want, limit)
				}
				if spread := (squares[i]/runs - mean*mean) / want; want > 100 && i > 0 && math.Abs(spread/kind.variance-1) > 0.6 {
					t.Errorf("%s %v, %s: variance over mean %.2f in second %d, want %v", kind.name, kind.shape, name, spread, i, kind.variance)
				}
			}
		}
	}
}

func counts(a Timetable, seconds int) []float64 {
	n := make([]float64, seconds)
	for {
		at := a.Next(0, true)
		if at >= time.Duration(seconds)*time.Second {
			return n
		}
		n[at/time.Second]++
	}
}

// TestExpectedIsTheInverseOfReach for every profile.
func TestExpectedIsTheInverseOfReach(t *testing.T) {
	for name, p := range ramps() {
		for _, at := range []time.Duration{0, time.Millisecond, 7 * time.Second, 30 * time.Second, 5 * time.Hour} {
			if got := p.reach(p.Expected(at)); math.Abs(got-at.Seconds()) > 1e-9*max(1, at.Seconds()) {
				t.Errorf("%s: %v gives %v s", name, at, got)
			}
		}
	}
}

// TestArrivals: gaps have the mean and the spread of their kind, and a seed gives one schedule.
func TestArrivals(t *testing.T) {
	cases := []struct {
		kind     string
		shape    float64
		variance float64 // of the gaps, in squares of their mean
	}{{"constant", 0, 0}, {"poisson", 0, 1}, {"gamma", 1, 1}, {"gamma", 0.25, 4}, {"gamma", 4, 0.25}}
	for _, c := range cases {
		p := Plan{Kind: c.kind, Shape: c.shape, Seed: 1, Rate: Rate{From: 50, To: 50}}
		a, again := New(p), New(p)
		const n = 200_000
		var last, sum, squares float64
		for i := range n {
			at := a.Next(0, true)
			if at != again.Next(0, true) {
				t.Fatalf("%s: the same seed gives another schedule", c.kind)
			}
			if gap := at.Seconds() - last; i > 0 {
				sum += gap
				squares += gap * gap
			}
			last = at.Seconds()
		}
		mean := sum / (n - 1)
		variance := (squares/(n-1) - mean*mean) / (mean * mean)
		if math.Abs(mean*50-1) > 0.02 || math.Abs(variance-c.variance) > 0.05*max(1, c.variance) {
			t.Errorf("%s %v: mean gap %v s, relative variance %v", c.kind, c.shape, mean, variance)
		}
	}
	if a, b := newDrawn(Plan{Seed: 1}), newDrawn(Plan{Seed: 2}); a.gap() == b.gap() {
		t.Error("another seed gives the same schedule")
	}
}
