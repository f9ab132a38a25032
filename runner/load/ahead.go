package load

import (
	"context"
	"math"
	"time"
)

const (
	aheadLimit = 10 * time.Second // for opening connections before the first request
	aheadSpan  = time.Second      // of an open loop: a server may keep a thread for each connection, also for one that lies idle
)

// ahead is the number of requests that begin with the load, or in an open loop soon after its start: as many connections are opened before, so
// that none of them waits for its own.
func (c Config) ahead() int {
	if c.Closed != nil {
		return c.Closed.Concurrency
	}
	o := *c.Open
	n := int(math.Ceil(min(o.arrivals().Rate.Expected(aheadSpan), math.MaxInt32)))
	for _, limit := range []int{o.MaxConcurrency, o.Requests} {
		if limit > 0 {
			n = min(n, limit)
		}
	}
	return n
}

// dialAhead opens n connections, less those that the probes have left. What cannot be opened then is tried again by its request.
func (l *load) dialAhead(ctx context.Context, n int) {
	n -= len(l.cfg.Targets)
	if l.dial == nil || n <= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, aheadLimit)
	defer cancel()
	if opened, err := l.dial(ctx, n); err != nil {
		l.note("%d of %d connections could be opened before the start: %v", opened, n, err)
	}
}
