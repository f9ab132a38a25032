package sim

import (
	"slices"
	"sync"
	"time"

	"assay/sim/kv"
)

// sequence is one request inside the engine. Its fields but wake are guarded by the engine's lock.
type sequence struct {
	engine   *engine
	chain    *chain // of the prompt, and of the reply as it grows
	reply    reply
	input    int
	target   int // tokens the reply will have
	cached   int
	made     int
	computed int         // tokens whose KV values are there
	shared   []*kv.Block // blocks that are known
	own      int         // blocks that are not
	named    int         // leading blocks that filled, and were named where that was new
	planned  int         // prompt tokens that the present step computes
	makes    bool        // the present step makes tokens
	arrived  time.Time
	started  time.Time // first taken from the queue
	last     time.Time // when its last token was made
	ended    bool
	wake     chan struct{} // holds one signal: made or ended changed
}

// length is how many tokens s has, computed or not.
func (s *sequence) length() int { return s.input + s.made }

// totals are the engine's counters since start.
type totals struct {
	promptTokens, cachedTokens, generated, queried, rejected, preempted uint64
	drafts, drafted, accepted                                           uint64
	finished                                                            map[string]uint64
}

// engine runs the steps. Its loop lives only while there is work.
type engine struct {
	cfg Config

	mu      sync.Mutex
	busy    bool
	waiting []*sequence
	running []*sequence
	kv      *kv.Pool
	totals  totals
	seen    *observations
}

func newEngine(cfg Config, rank int) *engine {
	return &engine{
		cfg:    cfg,
		kv:     kv.NewPool(blocksOf(cfg.KVTokens, cfg.BlockTokens)),
		totals: totals{finished: map[string]uint64{}},
		seen:   newObservations(engineLabels(cfg.Model, rank)),
	}
}

// blocksOf is how many blocks hold so many tokens.
func blocksOf(tokens, size int) int { return (tokens + size - 1) / size }

// submit queues a request; false when the queue is full.
func (e *engine) submit(s *sequence) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cfg.MaxQueued > 0 && len(e.waiting) >= e.cfg.MaxQueued && len(e.running) >= e.cfg.MaxRunning {
		e.totals.rejected++
		return false
	}
	s.engine, s.arrived = e, time.Now()
	e.waiting = append(e.waiting, s)
	if !e.busy {
		e.busy = true
		go e.loop()
	}
	return true
}

// weight is how much e has to do; a new request goes to the rank with the least, and one that waits weighs more than one that runs.
func (e *engine) weight() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return 4*len(e.waiting) + len(e.running)
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

// begin plans the step and gives its length; false when there is nothing to do.
func (e *engine) begin() (time.Duration, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	st := e.plan()
	if len(e.running) == 0 {
		e.busy = false
		return 0, false
	}
	return e.cfg.StepBase + time.Duration(st.decoding)*e.cfg.StepPerSeq + time.Duration(st.prefill)*e.cfg.Prefill, true
}

// finish gives every request whose tokens are all computed its next ones.
func (e *engine) finish() {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	for _, s := range e.running {
		s.computed += s.planned
		if s.makes {
			e.extend(s, now)
		}
		e.name(s)
		if s.made >= s.target {
			e.end(s)
		}
		if s.makes {
			s.signal()
		}
	}
	e.running = slices.DeleteFunc(e.running, func(s *sequence) bool { return s.ended })
}

// extend adds the tokens of a step to s: one, and the drafts that were accepted.
func (e *engine) extend(s *sequence, now time.Time) {
	n := min(s.reply.burst(s.made, e.cfg), s.target-s.made)
	if s.made > 0 && e.cfg.Drafts > 0 {
		e.totals.drafts++
		e.totals.drafted += uint64(e.cfg.Drafts)
		e.totals.accepted += uint64(n - 1)
	}
	for i := range n {
		s.chain.add(s.reply.token(s.made + i))
	}
	e.totals.generated += uint64(n)
	e.observe(s, n, now)
	s.made, s.last = s.made+n, now
	s.computed = s.length() - 1 // the newest is computed by the step to come
}

func (e *engine) observe(s *sequence, n int, now time.Time) {
	if s.made == 0 {
		e.seen.ttft.Observe(now.Sub(s.arrived).Seconds())
		return
	}
	for range n {
		e.seen.itl.Observe(now.Sub(s.last).Seconds() / float64(n))
	}
}

// name makes the blocks known that have filled.
func (e *engine) name(s *sequence) {
	if e.cfg.NoCache {
		return
	}
	for full := s.computed / e.cfg.BlockTokens; s.named < full; s.named++ {
		if b := e.kv.Name(s.chain.blocks[s.named]); b != nil {
			s.shared = append(s.shared, b)
			s.own--
		}
	}
}

// end releases what s holds.
func (e *engine) end(s *sequence) {
	s.ended = true
	e.release(s)
}

func (e *engine) release(s *sequence) {
	e.kv.Release(s.shared, s.own)
	s.shared, s.own, s.named, s.computed = nil, 0, 0, 0
}

// abandon takes s out wherever it is; nothing happens when it has ended.
func (e *engine) abandon(s *sequence) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s.ended {
		return
	}
	leaves := func(o *sequence) bool { return o == s }
	e.waiting = slices.DeleteFunc(e.waiting, leaves)
	e.running = slices.DeleteFunc(e.running, leaves)
	e.end(s)
}

// count records how a request left the server.
func (e *engine) count(reason string, arrived time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.totals.finished[reason]++
	e.seen.e2e.Observe(time.Since(arrived).Seconds())
}

// forget empties the prefix cache, as a restart does.
func (e *engine) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.kv.Forget()
}

// progress tells how many tokens s has, whether it ended, and how many prompt tokens came from the cache.
func (s *sequence) progress() (made int, ended bool, cached int) {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	return s.made, s.ended, s.cached
}

func (s *sequence) signal() {
	select {
	case s.wake <- struct{}{}:
	default: // one signal is enough
	}
}
