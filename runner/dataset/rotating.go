package dataset

import (
	"errors"
	"fmt"
	"io"
)

// rotating gives the first conversations of a source again and again.
type rotating struct {
	from   Source
	list   []Conversation
	shared bool // each has its own salt, so that a prefix cache serves the second use
	next   int
	round  int
}

// newRotating takes what it needs from a source: the conversations that are shared, else those that are made ahead.
func newRotating(from Source, cfg Config) (Source, error) {
	more := cfg.Ahead
	if cfg.Shared > 0 {
		more = func(made int) bool { return made < cfg.Shared && (cfg.Ahead == nil || cfg.Ahead(made)) }
	}
	s := &rotating{from: from, shared: cfg.Shared > 0}
	for len(s.list) == 0 || more(len(s.list)) {
		c, err := from.Next()
		if errors.Is(err, io.EOF) && len(s.list) > 0 {
			break
		}
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		if c.Repeat > 0 {
			break // the data holds no more
		}
		if s.shared {
			c.Prompt = len(s.list) + 1
		}
		s.list = append(s.list, c)
	}
	return s, nil
}

// Next gives the next conversation; it never gives io.EOF.
func (s *rotating) Next() (Conversation, error) {
	if s.next == len(s.list) {
		s.next = 0
		s.round++
	}
	c := s.list[s.next]
	s.next++
	if s.round > 0 {
		c.ID = fmt.Sprintf("%s__repeat_%d", c.ID, s.round)
		c.Repeat = s.round
	}
	return c, nil
}

// Stats tells of what was read, and of how often it was used again; that shared prompts are is meant so.
func (s *rotating) Stats() Stats {
	st := s.from.Stats()
	if st.Repeats = s.round; s.shared {
		st.Repeats = 0
	}
	return st
}

// Close closes the source's file.
func (s *rotating) Close() error {
	if file, ok := s.from.(io.Closer); ok {
		return file.Close()
	}
	return nil
}
