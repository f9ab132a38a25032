package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"assay/runner/dataset"
	"assay/runner/load/stream"
)

// talk is a conversation on its way: what was said so far and the body of its next turn.
type talk struct {
	session string
	number  int           // talks of a load are counted from 0
	prompt  int           // talks of the same number have the same salt; 0: each request has its own
	at      time.Duration // of a trace: when it arrives
	pass    int           // of the data, from 0
	warm    bool          // it began in the warm-up
	turns   []dataset.Turn
	tools   json.RawMessage
	turn    int // of the body
	history []dataset.Message
	body    stream.Body
	next    chan step // holds the next turn when that is made ahead
}

// step is a turn that is ready to be sent: all that was said until then, and the body.
type step struct {
	history []dataset.Message
	body    stream.Body
	err     error
}

// feeder reads conversations ahead of their use and encodes their first turns, so that neither delays a request.
type feeder struct {
	request Request
	salt    Salt
	src     dataset.Source
	begun   int  // talks
	pass    int  // of the data
	shared  bool // all talks are like the first one
	once    bool // the data's end is its first one
	out     chan *talk
	given   int           // talks that went out; to be read when out is closed
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
	next := f.reading()
	for {
		t, err := next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			f.fail(err)
			return
		}
		select {
		case f.out <- t:
			f.given++
		case <-ctx.Done():
			return
		}
		if len(f.out) == cap(f.out) {
			full()
		}
	}
}

// reading gives what makes one talk after another: from the data, or from its first conversation alone.
func (f *feeder) reading() func() (*talk, error) {
	seen := map[string]int{}
	if !f.shared {
		return func() (*talk, error) { return f.read(seen) }
	}
	var first *talk
	return func() (*talk, error) {
		if first != nil {
			return f.copy(first), nil
		}
		var err error
		if first, err = f.read(seen); first != nil {
			first.prompt = 1
		}
		return first, err
	}
}

// read makes a talk of the next conversation that has turns.
func (f *feeder) read(seen map[string]int) (*talk, error) {
	for {
		c, err := f.src.Next()
		if err != nil {
			return nil, err
		}
		pass := f.src.Stats().Repeats
		if f.once && pass > 0 {
			return nil, io.EOF
		}
		if pass != f.pass { // the data names its repeats itself
			clear(seen)
			f.pass = pass
		}
		if len(c.Turns) > 0 {
			return f.begin(c, pass, seen)
		}
	}
}

// begin makes a talk. Sessions that come again get a number.
func (f *feeder) begin(c dataset.Conversation, pass int, seen map[string]int) (*talk, error) {
	t := &talk{session: c.ID, number: f.begun, pass: pass, prompt: c.Prompt, at: c.At, turns: f.salt.Around(c), tools: c.Tools, turn: -1}
	f.begun++
	if !c.Numbered {
		if seen[c.ID]++; seen[c.ID] > 1 {
			t.session = fmt.Sprintf("%s#%d", c.ID, seen[c.ID])
		}
	}
	return t, t.advance(f.request, "")
}

// copy begins another session with a talk's first request, whose body they share.
func (f *feeder) copy(first *talk) *talk {
	t := *first
	t.number = f.begun
	f.begun++
	t.session = fmt.Sprintf("%s#%d", first.session, f.begun)
	return &t
}

// prepare begins to make the next turn beside the present one, where that needs no reply: a long history takes longer to encode than a slot
// may lie idle.
func (t *talk) prepare(q Request) {
	if t.last() || t.live() {
		return
	}
	made := make(chan step, 1)
	t.next = made
	go func() { made <- t.after(q, "") }()
}

// advance goes on to the next turn. reply is what the server said, for a turn that has nothing scripted.
func (t *talk) advance(q Request, reply string) error {
	var s step
	if t.next != nil {
		s, t.next = <-t.next, nil
	} else {
		s = t.after(q, reply)
	}
	t.turn++
	t.history, t.body = s.history, s.body
	return s.err
}

// after makes the step behind the present turn.
func (t *talk) after(q Request, reply string) step {
	s := step{history: slices.Clip(t.history)}
	if t.turn >= 0 {
		s.history = append(s.history, t.turns[t.turn].Answer(reply)...)
	}
	turn := t.turns[t.turn+1]
	s.history = append(s.history, turn.Messages...)
	if s.body, s.err = encode(q, s.history, t.tools, turn, turn.MaxTokens); s.err != nil {
		s.err = fmt.Errorf("conversation %s, turn %d: %w", t.session, t.turn+1, s.err)
	}
	return s
}

// alone is the body of the present turn with another limit to its answer.
func (t *talk) alone(q Request, maxTokens int) (stream.Body, error) {
	return encode(q, t.history, t.tools, t.turns[t.turn], maxTokens)
}

// encode makes the body of a turn: its history, or the token ids that stand in its place.
func encode(q Request, history []dataset.Message, tools json.RawMessage, turn dataset.Turn, maxTokens int) (stream.Body, error) {
	if len(turn.TokenIDs) > 0 {
		return q.EncodeIDs(turn.TokenIDs, maxTokens)
	}
	return q.Encode(history, tools, maxTokens)
}

// arrives is when a trace has the conversation; t may be nil.
func (t *talk) arrives() time.Duration {
	if t == nil {
		return 0
	}
	return t.at
}

// last says that no turn follows.
func (t *talk) last() bool { return t.turn == len(t.turns)-1 }

// live says that the next turn needs the server's reply.
func (t *talk) live() bool {
	turn := t.turns[t.turn]
	return !t.last() && turn.Script == nil && turn.Reply == ""
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
