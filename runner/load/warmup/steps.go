package warmup

import (
	"fmt"
	"slices"
	"time"

	"assay/runner/record"
)

const (
	alike    = 3                    // steps in a row that must be alike
	shortest = time.Second          // of a step: what is shorter shows the client's scheduler as much as the server
	sameTTFT = 5 * time.Millisecond // medians that differ by no more are alike, whatever share that is
)

// Steps follows a warm-up in steps. In each as many requests end well as the loop has slots, and it lasts a second at least. The zero value
// is a warm-up that nothing is asked of.
type Steps struct {
	Share float64       // by which throughput and TTFT of the last steps may differ: (highest − lowest) / mean, above 0; 0: nothing is asked
	Limit time.Duration // from the start of the load; the warm-up is over then
	Slots int

	begunUS int64
	now     step
	last    []step // alike at most
	count   int
	over    bool
}

// step is a part of the warm-up; the figures are those of its end.
type step struct {
	fromUS int64
	events int64   // of the load until it began
	ended  int     // requests
	ttft   []int64 // of these, microseconds
	rate   float64 // token events per second
	median float64 // of ttft, milliseconds; 0 when no request had a token
}

// Outcome is what came of a warm-up that was to go on until the load was stable. A spread is (highest − lowest) / mean of the last three
// steps, nil where that is not known.
type Outcome struct {
	Stable           bool
	Steps            int
	ThroughputSpread *float64
	TTFTSpread       *float64 // of the medians
}

// Begin starts the first step.
func (s *Steps) Begin(nowUS, events int64) {
	s.begunUS, s.now = nowUS, step{fromUS: nowUS, events: events}
}

// Ended takes a request of the warm-up that has ended. events gives the token events of the load until now; it is asked at the end of a step.
func (s *Steps) Ended(nowUS int64, r record.Request, events func() int64) {
	if s.over || s.Share == 0 || r.Outcome != record.OK {
		return
	}
	s.now.ended++
	if len(r.Events) > 0 {
		s.now.ttft = append(s.now.ttft, r.Events[0].AtUS-r.SentUS)
	}
	if long := nowUS-s.now.fromUS >= shortest.Microseconds(); !long || s.now.ended < s.Slots {
		return
	}
	s.now.finish(nowUS, events())
	s.last = append(s.last[max(0, len(s.last)-alike+1):], s.now)
	s.count++
	s.now = step{fromUS: nowUS, events: events()}
}

func (s *step) finish(nowUS, events int64) {
	s.rate = float64(events-s.events) / (float64(nowUS-s.fromUS) / 1e6)
	if n := len(s.ttft); n > 0 {
		slices.Sort(s.ttft)
		s.median = float64(s.ttft[(n-1)/2]+s.ttft[n/2]) / 2 / 1000
	}
}

// Lasts says whether the warm-up goes on. Once it is over it stays so.
func (s *Steps) Lasts(nowUS int64) bool {
	s.over = s.over || s.Share == 0 || s.stable() || nowUS-s.begunUS >= s.Limit.Microseconds()
	return !s.over
}

// stable says that the last steps are alike.
func (s *Steps) stable() bool {
	rate := spread(s.rates())
	if rate == nil || *rate > s.Share {
		return false
	}
	medians := s.medians()
	if slices.Max(medians)-slices.Min(medians) <= float64(sameTTFT.Microseconds())/1000 {
		return true
	}
	ttft := spread(medians)
	return ttft != nil && *ttft <= s.Share
}

func (s *Steps) rates() (all []float64) {
	for _, one := range s.last {
		all = append(all, one.rate)
	}
	return all
}

func (s *Steps) medians() (all []float64) {
	for _, one := range s.last {
		all = append(all, one.median)
	}
	return all
}

// spread is (highest − lowest) / mean; nil of fewer values than are held against each other, and where one is none.
func spread(values []float64) *float64 {
	if len(values) < alike || slices.Min(values) <= 0 {
		return nil
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	of := (slices.Max(values) - slices.Min(values)) / (sum / float64(len(values)))
	return &of
}

// Outcome is nil where nothing was asked, and where the load ended in its warm-up.
func (s *Steps) Outcome() *Outcome {
	if s.Share == 0 || !s.over {
		return nil
	}
	return &Outcome{Stable: s.stable(), Steps: s.count, ThroughputSpread: spread(s.rates()), TTFTSpread: spread(s.medians())}
}

// Missing says why the warm-up ended without a stable load; "" when it did not.
func (s *Steps) Missing() string {
	switch o := s.Outcome(); {
	case o == nil || o.Stable:
		return ""
	case o.Steps < alike:
		return fmt.Sprintf("steps of the warm-up in %s: %d; three alike were wanted", s.Limit, o.Steps)
	default:
		return fmt.Sprintf("the last three of %d steps had %.4g token events per second and a median TTFT of %.4g ms; they were to differ by at most %.3g %% within %s",
			o.Steps, s.rates(), s.medians(), 100*s.Share, s.Limit)
	}
}
