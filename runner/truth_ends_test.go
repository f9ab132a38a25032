package runner_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"assay/runner/record"
)

// What the intervals of the reference cannot say: when a request was sent, which only its arrival in the server's kernel tells, and how
// near the middle of all instants is to the server's, however long the longest write took.

const (
	nearUS     = 50    // or a thousandth: what a figure may be off by
	shortUS    = 25    // a write that the server knows to be shorter
	promptlyUS = 2_000 // the least wait between being meant for and being sent
)

// came is when the request's bytes reached the server's kernel, on the client's clock.
func (d *measured) came(s sight) float64 {
	return float64(s.atServer(d.wire.came(s.server.Remote, s.server.ArrivedUS)))
}

// sending holds the instants of sending against the kernel's of arrival. Nothing but the client lies between them, and half of all
// requests are not held up there on the busiest machine.
func (d *measured) sending(t *testing.T) {
	t.Helper()
	var way, wait []float64
	var early []string
	for _, s := range d.sights {
		if s.server.ID == "" {
			continue
		}
		took := d.came(s) - float64(s.client.SentUS)
		if took < -d.slack {
			early = append(early, fmt.Sprintf("request %d was sent at %d, its bytes came %.0f µs before that", s.client.Index, s.client.SentUS, -took))
		}
		way = append(way, took)
		wait = append(wait, float64(s.client.SentUS-s.client.IntendedUS))
	}
	if len(early) > 1+len(way)/100 { // one may be held against the stamp of the request before it, when its own was not kept
		t.Errorf("%d of %d requests: %s", len(early), len(way), early[0])
	}
	slices.Sort(way)
	if half := atRank(way, 50); half > nearUS+d.slack {
		t.Errorf("half of the requests came more than %.0f µs after they were sent by the client's account", half)
	}
	if least := slices.Min(wait); least < 0 || least > promptlyUS {
		t.Errorf("every request was sent %.0f µs or longer after it was meant for", least)
	}
}

// offs are the distances of one figure from the server's, µs, in all requests.
type offs struct {
	by, of []float64
	writes []float64 // how long the writes took that it is of
}

func (o *offs) add(client, server float64, write float64) {
	o.by, o.of, o.writes = append(o.by, math.Abs(client-server)), append(o.of, server), append(o.writes, write)
}

// middle gives the medians.
func (o *offs) middle() (by, of, write float64) {
	for _, v := range [][]float64{o.by, o.of, o.writes} {
		slices.Sort(v)
	}
	return atRank(o.by, 50), atRank(o.of, 50), atRank(o.writes, 50)
}

// medians holds stamps, TTFT, ITL and E2E latency against the server's instants before its writes, from the request's arrival in its
// kernel to the last event. Where half of the writes took long by the server's own readings, as on a busy machine, these say less than
// that, and the intervals decide alone; so where the client says of many events that it read them together.
func (d *measured) medians(t *testing.T) (asserted []string) {
	t.Helper()
	all := map[string]*offs{"receive stamp": {}, "TTFT": {}, "ITL": {}, "E2E latency": {}}
	shared, events := 0, 0
	for _, s := range d.sights {
		shared, events = shared+s.client.SharedReads, events+len(s.events)
		for i, e := range s.events {
			sent := s.server.Events[i]
			at, write := float64(s.atServer(sent.AtUS)), float64(sent.AfterUS-sent.AtUS)
			if i+1 == len(s.events) {
				write = float64(s.server.EndedUS - sent.AtUS) // what ends the stream may be read with it, and gives it its stamp
			}
			all["receive stamp"].add(float64(e.at), at, write)
			if i > 0 {
				all["ITL"].add(float64(e.at-s.events[i-1].at), float64(sent.AtUS-s.server.Events[i-1].AtUS), write)
			}
			took := float64(e.at - s.client.SentUS)
			if i == 0 {
				all["TTFT"].add(took, at-d.came(s), write)
			}
			if i+1 == len(s.events) && s.client.Outcome == record.OK {
				all["E2E latency"].add(took, at-d.came(s), write)
			}
		}
	}
	for name, o := range all {
		if len(o.by) == 0 {
			continue
		}
		by, of, write := o.middle()
		if write > shortUS || 4*shared > events {
			continue
		}
		limit := float64(nearUS)
		if name != "receive stamp" {
			limit = max(limit, of/1000)
		}
		if by > limit {
			t.Errorf("half of the requests or events have %s off by %.0f µs or more; the server's is %.0f, its writes took %.0f", name, by, of, write)
		}
		asserted = append(asserted, name)
	}
	slices.Sort(asserted)
	return asserted
}
