package dataset

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"assay/fault"
)

// reader yields the conversations of one pass over its data, then io.EOF. A *badLine says that one was left out; reading goes on.
type reader interface {
	next() (Conversation, error)
	Close() error
}

// noting is a reader with things to tell of its pass.
type noting interface{ notes() []string }

// badLine is a part of the data that could not be used.
type badLine struct {
	text string
	mend string // what to do about it; "" when its text says all there is
}

func (b *badLine) Error() string { return b.text }

func badf(format string, args ...any) error { return &badLine{text: fmt.Sprintf(format, args...)} }

// mended is a bad line with what to do about it.
func mended(mend, format string, args ...any) error {
	return &badLine{fmt.Sprintf(format, args...), mend}
}

const badKept = 5

// repeating reads its data again and again.
type repeating struct {
	from  origin
	cfg   Config
	read  func(origin, Config) reader
	now   reader
	stats Stats
	mend  string // what to do about the first bad line
	found int    // conversations of this pass
	ahead *Conversation
	shift time.Duration // of this pass's instants
	last  time.Duration // instant of the conversation before
}

// openRepeating reads up to the first conversation, so that useless data is known at once.
func openRepeating(from origin, cfg Config, read func(origin, Config) reader) (Source, error) {
	s := &repeating{from: from, cfg: cfg, read: read, now: read(from, cfg), stats: Stats{SHA256: from.sha256}}
	first, err := s.Next()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.ahead = &first
	return s, nil
}

// Next gives the next conversation; it never gives io.EOF.
func (s *repeating) Next() (Conversation, error) {
	if s.ahead != nil {
		c := *s.ahead
		s.ahead = nil
		return c, nil
	}
	for {
		c, err := s.now.next()
		var bad *badLine
		switch {
		case err == nil:
			s.found++
			return s.shape(c), nil
		case errors.As(err, &bad):
			err = s.note(bad)
		case errors.Is(err, io.EOF):
			err = s.again()
		default:
			err = s.failed(err)
		}
		if err != nil {
			return Conversation{}, err
		}
	}
}

// failed tells what kept the data from being read; what is a fault already says so itself.
func (s *repeating) failed(err error) error {
	var f *fault.Fault
	if errors.As(err, &f) {
		return err
	}
	return unreadable(s.from.name, err)
}

// note counts a bad line of the first pass; later passes meet the same ones.
func (s *repeating) note(bad *badLine) error {
	if s.cfg.Strict {
		return fault.New(fault.Client, "dataset_bad_line", "mend the line, or allow bad lines", "dataset %s: %w", s.from.name, bad)
	}
	if s.stats.Repeats > 0 {
		return nil
	}
	if s.stats.BadLines++; s.stats.BadLines == 1 {
		s.mend = bad.mend
	}
	if len(s.stats.BadFirst) < badKept {
		s.stats.BadFirst = append(s.stats.BadFirst, bad.text)
	}
	return nil
}

// why says what a pass that gave nothing has met.
func (s *repeating) why() string {
	for _, list := range [][]string{s.stats.BadFirst, s.Stats().Notes} {
		if len(list) > 0 {
			return list[0]
		}
	}
	return "nothing stands in it"
}

// hint says what to do about a pass that gave nothing.
func (s *repeating) hint() string {
	switch {
	case s.mend != "":
		return s.mend
	case s.cfg.Kind == "sharegpt" && s.cfg.InputLen > 0 && s.stats.BadLines == 0:
		return "take another input_len (bench: --input-len), or leave it out: then each question has its own length"
	}
	return "check that the data is of kind " + s.cfg.Kind + "; the kinds are " + strings.Join(Kinds(), ", ")
}

func (s *repeating) again() error {
	if s.found == 0 {
		return empty(s.from.name, s.why(), s.hint())
	}
	if err := s.now.Close(); err != nil {
		return unreadable(s.from.name, err)
	}
	s.shift = s.last + (s.last-s.shift)/time.Duration(max(1, s.found-1)) // as far behind the last as they are apart
	s.found = 0
	s.stats = s.Stats()
	s.stats.Repeats++
	s.now = s.read(s.from, s.cfg)
	return nil
}

// shape applies what the configuration asks of every conversation.
func (s *repeating) shape(c Conversation) Conversation {
	if s.stats.Repeats > 0 {
		c.ID = fmt.Sprintf("%s__repeat_%d", c.ID, s.stats.Repeats)
	}
	c.Repeat = s.stats.Repeats
	c.At += s.shift
	s.last = c.At
	if s.cfg.Turns > 0 && len(c.Turns) > s.cfg.Turns {
		c.Turns = c.Turns[:s.cfg.Turns]
	}
	if s.cfg.MaxTokens > 0 && s.cfg.Kind != "trace" {
		for i := range c.Turns {
			c.Turns[i].MaxTokens = min(c.Turns[i].MaxTokens, s.cfg.MaxTokens)
		}
	}
	c.Turns[0] = c.Turns[0].WithSystem(s.cfg.System)
	return c
}

// WithSystem is the first turn of a conversation with a system prompt before it; token ids have theirs already.
func (t Turn) WithSystem(system string) Turn {
	if len(t.Messages) > 0 {
		t.Messages = withSystem(system, t.Messages)
	}
	return t
}

// withSystem puts the configured system prompt first; a conversation that has its own keeps it behind, in the same message.
func withSystem(system string, messages []Message) []Message {
	if system == "" {
		return messages
	}
	first := Message{Role: "system", Content: system}
	if messages[0].Role == "system" {
		first.Content += "\n\n" + messages[0].Content
		messages = messages[1:]
	}
	return append([]Message{first}, messages...)
}

// Stats tells of what was read so far. What there is to tell of a pass is told of the first one.
func (s *repeating) Stats() Stats {
	st := s.stats
	if told, ok := s.now.(noting); ok && st.Repeats == 0 {
		st.Notes = told.notes()
	}
	return st
}

// Close closes the file that is being read.
func (s *repeating) Close() error { return s.now.Close() }
