package sim

import (
	"slices"
	"time"
)

// step is what the engine does at once.
type step struct {
	budget   int // tokens that may still be added to it
	decoding int // requests that get tokens
	prefill  int // prompt tokens
}

// plan makes the next step as vLLM does: first what runs, in order of arrival, then what waits. Where no block is free for what
// runs, the request that came last loses its blocks and waits again at the head of the queue; nothing is admitted in such a step.
func (e *engine) plan() step {
	st, before := step{budget: e.cfg.BatchTokens}, e.totals.preempted
	for i := 0; i < len(e.running); i++ { // preempting takes from its end
		e.proceed(&st, e.running[i])
	}
	for e.totals.preempted == before && len(e.waiting) > 0 && len(e.running) < e.cfg.MaxRunning && st.budget > 0 {
		if !e.admit(&st, e.waiting[0]) {
			break
		}
		e.running = append(e.running, e.waiting[0])
		e.waiting = slices.Delete(e.waiting, 0, 1)
	}
	return st
}

// proceed adds what s needs next to the step.
func (e *engine) proceed(st *step, s *sequence) {
	n := s.wants(e.cfg, st.budget)
	for !e.grow(s, n) {
		last := e.running[len(e.running)-1]
		e.preempt(last)
		if last == s {
			return
		}
	}
	st.add(s, n)
}

// wants is how many tokens s would have computed in a step: all that are missing, and for a reply under way the drafts too.
func (s *sequence) wants(cfg Config, budget int) int {
	missing := s.length() - s.computed
	if s.decodes() {
		missing += min(cfg.Drafts, s.target-s.made-1)
	}
	return min(missing, budget)
}

// decodes says whether only the newest token of the reply is missing.
func (s *sequence) decodes() bool { return s.made > 0 && s.length()-s.computed == 1 }

// add gives s its n tokens of the step.
func (st *step) add(s *sequence, n int) {
	st.budget -= n
	s.planned, s.makes = 0, n > 0 && n >= s.length()-s.computed
	if s.makes {
		st.decoding++
	}
	if !s.decodes() {
		s.planned = n
		st.prefill += n
	}
}

// grow takes the blocks that n more tokens of s need; false when there are too few.
func (e *engine) grow(s *sequence, n int) bool {
	need := max(0, blocksOf(s.computed+n, e.cfg.BlockTokens)-len(s.shared)-s.own)
	if !e.kv.Take(need) {
		return false
	}
	s.own += need
	return true
}

// preempt sends a running request back to the queue. What it had computed is lost but for the blocks that stay known.
func (e *engine) preempt(s *sequence) {
	e.totals.preempted++
	e.release(s)
	e.running = e.running[:len(e.running)-1]
	e.waiting = slices.Insert(e.waiting, 0, s)
}

// admit lets s into the step with the blocks of its beginning that are known; false when the blocks for the rest are missing.
func (e *engine) admit(st *step, s *sequence) bool {
	if !e.cfg.NoCache {
		whole := (s.length() - 1) / e.cfg.BlockTokens // the last token is always computed
		s.shared = e.kv.Share(s.chain.blocks[:whole])
		s.named = len(s.shared)
		s.computed = s.named * e.cfg.BlockTokens
	}
	n := s.wants(e.cfg, st.budget)
	if !e.grow(s, n) {
		e.release(s)
		return false
	}
	if s.started.IsZero() {
		e.begun(s, time.Now())
	}
	st.add(s, n)
	return true
}

// begun counts a request that is admitted for the first time.
func (e *engine) begun(s *sequence, now time.Time) {
	s.started, s.cached = now, s.computed
	if !e.cfg.NoCache {
		e.totals.queried += uint64(s.input)
	}
	e.totals.promptTokens += uint64(s.input)
	e.totals.cachedTokens += uint64(s.cached)
	e.seen.queue.Observe(now.Sub(s.arrived).Seconds())
}
