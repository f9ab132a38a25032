package load

import (
	"sync"
	"time"
)

// idleLimit is how long an unused connection is trusted: common servers close theirs after 5 s, and a request sent into
// a closing connection is lost.
const idleLimit = 3 * time.Second

// pool keeps idle connections, the last one used on top.
type pool struct {
	mu   sync.Mutex
	idle []*conn
}

// take gives an idle connection that is still good, or nil.
func (p *pool) take() *conn {
	for {
		c := p.pop()
		if c == nil {
			return nil
		}
		if time.Since(c.returned) < c.idle && alive(c.Conn) {
			return c
		}
		c.Close()
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
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, c)
}

// close closes what lies idle.
func (p *pool) close() {
	for c := p.pop(); c != nil; c = p.pop() {
		c.Close()
	}
}
