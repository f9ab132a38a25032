package stream

import (
	"context"
	"sync"
	"time"
)

// idleLimit is how long an unused connection is trusted: common servers close theirs after 5 s, and a request sent into
// a closing connection is lost.
const idleLimit = 3 * time.Second

// earlyClose is an idle time within which no server that keeps its connections closes one.
const earlyClose = time.Second

// freshLimit is how long a connection that carried no request yet is trusted: servers give a first request more time.
const freshLimit = 20 * time.Second

// pool keeps idle connections, the last one used on top. Some servers close a connection after each stream without
// having said so (llama.cpp's), and a request that crosses such a close is lost: once that was seen, no connection is
// used twice.
type pool struct {
	mu   sync.Mutex
	idle []*conn
	off  bool
}

// take gives an idle connection that is still good, or nil.
func (p *pool) take() *conn {
	for {
		c := p.pop()
		if c == nil {
			return nil
		}
		rested := time.Since(c.returned)
		if rested < c.idle && alive(c.link) {
			return c
		}
		if c.used && rested < min(c.idle, earlyClose) {
			p.stop()
		}
		c.close()
	}
}

// stop ends reuse.
func (p *pool) stop() {
	p.mu.Lock()
	p.off = true
	p.mu.Unlock()
	p.close()
}

// reuses says whether connections are used again.
func (p *pool) reuses() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.off
}

// watch looks for a while whether the server closes the idle connections.
func (p *pool) watch(ctx context.Context, span time.Duration) {
	tick := time.NewTicker(span / 20)
	defer tick.Stop()
	for range 20 {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		c := p.take()
		if c == nil {
			return
		}
		p.put(c)
	}
}

func (p *pool) pop() *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return nil
	}
	c := p.idle[len(p.idle)-1]
	p.idle = p.idle[:len(p.idle)-1]
	return c
}

// give takes a connection back for reuse.
func (p *pool) give(c *conn) {
	c.returned = time.Now()
	p.put(c)
}

func (p *pool) put(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.off {
		c.close()
		return
	}
	p.idle = append(p.idle, c)
}

// close closes what lies idle.
func (p *pool) close() {
	for c := p.pop(); c != nil; c = p.pop() {
		c.close()
	}
}
