package load

import (
	"context"
	"math"
	"time"
)

const (
	aheadLimit = 10 * time.Second // for opening connections before the first request
	aheadUse   = 10 * time.Second // connections that will be used within it are opened before
)

// ahead is the number of requests that may be in flight soon after the start: as many connections are opened before it, so that no first
// request waits for its own.
func (c Config) ahead() int {
	if c.Closed != nil {
		return c.Closed.Concurrency
	}
	o := c.Open
	n := int(math.Ceil(min(profileOf(*o).expected(aheadUse), math.MaxInt32)))
	if o.MaxConcurrency == 0 {
		n = int(math.Ceil(min(profileOf(*o).expected(time.Second), math.MaxInt32)))
	} else {
		n = min(n, o.MaxConcurrency)
	}
	if o.Requests > 0 {
		n = min(n, o.Requests)
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
