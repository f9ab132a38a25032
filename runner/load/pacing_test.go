package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/runner/dataset"
	"assay/runner/load/health"
	"assay/runner/load/stream"
	"assay/runner/record"
)

// endless is a source of conversations that are all alike.
type endless struct {
	n     int
	turns []dataset.Turn
	limit int // 0: none
}

func (e *endless) Next() (dataset.Conversation, error) {
	if e.n++; e.limit > 0 && e.n > e.limit {
		return dataset.Conversation{}, io.EOF
	}
	return dataset.Conversation{ID: fmt.Sprintf("c%d", e.n), Turns: e.turns}, nil
}

func (e *endless) Stats() dataset.Stats { return dataset.Stats{} }

func single() *endless {
	return &endless{turns: []dataset.Turn{{Messages: []dataset.Message{{Role: "user", Content: "hi"}}}}}
}

// stage runs a load in which reply stands for the server: it says how long a request takes and how it ends.
type stage struct {
	cfg      Config
	src      dataset.Source
	reply    func(c *stream.Call) (time.Duration, record.Outcome)
	retry    time.Duration
	keepErr  error
	delay    func(slot int, c *stream.Call) time.Duration // from leave to sending
	connects bool                                         // the delay is that of opening a connection, else the client's own
	told     func(slot int, c *stream.Call) time.Duration // from sending to the word of it; nil: none
	refuses  func(slot int) bool                          // no connection for this slot
	token    time.Duration                                // from sending to the first token; 0: with the request's end
	flows    bool                                         // tokens come all the time
	events   func(us int64) int64                         // token events of a slot until an instant; nil: none
	usage    func() health.Usage
	mu       sync.Mutex
	senders  int
	inFlight int
	peak     int
	bodies   []string
	records  []record.Request
	shown    []Progress
}

func (s *stage) send(ctx context.Context, c *stream.Call, slot int) (record.Request, string) {
	clock := s.cfg.Clock
	r := stream.Blank(c)
	if s.refuses != nil && s.refuses(slot) {
		r.Outcome, r.Error, r.DoneUS = record.Refused, "connection refused", clock.Now()
		return r, ""
	}
	if s.delay != nil {
		length := s.delay(slot, c)
		<-time.After(length)
		if s.connects && length > 0 {
			r.ConnectUS = length.Microseconds()
		}
	}
	r.SentUS = clock.Now()
	if c.OnSend != nil {
		if s.told != nil {
			<-time.After(s.told(slot, c))
		}
		c.OnSend(r.SentUS)
	}
	s.mu.Lock()
	s.inFlight++
	s.peak = max(s.peak, s.inFlight)
	s.bodies = append(s.bodies, string(c.Body.With(c.Salt)))
	s.mu.Unlock()
	length, outcome := s.reply(c)
	token := c.OnToken
	if token != nil && s.token > 0 {
		first := time.AfterFunc(s.token, token)
		defer first.Stop()
		token = nil
	}
	timer := time.NewTimer(length)
	select {
	case <-timer.C:
		r.Outcome = outcome
	case <-ctx.Done():
		r.Outcome = record.Aborted
		if errors.Is(context.Cause(ctx), stream.ErrDrained) {
			r.Outcome = record.Censored
		}
	}
	if token != nil {
		token()
	}
	if outcome != record.OK && s.retry > 0 {
		r.RetryAfterUS = s.retry.Microseconds()
	}
	r.DoneUS = clock.Now()
	s.mu.Lock()
	s.inFlight--
	s.mu.Unlock()
	return r, "live reply"
}

func (s *stage) run(ctx context.Context, t *testing.T) (Result, error) {
	t.Helper()
	s.cfg.Clock = NewClock()
	s.cfg.Request = Request{Endpoint: "chat", Model: "m", Dialect: "sim", MaxTokens: 4}
	if s.src == nil {
		s.src = single()
	}
	l := newLoad(s.cfg, func(r record.Request) error { s.records = append(s.records, r); return s.keepErr }, func(p Progress) { s.shown = append(s.shown, p) })
	if s.usage != nil {
		l.looks = health.NewLooks(s.usage)
	}
	l.sender = func() (sender, func() int64) {
		s.mu.Lock()
		defer s.mu.Unlock()
		slot := s.senders
		s.senders++
		send := func(ctx context.Context, c *stream.Call) (record.Request, string) { return s.send(ctx, c, slot) }
		return send, func() int64 {
			switch now := s.cfg.Clock.Now(); {
			case s.events != nil:
				return s.events(now)
			case s.flows:
				return now
			}
			return 0
		}
	}
	return l.run(ctx, s.src)
}

func always(d time.Duration) func(*stream.Call) (time.Duration, record.Outcome) {
	return func(*stream.Call) (time.Duration, record.Outcome) { return d, record.OK }
}

// inside counts the measured requests sent in the window.
func (s *stage) inside(w Span) (n int) {
	for _, r := range s.records {
		if !r.Warmup && r.SentUS >= w.StartUS && r.SentUS < w.EndUS {
			n++
		}
	}
	return n
}

// filled is when the last slot sent its first measured request. A slot's requests do not overlap, so it is the first instant
// at which as many measured requests were under way as there are slots.
func (s *stage) filled() int64 {
	for _, r := range slices.SortedFunc(slices.Values(s.records), func(a, b record.Request) int { return int(a.SentUS - b.SentUS) }) {
		busy := 0
		for _, o := range s.records {
			if !o.Warmup && o.SentUS <= r.SentUS && o.DoneUS > r.SentUS {
				busy++
			}
		}
		if busy == s.cfg.Closed.Concurrency {
			return r.SentUS
		}
	}
	return record.Never
}

const second = 1_000_000

func TestClosedLoopByRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{cfg: Config{Closed: &Closed{Concurrency: 4, Requests: 20}, Drain: time.Minute}, reply: func(c *stream.Call) (time.Duration, record.Outcome) {
			return time.Duration(1+c.Index%4) * time.Second, record.OK
		}}
		res, err := s.run(t.Context(), t)
		if err != nil || len(s.records) != 20 || s.inside(res.Window) != 20 || s.peak != 4 {
			t.Fatalf("%d requests, %d in the window, %d at once, %v", len(s.records), s.inside(res.Window), s.peak, err)
		}
		if res.Window.StartUS != 0 || res.Health.LagUS.Max != 0 || res.Stopped != "" {
			t.Errorf("window %v, lag %v, stopped %q", res.Window, res.Health.LagUS, res.Stopped)
		}
		// The window ends when the first slot falls idle: until then all four were busy.
		var busy int64
		for _, r := range s.records {
			busy += max(0, min(r.DoneUS, res.Window.EndUS)-r.SentUS)
		}
		if busy != 4*(res.Window.EndUS-res.Window.StartUS) {
			t.Errorf("%d µs busy in a window of %d µs", busy, res.Window.EndUS)
		}
	})
}

func TestClosedLoopByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{cfg: Config{Closed: &Closed{Concurrency: 3, Duration: 10 * time.Second}, Drain: time.Minute}, reply: always(1500 * time.Millisecond)}
		res, err := s.run(t.Context(), t)
		if err != nil || res.Window != (Span{0, 10 * second}) || len(s.records) != 21 || res.Issue != (Span{0, 10_500_001}) {
			t.Errorf("window %v, issue %v, %d requests, %v", res.Window, res.Issue, len(s.records), err)
		}
	})
}

func TestMinDurationOutlastsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{cfg: Config{Closed: &Closed{Concurrency: 2, Requests: 3, MinDuration: 9500 * time.Millisecond}, Drain: time.Minute}, reply: always(time.Second)}
		res, err := s.run(t.Context(), t)
		if err != nil || res.Window != (Span{0, 10 * second}) || len(s.records) != 20 {
			t.Errorf("window %v, %d requests, %v", res.Window, len(s.records), err)
		}
	})
}

func TestWarmupStaysApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{cfg: Config{Closed: &Closed{Concurrency: 3, Requests: 12, WarmupRequests: 7}, Drain: time.Minute}, reply: func(c *stream.Call) (time.Duration, record.Outcome) {
			return time.Duration(1+c.Index%3) * time.Second, record.OK
		}}
		res, err := s.run(t.Context(), t)
		if err != nil {
			t.Fatal(err)
		}
		warm, first := 0, map[bool]int64{}
		for _, r := range s.records {
			if r.Warmup {
				warm++
			}
			if r.Warmup && r.DoneUS > res.Window.StartUS {
				t.Errorf("warm-up request %d still ran when the window opened at %d", r.Index, res.Window.StartUS)
			}
			if _, ok := first[r.Warmup]; !ok {
				first[r.Warmup] = r.SentUS
			}
		}
		if warm != 7 || s.inside(res.Window) != 12 || s.peak != 3 || res.Window.StartUS != s.filled() {
			t.Errorf("%d warm-up requests, %d in the window from %d (want %d), %d at once", warm, s.inside(res.Window), res.Window.StartUS, s.filled(), s.peak)
		}
	})
}

// TestSlowConnectionsCountOnce: leave given before the window opens may be used inside it; the number of requests holds.
func TestSlowConnectionsCountOnce(t *testing.T) {
	for _, requests := range []int{12, 13} {
		synctest.Test(t, func(t *testing.T) { slowConnections(t, requests) })
	}
}

func slowConnections(t *testing.T, requests int) {
	t.Helper()
	delay := func(int, *stream.Call) time.Duration { return 300 * time.Millisecond }
	s := &stage{delay: delay, connects: true, cfg: Config{Closed: &Closed{Concurrency: 2, Requests: requests, WarmupRequests: 1}, Drain: time.Minute}}
	s.reply = func(c *stream.Call) (time.Duration, record.Outcome) {
		if c.Warmup { // it ends, and opens the window, between the other slot's leave and its sending
			return 1200 * time.Millisecond, record.OK
		}
		return time.Second, record.OK
	}
	res, err := s.run(t.Context(), t)
	if err != nil || s.inside(res.Window) != requests || res.Window.StartUS != s.filled() {
		t.Errorf("%d requests in the window from %d, want %d from %d, %v", s.inside(res.Window), res.Window.StartUS, requests, s.filled(), err)
	}
}

// TestLateWordOfTheLastSlot: on a busy machine other slots send many requests before the last one has told of its first, which opens the
// window. It holds as many as asked for all the same.
func TestLateWordOfTheLastSlot(t *testing.T) {
	for late, want := range map[time.Duration]Span{0: {0, 5 * second}, 2500 * time.Millisecond: {0, 6 * second}, 20 * time.Second: {0, 8*second + 1}} {
		synctest.Test(t, func(t *testing.T) {
			word := func(slot int, c *stream.Call) time.Duration {
				if slot == 1 && c.Index < 2 {
					return late
				}
				return 0
			}
			s := &stage{told: word, cfg: Config{Closed: &Closed{Concurrency: 2, Requests: 10}, Drain: time.Minute}, reply: always(time.Second)}
			res, err := s.run(t.Context(), t)
			if err != nil || s.inside(res.Window) != 10 || res.Window != want || res.Stopped != "" {
				t.Errorf("%d requests in the window %v, want 10 in %v; stopped %q, %v", s.inside(res.Window), res.Window, want, res.Stopped, err)
			}
		})
	}
}

// TestLateWordOfAnEarlyRequest: one that was sent before the window opens, and has told nobody by then, is none of the window's.
func TestLateWordOfAnEarlyRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := map[string]time.Duration{"c3": 3 * time.Second} // the second conversation of the slot that is not held up
		s := &stage{cfg: Config{Closed: &Closed{Concurrency: 2, Requests: 3}, Drain: time.Minute}, reply: always(time.Second)}
		s.delay = func(slot int, c *stream.Call) time.Duration {
			if slot == 1 && c.Index < 2 {
				return 1500 * time.Millisecond
			}
			return 0
		}
		s.told = func(_ int, c *stream.Call) time.Duration { return late[c.Session] }
		res, err := s.run(t.Context(), t)
		if err != nil || s.inside(res.Window) != 3 || res.Window.StartUS != 1_500_000 || res.Stopped != "" {
			t.Errorf("%d requests in the window %v, want 3; stopped %q, %v", s.inside(res.Window), res.Window, res.Stopped, err)
		}
	})
}

func TestWarmupByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{cfg: Config{Closed: &Closed{Concurrency: 2, Duration: 4 * time.Second, WarmupDuration: 2500 * time.Millisecond}}, reply: always(time.Second)}
		res, err := s.run(t.Context(), t)
		if err != nil || res.Window != (Span{3 * second, 7 * second}) {
			t.Errorf("window %v, %v", res.Window, err)
		}
	})
}

func TestStreamingWindowWaitsForTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{cfg: Config{Closed: &Closed{Concurrency: 2, Duration: 5 * time.Second, Cell: &Cell{Timeout: time.Hour}}}, reply: func(c *stream.Call) (time.Duration, record.Outcome) {
			return time.Duration(1+2*min(c.Index, 1)) * time.Second, record.OK // the second slot's first token comes after 3 s
		}}
		res, err := s.run(t.Context(), t)
		if err != nil || res.Window != (Span{3 * second, 8 * second}) {
			t.Errorf("window %v, %v", res.Window, err)
		}
	})
}

func TestConversationsHoldTheirSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		user := func(text string) []dataset.Message { return []dataset.Message{{Role: "user", Content: text}} }
		src := &endless{turns: []dataset.Turn{
			{Messages: user("one"), Reply: "scripted"},
			{Messages: user("two"), Wait: 2 * time.Second},
			{Messages: user("three"), MaxTokens: 99},
		}}
		s := &stage{src: src, cfg: Config{Closed: &Closed{Concurrency: 1, Requests: 4}, Drain: time.Minute}, reply: always(time.Second)}
		res, err := s.run(t.Context(), t)
		if err != nil {
			t.Fatal(err)
		}
		var got [][3]int64
		for _, r := range s.records {
			got = append(got, [3]int64{int64(r.Turn), r.IntendedUS / second, r.SentUS / second})
		}
		if diff := cmp.Diff([][3]int64{{0, 0, 0}, {1, 3, 3}, {2, 4, 4}, {0, 5, 5}}, got); diff != "" {
			t.Error(diff)
		}
		if want := `"messages":[{"role":"user","content":"one"},{"role":"assistant","content":"scripted"},{"role":"user","content":"two"},{"role":"assistant","content":"live reply"},{"role":"user","content":"three"}],"max_tokens":99`; !strings.Contains(s.bodies[2], want) {
			t.Error(s.bodies[2])
		}
		if math.Abs(res.Waiting-2.0/6) > 1e-9 || res.Health.LagUS.Max != 0 {
			t.Errorf("waiting %v, lag %v", res.Waiting, res.Health.LagUS)
		}
	})
}

func TestFailuresArePaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{cfg: Config{Closed: &Closed{Concurrency: 2, Duration: time.Hour}, Drain: time.Minute}, reply: func(*stream.Call) (time.Duration, record.Outcome) {
			return 0, record.Reset
		}}
		res, err := s.run(t.Context(), t)
		if err != nil || !strings.Contains(res.Stopped, "served no request") || !strings.Contains(res.Stopped, "reset") || len(s.records) < giveUpFailures || len(s.records) > 40 {
			t.Errorf("%d requests, stopped %q, %v", len(s.records), res.Stopped, err)
		}
		if w := res.Window.EndUS - res.Window.StartUS; w < giveUpUS || w > 4*giveUpUS {
			t.Errorf("it took %d µs to give up", w)
		}
	})
}

// TestSilentServer: one that takes requests and says nothing ends the point when each slot has waited to its limit, not after many of them.
func TestSilentServer(t *testing.T) {
	for _, streams := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			s := &stage{cfg: Config{Closed: &Closed{Concurrency: streams, Requests: 100, WarmupRequests: 5}, Drain: time.Minute}, reply: func(*stream.Call) (time.Duration, record.Outcome) {
				return 5 * time.Minute, record.Stalled
			}}
			begin := time.Now()
			res, err := s.run(t.Context(), t)
			if err != nil || !strings.Contains(res.Stopped, "stalled") || time.Since(begin) > 16*time.Minute {
				t.Errorf("%d streams: stopped %q after %v, %v", streams, res.Stopped, time.Since(begin), err)
			}
		})
	}
}

func TestRetryAfterPacesItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{retry: 7 * time.Second, cfg: Config{Closed: &Closed{Concurrency: 1, Requests: 3}, Drain: time.Minute}, reply: func(c *stream.Call) (time.Duration, record.Outcome) {
			if c.Index == 0 {
				return time.Second, record.HTTPStatus
			}
			return time.Second, record.OK
		}}
		if _, err := s.run(t.Context(), t); err != nil || s.records[1].SentUS != 8*second || s.records[2].SentUS != 9*second {
			t.Errorf("%v, %v", s.records, err)
		}
	})
}

func TestDrainLimitCensors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{cfg: Config{Closed: &Closed{Concurrency: 2, Duration: 3 * time.Second}, Drain: 4 * time.Second}, reply: func(c *stream.Call) (time.Duration, record.Outcome) {
			return time.Duration(2+100*(c.Index%2)) * time.Second, record.OK
		}}
		res, err := s.run(t.Context(), t)
		if err != nil || len(s.records) != 3 || s.records[2].Outcome != record.Censored || s.records[2].DoneUS != 7*second {
			t.Errorf("%+v, window %v, %v", s.records, res.Window, err)
		}
	})
}

func TestCancelEndsALoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("ctrl-c")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(5*time.Second, func() { cancel(why) })
		s := &stage{cfg: Config{Closed: &Closed{Concurrency: 2, Duration: time.Hour}, Drain: time.Hour}, reply: always(3 * time.Second)}
		res, err := s.run(ctx, t)
		if !errors.Is(err, why) || len(s.records) != 4 || s.records[3].Outcome != record.Aborted || res.Window.EndUS != 5*second {
			t.Errorf("%d requests, window %v, %v", len(s.records), res.Window, err)
		}
	})
}

func TestFailedTurnEndsItsConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turn := dataset.Turn{Messages: []dataset.Message{{Role: "user", Content: "x"}}, Reply: "y"}
		s := &stage{src: &endless{turns: []dataset.Turn{turn, turn, turn}}, cfg: Config{Closed: &Closed{Concurrency: 1, Requests: 2}}, reply: func(c *stream.Call) (time.Duration, record.Outcome) {
			if c.Index == 0 {
				return time.Second, record.HTTPStatus
			}
			return time.Second, record.OK
		}}
		res, err := s.run(t.Context(), t)
		if err != nil || s.records[1].Session != "c2" || s.records[1].Turn != 0 || len(res.Notes) != 2 || !strings.Contains(res.Notes[0], "issue had stopped") || !strings.Contains(res.Notes[1], "2 turns") {
			t.Errorf("%+v, notes %q, %v", s.records[1], res.Notes, err)
		}
	})
}

func TestDataEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := single()
		src.limit = 5
		s := &stage{src: src, cfg: Config{Closed: &Closed{Concurrency: 2, Requests: 50}, Drain: time.Minute}, reply: always(time.Second)}
		if res, err := s.run(t.Context(), t); err != nil || len(s.records) != 5 || res.Stopped != "the dataset ended" {
			t.Errorf("%d requests, stopped %q, %v", len(s.records), res.Stopped, err)
		}
	})
}

func TestFewerRequestsThanSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{cfg: Config{Closed: &Closed{Concurrency: 8, Requests: 3}, Drain: time.Minute}, reply: always(time.Second)}
		res, err := s.run(t.Context(), t)
		if err != nil || s.inside(res.Window) != 3 || s.peak != 3 || len(res.Notes) != 1 {
			t.Errorf("%d requests, %d at once, notes %q, %v", len(s.records), s.peak, res.Notes, err)
		}
	})
}

// broken is a source that cannot be read to its end.
type broken struct{ endless }

func (b *broken) Next() (dataset.Conversation, error) {
	c, err := b.endless.Next()
	if errors.Is(err, io.EOF) {
		err = errors.New("disk error")
	}
	return c, err
}

func TestUnreadableData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &broken{*single()}
		src.limit = 5
		s := &stage{src: src, cfg: Config{Closed: &Closed{Concurrency: 2, Requests: 50}, Drain: time.Minute}, reply: always(time.Second)}
		if _, err := s.run(t.Context(), t); err == nil || !strings.Contains(err.Error(), "disk error") || len(s.records) != 5 {
			t.Errorf("%d requests, %v", len(s.records), err)
		}
	})
}

// TestUnwritableRecords: a full disk ends the load with its error instead of losing requests in silence.
func TestUnwritableRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("no space left")
		s := &stage{cfg: Config{Closed: &Closed{Concurrency: 2, Duration: time.Hour}, Drain: time.Minute}, reply: always(time.Second), keepErr: full}
		res, err := s.run(t.Context(), t)
		if !errors.Is(err, full) || res.Window.EndUS > 3*second {
			t.Errorf("window %v, %v", res.Window, err)
		}
	})
}
