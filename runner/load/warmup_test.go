package load

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assay/runner/load/stream"
	"assay/runner/record"
)

// TestWarmupUntilStable: the server's first requests are slow. The window opens when three steps of the warm-up are alike, or at the limit,
// and no request of the warm-up is measured.
func TestWarmupUntilStable(t *testing.T) {
	for _, c := range []struct {
		name   string
		load   Closed
		slow   int   // requests that take 4 s; the others take 1 s, and the second slot is half a second behind
		opens  int64 // ms
		warm   int   // requests of the warm-up
		steps  int
		stable bool
	}{
		{"three steps alike", Closed{WarmupStable: 0.05, WarmupTimeout: time.Minute}, 0, 4000, 7, 3, true},
		{"a slow start is waited out", Closed{WarmupStable: 0.05, WarmupTimeout: time.Minute}, 4, 12_000, 11, 5, true},
		{"requests are the least", Closed{WarmupRequests: 9, WarmupStable: 0.05, WarmupTimeout: time.Minute}, 0, 5000, 9, 4, true},
		{"time is the least", Closed{WarmupDuration: 5200 * time.Millisecond, WarmupStable: 0.05, WarmupTimeout: time.Minute}, 0, 6000, 11, 5, true},
		{"the limit", Closed{WarmupStable: 0.05, WarmupTimeout: 14 * time.Second}, 1000, 16_500, 8, 3, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				want := c.load
				want.Concurrency, want.Requests = 2, 6
				s := &stage{cfg: Config{Closed: &want, Drain: time.Minute}}
				s.reply = func(call *stream.Call) (time.Duration, record.Outcome) {
					length := time.Second
					if call.Index < c.slow {
						length = 4 * time.Second
					}
					if call.Index == 1 {
						length += 500 * time.Millisecond
					}
					return length, record.OK
				}
				s.events = func(us int64) int64 { // of a slot: those of its slow requests come over their 4 s too
					early := min(us, int64(c.slow/2)*4*second)
					return (early/4 + us - early) / 1000
				}
				if c.name == "the limit" {
					s.events = func(us int64) int64 { return us * us / 1e9 } // faster and faster
				}
				res, err := s.run(t.Context(), t)
				if err != nil || res.Window.StartUS != c.opens*1000 || res.Warmup == nil || res.Warmup.Stable != c.stable {
					t.Fatalf("window %v, want it from %d ms; %+v, %v", res.Window, c.opens, res.Warmup, err)
				}
				warm := 0
				for _, r := range s.records {
					if r.Warmup {
						warm++
					}
				}
				if warm != c.warm || res.Warmup.Steps != c.steps || s.inside(res.Window) != 6 {
					t.Errorf("%d requests in %d steps of warm-up, want %d in %d; %d measured", warm, res.Warmup.Steps, c.warm, c.steps, s.inside(res.Window))
				}
				if c.stable != (res.Unready == "") || !c.stable && !strings.Contains(res.Unready, "at most 5 % within 14s") {
					t.Errorf("unready %q", res.Unready)
				}
			})
		})
	}
}

// TestWarmupThatAsksForNothing leaves no word of steps.
func TestWarmupThatAsksForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{cfg: Config{Closed: &Closed{Concurrency: 2, Requests: 4, WarmupRequests: 4}, Drain: time.Minute}, reply: always(time.Second)}
		if res, err := s.run(t.Context(), t); err != nil || res.Warmup != nil || res.Unready != "" {
			t.Errorf("%+v, unready %q, %v", res.Warmup, res.Unready, err)
		}
	})
}
