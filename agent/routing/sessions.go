package routing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"assay/containers"
	"assay/result"
)

const (
	turns        = 3
	mostSessions = 64
	fewSessions  = 8  // whatever the concurrency: fewer tell nothing of a spread
	countedMost  = 16 // sessions that are followed by counters, one after another
	atOnce       = 8
	countLimit   = 3 * time.Second // until a request shows in the servers' counters
	countEvery   = 50 * time.Millisecond
)

// byCounters is how servers are known that no header of an answer names.
const byCounters = "counters"

// sessions follows the requests of sessions to the servers that answer them.
func (r Request) sessions(ctx context.Context, note func(string, ...any)) *result.RoutedSessions {
	n := min(max(r.Concurrency, fewSessions, 2*len(r.Servers)), mostSessions)
	var met [][]string
	by := r.Upstream
	if by != "" {
		var err error
		if met, err = r.byHeader(ctx, n); err != nil {
			note("sessions cannot be followed by %s: %v", by, err)
			met = nil
		}
	}
	if len(met) == 0 {
		var err error
		by = byCounters
		if met, err = r.byCounter(ctx, min(n, countedMost)); err != nil {
			note("sessions cannot be followed by the servers' counters: %v", err)
		}
	}
	return r.follow(by, met)
}

// follow counts sessions by the servers that each of them met, in the order of its turns; nil when there are none.
func (r Request) follow(by string, met [][]string) *result.RoutedSessions {
	if len(met) == 0 {
		return nil
	}
	out := &result.RoutedSessions{By: by, Sessions: len(met), Turns: turns, PerServer: map[string]int{}}
	for _, servers := range met {
		out.PerServer[servers[0]]++
		for _, s := range servers[1:] {
			if s != servers[0] {
				out.Moved++
				break
			}
		}
	}
	out.BusiestOverMean = busiest(out.PerServer, len(r.Servers))
	return out
}

// byHeader gives the server of each turn of each session, as the router's answers name it. Each turn asks the sessions in another order: a
// router that takes servers in turn, or the one with the fewest connections, would seem to keep those that come back in the order they came.
func (r Request) byHeader(ctx context.Context, n int) ([][]string, error) {
	met := make([][]string, n)
	for turn := range turns {
		order := rand.New(rand.NewPCG(uint64(turn), uint64(n))).Perm(n)
		if err := r.wave(ctx, order, met); err != nil {
			return nil, err
		}
	}
	return met, nil
}

// wave asks one turn of each session, some at once, and adds the server that answered to those it met.
func (r Request) wave(ctx context.Context, order []int, met [][]string) error {
	failed := make([]error, len(order))
	slots := make(chan struct{}, atOnce)
	var asking sync.WaitGroup
	for _, i := range order {
		slots <- struct{}{}
		asking.Go(func() {
			defer func() { <-slots }()
			server, err := r.named(ctx, session(i))
			met[i], failed[i] = append(met[i], server), err
		})
	}
	asking.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// named gives the server that answers a turn of a session.
func (r Request) named(ctx context.Context, session string) (string, error) {
	header, err := r.turn(ctx, session)
	if err != nil {
		return "", err
	}
	server := header.Get(r.Upstream)
	if server == "" {
		return "", errors.New("the router's answers do not have it")
	}
	return server, nil
}

// byCounter gives the servers that each session met, one session after another, by what their counters grew meanwhile.
func (r Request) byCounter(ctx context.Context, n int) ([][]string, error) {
	var met [][]string
	before, err := r.rested(ctx)
	for i := 0; err == nil && i < n; i++ {
		for range turns {
			if _, err = r.turn(ctx, session(i)); err != nil {
				return met, err
			}
		}
		var after []float64
		if after, err = r.grown(ctx, before); err == nil {
			met = append(met, r.grew(before, after))
			before = after
		}
	}
	return met, err
}

// counted is the output tokens of each server by its own count.
func (r Request) counted(ctx context.Context) ([]float64, error) {
	m, err := containers.Scrape(ctx, r.Servers, r.Preset, r.Access)
	if err != nil {
		return nil, err
	}
	var out []float64
	for i, values := range m.Each {
		v, told := values[generated]
		if !told {
			return nil, fmt.Errorf("%s does not count output tokens", Name(r.Servers[i]))
		}
		out = append(out, v)
	}
	return out, nil
}

// rested is the counters once they stand still: who waited for the servers may have left a stream that they still make, and its tokens would be
// taken for a session's.
func (r Request) rested(ctx context.Context) ([]float64, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, countLimit, fmt.Errorf("for %s they have grown by requests of others", countLimit))
	defer cancel()
	var last []float64
	for {
		now, err := r.counted(ctx)
		if err == nil && slices.Equal(now, last) {
			return now, nil
		}
		last = now
		select {
		case <-ctx.Done():
			return nil, cmp.Or(err, context.Cause(ctx))
		case <-time.After(countEvery): // after the reading, which may itself take long
		}
	}
}

// grown waits until all turns of a session show in the counters.
func (r Request) grown(ctx context.Context, before []float64) ([]float64, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, countLimit, fmt.Errorf("requests that were answered do not show in them within %s", countLimit))
	defer cancel()
	tick := time.NewTicker(countEvery)
	defer tick.Stop()
	for {
		after, err := r.counted(ctx)
		if err == nil && sum(after)-sum(before) >= turns {
			return after, nil
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// grew names the servers whose count is another.
func (r Request) grew(before, after []float64) []string {
	var out []string
	for i := range after {
		if after[i] != before[i] {
			out = append(out, Name(r.Servers[i]))
		}
	}
	return out
}

func sum(counts []float64) float64 {
	total := 0.0
	for _, n := range counts {
		total += n
	}
	return total
}

// session is the id of one that is made to look at a router.
func session(i int) string { return "assay-routing-" + strconv.Itoa(i) }
