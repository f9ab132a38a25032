package export

import (
	"cmp"
	"slices"

	"assay/report/point"
	"assay/result"
	"assay/runner/metrics"
	"assay/runner/record"
)

// serving is a point with the figures of vLLM's benchmark client, by its formulas: a chunk is one sample of ITL whatever it holds, and TPOT
// leaves one token out of the reply. Its fork that cuts warm-up and cool-down prints two populations in one block; both are here.
type serving struct {
	window       metrics.Summary // over the measuring window
	inside       metrics.Summary // of the requests sent and finished inside it
	windowSpread metrics.Deviations
	insideSpread metrics.Deviations
	tokens       int64   // of every event inside the window, whichever request it belongs to
	peakTPS      float64 // the most in a second of the window
	peakFlight   int     // most requests in flight at once inside the window
	concurrency  int     // asked for; 0 for no limit
}

// servingOf reads a point's recording.
func servingOf(r result.Result, at result.Point, recordings Recordings) (serving, error) {
	w := windowOf(at)
	window, inside := metrics.OverWindow(w, metrics.Shape{}), metrics.OverInside(w, metrics.Shape{})
	seconds, flight := buckets{window: w}, flight{window: w}
	err := recordings.scan(r.Run.ID, at, func(q *record.Request) error {
		if q.Warmup {
			return nil
		}
		flight.add(q)
		q.OutputTokens = q.Output() // before its events are counted as chunks
		for i := range q.Events {
			seconds.add(q.Events[i])
			q.Events[i].Tokens = 1 // a chunk is a chunk
		}
		window.Add(q)
		inside.Add(q)
		return nil
	})
	s := serving{window: window.Summary(), inside: inside.Summary(), tokens: seconds.total, peakTPS: seconds.peak(), peakFlight: flight.peak(), concurrency: limitOf(r, at)}
	s.windowSpread, s.insideSpread = window.Deviations(), inside.Deviations()
	return s, err
}

// windowOf is the measuring window of a point that has a recording.
func windowOf(at result.Point) metrics.Window {
	return metrics.Window{StartUS: at.Recording.WindowUS[0], EndUS: at.Recording.WindowUS[1]}
}

// limitOf is the most requests in flight that the plan allows; 0 for no limit.
func limitOf(r result.Result, at result.Point) int {
	if at.Concurrency != nil {
		return *at.Concurrency
	}
	return point.OpenLoop(point.PlanOf(r)).MaxConcurrency
}

// buckets counts tokens by the second of the window.
type buckets struct {
	window metrics.Window
	counts map[int64]int64
	total  int64
}

const second = 1_000_000

// whole is the number of seconds; what is left of the window belongs to the last one, so that no short rest makes a rate.
func (b *buckets) whole() int64 { return max(1, (b.window.EndUS-b.window.StartUS)/second) }

func (b *buckets) add(e record.Event) {
	if !b.window.Holds(e.AtUS) {
		return
	}
	if b.counts == nil {
		b.counts = map[int64]int64{}
	}
	b.counts[min((e.AtUS-b.window.StartUS)/second, b.whole()-1)] += e.Tokens
	b.total += e.Tokens
}

// peak is the highest rate of any second, tokens/s; it is never below the mean of the window.
func (b *buckets) peak() float64 {
	var most float64
	for i, n := range b.counts {
		length := int64(second)
		if i == b.whole()-1 {
			length = b.window.EndUS - b.window.StartUS - i*second
		}
		most = max(most, float64(n)/(float64(length)/second))
	}
	return most
}

// flight follows how many requests are under way at once.
type flight struct {
	window metrics.Window
	steps  []step
}

type step struct {
	us int64
	by int
}

func (f *flight) add(q *record.Request) {
	if q.SentUS == record.Never {
		return
	}
	from, to := max(q.SentUS, f.window.StartUS), f.window.EndUS
	if q.DoneUS != record.Never {
		to = min(q.DoneUS, to)
	}
	if from < to {
		f.steps = append(f.steps, step{from, 1}, step{to, -1})
	}
}

// peak is the most at once; what ends at an instant makes room for what begins at it.
func (f *flight) peak() int {
	slices.SortFunc(f.steps, func(a, b step) int { return cmp.Or(cmp.Compare(a.us, b.us), cmp.Compare(a.by, b.by)) })
	var now, most int
	for _, s := range f.steps {
		now += s.by
		most = max(most, now)
	}
	return most
}
