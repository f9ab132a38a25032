package load

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"assay/fault"
	"assay/runner/dataset"
	"assay/runner/load/health"
	"assay/runner/load/keeper"
	"assay/runner/load/process"
	"assay/runner/load/stream"
	"assay/runner/load/warmup"
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
	if err := process.Check(cfg.Connections(), cfg.Targets); err != nil {
		return Result{}, err
	}
	defer process.Lean()()
	defer process.TwoAtOnce()()
	vitals := stream.NewVitals()
	to := openTargets(ctx, cfg, vitals)
	defer to.close()
	beside, stop := context.WithCancel(ctx)
	defer stop()
	go cfg.Clock.Keep(beside)

	l := newLoad(cfg, keep, report)
	l.vitals = vitals
	l.sender = to.sender
	if to.stampSource() == "user" {
		go l.watchWakeups(beside)
	}
	refused, err := l.probe(ctx, to)
	if err != nil {
		return Result{}, err
	}
	if to.watchIdle(ctx, reuseCheck); to.reuses() {
		l.dial = to.dial
	}
	if cfg.Prepare != nil {
		if src, l.cfg.Salt, err = cfg.Prepare(ctx, l.asker(to.only(0))); err != nil {
			return Result{Refused: refused}, err
		}
	}
	res, err := l.run(ctx, src)
	res.Refused = refused
	res.Notes = append(append(res.Notes, cfg.Request.Lacks()...), to.notes()...)
	res.Health.StampSource = to.stampSource()
	return res, err
}

// watchWakeups measures how late reads are where no stamp of the kernel's tells.
func (l *load) watchWakeups(ctx context.Context) {
	if err := l.vitals.Wakeups(ctx, l.cfg.Clock); err != nil {
		l.note("%v", err)
	}
}

// atOnce is the most requests that may be in flight; 0 when the load has no bound.
func (c Config) atOnce() int {
	if c.Closed != nil {
		return c.Closed.Concurrency
	}
	return c.Open.MaxConcurrency
}

// Connections is the number of connections the load may need at once; without a bound, what comes in a second at its full rate.
func (c Config) Connections() int {
	if most := c.atOnce(); most > 0 {
		return most
	}
	full := *c.Open
	full.Ramp = nil
	return Config{Open: &full}.ahead()
}

// sender sends a call and waits for its end. reply is the answer's text when the call wanted it.
type sender func(ctx context.Context, c *stream.Call) (r record.Request, reply string)

// load is one load under way.
type load struct {
	cfg    Config
	tally  *tally
	keeper *keeper.Keeper
	report func(Progress)
	sender func() (sender, func() int64)                            // makes a sender for one goroutine, with a count of its token events
	dial   func(ctx context.Context, n int) (opened int, err error) // opens connections ahead; nil when none is used twice
	first  atomic.Pointer[stream.Call]                              // the first measured one

	vitals *stream.Vitals
	looks  *health.Looks // at the process, as the window opens and as it ends

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
	flown    int64 // token events at the last check
}

func newLoad(cfg Config, keep func(record.Request) error, report func(Progress)) *load {
	l := &load{
		cfg: cfg, tally: newTally(cfg.Clock), keeper: keeper.New(keep), report: report, vitals: stream.NewVitals(),
		opened: make(chan struct{}), stopped: make(chan struct{}),
	}
	l.looks = health.NewLooks(func() health.Usage { return health.Now(cfg.Clock, l.vitals) })
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
	l.looks.Begin()
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
		l.looks.Skip()
	}
	l.window.EndUS = max(atUS, l.window.StartUS)
	l.looks.End()
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

// isStopped says that issue is.
func (l *load) isStopped() bool {
	select {
	case <-l.stopped:
		return true
	default:
		return false
	}
}

func (l *load) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
}

// call makes the request of a talk's next turn, due at an instant.
func (l *load) call(t *talk, dueUS int64) *stream.Call {
	c := &stream.Call{Index: l.number(), Session: t.session, Talk: t.number, Turn: t.turn, Body: t.body, IntendedUS: dueUS, DueUS: dueUS}
	l.tally.uses(t.pass)
	c.Salt = l.cfg.Salt.Of(c.Index, t.prompt, c.Session)
	return c
}

// number gives requests their order of issue.
func (l *load) number() int { return int(l.tally.issued.Add(1) - 1) }

// send sends a call and hands on its record.
func (l *load) send(ctx context.Context, send sender, c *stream.Call) (record.Request, string) {
	if !c.Warmup && l.first.Load() == nil {
		l.first.CompareAndSwap(nil, c)
	}
	l.tally.inFlight.Add(1)
	r, reply := send(ctx, c)
	l.tally.inFlight.Add(-1)
	l.handOn(r, c.DueUS)
	return r, reply
}

// handOn tells the tally of a request that has ended, and has it kept.
func (l *load) handOn(r record.Request, dueUS int64) {
	l.tally.ended(r, dueUS)
	l.keeper.Take(r)
}

// pacer is the closed or the open loop: issue runs until issue has stopped and every request it sent has ended.
type pacer interface {
	issue(ctx context.Context, feed *feeder)
	wanted() (requests int, length time.Duration) // of the window; 0 when that is open
	waited(w Span) float64                        // mean number of slots that waited inside the window
	missing() string                              // what was missing when a window opened that had to
	settled() *warmup.Outcome                     // of a warm-up until the load is stable; nil of any other
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
	feed.salt = l.cfg.Salt
	feed.shared, feed.once = l.cfg.Closed != nil && l.cfg.Closed.Cell != nil, l.cfg.Open != nil && l.cfg.Open.once()
	read, done := make(chan struct{}), make(chan struct{})
	reading, stopReading := context.WithCancel(ctx)
	go func() {
		defer close(read)
		feed.run(reading)
	}()
	go l.keeper.Run()
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
	if err := l.keeper.Failure(); err != nil {
		l.stop(l.cfg.Clock.Now(), "a request could not be recorded: "+err.Error())
	}
	if l.flows() {
		l.tally.alive()
	}
	if why := l.tally.hopeless(l.cfg.atOnce()); why != "" {
		l.stop(l.cfg.Clock.Now(), "the server served no request for 10 s; the last one ended with "+why)
	}
}

// flows says that tokens have come since it was asked last.
func (l *load) flows() bool {
	before := l.flown
	l.flown = l.events()
	return l.flown > before
}

// events is the token events that have come so far.
func (l *load) events() (sum int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, tokens := range l.live {
		sum += tokens()
	}
	return sum
}

// found is what the pacer left: the window, why issue stopped, and its notes.
func (l *load) found() Result {
	l.looks.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	res := Result{Window: l.window, Stopped: l.reason, Notes: slices.Clone(l.notes)}
	res.Health = l.looks.Of(l.window.StartUS, l.window.EndUS)
	all := l.vitals.Now()
	res.Health.Sockets = health.Sockets{Opened: all.Opened, Reused: all.Reused, AtOnce: all.AtOnce}
	return res
}

// sum makes the result of an ended load.
func (l *load) sum(ctx context.Context, p pacer, feed *feeder) (Result, error) {
	t := l.tally
	issue := t.span()
	l.shut(max(l.doneUS, issue.EndUS)) // where the window lasts until the last request has ended
	l.keeper.Close()
	res := l.found() // a timer of the pacer may still be at work
	res.Issue, res.Waiting, res.Unready, res.Warmup = issue, p.waited(res.Window), p.missing(), p.settled()
	if c := l.first.Load(); c != nil {
		res.First = c.Body.With(c.Salt)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	res.Repeats = t.passes
	res.Health.TokenSource, res.Health.LagUS = t.source, t.lag(res.Window, l.cfg.Closed != nil)
	if t.skipped > 0 {
		res.Notes = append(res.Notes, fmt.Sprintf("%d turns were not sent because an earlier turn of their conversation failed", t.skipped))
	}
	switch {
	case ctx.Err() != nil:
		return res, context.Cause(ctx)
	case l.keeper.Failure() != nil:
		return res, l.keeper.Failure()
	case feed.failed() != nil:
		return res, fault.New(fault.Client, "dataset", "check the dataset's file", "the prompts could not be read: %w", feed.failed())
	}
	return res, nil
}
