package metrics

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"assay/runner/record"
)

func TestRefills(t *testing.T) {
	at := func(due, sent, connect int64) record.Request {
		return record.Request{IntendedUS: due, SentUS: sent, ConnectUS: connect}
	}
	requests := []record.Request{
		{Warmup: true, IntendedUS: 150, SentUS: 190, ConnectUS: record.Never},
		at(90, 120, record.Never),  // free since before the window: 20 µs of it
		at(110, 120, 4),            // 6 of 10 µs were the client's
		at(130, 132, record.Never), //
		at(140, 140, record.Never), // at once
		at(195, 240, record.Never), // 5 µs of the window
		at(160, record.Never, record.Never),
		at(220, 260, record.Never), // after the window
	}
	f := OverRefills(Window{100, 200}, 2)
	for i := range requests {
		f.Add(&requests[i])
	}
	var c Client
	f.Tell(&c)
	idle := 33.0 / 200
	want := Client{RefillUS: Lag{P50: 6, P99: 43.95, Max: 45}, IdleShare: &idle}
	if diff := cmp.Diff(want, c, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Error(diff)
	}
	open := OverRefills(Window{100, 200}, 0)
	open.Add(&requests[2])
	if open.Tell(&c); c.IdleShare != nil || c.RefillUS != (Lag{}) {
		t.Errorf("an open loop has no slots, and they were idle: %+v", c)
	}
	if got := (Client{Events: 200, SharedReads: 3}).SharedShare(); got != 0.015 || (Client{}).SharedShare() != 0 {
		t.Errorf("share %v", got)
	}
}
