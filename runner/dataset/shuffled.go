package dataset

import (
	"errors"
	"io"
	"math/rand/v2"
)

// The window within which conversations are shuffled: memory stays bounded however large the file.
const (
	windowRecords = 4096
	windowBytes   = 8 << 20 // of text
)

// shuffled gives another reader's conversations in an order that follows from the seed: each is drawn from the next few thousand.
type shuffled struct {
	reader
	rng    *rand.Rand
	window []Conversation
	bytes  int
	ended  bool
}

func shuffle(r reader, seed uint64) reader {
	return &shuffled{reader: r, rng: rand.New(rand.NewPCG(seed, 1))}
}

func (s *shuffled) next() (Conversation, error) {
	for !s.ended && len(s.window) < windowRecords && s.bytes < windowBytes {
		c, err := s.reader.next()
		if errors.Is(err, io.EOF) {
			s.ended = true
			break
		}
		if err != nil {
			return Conversation{}, err
		}
		s.window = append(s.window, c)
		s.bytes += c.size()
	}
	if len(s.window) == 0 {
		return Conversation{}, io.EOF
	}
	i, last := s.rng.IntN(len(s.window)), len(s.window)-1
	c := s.window[i]
	s.window[i], s.window[last] = s.window[last], Conversation{}
	s.window = s.window[:last]
	s.bytes -= c.size()
	return c, nil
}

// size is about how many bytes a conversation's texts have.
func (c Conversation) size() int {
	n := 0
	for _, t := range c.Turns {
		n += len(t.Reply)
		for _, m := range t.Messages {
			n += len(m.Content)
		}
	}
	return n
}
