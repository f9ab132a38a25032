package load

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"assay/runner/load/warmup"
	"assay/runner/record"
)

// closed keeps its slots busy: each holds a conversation, sends turn after turn, and takes the next at once.
type closed struct {
	*load
	want  Closed
	begun int64

	mu      sync.Mutex
	warm    int // warm-up requests issued
	steps   warmup.Steps
	early   []*ticket // measured requests allowed before the window was known to be open
	issued  int       // requests issued in the window
	unsent  int       // measured requests allowed and not yet sent
	unsure  int       // of the window's requests, those that may yet turn out to have been sent before it
	startUS int64     // when the window opened
	lastUS  int64     // latest instant at which a measured one was sent
	ending  bool      // issue stops when they are sent
	places  int       // slots, without those no data came for
	filled  int       // slots that count as busy
	fullUS  int64     // since when the last of these is
	resting int       // slots waiting now
	pauses  []Span    // of slots that waited
	taken   int       // conversations that were given or refused leave for their first turn
	given   int       // all that the data had; -1 until a slot finds that it has ended
	talks   int       // conversations begun with a measured request
	left    unsaid    // what issue's end cut off
	why     string    // issue ends before it was asked to
	late    bool      // Duration has passed
	cell    cell
	end     *time.Timer
}

func newClosed(l *load, want Closed) *closed {
	if n := want.Requests; n > 0 && n < want.Concurrency && want.MinDuration == 0 && want.WarmupRequests == 0 && want.WarmupDuration == 0 && want.WarmupStable == 0 {
		l.note("%d requests cannot keep %d slots busy", n, want.Concurrency)
		want.Concurrency = n
	}
	if n := want.Trajectories; n > 0 && n < want.Concurrency {
		l.note("%d conversations cannot keep %d slots busy", n, want.Concurrency)
		want.Concurrency = n
	}
	steps := warmup.Steps{Share: want.WarmupStable, Limit: want.WarmupTimeout, Slots: want.Concurrency}
	return &closed{load: l, want: want, places: want.Concurrency, given: -1, cell: newCell(), steps: steps}
}

func (c *closed) wanted() (int, time.Duration) {
	if c.want.Requests > 0 && c.want.Duration == 0 && c.want.MinDuration == 0 {
		return c.want.Requests, 0
	}
	return c.want.Requests, max(c.want.Duration, c.want.MinDuration)
}

// issue starts all slots at one instant and waits for their ends.
func (c *closed) issue(ctx context.Context, feed *feeder) {
	if c.want.Cell != nil {
		c.scout(ctx, feed)
	}
	c.dialAhead(ctx, c.cfg.ahead())
	slots := make([]*slot, c.want.Concurrency)
	for i := range slots {
		slots[i] = &slot{closed: c, send: c.newSender()}
	}
	c.begun = c.cfg.Clock.Now()
	c.steps.Begin(c.begun, c.events())
	var running sync.WaitGroup
	if c.want.Cell != nil {
		running.Go(c.await)
	}
	for _, s := range slots {
		running.Go(func() { s.run(ctx, feed) })
	}
	running.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end != nil {
		c.end.Stop()
	}
	if c.left.turns > 0 {
		c.note("%d turns of %d conversations under way were not sent: issue had stopped", c.left.turns, c.left.talks)
	}
}

// openAt opens the window, counts what is sent in it already, and sets its end when that is known.
func (c *closed) openAt(atUS int64) {
	if c.isOpened() {
		return
	}
	c.open(atUS)
	c.startUS = atUS
	for _, t := range c.early {
		if t.unsure = !t.over && t.sentUS == record.Never; t.unsure { // it will be sent inside, or was sent just before and has yet to tell
			c.unsure++
		}
		c.count(t, t.unsure || !t.over && t.sentUS >= atUS)
	}
	if d := c.want.Duration; d > 0 {
		end := atUS + d.Microseconds()
		c.end = time.AfterFunc(us(end-c.cfg.Clock.Now()), func() { c.timeUp(end) })
	}
}

// timeUp ends issue at the end of its duration, unless too few requests were issued by then.
func (c *closed) timeUp(endUS int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.issued < c.want.MinRequests {
		c.late = true
		return
	}
	c.stop(endUS, "")
}

// ticket is leave to send one request.
type ticket struct {
	warmup  bool
	sentUS  int64 // the last time, where it had to be sent again; Never until then
	over    bool  // it ended without being sent
	counted bool  // as one of the window's
	unsure  bool  // counted without having told when it was sent
}

// ticket allows a talk's next request; nil when issue has stopped.
func (c *closed) ticket(s *slot, talk *talk) *ticket {
	now := c.cfg.Clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isStopped() {
		return nil
	}
	t := c.allow(s, talk, now)
	if talk.turn == 0 {
		c.taken++
		c.endIssue(now)
	}
	return t
}

// allow is ticket for who holds the lock. It decides whether the request is of the warm-up, and ends issue.
func (c *closed) allow(s *slot, talk *talk, now int64) *ticket {
	t := &ticket{sentUS: record.Never}
	if c.warming(now) || talk.warm && c.want.Trajectories > 0 {
		c.warm++
		t.warmup, talk.warm = true, true
		return t
	}
	if talk.turn == 0 && !c.begins(s, now) {
		return nil
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
	if c.unsure > 0 {
		c.early = append(c.early, t)
	}
	return t
}

// count says whether a request is one of the window's.
func (c *closed) count(t *ticket, inside bool) {
	if t.unsure && t.counted {
		t.unsure = false
		c.unsure--
	}
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
	t.sentUS, c.lastUS = us, max(c.lastUS, us)
	if c.want.Cell == nil {
		c.fill(s, us)
	}
	if c.isOpened() {
		c.count(t, us >= c.startUS)
	}
	if !again {
		c.unsent--
		c.endIssue(us + 1)
	}
}

// ended takes back the leave of a measured request that was never sent; it is one of the window's by its intended instant.
func (c *closed) ended(s *slot, t *ticket, r record.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cell.restarts(s, r)
	if t.sentUS != record.Never {
		return
	}
	t.over = true
	if c.isOpened() {
		c.count(t, r.IntendedUS >= c.startUS)
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

// endIssue stops issue when that is due and every request allowed has been sent. Slots that send at one instant are heard in any order:
// it stops after the latest, and not within the time asked for.
func (c *closed) endIssue(us int64) {
	at := max(us, c.lastUS+1)
	switch {
	case c.unsent > 0:
	case c.ending && c.why == "":
		c.stop(max(c.afterWanted(at), c.startUS+c.want.MinDuration.Microseconds()), "")
	case c.ending:
		c.stop(at, c.why)
	case c.taken == c.given:
		c.stop(at, c.short(at))
	}
}

// afterWanted is where the window ends: after the last request wanted. More were sent where the word of the last slot's first request, which
// opens the window, came late, and the other slots went on until then.
func (c *closed) afterWanted(at int64) int64 {
	var sent []int64
	for _, t := range c.early {
		if t.counted {
			sent = append(sent, t.sentUS)
		}
	}
	n := c.want.Requests
	if n == 0 || len(sent) <= n || c.want.MinDuration > 0 {
		return at
	}
	slices.Sort(sent)
	return sent[n-1] + 1
}

// exhaust has issue end for a slot that finds no more data, when each of the given conversations is under way: another slot may hold one that
// it has yet to send.
func (c *closed) exhaust(given int) {
	now := c.cfg.Clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.given = given
	c.endIssue(now)
}

// short says why issue ends with the data; "" when no more was wanted.
func (c *closed) short(now int64) string {
	if c.enough(now) || c.begunAll() && !c.tooSoon(now) {
		return ""
	}
	return "the dataset ended"
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

// openFull opens the window when every slot is busy; that of a cell waits for more.
func (c *closed) openFull() {
	switch {
	case c.filled == 0 || c.filled < c.places:
	case c.want.Cell != nil:
		c.cell.wake()
	default:
		c.openAt(c.fullUS)
	}
}

// vacate leaves out a slot for which there is no data.
func (c *closed) vacate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaveOut()
}

// leaveOut is vacate for who holds the lock.
func (c *closed) leaveOut() {
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

// streaming is told by the first token of each of a cell's requests.
func (c *closed) streaming(s *slot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.cfg.Clock.Now()
	c.cell.streams(s, now)
	c.fill(s, now)
}

func (c *closed) enough(now int64) bool {
	if c.late && c.issued >= c.want.MinRequests {
		return true
	}
	return c.want.Requests > 0 && c.issued-c.unsure >= c.want.Requests && now-c.startUS >= c.want.MinDuration.Microseconds()
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

// pause notes that a slot has nothing in flight from an instant on; the result is called at its end.
func (c *closed) pause(fromUS int64) (resume func(toUS int64)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resting++
	return func(toUS int64) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.resting--
		c.pauses = append(c.pauses, Span{fromUS, toUS})
	}
}

// waited is the mean number of slots inside a window that had nothing in flight.
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
