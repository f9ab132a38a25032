package load

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestCellWaitsForAnEvenTokenRate: its window opens when a stream has tokens as fast in the second half of the steady time as in the first,
// where there are enough of them to tell.
func TestCellWaitsForAnEvenTokenRate(t *testing.T) {
	// Four streams have their first token 1.2 s after they began, so that without the rule the window opens at 4.2 s.
	at := func(perSecond float64) func(int64) int64 {
		return func(us int64) int64 { return int64(perSecond * float64(us) / second) }
	}
	faster := func(from, to float64, changeUS int64) func(int64) int64 {
		return func(us int64) int64 { return at(from)(min(us, changeUS)) + at(to)(max(0, us-changeUS)) }
	}
	cases := []struct {
		name    string
		events  func(us int64) int64
		stable  time.Duration
		opens   time.Duration
		unready string
	}{
		{"even", at(40), 3 * time.Second, 4200 * time.Millisecond, ""},
		{"a step in half a second", func(us int64) int64 { return us / (second / 2) * 12 }, 3 * time.Second, 4200 * time.Millisecond, ""},
		{"a little faster", faster(40, 43, 2700_000), 3 * time.Second, 4200 * time.Millisecond, ""},
		{"twice as fast", faster(10, 20, 3500_000), 3 * time.Second, 6150 * time.Millisecond, ""},
		{"half as fast", faster(40, 20, 3500_000), 3 * time.Second, 6300 * time.Millisecond, ""},
		{"too few to tell", faster(4, 8, 3500_000), 3 * time.Second, 4200 * time.Millisecond, ""},
		{"too short to tell", faster(40, 80, 2000_000), 900 * time.Millisecond, 2100 * time.Millisecond, ""},
		{"ever faster", func(us int64) int64 { return int64(100 * math.Exp2(float64(us)/second)) }, 3 * time.Second, 20 * time.Second, "streams with a token 4/4; steady for 18.8s of 3s, but a stream's token events went from "},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := Config{Closed: &Closed{Concurrency: 4, Duration: 30 * time.Second, Cell: &Cell{Stable: c.stable, Timeout: 20 * time.Second}}}
				s := &stage{cfg: cfg, reply: always(100 * time.Second), token: 1200 * time.Millisecond, events: c.events}
				res, err := s.run(t.Context(), t)
				late := us(res.Window.StartUS) - c.opens
				if err != nil || late < -lookEvery || late > lookEvery || !strings.HasPrefix(res.Unready, c.unready) || c.unready == "" && res.Unready != "" {
					t.Errorf("window %v, want it from %v; unready %q, want %q; %v", res.Window, c.opens, res.Unready, c.unready, err)
				}
			})
		})
	}
}

// TestRestartsAreNoChangeOfTheTokenRate: what lies between two requests of a stream is not held against it.
func TestRestartsAreNoChangeOfTheTokenRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		streams := func(us int64) int64 { // a request lasts two seconds, of which it streams the last one and a half
			return us/(2*second)*150 + max(0, us%(2*second)-second/2)*100/second
		}
		cfg := Config{Closed: &Closed{Concurrency: 1, Duration: 5 * time.Second, Cell: &Cell{Stable: 3 * time.Second, Timeout: time.Minute}}}
		s := &stage{cfg: cfg, reply: always(2 * time.Second), token: 500 * time.Millisecond, events: streams}
		if res, err := s.run(t.Context(), t); err != nil || res.Unready != "" || res.Window.StartUS > 3600_000 {
			t.Errorf("window %v, unready %q, %v", res.Window, res.Unready, err)
		}
	})
}
