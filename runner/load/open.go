package load

import (
	"context"
	"sync"
	"time"

	"assay/runner/load/arrival"
	"assay/runner/load/stream"
	"assay/runner/load/warmup"
	"assay/runner/record"
)

// open sends each request at its scheduled instant, whatever became of the ones before. Requests above MaxConcurrency
// wait in a queue, and their time there counts from the scheduled instant.
type open struct {
	*load
	want    Open
	opensUS int64 // when the window is to open
	working sync.WaitGroup
	unsent  int // turns that need a reply

	mu      sync.Mutex
	busy    int
	queue   []*stream.Call
	senders []sender
}

func newOpen(l *load, want Open) *open { return &open{load: l, want: want} }

func (o *open) wanted() (int, time.Duration) {
	length := max(0, o.want.Duration-o.want.Warmup-o.want.Cooldown)
	if length == 0 {
		return o.want.Requests, 0
	}
	return 0, length
}

// waited is nothing in an open loop: it has no slots.
func (o *open) waited(Span) float64 { return 0 }

// missing is nothing either: its window follows the schedule.
func (o *open) missing() string { return "" }

func (o *open) settled() *warmup.Outcome { return nil }

// issue follows the schedule, then waits for what is in flight.
func (o *open) issue(ctx context.Context, feed *feeder) {
	closes := o.closes()
	o.dialAhead(ctx, o.cfg.ahead())
	start := o.cfg.Clock.Now()
	o.opensUS = start + o.want.Warmup.Microseconds()
	opening := time.AfterFunc(o.want.Warmup, func() { o.open(o.opensUS) })
	if o.want.Warmup == 0 {
		o.open(start)
	}
	if closes > 0 {
		closing := time.AfterFunc(closes, func() { o.open(o.opensUS); o.shut(start + closes.Microseconds()) }) // a busy machine comes to both at once
		defer closing.Stop()
	}
	o.schedule(ctx, feed, start)
	opening.Stop()
	o.working.Wait()
	o.drop()
	if o.unsent > 0 {
		o.note("%d turns were not sent: they need the server's reply to an earlier turn, and an open loop waits for none", o.unsent)
	}
}

// schedule sends until requests, time or data are used up.
func (o *open) schedule(ctx context.Context, feed *feeder, start int64) {
	times, next := arrival.New(o.want.arrivals()), turns{open: o, feed: feed}
	for n := 0; ; n++ {
		t := next.take()
		at := times.Next(t.arrives(), t != nil)
		if d := o.want.Duration; d > 0 && at >= d {
			o.until(start+d.Microseconds(), "")
			return
		}
		due := start + at.Microseconds()
		if t == nil || o.want.Requests > 0 && n >= o.want.Requests {
			o.until(due, o.short(n))
			return
		}
		if !o.sleep(due) {
			return
		}
		o.arrive(ctx, o.call(t, due))
		next.sent(t)
	}
}

// short says why n requests are all; "" when no more were wanted. A trace ends by itself.
func (o *open) short(n int) string {
	if o.want.Arrival == arrival.Trace || o.want.Requests > 0 && n >= o.want.Requests {
		return ""
	}
	return "the dataset ended"
}

// closes is how long after the start the window ends, where that is before issue ends and is known.
func (o *open) closes() time.Duration {
	if o.want.Cooldown == 0 {
		return 0
	}
	return max(0, o.length()-o.want.Cooldown)
}

// length is how long the schedule lasts; 0 when only its trace knows.
func (o *open) length() time.Duration {
	limit := o.want.Duration
	if o.want.Requests == 0 || o.want.Arrival == arrival.Trace {
		return limit
	}
	times := arrival.New(o.want.arrivals())
	end := times.Next(0, true)
	for range o.want.Requests {
		if end = times.Next(0, true); limit > 0 && end >= limit {
			return limit
		}
	}
	return end
}

// until ends issue at an instant. On a busy machine the timer of the window's beginning may be later than this.
func (o *open) until(atUS int64, reason string) {
	if !o.sleep(atUS) {
		return
	}
	if atUS >= o.opensUS {
		o.open(o.opensUS)
	}
	o.stop(atUS, reason)
}

// sleep waits for an instant; false when issue stopped meanwhile. A schedule that is late sends at once: it follows absolute instants.
func (o *open) sleep(untilUS int64) bool {
	left := us(untilUS - o.cfg.Clock.Now())
	if left <= 0 {
		return !o.isStopped()
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-o.stopped:
		return false
	case <-timer.C:
		return true
	}
}

// arrive sends a call at once, or queues it when too many are in flight.
func (o *open) arrive(ctx context.Context, c *stream.Call) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.want.MaxConcurrency > 0 && o.busy >= o.want.MaxConcurrency {
		o.queue = append(o.queue, c)
		return
	}
	o.busy++
	o.working.Go(func() { o.work(ctx, c) })
}

// work sends a call and then what waits in the queue.
func (o *open) work(ctx context.Context, c *stream.Call) {
	send := o.borrow()
	for c != nil {
		o.send(ctx, send, c)
		c = o.next(ctx)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.senders = append(o.senders, send)
}

func (o *open) borrow() sender {
	o.mu.Lock()
	if n := len(o.senders); n > 0 {
		send := o.senders[n-1]
		o.senders = o.senders[:n-1]
		o.mu.Unlock()
		return send
	}
	o.mu.Unlock()
	return o.newSender()
}

// next takes a call from the queue; without one, or when the drain is over, the worker ends.
func (o *open) next(ctx context.Context) *stream.Call {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 || ctx.Err() != nil {
		o.busy--
		return nil
	}
	c := o.queue[0]
	o.queue[0] = nil
	o.queue = o.queue[1:]
	c.DueUS = max(c.DueUS, o.cfg.Clock.Now())
	return c
}

// drop records what never got its turn.
func (o *open) drop() {
	o.mu.Lock()
	queue := o.queue
	o.queue = nil
	o.mu.Unlock()
	for _, c := range queue {
		r := stream.Blank(c)
		r.Outcome, r.Error = record.Dropped, "it waited for one of the requests in flight to end until the drain limit passed or the run ended"
		r.DoneUS = o.cfg.Clock.Now()
		o.handOn(r, c.DueUS)
	}
}

// turns makes single requests of conversations: turns whose history is scripted, one after another.
type turns struct {
	open *open
	feed *feeder
	rest *talk
}

// take gives the next turn to send; nil when the data or issue has ended.
func (t *turns) take() *talk {
	if t.rest != nil {
		return t.rest
	}
	select {
	case <-t.open.stopped:
		return nil
	case talk := <-t.feed.out:
		return talk
	}
}

// sent moves on to the turn after.
func (t *turns) sent(talk *talk) {
	t.rest = nil
	if talk.last() {
		return
	}
	if talk.live() {
		t.open.unsent += len(talk.turns) - 1 - talk.turn
		return
	}
	if err := talk.advance(t.open.cfg.Request, ""); err != nil {
		t.open.note("%v", err)
		return
	}
	t.rest = talk
}
