package load

import (
	"assay/runner/load/warmup"
	"assay/runner/record"
)

// unsaid are turns that were not sent, and of how many conversations.
type unsaid struct{ talks, turns int }

// warming says that the warm-up lasts.
func (c *closed) warming(now int64) bool {
	return c.warm < c.want.WarmupRequests || now-c.begun < c.want.WarmupDuration.Microseconds() || c.steps.Lasts(now)
}

// warmed follows the steps of a warm-up that is to go on until the load is stable.
func (c *closed) warmed(r record.Request) {
	if c.want.WarmupStable == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps.Ended(c.cfg.Clock.Now(), r, c.events)
}

// settled is what came of such a warm-up.
func (c *closed) settled() *warmup.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.steps.Outcome()
}

// begins counts a conversation that a slot begins; false when all that were wanted have been. Then issue ends once everything allowed was
// sent, and a slot that never had a conversation is left out.
func (c *closed) begins(s *slot, now int64) bool {
	if !c.begunAll() {
		c.talks++
		return true
	}
	if !s.filled {
		c.leaveOut()
		return false
	}
	if c.tooSoon(now) {
		c.why = "all conversations that were wanted had been begun, and one had ended"
	}
	c.ending = true
	c.endIssue(now)
	return false
}

// begunAll says that all conversations that were wanted have been begun; false without a limit.
func (c *closed) begunAll() bool { return c.want.Trajectories > 0 && c.talks >= c.want.Trajectories }

// tooSoon says that the window has not yet lasted as long as it has to.
func (c *closed) tooSoon(now int64) bool {
	return c.isOpened() && now-c.startUS < c.want.MinDuration.Microseconds()
}

// aside says that a conversation of the warm-up is left, because that is over: conversations that are counted are measured from their first
// turn on.
func (c *closed) aside(t *talk) bool {
	if !t.warm || c.want.Trajectories == 0 {
		return false
	}
	now := c.cfg.Clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.warming(now)
}

// leave counts what is not sent of a conversation that issue's end cuts off.
func (c *closed) leave(t *talk) {
	if t.turn == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left.talks++
	c.left.turns += len(t.turns) - t.turn
}
