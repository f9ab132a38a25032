package load

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"assay/runner/load/stream"
	"assay/runner/record"
)

// targets is one client per server behind one sender. Requests go round by their number, the sessions of a sticky load by theirs: both
// are counted in one place, so the servers' shares differ by one at most.
type targets struct {
	all     []Target
	clients []*stream.Client
	sent    []atomic.Int64 // requests to each
	sticky  bool
}

// openTargets makes the clients; they connect to nothing yet.
func openTargets(ctx context.Context, cfg Config, vitals *stream.Vitals) *targets {
	t := &targets{all: cfg.Targets, sent: make([]atomic.Int64, len(cfg.Targets)), sticky: cfg.Sticky}
	for _, target := range cfg.Targets {
		c := stream.NewClient(stream.Options{
			Target: target, Token: cfg.Token, Headers: cfg.Headers, Sessions: cfg.SessionHeaders, Secrets: cfg.Secrets,
			Endpoint: cfg.Request.Endpoint, Clock: cfg.Clock, Vitals: vitals, Stall: cfg.Stall, Timeout: cfg.Timeout,
		})
		c.SwitchOnStamps(ctx)
		t.clients = append(t.clients, c)
	}
	return t
}

func (t *targets) close() {
	for _, c := range t.clients {
		c.Close()
	}
}

// of is the number of the server that a call goes to.
func (t *targets) of(c *stream.Call) int {
	if t.sticky {
		return c.Talk % len(t.clients)
	}
	return c.Index % len(t.clients)
}

// sender makes a sender for one goroutine, with a count of its token events.
func (t *targets) sender() (sender, func() int64) {
	x := t.clients[0].NewExchange()
	return func(ctx context.Context, c *stream.Call) (record.Request, string) {
		i := t.of(c)
		t.sent[i].Add(1)
		return x.Over(t.clients[i]).Do(ctx, c)
	}, x.Tokens
}

// only is a sender to one of the servers.
func (t *targets) only(i int) sender { return t.clients[i].NewExchange().Do }

// watchIdle looks for a while whether a server closes idle connections.
func (t *targets) watchIdle(ctx context.Context, span time.Duration) {
	var watching sync.WaitGroup
	for _, c := range t.clients {
		watching.Go(func() { c.WatchIdle(ctx, span) })
	}
	watching.Wait()
}

// dial opens n connections ahead of their use, shared evenly by the servers, and gives how many came about and why the first of the
// others did not.
func (t *targets) dial(ctx context.Context, n int) (opened int, err error) {
	for i, c := range t.clients {
		share := (n + len(t.clients) - 1 - i) / len(t.clients)
		came, failed := c.Dial(ctx, share)
		opened += came
		if err == nil {
			err = failed
		}
	}
	return opened, err
}

// stampSource is kernel when every receive time so far, of all servers, was the kernel's, else user.
func (t *targets) stampSource() string {
	for _, c := range t.clients {
		if source := c.StampSource(); source != "kernel" {
			return source
		}
	}
	return "kernel"
}

// reuses says that connections to each server carry one request after another.
func (t *targets) reuses() bool {
	return !slices.ContainsFunc(t.clients, func(c *stream.Client) bool { return !c.Reuses() })
}

// notes says what a reader must know of the connections.
func (t *targets) notes() []string {
	var notes, shares []string
	for i, c := range t.clients {
		if !c.Reuses() {
			notes = append(notes, t.name(i)+" closes connections after an answer without saying so; each request opened its own")
		}
		shares = append(shares, fmt.Sprintf("%s %d", t.all[i], t.sent[i].Load()))
	}
	if len(shares) > 1 {
		notes = append(notes, "requests by server: "+strings.Join(shares, ", "))
	}
	return notes
}

// name tells a server from the others, where there are some.
func (t *targets) name(i int) string {
	if len(t.all) == 1 {
		return "the server"
	}
	return "the server at " + t.all[i].String()
}
