package metrics

import (
	"cmp"
	"math"
	"slices"
)

// Percentile is the pth percentile (0 to 100) of ascending values by linear interpolation between closest ranks: the value at
// rank (n−1)·p/100, counted from 0. It is NaN for no values.
func Percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	lo, frac := rank(int64(len(sorted)), p)
	hi := min(int(lo)+1, len(sorted)-1)
	return between(sorted[lo], sorted[hi], frac)
}

// rank splits (n−1)·p/100 into its whole part and the rest.
func rank(n int64, p float64) (int64, float64) {
	at := float64(n-1) * min(max(p, 0), 100) / 100
	lo := math.Floor(at)
	return int64(lo), at - lo
}

func between(a, b, frac float64) float64 {
	if frac == 0 || a == b {
		return a
	}
	return a + frac*(b-a)
}

// run is a value that occurs n times.
type run struct {
	ms float64
	n  int64
}

// Gaps are whole microseconds, so that counting how often each occurs keeps them exactly and needs no sorting. Counted so are gaps shorter
// than pages·pageUS (4.2 s) of events with up to countedTokens tokens; there is memory only where gaps lie, at most 16 MiB for each number
// of tokens. Any other is kept by itself: a stream has few that are so long, and few events bring so many tokens.
const (
	pageUS        = 1 << 12
	pages         = 1 << 10
	countedTokens = 64
)

// counter counts gaps by their length.
type counter [pages]*[pageUS]uint32

// tally collects samples. The zero value is ready.
type tally struct {
	n, sumUS int64
	counts   [countedTokens + 1]*counter // by tokens; made when first needed
	rest     []run                       // all of them, ascending, once they were described
	sorted   bool
}

// add takes a span that stands for k samples of us/k each.
func (t *tally) add(us, k int64) {
	t.n += k
	t.sumUS += us
	if k > countedTokens || uint64(us) >= pages*pageUS {
		t.rest = append(t.rest, run{millis(us, k), k})
		return
	}
	c := t.counts[k]
	if c == nil || c[us/pageUS] == nil {
		c = t.page(us, k)
	}
	c[us/pageUS][us%pageUS]++
}

// page makes room to count us at k tokens.
func (t *tally) page(us, k int64) *counter {
	if t.counts[k] == nil {
		t.counts[k] = new(counter)
	}
	t.counts[k][us/pageUS] = new([pageUS]uint32)
	return t.counts[k]
}

// addOne takes a single sample without a table, for distributions of few samples.
func (t *tally) addOne(us int64) {
	t.n++
	t.sumUS += us
	t.rest = append(t.rest, run{millis(us, 1), 1})
}

// millis is us/k in milliseconds. Division rounds equal quotients to the same value and keeps the order of different ones, so that
// samples of several tokens sort as their exact quotients do.
func millis(us, k int64) float64 { return float64(us) / (1000 * float64(k)) }

// distribution is nil for no samples.
func (t *tally) distribution() *Distribution {
	if t.n == 0 {
		return nil
	}
	d := describe(t.runs(), t.n)
	d.Mean = float64(t.sumUS) / float64(t.n) / 1000
	return &d
}

// distributionOf describes values in milliseconds that are no whole microseconds; nil for none. It sorts them.
func distributionOf(ms []float64) *Distribution {
	if len(ms) == 0 {
		return nil
	}
	slices.Sort(ms)
	runs, sum := make([]run, len(ms)), 0.0
	for i, v := range ms {
		runs[i] = run{v, 1}
		sum += v
	}
	d := describe(runs, int64(len(ms)))
	d.Mean = sum / float64(len(ms))
	return &d
}

// deviationOf is the standard deviation of values; nil for none.
func deviationOf(values []float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	mean, squares := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	d := math.Sqrt(squares / float64(len(values)))
	return &d
}

// describe gives all but the mean of n samples in ascending runs.
func describe(runs []run, n int64) Distribution {
	d := Distribution{Min: runs[0].ms, Max: runs[len(runs)-1].ms, N: n}
	walk := ranks{runs: runs}
	for _, q := range []struct {
		p  float64
		to *float64
	}{
		{1, &d.P1}, {5, &d.P5}, {10, &d.P10}, {25, &d.P25}, {50, &d.P50}, {75, &d.P75},
		{90, &d.P90}, {95, &d.P95}, {99, &d.P99}, {99.9, &d.P999},
	} {
		lo, frac := rank(n, q.p)
		*q.to = between(walk.at(lo), walk.at(min(lo+1, n-1)), frac)
	}
	return d
}

// runs gives all samples, ascending.
func (t *tally) runs() []run {
	if t.sorted {
		return t.rest
	}
	for k, c := range t.counts {
		if c != nil {
			t.rest = c.appendRuns(t.rest, int64(k))
		}
		t.counts[k] = nil
	}
	slices.SortFunc(t.rest, func(a, b run) int { return cmp.Compare(a.ms, b.ms) })
	t.sorted = true
	return t.rest
}

// deviation is the population's standard deviation, milliseconds; nil for no samples.
func (t *tally) deviation() *float64 {
	if t.n == 0 {
		return nil
	}
	mean, squares := float64(t.sumUS)/float64(t.n)/1000, 0.0
	for _, r := range t.runs() {
		squares += float64(r.n) * (r.ms - mean) * (r.ms - mean)
	}
	d := math.Sqrt(squares / float64(t.n))
	return &d
}

// appendRuns appends what was counted at k tokens.
func (c *counter) appendRuns(runs []run, k int64) []run {
	for p, page := range c {
		if page == nil {
			continue
		}
		for i, n := range page {
			if n > 0 {
				runs = append(runs, run{millis(int64(p)*pageUS+int64(i), k), int64(n) * k})
			}
		}
	}
	return runs
}

// ranks reads the samples of ascending runs by their place; places near the last one asked for are found at once.
type ranks struct {
	runs   []run
	i      int
	before int64 // samples in the runs before i
}

func (r *ranks) at(place int64) float64 {
	for place < r.before && r.i > 0 {
		r.i--
		r.before -= r.runs[r.i].n
	}
	for place >= r.before+r.runs[r.i].n && r.i+1 < len(r.runs) {
		r.before += r.runs[r.i].n
		r.i++
	}
	return r.runs[r.i].ms
}
