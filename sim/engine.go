package sim

import (
	"slices"
	"sync"
	"time"
)

// sequence is one request inside the engine. Its fields but wake are guarded by the engine's lock.
type sequence struct {
	chain   *chain
	reply   reply
	input   int
	target  int // tokens the reply will have
	cached  int
	left    int // prompt tokens not prefilled yet
	made    int
	arrived time.Time
	started time.Time // taken from the queue
	last    time.Time // when its last token was made
	ended   bool
	wake    chan struct{} // holds one signal: made or ended changed
}

// totals are the engine's counters since start.
type totals struct {
	promptTokens, cachedTokens, generated, queried, rejected uint64
	finished                                                 map[string]uint64
}

// engine runs the steps. Its loop lives only while there is work.
type engine struct {
	cfg Config

	mu      sync.Mutex
	busy    bool
	waiting []*sequence
	running []*sequence
	kv      int // tokens reserved by running
	cache   *prefixCache
	totals  totals
	seen    *observations
}

func newEngine(cfg Config) *engine {
	return &engine{
		cfg:    cfg,
		cache:  newPrefixCache(max(1, cfg.KVTokens/cfg.BlockTokens)),
		totals: totals{finished: map[string]uint64{}},
		seen:   newObservations(cfg.Model),
	}
}

// submit queues a request; false when the queue is full.
func (e *engine) submit(s *sequence) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cfg.MaxQueued > 0 && len(e.waiting) >= e.cfg.MaxQueued && len(e.running) >= e.cfg.MaxRunning {
		e.totals.rejected++
		return false
	}
	s.arrived = time.Now()
	e.waiting = append(e.waiting, s)
	if !e.busy {
		e.busy = true
		go e.loop()
	}
	return true
}

// loop does steps until nothing is left. Steps follow an absolute schedule, so that late timers do not add up.
func (e *engine) loop() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	next := time.Now()
	for {
		length, more := e.begin()
		if !more {
			return
		}
		next = next.Add(length)
		if behind := time.Since(next); behind > length {
			next = next.Add(behind)
		} else if behind < 0 {
			timer.Reset(-behind)
			<-timer.C
		}
		e.finish()
	}
}

// begin admits waiting requests and gives the length of the step; false when there is nothing to do.
func (e *engine) begin() (time.Duration, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.admit()
	if len(e.running) == 0 {
		e.busy = false
		return 0, false
	}
	decoding, prefill, budget := 0, 0, e.cfg.BatchTokens
	for _, s := range e.running {
		if s.left == 0 {
			decoding++
			continue
		}
		n := min(s.left, budget)
		s.left, budget, prefill = s.left-n, budget-n, prefill+n
		if s.left == 0 {
			decoding++ // its first token comes with this step
		}
	}
	return e.cfg.StepBase + time.Duration(decoding)*e.cfg.StepPerSeq + time.Duration(prefill)*e.cfg.Prefill, true
}

// admit moves requests from the queue into the batch, in order of arrival, while they fit.
func (e *engine) admit() {
	now := time.Now()
	for len(e.waiting) > 0 && len(e.running) < e.cfg.MaxRunning {
		s := e.waiting[0]
		if e.kv+s.input+s.target > e.cfg.KVTokens {
			return
		}
		e.waiting = slices.Delete(e.waiting, 0, 1)
		e.running = append(e.running, s)
		e.kv += s.input + s.target
		e.startPrefill(s, now)
	}
}

func (e *engine) startPrefill(s *sequence, now time.Time) {
	s.started = now
	if !e.cfg.NoCache {
		s.cached = min(e.cache.hits(s.chain.blocks)*e.cfg.BlockTokens, s.input-1) // the last token is always computed
		e.totals.queried += uint64(s.input)
	}
	s.left = s.input - s.cached
	e.totals.promptTokens += uint64(s.input)
	e.totals.cachedTokens += uint64(s.cached)
	e.seen.queue.Observe(now.Sub(s.arrived).Seconds())
}

// finish gives every request whose prompt is done its token.
func (e *engine) finish() {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	for _, s := range e.running {
		if s.left > 0 {
			continue
		}
		s.made++
		e.totals.generated++
		e.observe(s, now)
		s.last = now
		if s.made == 1 && !e.cfg.NoCache {
			e.cache.insert(s.chain.blocks)
		}
		if s.made >= s.target {
			e.end(s)
		}
		s.signal()
	}
	e.running = slices.DeleteFunc(e.running, func(s *sequence) bool { return s.ended })
}

func (e *engine) observe(s *sequence, now time.Time) {
	if s.made == 1 {
		e.seen.ttft.Observe(now.Sub(s.arrived).Seconds())
		return
	}
	e.seen.itl.Observe(now.Sub(s.last).Seconds())
}

// end releases what s holds; its reply becomes known to the prefix cache.
func (e *engine) end(s *sequence) {
	s.ended = true
	e.kv -= s.input + s.target
	for i := range s.made {
		s.chain.add(s.reply.word(i))
	}
	if !e.cfg.NoCache && s.made > 0 {
		e.cache.insert(s.chain.blocks)
	}
}

// abandon takes s out wherever it is; nothing happens when it has ended.
func (e *engine) abandon(s *sequence) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s.ended {
		return
	}
	if i := slices.Index(e.waiting, s); i >= 0 {
		e.waiting = slices.Delete(e.waiting, i, i+1)
		s.ended = true
		return
	}
	e.running = slices.DeleteFunc(e.running, func(o *sequence) bool { return o == s })
	e.end(s)
}

// count records how a request left the server.
func (e *engine) count(reason string, arrived time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.totals.finished[reason]++
	e.seen.e2e.Observe(time.Since(arrived).Seconds())
}

// progress tells how many tokens s has, whether it ended, and how many prompt tokens came from the cache.
func (e *engine) progress(s *sequence) (made int, ended bool, cached int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return s.made, s.ended, s.cached
}

func (s *sequence) signal() {
	select {
	case s.wake <- struct{}{}:
	default: // one signal is enough
	}
}

// forget empties the prefix cache, as a restart does.
func (e *engine) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cache = newPrefixCache(e.cache.limit)
}
