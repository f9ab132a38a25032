package stream

import (
	"context"
	"time"
)

// Dial opens n connections ahead of their use and gives how many came about, and why the first of the others did not: the
// rest is not tried then. No more are on their way at once than the backlog of common servers takes. A connection that is
// not used within 20 s is closed instead.
func (c *Client) Dial(ctx context.Context, n int) (opened int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan error)
	for range n {
		go func() { results <- c.dialIdle(ctx) }()
	}
	for range n {
		switch failed := <-results; {
		case failed == nil:
			opened++
		case err == nil:
			err = failed
			cancel()
		}
	}
	return opened, err
}

// dialIdle opens a connection and lays it into the pool.
func (c *Client) dialIdle(ctx context.Context) error {
	fresh, _, err := c.dialer.dial(ctx)
	if err != nil {
		return &dialError{err}
	}
	fresh.idle, fresh.returned = freshLimit, time.Now()
	c.pool.put(fresh)
	return nil
}
