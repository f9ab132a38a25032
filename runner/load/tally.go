package load

import (
	"slices"
	"sync"
	"sync/atomic"

	"assay/runner/record"
)

// giveUp bounds a load against a server that serves nothing: that many failures in a row, over that long.
const (
	giveUpFailures = 16
	giveUpUS       = 10_000_000
	recent         = 64 // requests in the live view's median
)

// tally hands on requests as they end and keeps what the load itself needs to know of them.
type tally struct {
	clock *Clock
	keep  func(record.Request) error

	issued   atomic.Int64
	inFlight atomic.Int64

	mu       sync.Mutex
	err      error // first failure to keep a request
	stage    int   // requests ended in this stage
	failed   int
	ttft     []int64 // of the last requests
	lag      []int64
	health   Health
	first    int64 // sending of the first measured request
	last     int64 // end of the last one
	failures int   // in a row
	since    int64 // the last success, or the start
	sample   string
	skipped  int // turns never sent because an earlier one of their conversation failed
}

func newTally(clock *Clock, keep func(record.Request) error) *tally {
	return &tally{clock: clock, keep: keep, first: record.Never, last: record.Never, since: clock.Now()}
}

// ended takes a request that has ended.
func (t *tally) ended(r record.Request, dueUS int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.keep(r); err != nil && t.err == nil {
		t.err = err
	}
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
		t.failures, t.since = 0, max(t.since, r.DoneUS)
	case record.Censored:
	default:
		t.failed++
		t.failures++
		t.sample = string(r.Outcome) + ": " + r.Error
	}
}

func (t *tally) measured(r record.Request, dueUS int64) {
	h := &t.health
	h.Events += int64(len(r.Events))
	h.SharedReads += int64(r.SharedReads)
	h.Retries += r.Retries
	h.TokenSource = record.Weakest(h.TokenSource, r.TokenSource)
	if r.SentUS == record.Never {
		return
	}
	t.lag = append(t.lag, max(0, r.SentUS-dueUS-max(0, r.ConnectUS)))
	if t.first == record.Never || r.SentUS < t.first {
		t.first = r.SentUS
	}
	t.last = max(t.last, r.DoneUS)
}

// hopeless says why going on makes no sense; "" while it does. streams is the number of requests in flight.
func (t *tally) hopeless(streams int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failures < max(giveUpFailures, 2*streams) || t.clock.Now()-t.since < giveUpUS {
		return ""
	}
	return t.sample
}

func (t *tally) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// nextStage begins to count anew.
func (t *tally) nextStage() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stage = 0
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
		p.TTFTMS = quantile(sorted, 0.5) / 1000
	}
}
