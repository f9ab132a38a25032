package runner

import (
	"fmt"

	"assay/runner/record"
)

// sources counts measured requests by where their token counts came from, and those that hid reasoning.
type sources struct {
	counted, events, estimated int
	hiding                     int
	hidden                     int64 // reasoning tokens
}

// watching gives a keep that counts each request on its way.
func (s *sources) watching(keep func(record.Request) error) func(record.Request) error {
	return func(r record.Request) error {
		if !r.Warmup && r.TokenSource != "" {
			s.count(r.TokenSource)
		}
		if !r.Warmup && r.ReasoningTokens > 0 && r.FirstAnswer == 0 { // reasoning that is streamed comes before the answer
			s.hiding++
			s.hidden += r.ReasoningTokens
		}
		return keep(r)
	}
}

func (s *sources) count(source string) {
	s.counted++
	switch source {
	case "events":
		s.events++
	case "estimated":
		s.estimated++
	}
}

// notes says what a reader of the token counts must know. A request that was cut off before its final usage has no count either, though
// the server tells them.
func (s *sources) notes() []string {
	var notes []string
	switch {
	case s.events > 0 && s.events == s.counted:
		notes = append(notes, "the server tells no token counts: each event counted as one token")
	case s.events > 0:
		notes = append(notes, fmt.Sprintf("%d of %d requests ended without a token count of the server: each of their events counted as one token", s.events, s.counted))
	}
	if s.estimated > 0 {
		notes = append(notes, "the server tells no token counts of single events: each counted as an even share of the final usage")
	}
	if s.hiding > 0 {
		notes = append(notes, fmt.Sprintf("%d answers hid %d reasoning tokens: the server counts them and streams none; they count with the first token event, whose TTFT holds the time of the reasoning", s.hiding, s.hidden))
	}
	return notes
}
