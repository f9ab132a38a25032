package load

import (
	"cmp"
	"context"
	"time"

	"assay/runner/load/pulse"
	"assay/runner/record"
)

const (
	lookEvery    = 50 * time.Millisecond // at whether a cell is steady
	restartGrace = time.Second           // a stream that ended so recently counts as running: its next one is on its way into the engine
)

// cell is what a decode cell knows of its streams. The closed loop's lock guards it.
type cell struct {
	changed chan struct{}   // holds one signal: the last slot had its first token
	renewed map[*slot]int64 // when the last request of a slot ended whose next one has no token yet
	goneUS  int64           // time between requests of a slot, from the end of one to the next one's first token, of all that are over
	unready string
}

func newCell() cell { return cell{changed: make(chan struct{}, 1), renewed: map[*slot]int64{}} }

func (c *cell) wake() {
	select {
	case c.changed <- struct{}{}:
	default: // one signal is enough
	}
}

func (c *cell) restarts(s *slot, r record.Request) {
	c.streams(s, r.DoneUS)
	c.renewed[s] = r.DoneUS
}

func (c *cell) streams(s *slot, now int64) {
	if ended, renewed := c.renewed[s]; renewed {
		c.goneUS += now - ended
		delete(c.renewed, s)
	}
}

// restarting is the time that slots have spent between requests until now.
func (c *cell) restarting(now int64) int64 {
	sum := c.goneUS
	for _, ended := range c.renewed {
		sum += now - ended
	}
	return sum
}

// fresh counts the slots that have just begun anew.
func (c *cell) fresh(now int64) (n int) {
	for _, us := range c.renewed {
		if now-us < restartGrace.Microseconds() {
			n++
		}
	}
	return n
}

// scout brings the cell's prompt into the prompt cache of each server.
func (c *closed) scout(ctx context.Context, feed *feeder) {
	send := c.newSender()
	for range c.want.Cell.Scouts {
		t := <-feed.out
		if t == nil || ctx.Err() != nil {
			return
		}
		c.taken++
		now := c.cfg.Clock.Now()
		call := c.call(t, now)
		body, err := t.alone(c.cfg.Request, 1)
		if err != nil {
			c.note("%v", err)
			return
		}
		call.Body, call.Warmup = body, true
		if r, _ := c.send(ctx, send, call); r.Outcome != record.OK {
			c.note("the request that brings the prompt into the server's cache ended with %s: %s", r.Outcome, r.Error)
		}
	}
}

// await opens the window of a cell: when the load is steady, or at its limit.
func (c *closed) await() {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	limit := make(<-chan time.Time)
	if d := c.want.Cell.Timeout; d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		limit = timer.C
	}
	s := steadiness{closed: c, sinceUS: record.Never, pulse: pulse.Pulse{Over: c.want.Cell.Stable}}
	for {
		select {
		case <-c.stopped:
			return
		case <-limit:
			s.giveUp()
			return
		case <-c.cell.changed:
		case <-tick.C:
		}
		if s.reached() {
			return
		}
	}
}

// missing says why the window opened without the steady load that was asked for; "" when it did not.
func (c *closed) missing() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.cell.unready, c.steps.Missing())
}
