package load

import (
	"context"
	"sync"
	"time"
)

// closed keeps its slots busy: each holds a conversation, sends turn after turn, and takes the next at once.
type closed struct {
	*load
	want  Closed
	begun int64

	mu     sync.Mutex
	warm   int    // warm-up requests issued
	issued int    // requests issued in the window
	unsent int    // measured requests allowed and not yet sent
	ending bool   // issue stops when they are sent
	filled int    // slots that count as busy
	pauses []Span // slots waiting
	end    *time.Timer
}

func newClosed(l *load, want Closed) *closed {
	if n := want.Requests; n > 0 && n < want.Concurrency && want.MinDuration == 0 && want.WarmupRequests == 0 && want.WarmupDuration == 0 {
		l.note("%d requests cannot keep %d slots busy", n, want.Concurrency)
		want.Concurrency = n
	}
	return &closed{load: l, want: want}
}

func (c *closed) wanted() (int, time.Duration) {
	if c.want.Requests > 0 && c.want.Duration == 0 && c.want.MinDuration == 0 {
		return c.want.Requests, 0
	}
	return c.want.Requests, max(c.want.Duration, c.want.MinDuration)
}

// issue starts all slots at one instant and waits for their ends.
func (c *closed) issue(ctx context.Context, feed *feeder) {
	slots := make([]*slot, c.want.Concurrency)
	for i := range slots {
		slots[i] = &slot{closed: c, send: c.newSender()}
	}
	c.begun = c.cfg.Clock.Now()
	if c.want.Streaming && c.want.ReadyLimit > 0 {
		late := time.AfterFunc(c.want.ReadyLimit, c.openLate)
		defer late.Stop()
	}
	c.begin()
	var running sync.WaitGroup
	for _, s := range slots {
		running.Go(func() { s.run(ctx, feed) })
	}
	running.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end != nil {
		c.end.Stop()
	}
}

// begin opens the window at once when nothing comes before it: every slot is busy from its start.
func (c *closed) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.want.WarmupRequests == 0 && c.want.WarmupDuration == 0 && !c.want.Streaming {
		c.openAt(c.begun)
	}
}

// openAt opens the window and sets its end when that is known.
func (c *closed) openAt(us int64) {
	c.open(us)
	if d := c.want.Duration; d > 0 {
		end := us + d.Microseconds()
		wait := time.Duration(end-c.cfg.Clock.Now()) * time.Microsecond
		c.end = time.AfterFunc(wait, func() { c.stop(end, "") })
	}
}

func (c *closed) openLate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.filled < c.want.Concurrency {
		c.note("only %d of %d streams had a token after %s; the window opened all the same", c.filled, c.want.Concurrency, c.want.ReadyLimit)
		c.filled = c.want.Concurrency
		c.openAt(c.cfg.Clock.Now())
	}
}

// ticket is leave to send one request.
type ticket struct {
	warmup bool
	early  bool // measured, but given before the window opened
}

// ticket allows one more request. It decides whether that is of the warm-up, and opens and ends the window.
func (c *closed) ticket(s *slot) (t ticket, ok bool) {
	now := c.cfg.Clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.stopped:
		return t, false
	default:
	}
	if c.warm < c.want.WarmupRequests || now-c.begun < c.want.WarmupDuration.Microseconds() {
		c.warm++
		return ticket{warmup: true}, true
	}
	if !c.want.Streaming {
		c.fill(s, now)
	}
	if !c.isOpened() {
		c.unsent++
		return ticket{early: true}, true
	}
	if c.ending = c.ending || c.enough(now); c.ending {
		c.endIssue(now)
		return t, false
	}
	c.issued++
	c.unsent++
	return t, true
}

// leaving follows a measured request until it is sent. One that was allowed before the window opened and is sent inside
// it is one of the window's; and issue has not stopped before the last one allowed is on its way.
func (c *closed) leaving(early bool) (sent func(us int64)) {
	done := false
	return func(us int64) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if done {
			return
		}
		done = true
		c.unsent--
		if early && c.isOpened() && us >= c.start() {
			c.issued++
		}
		c.endIssue(us + 1)
	}
}

func (c *closed) isOpened() bool {
	select {
	case <-c.opened:
		return true
	default:
		return false
	}
}

// endIssue stops issue when that is due and every request allowed has been sent.
func (c *closed) endIssue(us int64) {
	if c.ending && c.unsent == 0 {
		c.stop(us, "")
	}
}

// fill counts a slot as busy; the window opens with the last one.
func (c *closed) fill(s *slot, now int64) {
	if s.filled {
		return
	}
	s.filled = true
	if c.filled++; c.filled == c.want.Concurrency {
		c.openAt(now)
	}
}

// streaming is told by a slot's first measured token.
func (c *closed) streaming(s *slot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fill(s, c.cfg.Clock.Now())
}

func (c *closed) enough(now int64) bool {
	return c.want.Requests > 0 && c.issued >= c.want.Requests && now-c.start() >= c.want.MinDuration.Microseconds()
}

// start is when the window opened.
func (c *closed) start() int64 {
	c.load.mu.Lock()
	defer c.load.mu.Unlock()
	return c.window.StartUS
}

// finish ends issue when enough requests were issued, so that no slot waits for a turn that is never sent.
func (c *closed) finish() {
	now := c.cfg.Clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.issued > 0 && c.enough(now) {
		c.ending = true
		c.endIssue(now)
	}
}

// paused notes that a slot had nothing in flight.
func (c *closed) paused(fromUS, toUS int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pauses = append(c.pauses, Span{fromUS, toUS})
}

func (c *closed) waited(w Span) float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var sum int64
	for _, p := range c.pauses {
		sum += max(0, min(p.EndUS, w.EndUS)-max(p.StartUS, w.StartUS))
	}
	if w.EndUS <= w.StartUS {
		return 0
	}
	return float64(sum) / float64(w.EndUS-w.StartUS)
}
