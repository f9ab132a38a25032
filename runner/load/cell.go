package load

import (
	"context"
	"fmt"
	"time"

	"assay/runner/record"
)

const (
	lookEvery    = 50 * time.Millisecond // at whether a cell is steady
	steadyShare  = 0.98                  // of a cell's streams that the engine runs
	restartGrace = time.Second           // a stream that ended so recently counts as running: its next one is on its way into the engine
	staleAfter   = 5 * time.Second       // the engine's word says nothing any more
)

// cell is what a decode cell knows of its streams. The closed loop's lock guards it.
type cell struct {
	changed chan struct{}   // holds one signal: the last slot had its first token
	renewed map[*slot]int64 // when the last request of a slot ended whose next one has no token yet
	unready string
}

func newCell() cell { return cell{changed: make(chan struct{}, 1), renewed: map[*slot]int64{}} }

func (c *cell) wake() {
	select {
	case c.changed <- struct{}{}:
	default: // one signal is enough
	}
}

func (c *cell) restarts(s *slot, r record.Request) { c.renewed[s] = r.DoneUS }

func (c *cell) streams(s *slot) { delete(c.renewed, s) }

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
	s := steadiness{closed: c, sinceUS: record.Never}
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

// steadiness follows how long a cell has been steady.
type steadiness struct {
	*closed
	sinceUS int64 // Never while it is not
	toldUS  int64 // the engine's last word that counted
}

// reached opens the window when the cell was steady for long enough. Where the engine tells of itself, time counts from word to word.
//
// There is no rule on the token rate: with every stream past its first token, nothing waiting and all running for as long as Stable, the
// rate changes by restarts alone, and those go on in the window.
func (s *steadiness) reached() bool {
	state, told := s.engine()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Clock.Now()
	if told && !s.news(state) {
		return false
	}
	if !s.steady(state, told, now) {
		s.sinceUS = record.Never
		return false
	}
	at := now
	if told {
		at = state.AtUS - s.cfg.Clock.EpochUS()
	}
	if s.sinceUS == record.Never {
		s.sinceUS = at
	}
	if us(at-s.sinceUS) < s.want.Cell.Stable {
		return false
	}
	s.openAt(now)
	return true
}

// engine is the engine's word where it has a recent one.
func (s *steadiness) engine() (EngineState, bool) {
	if s.cfg.Engine == nil {
		return EngineState{}, false
	}
	state, told := s.cfg.Engine()
	return state, told && s.cfg.Clock.EpochUS()+s.cfg.Clock.Now()-state.AtUS < staleAfter.Microseconds()
}

// news says that the engine's word is a new one, and of after the last stream's first token.
func (s *steadiness) news(state EngineState) bool {
	if state.AtUS <= max(s.toldUS, s.cfg.Clock.EpochUS()+s.fullUS) {
		return false
	}
	s.toldUS = state.AtUS
	return true
}

func (s *steadiness) steady(state EngineState, told bool, now int64) bool {
	if s.places == 0 || s.filled < s.places || s.resting > 0 {
		return false
	}
	return !told || state.Waiting == 0 && state.Running+float64(s.cell.fresh(now)) >= steadyShare*float64(s.places)
}

// giveUp opens the window without a steady load and says what was seen.
func (s *steadiness) giveUp() {
	state, told := s.engine()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Clock.Now()
	seen := fmt.Sprintf("streams with a token %d/%d", s.filled, s.places)
	if told {
		seen = fmt.Sprintf("running %g/%d, waiting %g, ", state.Running, s.places, state.Waiting) + seen
	}
	if s.resting > 0 {
		seen += fmt.Sprintf(", %d waiting after a failure", s.resting)
	}
	if s.sinceUS != record.Never {
		seen += fmt.Sprintf("; steady for %s of %s", us(now-s.sinceUS).Round(time.Millisecond), s.want.Cell.Stable)
	}
	s.cell.unready = fmt.Sprintf("%s after %s", seen, s.want.Cell.Timeout)
	s.openAt(now)
}

// missing says why the window opened without a steady load; "" when it did not.
func (c *closed) missing() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cell.unready
}
