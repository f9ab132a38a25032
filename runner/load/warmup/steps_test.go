package warmup

import (
	"math"
	"strings"
	"testing"
	"time"

	"assay/runner/record"
)

// paced is a step of a warm-up: token events per second and median TTFT.
type paced struct {
	rate float64
	ttft time.Duration
}

// follow has a warm-up take steps of 2 s, in each of which the two slots end a request and one fails.
func follow(s *Steps, steps []paced) (over int64) {
	var now, events int64
	s.Slots = 2
	s.Begin(now, events)
	for _, p := range steps {
		for range 2 {
			now += 1_000_000
			events += int64(p.rate)
			s.Ended(now, record.Request{Outcome: record.Reset}, func() int64 { panic("a request that failed ends no step") })
			r := record.Request{Outcome: record.OK, SentUS: now - 900_000}
			if p.ttft > 0 {
				r.Events = []record.Event{{AtUS: r.SentUS + p.ttft.Microseconds()}}
			}
			s.Ended(now, r, func() int64 { return events })
			if !s.Lasts(now) {
				return now
			}
		}
	}
	return -1
}

func TestStepsUntilTheyAreAlike(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name    string
		steps   []paced
		over    int64 // s; -1: not within these steps
		stable  bool
		missing string
	}{
		{"from the start", []paced{{100, 50 * ms}, {101, 51 * ms}, {102, 52 * ms}}, 6, true, ""},
		{"two are not enough", []paced{{100, 50 * ms}, {100, 50 * ms}}, -1, false, ""},
		{"slow at first", []paced{{20, 400 * ms}, {60, 90 * ms}, {100, 50 * ms}, {104, 50 * ms}, {100, 50 * ms}}, 10, true, ""},
		{"throughput that still grows", []paced{{100, 50 * ms}, {103, 50 * ms}, {106, 50 * ms}, {109, 50 * ms}, {112, 50 * ms}, {115, 50 * ms}}, 12, false,
			"the last three of 6 steps had [109 112 115] token events per second and a median TTFT of [50 50 50] ms; they were to differ by at most 5 % within 12s"},
		{"TTFT that still falls", []paced{{100, 90 * ms}, {100, 80 * ms}, {100, 70 * ms}, {100, 60 * ms}, {100, 60 * ms}, {100, 60 * ms}}, 12, true, ""},
		{"TTFT by a few milliseconds", []paced{{100, 4 * ms}, {100, 8 * ms}, {100, 5 * ms}}, 6, true, ""},
		{"TTFT unknown", []paced{{100, 0}, {100, 0}, {100, 0}}, 6, true, ""},
		{"TTFT known of some", []paced{{100, 50 * ms}, {100, 0}, {100, 50 * ms}}, -1, false, ""},
		{"no token", []paced{{0, 0}, {0, 0}, {0, 0}}, -1, false, ""},
	} {
		s := Steps{Share: 0.05, Limit: 12 * time.Second}
		over := follow(&s, c.steps)
		if over != -1 {
			over /= 1_000_000
		}
		if over != c.over || s.Missing() != c.missing {
			t.Errorf("%s: over after %d s, want %d; missing %q, want %q", c.name, over, c.over, s.Missing(), c.missing)
		}
		if o := s.Outcome(); (o != nil) != (over != -1) || o != nil && (o.Stable != c.stable || int64(o.Steps) != over/2) {
			t.Errorf("%s: %+v", c.name, o)
		}
	}
}

// TestOutcomeIsKept: what ends after the warm-up changes nothing of it, and its spreads are of the last three steps.
func TestOutcomeIsKept(t *testing.T) {
	const ms = time.Millisecond
	s := Steps{Share: 0.1, Limit: time.Minute}
	over := follow(&s, []paced{{10, 900 * ms}, {96, 95 * ms}, {100, 100 * ms}, {104, 105 * ms}})
	before := *s.Outcome()
	for n := range int64(10) {
		s.Ended(over+n*2_000_000, record.Request{Outcome: record.OK}, func() int64 { return 1 })
	}
	after := s.Outcome()
	if s.Lasts(over+20_000_000) || !after.Stable || after.Steps != 4 || before.Steps != 4 {
		t.Errorf("%+v, then %+v", before, after)
	}
	if math.Abs(*after.ThroughputSpread-0.08) > 1e-9 || math.Abs(*after.TTFTSpread-0.1) > 1e-9 {
		t.Errorf("spreads %v, %v", *after.ThroughputSpread, *after.TTFTSpread)
	}
}

func TestStepsThatWereTooFew(t *testing.T) {
	s := Steps{Share: 0.05, Limit: 4 * time.Second}
	if over := follow(&s, []paced{{10, 0}, {10, 0}, {10, 0}}); over != 4_000_000 || !strings.HasPrefix(s.Missing(), "steps of the warm-up in 4s: 2;") {
		t.Errorf("over at %d µs, missing %q", over, s.Missing())
	}
	none := Steps{}
	if none.Lasts(0) || none.Outcome() != nil || none.Missing() != "" {
		t.Errorf("a warm-up that nothing is asked of: %+v", none)
	}
}
