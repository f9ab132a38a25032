package load

import (
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"assay/runner/dataset"
	"assay/runner/record"
)

// ramps are the profiles that a rate can have.
func ramps() map[string]Open {
	return map[string]Open{
		"none":              {Rate: 200},
		"linear":            {Rate: 200, Ramp: &Ramp{From: 20, Over: 30 * time.Second}},
		"linear, falling":   {Rate: 20, Ramp: &Ramp{From: 200, Over: 30 * time.Second}},
		"exponential":       {Rate: 200, Ramp: &Ramp{From: 2, Over: 30 * time.Second, Exponential: true}},
		"exponential, flat": {Rate: 50, Ramp: &Ramp{From: 50, Over: 30 * time.Second, Exponential: true}},
		"falling":           {Rate: 5, Ramp: &Ramp{From: 80, Over: 30 * time.Second, Exponential: true}},
	}
}

// rateAt is the rate that a plan asks for, written down apart from the code that inverts its integral.
func rateAt(o Open, t float64) float64 {
	if o.Ramp == nil || t >= o.Ramp.Over.Seconds() {
		return o.Rate
	}
	part := t / o.Ramp.Over.Seconds()
	if o.Ramp.Exponential {
		return o.Ramp.From * math.Pow(o.Rate/o.Ramp.From, part)
	}
	return o.Ramp.From + (o.Rate-o.Ramp.From)*part
}

// integrals are the requests expected by the ends of steps of 1 ms.
func integrals(o Open, seconds int) []float64 {
	const h = 0.001
	sums := make([]float64, seconds*1000+1)
	for i := range sums[1:] {
		t := float64(i) * h
		sums[i+1] = sums[i] + h*(rateAt(o, t)+4*rateAt(o, t+h/2)+rateAt(o, t+h-1e-12))/6
	}
	return sums
}

// TestConstantArrivalsFollowTheRamp: the nth request is due when the integral of the rate reaches n.
func TestConstantArrivalsFollowTheRamp(t *testing.T) {
	for name, o := range ramps() {
		o.Arrival = constantArrival
		a, sums := newArrivals(o), integrals(o, 40)
		var last time.Duration
		for n := 0; ; n++ {
			at := a.next(nil)
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
	const runs, seconds = 200, 40
	for _, kind := range []struct {
		name     string
		shape    float64
		variance float64 // of a second's count over its mean, where that is many requests
	}{{"poisson", 0, 1}, {gammaArrival, 0.25, 4}, {gammaArrival, 4, 0.25}} {
		for name, o := range ramps() {
			o.Arrival, o.Burstiness = kind.name, kind.shape
			var sum, squares [seconds]float64
			for seed := range uint64(runs) {
				o.Seed = seed
				for i, n := range counts(newArrivals(o), seconds) {
					sum[i] += n
					squares[i] += n * n
				}
			}
			expected := integrals(o, seconds)
			for i := range sum {
				want := expected[(i+1)*1000] - expected[i*1000]
				mean := sum[i] / runs
				if limit := 5 * math.Sqrt(kind.variance*want/runs); math.Abs(mean-want) > limit+1.6/math.Sqrt(want)+1 && i > 0 {
					t.Errorf("%s %v, %s: %.2f requests in second %d, want %.2f ± %.2f", kind.name, kind.shape, name, mean, i, want, limit)
				}
				if spread := (squares[i]/runs - mean*mean) / want; want > 100 && i > 0 && math.Abs(spread/kind.variance-1) > 0.5 {
					t.Errorf("%s %v, %s: variance over mean %.2f in second %d, want %v", kind.name, kind.shape, name, spread, i, kind.variance)
				}
			}
		}
	}
}

func counts(a *arrivals, seconds int) []float64 {
	n := make([]float64, seconds)
	for {
		at := a.next(nil)
		if at >= time.Duration(seconds)*time.Second {
			return n
		}
		n[at/time.Second]++
	}
}

// TestExpectedIsTheInverseOfReach for every profile.
func TestExpectedIsTheInverseOfReach(t *testing.T) {
	for name, o := range ramps() {
		p := profileOf(o)
		for _, at := range []time.Duration{0, time.Millisecond, 7 * time.Second, 30 * time.Second, 5 * time.Hour} {
			if got := p.reach(p.expected(at)); math.Abs(got-at.Seconds()) > 1e-9*max(1, at.Seconds()) {
				t.Errorf("%s: %v gives %v s", name, at, got)
			}
		}
	}
}

// replayed is a trace with the instants, in seconds, of its conversations; after its end it goes on as the dataset's does.
type replayed struct {
	at      []float64
	n       int
	repeats int
}

func (r *replayed) Next() (dataset.Conversation, error) {
	if r.n == len(r.at)*(r.repeats+1) {
		r.repeats++
	}
	c, _ := (&endless{turns: single().turns}).Next()
	seconds := r.at[r.n%len(r.at)] + float64(r.repeats)*10
	c.At = time.Duration(seconds * float64(time.Second))
	r.n++
	return c, nil
}

func (r *replayed) Stats() dataset.Stats { return dataset.Stats{Repeats: r.repeats} }

// TestTraceIsReplayed at the instants it tells, faster or slower, once or until what was asked for is reached; an instant that lies before
// its predecessor is due with it.
func TestTraceIsReplayed(t *testing.T) {
	cases := []struct {
		name   string
		open   Open
		sent   []int64
		window Span
	}{
		{"as recorded", Open{Speed: 1}, []int64{0, 1_500_000, 1_500_000, 6_000_000}, Span{0, 8_000_000}},
		{"twice as fast", Open{Speed: 2}, []int64{0, 750_000, 750_000, 3_000_000}, Span{0, 4_000_000}},
		{"half as fast, cut", Open{Speed: 0.5, Warmup: time.Second, Cooldown: 2 * time.Second}, []int64{0, 3_000_000, 3_000_000, 12_000_000}, Span{1_000_000, 14_000_000}},
		{"by requests", Open{Speed: 1, Requests: 3}, []int64{0, 1_500_000, 1_500_000}, Span{0, 6_000_000}},
		{"more than there are", Open{Speed: 1, Requests: 6}, []int64{0, 1_500_000, 1_500_000, 6_000_000, 10_000_000, 11_500_000}, Span{0, 11_500_000}},
		{"by time", Open{Speed: 1, Duration: 2 * time.Second}, []int64{0, 1_500_000, 1_500_000}, Span{0, 2_000_000}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.open.Arrival = traceArrival
				s := &stage{src: &replayed{at: []float64{0, 1.5, 1, 6}}, cfg: Config{Open: &c.open, Drain: time.Minute}, reply: always(20 * time.Second)}
				res, err := s.run(t.Context(), t)
				var sent []int64
				for _, r := range s.records {
					sent = append(sent, r.SentUS)
					if r.IntendedUS != r.SentUS || r.Outcome != record.OK {
						t.Errorf("%+v", r)
					}
				}
				slices.Sort(sent)
				if err != nil || !slices.Equal(sent, c.sent) || res.Window != c.window || res.Stopped != "" {
					t.Errorf("sent %v, window %v, stopped %q, %v", sent, res.Window, res.Stopped, err)
				}
			})
		})
	}
}

// TestConnectionsAhead: as many as the first requests need at once, and never more than may be in flight.
func TestConnectionsAhead(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		want int
	}{
		{"closed", Config{Closed: &Closed{Concurrency: 64}}, 64},
		{"a cap above what comes", Config{Open: &Open{Rate: 3, MaxConcurrency: 100}}, 3},
		{"a cap below", Config{Open: &Open{Rate: 140, MaxConcurrency: 100}}, 100},
		{"no cap", Config{Open: &Open{Rate: 12.5}}, 13},
		{"few requests", Config{Open: &Open{Rate: 140, MaxConcurrency: 100, Requests: 7}}, 7},
		{"a ramp", Config{Open: &Open{Rate: 140, MaxConcurrency: 1000, Ramp: &Ramp{From: 1, Over: time.Hour}}}, 2},
		{"a trace", Config{Open: &Open{Arrival: traceArrival, Speed: 1, MaxConcurrency: 50}}, 0},
	} {
		if got := c.cfg.ahead(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
