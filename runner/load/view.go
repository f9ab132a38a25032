package load

import "time"

// view makes the live view. No figure of a result comes from it.
type view struct {
	load   *load
	pacer  pacer
	begun  int64 // of the load
	tokens int64 // at the last look
	at     int64
}

func newView(l *load, p pacer) *view {
	now := l.cfg.Clock.Now()
	return &view{load: l, pacer: p, begun: now, at: now}
}

func (v *view) show() {
	p := v.stage()
	v.load.tally.view(&p)
	p.TPS = v.rate()
	v.load.report(p)
}

func (v *view) stage() Progress {
	l := v.load
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.cfg.Clock.Now()
	switch {
	case l.isDone:
		return Progress{Stage: "drain", Elapsed: us(now - l.doneUS), Total: l.cfg.Drain}
	case l.isClosed: // an open loop that is still sending
		return Progress{Stage: "cooldown", Elapsed: us(now - l.window.EndUS), Total: l.cfg.Open.Cooldown}
	case l.isOpen:
		requests, length := v.pacer.wanted()
		return Progress{Stage: "measure", Elapsed: us(now - l.window.StartUS), Total: length, Wanted: requests}
	}
	return Progress{Stage: "warmup", Elapsed: us(now - v.begun)}
}

// rate is the token events per second since the last look.
func (v *view) rate() float64 {
	sum := v.load.events()
	now := v.load.cfg.Clock.Now()
	span := us(now - v.at)
	grown := sum - v.tokens
	v.tokens, v.at = sum, now
	if span < time.Millisecond {
		return 0
	}
	return float64(grown) / span.Seconds()
}

func us(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
