package runner

import (
	"fmt"
	"sync/atomic"

	"assay/runner/record"
)

// sources counts measured requests by where their token counts came from.
type sources struct{ counted, events, estimated atomic.Int64 }

// watching gives a keep that counts each request on its way.
func (s *sources) watching(keep func(record.Request) error) func(record.Request) error {
	return func(r record.Request) error {
		if !r.Warmup && r.TokenSource != "" {
			s.count(r.TokenSource)
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
	return notes
}
