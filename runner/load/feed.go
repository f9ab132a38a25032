package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"assay/runner/dataset"
	"assay/runner/load/stream"
)

// talk is a conversation on its way: what was said so far and the body of its next turn.
type talk struct {
	session string
	turns   []dataset.Turn
	tools   json.RawMessage
	turn    int // of the body
	history []dataset.Message
	body    stream.Body
}

// feeder reads conversations ahead of their use and encodes their first turns, so that neither delays a request.
type feeder struct {
	request Request
	src     dataset.Source
	out     chan *talk
	ready   chan struct{} // closed when out is full or the data has ended

	mu  sync.Mutex
	err error // why the data ended; nil for its natural end
}

func newFeeder(q Request, src dataset.Source, ahead int) *feeder {
	return &feeder{request: q, src: src, out: make(chan *talk, ahead), ready: make(chan struct{})}
}

// run reads until the data or ctx ends.
func (f *feeder) run(ctx context.Context) {
	defer close(f.out)
	full := sync.OnceFunc(func() { close(f.ready) })
	defer full()
	seen := map[string]int{}
	for {
		c, err := f.src.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		var t *talk
		if err == nil {
			t, err = f.begin(c, seen)
		}
		if err != nil {
			f.fail(err)
			return
		}
		if t == nil {
			continue
		}
		select {
		case f.out <- t:
		case <-ctx.Done():
			return
		}
		if len(f.out) == cap(f.out) {
			full()
		}
	}
}

// begin makes a talk; nil for a conversation without turns. Sessions that come again get a number.
func (f *feeder) begin(c dataset.Conversation, seen map[string]int) (*talk, error) {
	if len(c.Turns) == 0 {
		return nil, nil
	}
	t := &talk{session: c.ID, turns: c.Turns, tools: c.Tools, turn: -1}
	if seen[c.ID]++; seen[c.ID] > 1 {
		t.session = fmt.Sprintf("%s#%d", c.ID, seen[c.ID])
	}
	return t, t.advance(f.request)
}

// advance makes the body of the next turn.
func (t *talk) advance(q Request) error {
	t.turn++
	turn := t.turns[t.turn]
	t.history = append(slices.Clip(t.history), turn.Messages...)
	var err error
	t.body, err = q.Encode(t.history, t.tools, turn.MaxTokens)
	if err != nil {
		return fmt.Errorf("conversation %s, turn %d: %w", t.session, t.turn, err)
	}
	return nil
}

// last says that no turn follows.
func (t *talk) last() bool { return t.turn == len(t.turns)-1 }

// live says that the next turn needs the server's reply.
func (t *talk) live() bool {
	turn := t.turns[t.turn]
	return !t.last() && turn.Script == nil && turn.Reply == ""
}

// answered puts what answers the turn into the history: what is scripted where something is, else the server's reply.
func (t *talk) answered(reply string) {
	t.history = append(t.history, t.turns[t.turn].Answer(reply)...)
}

func (f *feeder) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

// failed says why the data ended before its natural end.
func (f *feeder) failed() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
