package dataset

import (
	"fmt"
	"math/rand/v2"
)

// synthetic makes conversations from a seed: each turn asks with pieces of the vocabulary and takes the server's reply.
type synthetic struct {
	cfg  Config
	made uint64
}

func newSynthetic(cfg Config) Source { return &synthetic{cfg: cfg} }

// Next gives the next conversation; the nth depends on seed and n alone.
func (s *synthetic) Next() (Conversation, error) {
	s.made++
	rng := rand.New(rand.NewPCG(s.cfg.Seed, s.made))
	c := Conversation{ID: fmt.Sprintf("synthetic-%d", s.made)}
	v, n := s.cfg.Vocabulary, s.cfg.InputLen
	for i := range max(1, s.cfg.Turns) {
		own := n
		if i == 0 {
			own = v.room(n)
		}
		c.Turns = append(c.Turns, v.Prompt(v.pick(nil, rng, own)))
	}
	c.Turns[0] = c.Turns[0].WithSystem(s.cfg.System)
	c.Turns[0].InputTokens = v.wanted(n)
	return c, nil
}

// Stats has nothing to tell: nothing is read.
func (s *synthetic) Stats() Stats { return Stats{} }
