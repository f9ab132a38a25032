package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCount(t *testing.T) {
	at := func(us ...int64) (events []Event) {
		for _, x := range us {
			events = append(events, Event{AtUS: x, Tokens: 1})
		}
		return events
	}
	rec := Recording{Requests: []Request{
		{Warmup: true, SentUS: 150, Retries: 1, SharedReads: 1, Events: at(160, 160)},
		{SentUS: 50, Retries: 1, SharedReads: 2, Events: at(60, 60, 99, 100, 100, 150)}, // sent before: its events inside count
		{SentUS: 100, Retries: 1, Events: at(110, 199, 200)},                            // the last one comes after
		{SentUS: 120, SharedReads: 1, Events: at(130, 130, 140, 140)},                   // of two pairs one came in one read
		{SentUS: Never, IntendedUS: 130, Retries: 1},
		{SentUS: Never, IntendedUS: 99, Retries: 1},
		{SentUS: 200, Retries: 1, SharedReads: 1, Events: at(210, 210)}, // of the drain
	}}
	if diff := cmp.Diff(Counts{Events: 9, SharedReads: 2, Retries: 2}, rec.Count(100, 200)); diff != "" {
		t.Error(diff)
	}
}
