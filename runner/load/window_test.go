package load

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"assay/runner/dataset"
	"assay/runner/load/health"
	"assay/runner/load/stream"
	"assay/runner/record"
)

// TestWindowOpensWithTheLastSlot: connections open one after another, and the window begins with the request that makes the
// last slot a busy one. What was sent before is measured too, and none of the number that was asked for.
func TestWindowOpensWithTheLastSlot(t *testing.T) {
	cases := []struct {
		name  string
		load  Closed
		start int64 // slot n connects in n·700 ms, requests last 1 s
	}{
		{"by requests", Closed{Concurrency: 4, Requests: 12}, 2_100_000},
		{"by time", Closed{Concurrency: 4, Duration: 5 * time.Second}, 2_100_000},
		{"at least so long", Closed{Concurrency: 4, Requests: 1, MinDuration: 3 * time.Second}, 2_100_000},
		{"after a warm-up", Closed{Concurrency: 4, Requests: 12, WarmupRequests: 4}, 3_100_000},
		{"as few as the slots", Closed{Concurrency: 4, Requests: 4}, 2_100_000},
		{"fewer than the slots", Closed{Concurrency: 4, Requests: 2}, 700_000},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stage{cfg: Config{Closed: &c.load, Drain: time.Minute}, reply: always(time.Second), connects: true}
				connected := map[int]bool{}
				s.delay = func(slot int, _ *stream.Call) time.Duration {
					s.mu.Lock()
					defer s.mu.Unlock()
					if connected[slot] {
						return 0
					}
					connected[slot] = true
					return time.Duration(slot) * 700 * time.Millisecond
				}
				res, err := s.run(t.Context(), t)
				if err != nil || res.Window.StartUS != c.start || res.Stopped != "" {
					t.Fatalf("window %v, want it from %d; stopped %q, %v", res.Window, c.start, res.Stopped, err)
				}
				if n := c.load.Requests; n > 0 && c.load.MinDuration == 0 && s.inside(res.Window) != n {
					t.Errorf("%d requests in the window, want %d", s.inside(res.Window), n)
				}
				var opening bool
				var busy int64 // from the window's first instant to its last, every slot was
				for _, r := range s.records {
					opening = opening || !r.Warmup && r.SentUS == c.start
					busy += max(0, min(r.DoneUS, res.Window.EndUS)-max(r.SentUS, res.Window.StartUS))
				}
				slots := int64(min(c.load.Concurrency, len(connected)))
				if !opening || busy != slots*(res.Window.EndUS-res.Window.StartUS) {
					t.Errorf("the opening request is there: %t; %d µs busy in %v", opening, busy, res.Window)
				}
			})
		})
	}
}

// TestSlotThatCannotSend: refused connections end the point with their reason, also where the other slots go on.
func TestSlotThatCannotSend(t *testing.T) {
	for _, c := range []struct {
		works int
		want  string
	}{{0, "the server served no request for 10 s"}, {2, "1 of 3 slots could send no request for 10s"}} {
		synctest.Test(t, func(t *testing.T) {
			s := &stage{cfg: Config{Closed: &Closed{Concurrency: 3, Requests: 1000}, Drain: time.Minute}, reply: always(time.Second),
				refuses: func(slot int) bool { return slot >= c.works }}
			res, err := s.run(t.Context(), t)
			if err != nil || !strings.Contains(res.Stopped, c.want) || !strings.Contains(res.Stopped, "refused") {
				t.Fatalf("stopped %q, %v", res.Stopped, err)
			}
			if res.Window.StartUS != res.Window.EndUS || res.Window.EndUS < giveUpUS || res.Window.EndUS > 2*giveUpUS {
				t.Errorf("window %v", res.Window)
			}
		})
	}
}

// TestSlotThatIsRefusedForAWhile: the window waits for it.
func TestSlotThatIsRefusedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		s := &stage{cfg: Config{Closed: &Closed{Concurrency: 3, Requests: 9}, Drain: time.Minute}, reply: always(time.Second),
			refuses: func(slot int) bool { return slot == 2 && time.Since(begin) < 1400*time.Millisecond }}
		res, err := s.run(t.Context(), t)
		if err != nil || res.Stopped != "" || res.Window.StartUS != 1_500_000 || s.inside(res.Window) != 9 {
			t.Errorf("%d requests in the window %v, stopped %q, %v", s.inside(res.Window), res.Window, res.Stopped, err)
		}
	})
}

// TestSlotsWithoutDataAreLeftOut: three conversations make three busy slots, whatever was asked for.
func TestSlotsWithoutDataAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turn := dataset.Turn{Messages: []dataset.Message{{Role: "user", Content: "x"}}, Reply: "y"}
		src := &endless{turns: []dataset.Turn{turn, turn, turn}, limit: 3}
		s := &stage{src: src, cfg: Config{Closed: &Closed{Concurrency: 8, Requests: 50}, Drain: time.Minute}, reply: always(time.Second)}
		res, err := s.run(t.Context(), t)
		if err != nil || res.Stopped != "the dataset ended" || res.Window != (Span{0, 3 * second}) || s.inside(res.Window) != 9 {
			t.Errorf("%d requests in the window %v, stopped %q, %v", s.inside(res.Window), res.Window, res.Stopped, err)
		}
	})
}

// TestSendingsAreCountedByTheirInstants: instants are told in another order than they came, leave of before the window is used
// inside it or never, and a broken connection sends a request back.
func TestSendingsAreCountedByTheirInstants(t *testing.T) {
	cfg := Config{Clock: NewClock(), Closed: &Closed{Concurrency: 2, Requests: 50}}
	l := newLoad(cfg, func(record.Request) error { return nil }, func(Progress) {})
	c := newClosed(l, *cfg.Closed)
	a, b := &slot{closed: c}, &slot{closed: c}
	counted := func(want int) {
		t.Helper()
		if c.issued != want {
			t.Errorf("%d counted, want %d", c.issued, want)
		}
	}
	leave := func() *ticket { return c.ticket(a, &talk{}) }
	first, before, other, pending, never, back := leave(), leave(), leave(), leave(), leave(), leave()
	c.sent(a, before, 50)
	c.sent(a, back, 60)
	c.ended(a, never, record.Request{SentUS: record.Never, IntendedUS: 70, DoneUS: 80})
	counted(0)
	c.sent(a, first, 101) // after the window's first instant, told before it
	c.sent(b, other, 100)
	if c.startUS != 100 {
		t.Fatalf("the window opened at %d", c.startUS)
	}
	counted(3) // first, other, and pending, which is on its way
	c.sent(a, pending, 99)
	counted(2)
	c.sent(a, back, 120)
	counted(3)
	late := leave()
	counted(4)
	c.ended(a, late, record.Request{SentUS: record.Never, IntendedUS: 99, DoneUS: 130})
	counted(3)
	if c.unsent != 0 {
		t.Errorf("%d are still on their way", c.unsent)
	}
}

// TestHealthIsOfTheWindow: neither the client's lag in the cuts of an open loop, in what its queue sends in the drain, nor
// before a closed loop's window counts, and processor time is that of the window alone.
func TestHealthIsOfTheWindow(t *testing.T) {
	inside := func(from, to int64) func(int, *stream.Call) time.Duration {
		return func(_ int, c *stream.Call) time.Duration {
			if c.DueUS >= from*second && c.DueUS < to*second {
				return 5 * time.Millisecond
			}
			return 300 * time.Millisecond
		}
	}
	closed := func(slot int, c *stream.Call) time.Duration {
		if c.DueUS == 0 {
			return time.Duration(slot) * 100 * time.Millisecond
		}
		return 5 * time.Millisecond
	}
	cases := []struct {
		name   string
		cfg    Config
		delay  func(int, *stream.Call) time.Duration
		length time.Duration
		lag    Lag
	}{
		{"open, by time", Config{Open: &Open{Rate: 10, Arrival: "constant", Duration: 9 * time.Second, Warmup: 2 * time.Second, Cooldown: 3 * time.Second}},
			inside(2, 6), 4 * time.Second, Lag{P50: 5000, P99: 5000, Max: 5000}},
		{"open, by requests", Config{Open: &Open{Rate: 10, Arrival: "constant", Requests: 90, Warmup: 2 * time.Second, Cooldown: 3 * time.Second}},
			inside(2, 6), 4 * time.Second, Lag{P50: 5000, P99: 5000, Max: 5000}},
		{"open, the queue in the drain", Config{Open: &Open{Rate: 2, Arrival: "constant", Duration: 10 * time.Second, MaxConcurrency: 1}},
			inside(0, 10), 10 * time.Second, Lag{P50: 5000, P99: 5000, Max: 5000}},
		{"closed", Config{Closed: &Closed{Concurrency: 3, Duration: 7 * time.Second}}, closed, 7 * time.Second, Lag{P50: 5000, P99: 5000, Max: 5000}},
		{"to the end", Config{Closed: &Closed{Concurrency: 1, Duration: 2500 * time.Millisecond, ToEnd: true}}, closed, 3010001 * time.Microsecond, Lag{P50: 5000, P99: 5000, Max: 5000}},
		{"decode cell", Config{Closed: &Closed{Concurrency: 2, Duration: 500 * time.Millisecond, Cell: &Cell{}}}, closed, 500 * time.Millisecond, Lag{P50: 5000, P99: 5000, Max: 5000}},
		{"one request, due before", Config{Closed: &Closed{Concurrency: 1, Requests: 1}}, inside(1, 2), time.Second, Lag{P50: 300_000, P99: 300_000, Max: 300_000}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				c.cfg.Drain = time.Minute
				s := &stage{cfg: c.cfg, delay: c.delay, reply: always(time.Second)}
				s.usage = func() health.Usage {
					at := time.Since(begin)
					return health.Usage{AtUS: at.Microseconds(), CPU: at, GC: 2 * at}
				}
				res, err := s.run(t.Context(), t)
				h := res.Health
				if err != nil || us(res.Window.EndUS-res.Window.StartUS) != c.length || h.CPU.Round(10*time.Microsecond) != c.length.Round(10*time.Microsecond) || h.GCPause != 2*h.CPU || h.Seen != h.CPU || h.Unseen != 0 {
					t.Errorf("window %v, processor %v, GC %v, seen %v, unseen %v, want %v; %v", res.Window, h.CPU, h.GCPause, h.Seen, h.Unseen, c.length, err)
				}
				if h.LagUS != c.lag {
					t.Errorf("lag %v, want %v", h.LagUS, c.lag)
				}
			})
		})
	}
}

// TestLateLookTellsWhatItMissed: a client so short of processors that it comes to look at itself late says how much of the window its figures know
// nothing of, and of a window that it saw nothing of it has none.
func TestLateLookTellsWhatItMissed(t *testing.T) {
	open := Config{Open: &Open{Rate: 10, Arrival: "constant", Duration: 10 * time.Second}, Drain: time.Minute}
	closed := Config{Closed: &Closed{Concurrency: 2, Duration: 10 * time.Second}, Drain: time.Minute}
	cases := []struct {
		name         string
		cfg          Config
		late         time.Duration // the first look, after the window's beginning
		unseen, seen time.Duration
	}{
		{"an open loop in time", open, 0, 0, 10 * time.Second},
		{"an open loop late", open, 4 * time.Second, 4 * time.Second, 6 * time.Second},
		{"an open loop after its end", open, time.Minute, 10 * time.Second, 0},
		{"a closed loop late", closed, 9 * time.Second, 9 * time.Second, time.Second},
		{"a closed loop after its end", closed, time.Minute, 10 * time.Second, 0},
		{"at its end", closed, 10 * time.Second, 10 * time.Second, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				s := &stage{cfg: c.cfg, reply: always(time.Second)}
				var first sync.Once
				s.usage = func() health.Usage {
					first.Do(func() { <-time.After(c.late) })
					return health.Usage{AtUS: time.Since(begin).Microseconds(), CPU: time.Since(begin), Steps: 1}
				}
				res, err := s.run(t.Context(), t)
				if h := res.Health; err != nil || h.Unseen != c.unseen || h.Seen != c.seen || h.CPU != c.seen || h.RSSBytes == 0 || h.Procs == 0 {
					t.Errorf("window %v, unseen %v, seen %v, processor %v, want %v and %v; %v", res.Window, h.Unseen, h.Seen, h.CPU, c.unseen, c.seen, err)
				}
			})
		})
	}
}

// TestLastSlotIsTheOneSentLast: of two first requests the later one opens the window, whichever is told first.
func TestLastSlotIsTheOneSentLast(t *testing.T) {
	for _, told := range [][2]int64{{100, 101}, {101, 100}} {
		cfg := Config{Clock: NewClock(), Closed: &Closed{Concurrency: 2, Requests: 50}}
		c := newClosed(newLoad(cfg, func(record.Request) error { return nil }, func(Progress) {}), *cfg.Closed)
		a, b := c.ticket(&slot{}, &talk{}), c.ticket(&slot{}, &talk{})
		c.sent(&slot{closed: c}, a, told[0])
		c.sent(&slot{closed: c}, b, told[1])
		if c.startUS != 101 || c.issued != 1 {
			t.Errorf("told %v: the window opened at %d with %d requests", told, c.startUS, c.issued)
		}
	}
}

// TestIssueEndsAfterTheLatestSending: slots that send at almost one instant are heard in any order, and each is in the window.
func TestIssueEndsAfterTheLatestSending(t *testing.T) {
	clock := NewClock()
	for clock.Now() < 300 { // the instants below have passed
		runtime.Gosched()
	}
	cfg := Config{Closed: &Closed{Concurrency: 2, Requests: 3}, Clock: clock}
	l := newLoad(cfg, func(record.Request) error { return nil }, func(Progress) {})
	c := newClosed(l, *cfg.Closed)
	a, b := &slot{closed: c}, &slot{closed: c}
	c.sent(a, c.ticket(&slot{}, &talk{}), 100)
	c.sent(b, c.ticket(&slot{}, &talk{}), 101) // the window opens
	third, fourth := c.ticket(&slot{}, &talk{}), c.ticket(&slot{}, &talk{})
	if c.ticket(&slot{}, &talk{}) != nil {
		t.Fatal("more than the requests asked for")
	}
	c.sent(a, fourth, 205)
	c.sent(b, third, 204)
	if l.window != (Span{101, 206}) {
		t.Errorf("the window is %v, want from 101 to 206", l.window)
	}
}

// A request that was on its way as the shortest time passed may be heard of after it: the window is no shorter for that.
func TestWindowLastsTheShortestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want := Closed{Concurrency: 2, Requests: 1, MinDuration: time.Second}
		c := newClosed(newLoad(Config{Clock: NewClock(), Closed: &want}, nil, nil), want)
		c.openAt(0)
		c.issued, c.unsent = 2, 1
		time.Sleep(time.Second)
		c.finish()
		if c.isStopped() {
			t.Fatal("issue ended before a request that was let go was sent")
		}
		c.sent(&slot{closed: c, filled: true}, &ticket{counted: true, sentUS: record.Never}, second-200)
		c.looks.Wait()
		if c.window != (Span{0, second}) {
			t.Errorf("window %v, want a second", c.window)
		}
	})
}
