package load

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"assay/fault"
	"assay/runner/dataset"
	"assay/runner/load/stream"
	"assay/runner/record"
)

const (
	viewEvery  = 500 * time.Millisecond
	reuseCheck = 100 * time.Millisecond // watch of the first idle connection
)

// Run makes the load and hands every ended request to keep, one at a time. It returns an error when it could not
// measure: limits of this machine, unreadable data, a request that could not be kept, or ctx's cause when that ended;
// what was recorded until then is handed on all the same.
func Run(ctx context.Context, cfg Config, src dataset.Source, keep func(record.Request) error, report func(Progress)) (Result, error) {
	if err := checkLimits(cfg.connections(), cfg.Target); err != nil {
		return Result{}, err
	}
	vitals := stream.NewVitals()
	c := stream.NewClient(stream.Options{
		Vitals: vitals,
		Target: cfg.Target, Token: cfg.Token, Headers: cfg.Headers, Endpoint: cfg.Request.Endpoint,
		Clock: cfg.Clock, Stall: cfg.Stall, Timeout: cfg.Timeout,
	})
	defer c.Close()
	c.SwitchOnStamps(ctx)
	beside, stop := context.WithCancel(ctx)
	defer stop()
	go cfg.Clock.Keep(beside)

	l := newLoad(cfg, keep, report)
	l.vitals = vitals
	l.sender = func() (sender, func() int64) {
		x := c.NewExchange()
		return x.Do, x.Tokens
	}
	refused, err := l.probe(ctx)
	if err != nil {
		return Result{}, err
	}
	l.cfg.Request.Omit = append(l.cfg.Request.Omit, refused...)
	c.WatchIdle(ctx, reuseCheck)
	res, err := l.run(ctx, src)
	res.Refused = refused
	if !c.Reuses() {
		res.Notes = append(res.Notes, "the server closes connections after an answer without saying so; each request opened its own")
	}
	res.Health.StampSource = c.StampSource()
	return res, err
}

// connections is the number of connections the load may need at once; 0 when it has no bound.
func (c Config) connections() int {
	if c.Closed != nil {
		return c.Closed.Concurrency
	}
	return c.Open.MaxConcurrency
}

// sender sends a call and waits for its end. reply is the answer's text when the call wanted it.
type sender func(ctx context.Context, c *stream.Call) (r record.Request, reply string)

// load is one load under way.
type load struct {
	cfg    Config
	tally  *tally
	report func(Progress)
	sender func() (sender, func() int64) // makes a sender for one goroutine, with a count of its token events

	vitals *stream.Vitals
	usage  func() usage // of this process until now

	mu       sync.Mutex
	window   Span
	opened   chan struct{}
	stopped  chan struct{}
	isOpen   bool
	isClosed bool   // the window is
	isDone   bool   // issue is
	doneUS   int64  // when it stopped
	reason   string // why it stopped before it was asked to
	notes    []string
	live     []func() int64
	before   usage // as the window opened
	after    usage // as it ended
	rss      int64
	files    int
}

func newLoad(cfg Config, keep func(record.Request) error, report func(Progress)) *load {
	l := &load{
		cfg: cfg, tally: newTally(cfg.Clock, keep), report: report, vitals: stream.NewVitals(),
		opened: make(chan struct{}), stopped: make(chan struct{}),
	}
	l.usage = func() usage { return usageNow(cfg.Clock, l.vitals) }
	return l
}

// newSender makes a sender and has the live view count its tokens.
func (l *load) newSender() sender {
	send, tokens := l.sender()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live = append(l.live, tokens)
	return send
}

// open begins the window; only the first call counts.
func (l *load) open(atUS int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isOpen || l.isClosed || l.isDone {
		return
	}
	l.isOpen = true
	l.window.StartUS = atUS
	l.before = l.usage()
	l.tally.nextStage()
	close(l.opened)
}

// shut ends the window; only the first call counts.
func (l *load) shut(atUS int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seal(atUS)
}

// seal is shut for who holds the lock.
func (l *load) seal(atUS int64) {
	if l.isClosed {
		return
	}
	l.isClosed = true
	if !l.isOpen {
		l.window.StartUS = max(0, atUS)
	}
	l.window.EndUS = max(atUS, l.window.StartUS)
	l.after, l.rss, l.files = l.usage(), residentBytes(), openFiles()
}

// stop ends issue, and with it the window unless that lasts longer or ended before; only the first call counts. reason is ""
// when the load was asked to end here.
func (l *load) stop(atUS int64, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isDone {
		return
	}
	l.isDone, l.doneUS, l.reason = true, atUS, reason
	switch closed, open := l.cfg.Closed, l.cfg.Open; {
	case open != nil:
		l.seal(atUS - open.Cooldown.Microseconds())
	case !closed.ToEnd:
		l.seal(atUS)
	}
	close(l.stopped)
}

func (l *load) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
}

// call makes the request of a talk's next turn, due at an instant.
func (l *load) call(t *talk, dueUS int64) *stream.Call {
	c := &stream.Call{Index: l.number(), Session: t.session, Turn: t.turn, Body: t.body, IntendedUS: dueUS, DueUS: dueUS}
	c.Salt = l.cfg.Salt.of(c.Index, c.Session)
	return c
}

// number gives requests their order of issue.
func (l *load) number() int { return int(l.tally.issued.Add(1) - 1) }

// send sends a call and hands on its record.
func (l *load) send(ctx context.Context, send sender, c *stream.Call) (record.Request, string) {
	l.tally.inFlight.Add(1)
	r, reply := send(ctx, c)
	l.tally.inFlight.Add(-1)
	l.tally.ended(r, c.DueUS)
	return r, reply
}

// pacer is the closed or the open loop: issue runs until issue has stopped and every request it sent has ended.
type pacer interface {
	issue(ctx context.Context, feed *feeder)
	wanted() (requests int, length time.Duration) // of the window; 0 when that is open
	waited(w Span) float64                        // mean number of slots that waited inside the window
}

// run issues, awaits stragglers up to the drain limit, and sums up.
func (l *load) run(ctx context.Context, src dataset.Source) (Result, error) {
	var p pacer
	ahead := 64
	if l.cfg.Closed != nil {
		p, ahead = newClosed(l, *l.cfg.Closed), l.cfg.Closed.Concurrency
	} else {
		p = newOpen(l, *l.cfg.Open)
	}
	flow, cut := context.WithCancelCause(ctx)
	defer cut(nil)
	feed := newFeeder(l.cfg.Request, src, ahead)
	read, done := make(chan struct{}), make(chan struct{})
	reading, stopReading := context.WithCancel(ctx)
	go func() {
		defer close(read)
		feed.run(reading)
	}()
	go func() {
		defer close(done)
		select {
		case <-feed.ready:
		case <-flow.Done():
		}
		p.issue(flow, feed)
	}()
	l.watch(flow, cut, p, done)
	stopReading()
	<-read // the source is ours no longer after this
	return l.sum(ctx, p, feed)
}

// watch shows progress, ends the load when that is due, and returns when every request has ended.
func (l *load) watch(ctx context.Context, cut context.CancelCauseFunc, p pacer, done <-chan struct{}) {
	tick := time.NewTicker(viewEvery)
	defer tick.Stop()
	v := newView(l, p)
	stopped, drained := l.stopped, (<-chan time.Time)(nil)
	for {
		select {
		case <-done:
			l.stop(l.cfg.Clock.Now(), "")
			v.show()
			return
		case <-ctx.Done():
			l.stop(l.cfg.Clock.Now(), "")
			<-done
			return
		case <-stopped:
			stopped = nil
			drained = time.After(l.cfg.Drain)
			v.show()
		case <-drained:
			cut(stream.ErrDrained)
		case <-tick.C:
			l.check()
			v.show()
		}
	}
}

// check ends a load that cannot come to anything.
func (l *load) check() {
	if err := l.tally.failure(); err != nil {
		l.stop(l.cfg.Clock.Now(), "a request could not be recorded: "+err.Error())
	}
	if why := l.tally.hopeless(l.cfg.connections()); why != "" {
		l.stop(l.cfg.Clock.Now(), "the server served no request for 10 s; the last one ended with "+why)
	}
}

// found is what the pacer left: the window, why issue stopped, and its notes.
func (l *load) found() Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	res := Result{Window: l.window, Stopped: l.reason, Notes: slices.Clone(l.notes)}
	h := &res.Health
	if l.isOpen {
		*h = l.after.since(l.before)
	}
	all := l.vitals.Now()
	h.Sockets = Sockets{Opened: all.Opened, Reused: all.Reused, AtOnce: all.AtOnce}
	h.RSSBytes, h.Files, h.Procs = l.rss, l.files, runtime.GOMAXPROCS(0)
	return res
}

// sum makes the result of an ended load.
func (l *load) sum(ctx context.Context, p pacer, feed *feeder) (Result, error) {
	t := l.tally
	issue := t.span()
	l.shut(max(l.doneUS, issue.EndUS)) // where the window lasts until the last request has ended
	res := l.found()                   // a timer of the pacer may still be at work
	res.Issue, res.Waiting = issue, p.waited(res.Window)
	t.mu.Lock()
	defer t.mu.Unlock()
	res.Health.TokenSource, res.Health.LagUS = t.source, t.lag(res.Window, l.cfg.Closed != nil)
	if t.skipped > 0 {
		res.Notes = append(res.Notes, fmt.Sprintf("%d turns were not sent because an earlier turn of their conversation failed", t.skipped))
	}
	switch {
	case ctx.Err() != nil:
		return res, context.Cause(ctx)
	case t.err != nil:
		return res, t.err
	case feed.failed() != nil:
		return res, fault.New(fault.Client, "dataset", "check the dataset's file", "the prompts could not be read: %w", feed.failed())
	}
	return res, nil
}
