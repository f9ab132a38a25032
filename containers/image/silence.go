package image

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

var errStalled = errors.New("no progress")

// silence is how long an engine may say nothing of a pull. It is told from time to time that it does, and ends the pull at last.
type silence struct {
	limit time.Duration
	words chan struct{} // one for each word of the engine
	mu    sync.Mutex    // for tell
	tell  func(Progress)
}

func newSilence(limit time.Duration, tell func(Progress)) *silence {
	return &silence{limit: limit, words: make(chan struct{}, 1), tell: tell}
}

// broken notes a word of the engine.
func (s *silence) broken() {
	select {
	case s.words <- struct{}{}:
	default: // one is noted already
	}
}

// show tells how far the pull is.
func (s *silence) show(p Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(p)
}

// watch blocks until ctx ends, which it does itself with errStalled.
func (s *silence) watch(ctx context.Context, end context.CancelCauseFunc) {
	last := time.Now()
	tick := time.NewTicker(s.limit / 15)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.words:
			last = time.Now()
		case <-tick.C:
			lasts := time.Since(last)
			if lasts >= s.limit {
				end(errStalled)
				return
			}
			if lasts >= s.limit/15 {
				s.show(Progress{Status: fmt.Sprintf("the container engine has said nothing for %s, and may for %s", lasts.Round(time.Second), s.limit)})
			}
		}
	}
}
