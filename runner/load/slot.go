package load

import (
	"context"
	"time"

	"assay/runner/load/stream"
	"assay/runner/record"
)

const (
	firstBackoff = 100 * time.Millisecond // between the sending of a request that failed and the next one of its slot
	lastBackoff  = 5 * time.Second        // doubled from failure to failure up to this
	longestRetry = 5 * time.Minute        // a longer Retry-After is not believed
)

// slot is one of the closed loop's places.
type slot struct {
	*closed
	send      sender
	filled    bool
	failures  int   // in a row
	freeUS    int64 // when the last request ended, and then when the next one is due
	notBefore int64 // when failures let it send again
	blockedUS int64 // since when it has failed to send anything; Never while it has not
}

// run takes conversations until issue stops.
func (s *slot) run(ctx context.Context, feed *feeder) {
	s.freeUS, s.blockedUS = s.begun, record.Never
	for {
		select {
		case <-s.stopped:
			return
		case t, ok := <-feed.out:
			if !ok {
				s.starved(feed)
				return
			}
			if !s.converse(ctx, t) {
				s.leave(t)
				return
			}
		}
	}
}

// starved has issue end with the data; a slot that never had any is left out instead.
func (s *slot) starved(feed *feeder) {
	if feed.failed() != nil || s.freeUS != s.begun {
		s.exhaust(feed.given)
		return
	}
	s.vacate()
}

// converse sends the turns of a conversation; false when issue has stopped.
func (s *slot) converse(ctx context.Context, t *talk) bool {
	for !s.aside(t) {
		if !s.rest(t) {
			return false
		}
		r, reply, ok := s.turn(ctx, t)
		if !ok {
			return false
		}
		if t.last() {
			return true
		}
		if r.Outcome != record.OK {
			s.tally.skip(len(t.turns) - 1 - t.turn)
			return true
		}
		if err := t.advance(s.cfg.Request, reply); err != nil {
			s.note("%v", err)
			return true
		}
	}
	return true
}

// rest waits as long as the turn's user does, and as long as failures ask for; false when issue stopped meanwhile.
func (s *slot) rest(t *talk) bool {
	var wait time.Duration
	if t.turn > 0 {
		wait = t.turns[t.turn].Wait
	}
	from := s.freeUS
	until := max(from+wait.Microseconds(), s.notBefore)
	s.freeUS = until
	left := us(until - s.cfg.Clock.Now())
	if left <= 0 {
		return true
	}
	s.finish()
	timer := time.NewTimer(left)
	defer timer.Stop()
	resume := s.pause(from)
	defer func() { resume(min(until, s.cfg.Clock.Now())) }()
	select {
	case <-timer.C:
		return true
	case <-s.stopped:
		return false
	}
}

// turn sends one turn; ok is false when issue has stopped.
func (s *slot) turn(ctx context.Context, t *talk) (r record.Request, reply string, ok bool) {
	if ctx.Err() != nil {
		return r, "", false
	}
	leave := s.ticket(s, t)
	if leave == nil {
		return r, "", false
	}
	c := s.call(t, s.freeUS)
	c.Warmup, c.WantReply = leave.warmup, t.live()
	if !leave.warmup {
		s.follow(c, t, leave)
		defer func() { s.ended(s, leave, r) }()
	}
	r, reply = s.load.send(ctx, s.send, c)
	if leave.warmup {
		s.warmed(r)
	}
	s.freeUS = r.DoneUS
	s.pace(r)
	s.bear(r)
	return r, reply, true
}

// follow has a measured request tell when it is sent, and makes use of its first token.
func (s *slot) follow(c *stream.Call, t *talk, leave *ticket) {
	c.OnSend = func(us int64) { s.sent(s, leave, us) }
	c.OnToken = func() {
		if s.want.Cell != nil {
			s.streaming(s)
		}
		t.prepare(s.cfg.Request)
	}
}

// bear gives the slot up that fails to send its first request for as long as a load bears a server that serves nothing.
func (s *slot) bear(r record.Request) {
	switch {
	case r.SentUS != record.Never, r.Warmup, s.filled, s.want.Cell != nil:
		s.blockedUS = record.Never
	case s.blockedUS == record.Never:
		s.blockedUS = r.DoneUS
	case r.DoneUS-s.blockedUS >= giveUpUS:
		s.giveUp(r)
	}
}

// pace keeps a slot whose requests fail from spinning, and follows the server's Retry-After.
func (s *slot) pace(r record.Request) {
	s.notBefore = 0
	if r.Outcome == record.OK {
		s.failures = 0
		return
	}
	sent := r.SentUS
	if sent == record.Never {
		sent = r.IntendedUS
	}
	backoff := min(lastBackoff, firstBackoff<<min(s.failures, 10))
	s.failures++
	s.notBefore = sent + backoff.Microseconds()
	if r.RetryAfterUS != record.Never {
		s.notBefore = max(s.notBefore, r.DoneUS+min(r.RetryAfterUS, longestRetry.Microseconds()))
	}
}
