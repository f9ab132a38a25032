package events

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"assay/result"
)

func publishAll(b *Bus, kinds ...string) []result.Event {
	var all []result.Event
	for _, k := range kinds {
		all = append(all, b.Publish(result.Event{Kind: k}))
	}
	return all
}

// waiting takes what lies in a subscription now, and tells whether it is still open.
func waiting(ch <-chan result.Event) (events []result.Event, open bool) {
	for {
		select {
		case e, ok := <-ch:
			if !ok {
				return events, false
			}
			events = append(events, e)
		default:
			return events, true
		}
	}
}

func TestBusKeepsOrder(t *testing.T) {
	b := NewBus(1000)
	publishAll(b, result.RunQueued)
	ch := b.Subscribe(t.Context(), 0)
	want := publishAll(b, result.RunStarted, result.Progressed, result.RunEnded)
	got, _ := waiting(ch)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for i, e := range got {
		if e.Seq != int64(1002+i) {
			t.Errorf("event %d has number %d", i, e.Seq)
		}
	}
}

func TestBusResumesAfterANumber(t *testing.T) {
	b := NewBus(0)
	past := publishAll(b, result.RunQueued, result.Progressed, result.RunStarted, result.Logged, result.PhaseStarted)
	ch := b.Subscribe(t.Context(), past[0].Seq)
	live := publishAll(b, result.PhaseEnded)
	got, _ := waiting(ch)
	want := []result.Event{past[2], past[4], live[0]} // progress and lines of logs are never kept
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBusForgetsTheOldest(t *testing.T) {
	b := NewBus(0)
	for range 3 * kept {
		b.Publish(result.Event{Kind: result.PhaseStarted})
	}
	got, _ := waiting(b.Subscribe(t.Context(), 1))
	if len(b.past) > kept || len(got) < kept/2 || got[len(got)-1].Seq != 3*kept {
		t.Errorf("%d kept, %d of them sent, the last is %d", len(b.past), len(got), got[len(got)-1].Seq)
	}
}

func TestBusCutsOffASlowReader(t *testing.T) {
	b := NewBus(0)
	slow, quick := b.Subscribe(t.Context(), 0), b.Subscribe(t.Context(), 0)
	for i := range queued + 1 {
		b.Publish(result.Event{Kind: result.Progressed})
		if _, open := waiting(quick); !open {
			t.Fatalf("the quick reader was cut off at event %d", i)
		}
	}
	got, open := waiting(slow)
	if open || len(got) != queued {
		t.Errorf("the slow reader got %d events, open %v", len(got), open)
	}
	if len(b.subs) != 1 {
		t.Errorf("%d subscribers are left", len(b.subs))
	}
}

// TestBusLetsGo: the end of a context closes the subscription; synctest fails when a goroutine is left.
func TestBusLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBus(0)
		ctx, cancel := context.WithCancel(t.Context())
		ch := b.Subscribe(ctx, 0)
		cancel()
		synctest.Wait()
		if _, open := waiting(ch); open || len(b.subs) != 0 {
			t.Errorf("open %v, %d subscribers", open, len(b.subs))
		}
		b.Publish(result.Event{Kind: result.RunEnded}) // to nobody
	})
}
