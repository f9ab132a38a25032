package load

import (
	"fmt"
	"time"

	"assay/runner/load/pulse"
	"assay/runner/record"
)

const (
	steadyShare = 0.98            // of a cell's streams that the engine runs
	staleAfter  = 5 * time.Second // the engine's word says nothing any more
)

// steadiness follows how long a cell has been steady.
type steadiness struct {
	*closed
	sinceUS int64 // Never while it is not
	toldUS  int64 // the engine's last word that counted
	pulse   pulse.Pulse
}

// reached opens the window when the cell was steady for long enough. Where the engine tells of itself, time counts from word to word.
func (s *steadiness) reached() bool {
	state, told := s.engine()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Clock.Now()
	s.pulse.Feel(pulse.Beat{AtUS: now, Events: s.events(), StreamUS: now*int64(s.places) - s.cell.restarting(now)})
	if told && !s.news(state) {
		return false
	}
	if !s.steady(state, told, now) {
		s.sinceUS = record.Never
		return false
	}
	at := now
	if told {
		at = state.AtUS - s.cfg.Clock.EpochUS()
	}
	if s.sinceUS == record.Never {
		s.sinceUS = at
	}
	if us(at-s.sinceUS) < s.want.Cell.Stable || s.pulse.Uneven() != "" {
		return false
	}
	s.openAt(now)
	return true
}

// engine is the engine's word where it has a recent one.
func (s *steadiness) engine() (EngineState, bool) {
	if s.cfg.Engine == nil {
		return EngineState{}, false
	}
	state, told := s.cfg.Engine()
	return state, told && s.cfg.Clock.EpochUS()+s.cfg.Clock.Now()-state.AtUS < staleAfter.Microseconds()
}

// news says that the engine's word is a new one, and of after the last stream's first token.
func (s *steadiness) news(state EngineState) bool {
	if state.AtUS <= max(s.toldUS, s.cfg.Clock.EpochUS()+s.fullUS) {
		return false
	}
	s.toldUS = state.AtUS
	return true
}

func (s *steadiness) steady(state EngineState, told bool, now int64) bool {
	if s.places == 0 || s.filled < s.places || s.resting > 0 {
		return false
	}
	return !told || state.Waiting == 0 && state.Running+float64(s.cell.fresh(now)) >= steadyShare*float64(s.places)
}

// giveUp opens the window without a steady load and says what was seen.
func (s *steadiness) giveUp() {
	state, told := s.engine()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Clock.Now()
	seen := fmt.Sprintf("streams with a token %d/%d", s.filled, s.places)
	if told {
		seen = fmt.Sprintf("running %g/%d, waiting %g, ", state.Running, s.places, state.Waiting) + seen
	}
	if s.resting > 0 {
		seen += fmt.Sprintf(", %d waiting after a failure", s.resting)
	}
	if s.sinceUS != record.Never {
		seen += fmt.Sprintf("; steady for %s of %s", us(now-s.sinceUS).Round(time.Millisecond), s.want.Cell.Stable)
		if uneven := s.pulse.Uneven(); uneven != "" {
			seen += ", but " + uneven
		}
	}
	s.cell.unready = fmt.Sprintf("%s after %s", seen, s.want.Cell.Timeout)
	s.openAt(now)
}
