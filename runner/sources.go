package runner

import (
	"fmt"
	"sync/atomic"

	"assay/runner/record"
)

// sources counts measured requests by where their token counts came from, and those that hid reasoning.
type sources struct {
	counted, events, estimated atomic.Int64
	hiding, hidden             atomic.Int64 // requests, reasoning tokens
}

// watching gives a keep that counts each request on its way.
func (s *sources) watching(keep func(record.Request) error) func(record.Request) error {
	return func(r record.Request) error {
		if !r.Warmup && r.TokenSource != "" {
			s.count(r.TokenSource)
		}
		if !r.Warmup && r.ReasoningTokens > 0 && r.FirstAnswer == 0 { // reasoning that is streamed comes before the answer
			s.hiding.Add(1)
			s.hidden.Add(r.ReasoningTokens)
		}
		return keep(r)
	}
}

func (s *sources) count(source string) {
	s.counted.Add(1)
	switch source {
	case "events":
		s.events.Add(1)
	case "estimated":
		s.estimated.Add(1)
	}
}

// notes says what a reader of the token counts must know. A request that was cut off before its final usage has no count either, though
// the server tells them.
func (s *sources) notes() []string {
	var notes []string
	all, events := s.counted.Load(), s.events.Load()
	switch {
	case events > 0 && events == all:
		notes = append(notes, "the server tells no token counts: each event counted as one token")
	case events > 0:
		notes = append(notes, fmt.Sprintf("%d of %d requests ended without a token count of the server: each of their events counted as one token", events, all))
	}
	if s.estimated.Load() > 0 {
		notes = append(notes, "the server tells no token counts of single events: each counted as an even share of the final usage")
	}
	if n := s.hiding.Load(); n > 0 {
		notes = append(notes, fmt.Sprintf("%d answers hid %d reasoning tokens: the server counts them and streams none; they count with the first token event, whose TTFT holds the time of the reasoning", n, s.hidden.Load()))
	}
	return notes
}
