package ceiling

import (
	"math"
	"slices"

	"assay/runner/record"
	"assay/sim/paced"
)

// Quantiles are of errors in microseconds.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Accuracy is how what the client recorded inside the window differs from what the server knows.
type Accuracy struct {
	Sent     int64     `json:"events_sent"`    // by the server inside the window
	InFlight float64   `json:"mean_in_flight"` // by the server's log
	Stamp    Quantiles `json:"stamp_error_us"` // arrival as recorded less the instant before the server's write
	TTFT     Quantiles `json:"ttft_error_us"`  // the same of first tokens: the request's own instant is the client's in both
	ITL      Quantiles `json:"itl_error_us"`   // of gaps between events of a stream, without sign
	Shared   float64   `json:"shared_reads"`   // share of the events that came in one read with an earlier one of their stream
	Lost     int64     `json:"lost_events"`    // of whole requests: sent and not recorded, or recorded and never sent
	Failed   int       `json:"failed_requests"`
}

// compare joins requests by the response id. A request that the window's end cut off lacks events that were on their way; it counts
// up to there.
func compare(requests []record.Request, truths []paced.Truth, d Driven) Accuracy {
	byID := make(map[string]paced.Truth, len(truths))
	for _, t := range truths {
		byID[paced.ID(t.N)] = t
	}
	c := comparison{Driven: d}
	unread := 0 // requests cut off before a byte of their answers was read
	for _, r := range requests {
		t, known := byID[r.ID]
		if r.Outcome != record.OK && r.Outcome != record.Censored {
			c.Failed++
		}
		if !known {
			if c.Lost += int64(len(r.Events)); r.Outcome == record.Censored {
				unread++
			}
			continue
		}
		c.request(r, t)
		delete(byID, r.ID)
	}
	for _, t := range byID { // the client does not know of it
		if !t.Whole {
			continue
		}
		if unread--; unread < 0 {
			c.Lost += int64(len(t.SentNS))
		}
	}
	from, to := d.window()
	c.Sent, c.InFlight = sent(truths, from, to), inFlight(truths, from, to)
	c.Stamp, c.TTFT, c.ITL = quantiles(c.stamps), quantiles(c.first), quantiles(c.gaps)
	if n := len(c.stamps); n > 0 {
		c.Shared = float64(record.Recording{Requests: requests}.Count(d.Window.StartUS, d.Window.EndUS).SharedReads) / float64(n)
	}
	return c.Accuracy
}

// comparison is the errors so far, in microseconds.
type comparison struct {
	Driven
	Accuracy
	stamps, first, gaps []float64
}

// us puts an instant of the server on the recording's clock.
func (d Driven) us(ns int64) float64 { return float64(ns-d.ZeroNS) / 1000 }

func (d Driven) inside(us int64) bool { return us >= d.Window.StartUS && us < d.Window.EndUS }

func (c *comparison) request(r record.Request, t paced.Truth) {
	if r.Outcome == record.OK {
		c.Lost += int64(max(len(t.SentNS)-len(r.Events), len(r.Events)-len(t.SentNS)))
	}
	for i, e := range r.Events {
		if i >= len(t.SentNS) || !c.inside(e.AtUS) {
			continue
		}
		late := float64(e.AtUS) - c.us(t.SentNS[i])
		c.stamps = append(c.stamps, late)
		if i == 0 {
			c.first = append(c.first, late)
			continue
		}
		gap := float64(e.AtUS-r.Events[i-1].AtUS) - float64(t.SentNS[i]-t.SentNS[i-1])/1000
		c.gaps = append(c.gaps, math.Abs(gap))
	}
}

// sent counts the server's events in a span of its time.
func sent(truths []paced.Truth, from, to int64) int64 {
	var n int64
	for _, t := range truths {
		low, _ := slices.BinarySearch(t.SentNS, from)
		high, _ := slices.BinarySearch(t.SentNS, to)
		n += int64(high - low)
	}
	return n
}

// window is in the server's time.
func (d Driven) window() (from, to int64) {
	return d.ZeroNS + d.Window.StartUS*1000, d.ZeroNS + d.Window.EndUS*1000
}

// inFlight is the mean number of requests between arrival and end in a span of the server's time.
func inFlight(truths []paced.Truth, from, to int64) float64 {
	if to <= from {
		return 0
	}
	var sum int64
	for _, t := range truths {
		sum += max(0, min(t.EndedNS, to)-max(t.ArrivedNS, from))
	}
	return float64(sum) / float64(to-from)
}

// quantiles are by nearest rank.
func quantiles(errors []float64) Quantiles {
	if len(errors) == 0 {
		return Quantiles{}
	}
	slices.Sort(errors)
	at := func(q float64) float64 { return errors[max(0, int(math.Ceil(q*float64(len(errors))))-1)] }
	return Quantiles{P50: at(0.5), P99: at(0.99), Max: errors[len(errors)-1]}
}
