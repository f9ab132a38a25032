package dataset

import (
	"errors"
	"fmt"
	"io"
)

// rotating gives the first conversations of a source again and again. It holds them, and no file.
type rotating struct {
	list   []Conversation
	stats  Stats // of the source
	shared bool  // each has its own salt, so that a prefix cache serves the second use
	next   int
	round  int
}

// newRotating takes what it needs from a source, and closes it: the conversations that are shared, else those that are made ahead.
func newRotating(from Source, cfg Config) (Source, error) {
	s := &rotating{shared: cfg.Shared > 0}
	err := s.take(from, cfg)
	s.stats = from.Stats()
	if file, ok := from.(io.Closer); ok {
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *rotating) take(from Source, cfg Config) error {
	more := cfg.Ahead
	if s.shared {
		more = func(made int) bool { return made < cfg.Shared && (cfg.Ahead == nil || cfg.Ahead(made)) }
	}
	for len(s.list) == 0 || more(len(s.list)) {
		c, err := from.Next()
		if errors.Is(err, io.EOF) && len(s.list) > 0 {
			return nil
		}
		if err != nil {
			return err
		}
		if c.Repeat > 0 {
			return nil // the data holds no more
		}
		if s.shared {
			c.Prompt = len(s.list) + 1
		}
		s.list = append(s.list, c)
	}
	return nil
}

// Again begins anew with the conversations that a source made ahead; a source that did not goes on.
func Again(src Source) Source {
	s, ok := src.(*rotating)
	if !ok {
		return src
	}
	return &rotating{list: s.list, stats: s.stats, shared: s.shared}
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
	st := s.stats
	if !s.shared {
		st.Repeats, st.Made = s.round, len(s.list)
	}
	return st
}
