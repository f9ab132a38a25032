package load

import (
	"context"
	"fmt"
	"sync"
	"time"

	"assay/runner/record"
)

// closed keeps its slots busy: each holds a conversation, sends turn after turn, and takes the next at once.
type closed struct {
	*load
	want  Closed
	begun int64

	mu     sync.Mutex
	warm   int       // warm-up requests issued
	early  []*ticket // measured requests allowed before the window opened
	issued int       // requests issued in the window
	unsent int       // measured requests allowed and not yet sent
	ending bool      // issue stops when they are sent
	places int       // slots, without those no data came for
	filled int       // slots that count as busy
	fullUS int64     // since when the last of these is
	pauses []Span    // slots waiting
	end    *time.Timer
}

func newClosed(l *load, want Closed) *closed {
	if n := want.Requests; n > 0 && n < want.Concurrency && want.MinDuration == 0 && want.WarmupRequests == 0 && want.WarmupDuration == 0 {
		l.note("%d requests cannot keep %d slots busy", n, want.Concurrency)
		want.Concurrency = n
	}
	return &closed{load: l, want: want, places: want.Concurrency}
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

// openAt opens the window, counts what is sent in it already, and sets its end when that is known.
func (c *closed) openAt(us int64) {
	if c.isOpened() {
		return
	}
	c.open(us)
	for _, t := range c.early {
		c.count(t, !t.over && (t.sentUS == record.Never || t.sentUS >= us)) // one that is on its way will be sent inside
	}
	c.early = nil
	if d := c.want.Duration; d > 0 {
		end := us + d.Microseconds()
		wait := time.Duration(end-c.cfg.Clock.Now()) * time.Microsecond
		c.end = time.AfterFunc(wait, func() { c.stop(end, "") })
	}
}

func (c *closed) openLate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isOpened() {
		c.note("only %d of %d streams had a token after %s; the window opened all the same", c.filled, c.places, c.want.ReadyLimit)
		c.openAt(c.cfg.Clock.Now())
	}
}

// ticket is leave to send one request.
type ticket struct {
	warmup  bool
	sentUS  int64 // the last time, where it had to be sent again; Never until then
	over    bool  // it ended without being sent
	counted bool  // as one of the window's
}

// ticket allows one more request; nil when issue has stopped. It decides whether that is of the warm-up, and ends issue.
func (c *closed) ticket() *ticket {
	now := c.cfg.Clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.stopped:
		return nil
	default:
	}
	t := &ticket{sentUS: record.Never}
	if c.warm < c.want.WarmupRequests || now-c.begun < c.want.WarmupDuration.Microseconds() {
		c.warm++
		t.warmup = true
		return t
	}
	if !c.isOpened() {
		c.unsent++
		c.early = append(c.early, t)
		return t
	}
	if c.ending = c.ending || c.enough(now); c.ending {
		c.endIssue(now)
		return nil
	}
	c.count(t, true)
	c.unsent++
	return t
}

// count says whether a request is one of the window's.
func (c *closed) count(t *ticket, inside bool) {
	switch {
	case inside && !t.counted:
		c.issued++
	case !inside && t.counted:
		c.issued--
	}
	t.counted = inside
}

// sent follows a measured request out. The first one makes its slot a busy one; issue has not stopped before the last
// one allowed is on its way.
func (c *closed) sent(s *slot, t *ticket, us int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	again := t.sentUS != record.Never
	t.sentUS = us
	if !c.want.Streaming {
		c.fill(s, us)
	}
	if c.isOpened() {
		c.count(t, us >= c.start())
	}
	if !again {
		c.unsent--
		c.endIssue(us + 1)
	}
}

// ended takes back the leave of a measured request that was never sent; it is one of the window's by its intended instant.
func (c *closed) ended(t *ticket, r record.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.sentUS != record.Never {
		return
	}
	t.over = true
	if c.isOpened() {
		c.count(t, r.IntendedUS >= c.start())
	}
	c.unsent--
	c.endIssue(r.DoneUS + 1)
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

// fill counts a slot as busy from an instant; the window opens at that of the last one.
func (c *closed) fill(s *slot, us int64) {
	if s.filled {
		return
	}
	s.filled = true
	c.filled++
	c.fullUS = max(c.fullUS, us)
	c.openFull()
}

func (c *closed) openFull() {
	if c.filled > 0 && c.filled == c.places {
		c.openAt(c.fullUS)
	}
}

// vacate leaves out a slot for which there is no data.
func (c *closed) vacate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.places--
	c.openFull()
}

// giveUp ends issue for a slot that cannot send: the window would stay closed.
func (c *closed) giveUp(r record.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop(r.DoneUS, fmt.Sprintf("%d of %d slots could send no request for %v; the last attempt ended with %s: %s",
		c.places-c.filled, c.places, us(giveUpUS), r.Outcome, r.Error))
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
