package events

import (
	"context"
	"sync"

	"assay/result"
)

// kept is how many events a late subscriber can still get; what is live is never kept.
const kept = 2048

// queued is how far a subscriber may fall behind before it is cut off, so that no reader can hold up a run.
const queued = 256

// Bus hands events to subscribers. Sequence numbers start at the wall clock's microseconds, so that they grow over restarts.
type Bus struct {
	mu   sync.Mutex
	seq  int64
	past []result.Event
	subs map[chan result.Event]bool
}

// NewBus makes a bus whose events are numbered from startSeq on.
func NewBus(startSeq int64) *Bus {
	return &Bus{seq: startSeq, subs: map[chan result.Event]bool{}}
}

// Restore puts events of an earlier program before everything else; they are in order.
func (b *Bus) Restore(past []result.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	past = past[max(0, len(past)-kept/2):]
	b.past = append(past, b.past...)
	if len(past) > 0 {
		b.seq = max(b.seq, past[len(past)-1].Seq)
	}
}

// Publish numbers the event and hands it to every subscriber; one that is full is closed and dropped.
func (b *Bus) Publish(e result.Event) result.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seq++
	e.Seq = b.seq
	if !e.Live() {
		b.past = append(b.past, e)
		if len(b.past) > kept {
			b.past = append([]result.Event(nil), b.past[len(b.past)-kept/2:]...)
		}
	}
	for ch := range b.subs {
		select {
		case ch <- e:
		default:
			delete(b.subs, ch)
			close(ch)
		}
	}
	return e
}

// Subscribe gives the kept events after seq and then the live ones, until ctx ends. seq 0 means from now on.
func (b *Bus) Subscribe(ctx context.Context, seq int64) <-chan result.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	var missed []result.Event
	for _, e := range b.past {
		if seq > 0 && e.Seq > seq {
			missed = append(missed, e)
		}
	}
	ch := make(chan result.Event, queued+len(missed))
	for _, e := range missed {
		ch <- e
	}
	b.subs[ch] = true
	context.AfterFunc(ctx, func() { b.drop(ch) })
	return ch
}

// Begin is the number before the event that queued a run last, for who wants to see this attempt from its start; 0 when it is not
// known any more.
func (b *Bus) Begin(run string) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := len(b.past) - 1; i >= 0; i-- {
		if e := b.past[i]; e.Run == run && e.Kind == result.RunQueued {
			return e.Seq - 1
		}
	}
	return 0
}

func (b *Bus) drop(ch chan result.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.subs[ch] {
		delete(b.subs, ch)
		close(ch)
	}
}
