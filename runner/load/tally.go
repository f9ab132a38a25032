package load

import (
	"slices"
	"sync"
	"sync/atomic"

	"assay/runner/load/delay"
	"assay/runner/record"
)

// giveUp bounds a load against a server that serves nothing: that many failures in a row, over that long.
const (
	giveUpFailures = 16
	giveUpUS       = 10_000_000
	recent         = 64 // requests in the live view's median
)

// tally is what the load itself needs to know of its requests.
type tally struct {
	clock *Clock

	issued   atomic.Int64
	inFlight atomic.Int64

	mu       sync.Mutex
	stage    int // requests ended in this stage
	failed   int
	ttft     []int64   // of the last requests
	lags     delay.Due // of the measured requests
	source   string    // the weakest of the measured requests
	first    int64     // sending of the first measured request
	last     int64     // end of the last one
	failures int       // in a row
	silent   int       // of these, those that waited for the server in vain
	since    int64     // the last sign that the server serves, or the start
	sample   string
	passes   int // of the data that requests came from, after the first
	skipped  int // turns never sent because an earlier one of their conversation failed
}

func newTally(clock *Clock) *tally {
	return &tally{clock: clock, first: record.Never, last: record.Never, since: clock.Now()}
}

// ended takes a request that has ended.
func (t *tally) ended(r record.Request, dueUS int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stage++
	if len(r.Events) > 0 && r.Outcome == record.OK {
		t.ttft = append(t.ttft[max(0, len(t.ttft)-recent+1):], r.Events[0].AtUS-r.SentUS)
	}
	t.streak(r)
	if !r.Warmup {
		t.measured(r, dueUS)
	}
}

// streak follows failures in a row.
func (t *tally) streak(r record.Request) {
	switch r.Outcome {
	case record.OK:
		t.failures, t.silent, t.since = 0, 0, max(t.since, r.DoneUS)
	case record.Censored:
	default:
		t.failed++
		t.failures++
		if r.Outcome == record.Stalled || r.Outcome == record.Timeout {
			t.silent++
		}
		t.sample = string(r.Outcome) + ": " + r.Error
	}
}

// alive says that the server serves, though no request need have ended.
func (t *tally) alive() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.silent, t.since = 0, t.clock.Now()
}

func (t *tally) measured(r record.Request, dueUS int64) {
	t.source = record.Weakest(t.source, r.TokenSource)
	if r.SentUS == record.Never {
		return
	}
	t.lags.Add(dueUS, max(0, r.SentUS-dueUS-max(0, r.ConnectUS)))
	if t.first == record.Never || r.SentUS < t.first {
		t.first = r.SentUS
	}
	t.last = max(t.last, r.DoneUS)
}

// lag is that of the requests due in the window; the tally's lock is held. Where a closed loop has none, as in a decode cell
// whose requests are all under way before it, it is that of all measured ones.
func (t *tally) lag(w Span, closed bool) Lag {
	if due := t.lags.From(w.StartUS, w.EndUS); len(due) > 0 || !closed {
		return delay.Exact(due)
	}
	return delay.Exact(t.lags.All())
}

// span is from the sending of the first measured request to the end of the last one.
func (t *tally) span() Span {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Span{StartUS: max(t.first, 0), EndUS: max(t.last, t.first, 0) + 1}
}

// hopeless says why going on makes no sense; "" while it does. streams is the number of requests in flight: when as many in a row have
// waited to their limits and nobody had a token, the next ones would too.
func (t *tally) hopeless(streams int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	enough := t.failures >= max(giveUpFailures, 2*streams) || t.silent >= max(2, streams)
	if !enough || t.clock.Now()-t.since < giveUpUS {
		return ""
	}
	return t.sample
}

// nextStage begins to count anew.
func (t *tally) nextStage() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stage = 0
}

// uses follows how often the data that is sent began again; what is only read ahead does not count.
func (t *tally) uses(pass int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passes = max(t.passes, pass)
}

// skip counts turns that are never sent.
func (t *tally) skip(turns int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.skipped += turns
}

// view fills in what the live view shows of requests.
func (t *tally) view(p *Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.Done, p.Failed, p.InFlight = t.stage, t.failed, int(t.inFlight.Load())
	if len(t.ttft) > 0 {
		sorted := slices.Sorted(slices.Values(t.ttft))
		p.TTFTMS = delay.Quantile(sorted, 0.5) / 1000
	}
}
