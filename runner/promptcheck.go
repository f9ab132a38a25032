package runner

import (
	"strings"
	"sync"

	"assay/runner/dataset"
	"assay/runner/length"
	"assay/runner/record"
)

// Lengths tells how prompts of a wanted length came out.
type Lengths struct {
	Way     string  // ids | tokenizer | usage | words: how they were made (package length); "" when no length was wanted
	Checked int     // measured first turns whose prompt the server counted
	Off     int     // of these by more than a token
	Far     int     // of these by more than farShare
	Worst   float64 // the largest difference, as a share of the wanted length
}

// ByTokens says that prompts were made by the server's own count.
func (l Lengths) ByTokens() bool { return l.Way != "" && l.Way != length.ByWords }

// farShare is how far from its wanted length a prompt may be.
const farShare = 0.05

// promptCheck holds the server's counts against the wanted lengths.
type promptCheck struct {
	mu     sync.Mutex
	wanted map[string]int // by session
	seen   Lengths
}

func newPromptCheck() *promptCheck { return &promptCheck{wanted: map[string]int{}} }

// expect takes what a conversation's first prompt should have.
func (c *promptCheck) expect(conv dataset.Conversation, data dataset.Config) {
	want := data.InputLen
	if data.Kind == "trace" {
		want = conv.Turns[0].InputTokens
	}
	if want == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted[conv.ID] = want
}

// watching gives a keep that looks at each request on its way.
func (c *promptCheck) watching(keep func(record.Request) error) func(record.Request) error {
	return func(r record.Request) error {
		if r.Turn == 0 {
			c.look(r)
		}
		return keep(r)
	}
}

func (c *promptCheck) look(r record.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	want, own := c.wanted[r.Session]
	if own {
		delete(c.wanted, r.Session) // it is sent once
	} else if at := strings.LastIndexByte(r.Session, '#'); at > 0 {
		want = c.wanted[r.Session[:at]] // one of the sessions that share its prompt
	}
	if r.Warmup || want == 0 || r.InputTokens <= 0 {
		return
	}
	c.seen.Checked++
	off := float64(r.InputTokens) - float64(want)
	off = max(off, -off)
	if off > 1 {
		c.seen.Off++
	}
	if off > farShare*float64(want) {
		c.seen.Far++
	}
	c.seen.Worst = max(c.seen.Worst, off/float64(want))
}

// found is what was seen of prompts that were made by a way.
func (c *promptCheck) found(way string) Lengths {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.seen
	l.Way = way
	return l
}
