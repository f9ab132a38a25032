package load

// unsaid are turns that were not sent, and of how many conversations.
type unsaid struct{ talks, turns int }

// warming says that the warm-up lasts.
func (c *closed) warming(now int64) bool {
	return c.warm < c.want.WarmupRequests || now-c.begun < c.want.WarmupDuration.Microseconds()
}

// begins counts a conversation that a slot begins; false when all that were wanted have been. Then issue ends once everything allowed was
// sent, and a slot that never had a conversation is left out.
func (c *closed) begins(s *slot, now int64) bool {
	n := c.want.Trajectories
	if n == 0 || c.talks < n {
		c.talks++
		return true
	}
	if !s.filled {
		c.leaveOut()
		return false
	}
	if c.isOpened() && now-c.startUS < c.want.MinDuration.Microseconds() {
		c.why = "all conversations that were wanted had been begun, and one had ended"
	}
	c.ending = true
	c.endIssue(now)
	return false
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
