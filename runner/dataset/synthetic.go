package dataset

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// generator names how pieces are drawn: another number whenever the same definition would give other prompts.
const generator = "assay synthetic 1"

// synthetic makes conversations from a seed: each turn asks with pieces of the vocabulary and takes the server's reply.
type synthetic struct {
	cfg    Config
	made   uint64
	sha256 string // of its definition
}

func newSynthetic(cfg Config) Source { return &synthetic{cfg: cfg, sha256: sum(definition(cfg))} }

// definition is all that the prompts follow from but their length, as text: the same one gives the same prompts.
func definition(cfg Config) []byte {
	v := cfg.Vocabulary
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\nseed %d\nturns %d\nbegin %q\n", generator, cfg.Seed, max(1, cfg.Turns), v.Begin)
	for _, id := range v.Lead {
		fmt.Fprintf(&b, "lead %d\n", id)
	}
	for _, id := range v.IDs {
		fmt.Fprintf(&b, "id %d\n", id)
	}
	if len(v.IDs) == 0 {
		for _, word := range v.Words {
			fmt.Fprintf(&b, "word %q\n", word)
		}
	}
	return b.Bytes()
}

// Next gives the next conversation; the nth depends on seed and n alone.
func (s *synthetic) Next() (Conversation, error) {
	s.made++
	rng := rand.New(rand.NewPCG(s.cfg.Seed, s.made))
	c := Conversation{ID: fmt.Sprintf("synthetic-%d", s.made), Numbered: true}
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

// Stats tells what the prompts are made of: nothing is read.
func (s *synthetic) Stats() Stats { return Stats{SHA256: s.sha256} }
