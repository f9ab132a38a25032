package load

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"assay/runner/load/stream"
	"assay/runner/record"
)

// scraped is an engine's word that is renewed every so often; it takes 20 ms to come.
type scraped struct {
	begin time.Time
	every time.Duration
	say   func(at time.Duration) (running, waiting float64)
}

func (s *scraped) state() (EngineState, bool) {
	at := max(0, time.Since(s.begin)-20*time.Millisecond).Truncate(s.every)
	running, waiting := s.say(at)
	return EngineState{Running: running, Waiting: waiting, AtUS: s.begin.Add(at).UnixMicro()}, true
}

// TestCellOpensWhenItIsSteady: each stream had a token, the engine runs 98 % of them and none waits, for as long as asked without a break.
func TestCellOpensWhenItIsSteady(t *testing.T) {
	// Each of four streams has its first token 1.2 s after it began; requests last 100 s.
	cases := []struct {
		name    string
		say     func(at time.Duration) (running, waiting float64)
		opens   time.Duration
		unready string
	}{
		{"no engine metrics", nil, 4200 * time.Millisecond, ""},
		{"at once", func(time.Duration) (float64, float64) { return 4, 0 }, 5 * time.Second, ""},
		{"a queue at first", func(at time.Duration) (float64, float64) {
			if at < 7*time.Second {
				return 2, 2
			}
			return 4, 0
		}, 10 * time.Second, ""},
		{"a break", func(at time.Duration) (float64, float64) {
			if at == 4*time.Second {
				return 4, 1
			}
			return 4, 0
		}, 8 * time.Second, ""},
		{"never all of them", func(time.Duration) (float64, float64) { return 3, 0 }, 20 * time.Second, "running 3/4, waiting 0, streams with a token 4/4 after 20s"},
		{"always a queue", func(time.Duration) (float64, float64) { return 4, 2 }, 20 * time.Second, "running 4/4, waiting 2, streams with a token 4/4 after 20s"},
		{"a break too often", func(at time.Duration) (float64, float64) {
			if int(at/time.Second)%3 == 0 {
				return 1, 3
			}
			return 4, 0
		}, 20 * time.Second, "running 4/4, waiting 0, streams with a token 4/4; steady for 1s of 3s after 20s"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := Config{Closed: &Closed{Concurrency: 4, Duration: 30 * time.Second, Cell: &Cell{Stable: 3 * time.Second, Timeout: 20 * time.Second}}}
				if c.say != nil {
					cfg.Engine = (&scraped{time.Now(), time.Second, c.say}).state
				}
				s := &stage{cfg: cfg, reply: always(100 * time.Second), token: 1200 * time.Millisecond}
				res, err := s.run(t.Context(), t)
				late := us(res.Window.StartUS) - c.opens
				if err != nil || late < 0 || late > lookEvery || us(res.Window.EndUS-res.Window.StartUS) != 30*time.Second || res.Unready != c.unready {
					t.Errorf("window %v, want it from %v; unready %q, want %q; %v", res.Window, c.opens, res.Unready, c.unready, err)
				}
			})
		})
	}
}

// TestWordsThatDoNotCount: an engine's word of before the last stream's first token, and one that is old because no other came.
func TestWordsThatDoNotCount(t *testing.T) {
	full := func(time.Duration) (float64, float64) { return 2, 0 }
	for name, c := range map[string]struct {
		token, every, opens time.Duration
	}{
		"of before":   {1010 * time.Millisecond, time.Second, 5 * time.Second}, // the word of 1 s comes at 1.02: 2 + 3
		"of long ago": {time.Second, time.Hour, 8 * time.Second},               // as if there were none from 5 s on: 5 + 3
	} {
		synctest.Test(t, func(t *testing.T) {
			cfg := Config{Closed: &Closed{Concurrency: 2, Duration: 5 * time.Second, Cell: &Cell{Stable: 3 * time.Second, Timeout: 20 * time.Second}}}
			cfg.Engine = (&scraped{time.Now(), c.every, full}).state
			s := &stage{cfg: cfg, reply: always(100 * time.Second), token: c.token}
			res, err := s.run(t.Context(), t)
			if late := us(res.Window.StartUS) - c.opens; err != nil || res.Unready != "" || late < 0 || late > lookEvery {
				t.Errorf("a word %s: window %v, want it from %v; unready %q, %v", name, res.Window, c.opens, res.Unready, err)
			}
		})
	}
}

// TestRestartsDoNotBreakSteadiness: an engine that has just ended a request runs one less until the next one is in.
func TestRestartsDoNotBreakSteadiness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		busy := func(at time.Duration) (float64, float64) {
			if at%time.Second < 300*time.Millisecond { // requests last a second, and each is tokenised for so long
				return 0, 0
			}
			return 1, 0
		}
		cfg := Config{Closed: &Closed{Concurrency: 1, Duration: 5 * time.Second, Cell: &Cell{Stable: 3 * time.Second, Timeout: time.Minute}},
			Engine: (&scraped{begin, 100 * time.Millisecond, busy}).state}
		s := &stage{cfg: cfg, reply: always(time.Second), token: 350 * time.Millisecond}
		if res, err := s.run(t.Context(), t); err != nil || res.Unready != "" || res.Window.StartUS > 4*second {
			t.Errorf("window %v, unready %q, %v", res.Window, res.Unready, err)
		}
	})
}

// TestACellWithAWaitingSlotIsNotSteady: a slot that waits after a failure is missing, though it streamed before and no engine tells.
func TestACellWithAWaitingSlotIsNotSteady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{Closed: &Closed{Concurrency: 2, Duration: 5 * time.Second, Cell: &Cell{Stable: 3 * time.Second, Timeout: time.Minute}}}
		s := &stage{cfg: cfg, token: 500 * time.Millisecond, retry: 6 * time.Second, reply: func(c *stream.Call) (time.Duration, record.Outcome) {
			if c.Index == 1 {
				return 2 * time.Second, record.HTTPStatus
			}
			return 100 * time.Second, record.OK
		}}
		res, err := s.run(t.Context(), t)
		if late := us(res.Window.StartUS) - 11*time.Second; err != nil || res.Unready != "" || late < 0 || late > lookEvery { // 2 + 6 + 3
			t.Errorf("window %v, unready %q, %v", res.Window, res.Unready, err)
		}
	})
}

// TestStreamsOfACellShareTheirPrompt, whose scouts the server has answered before the first of them; sessions are apart.
func TestStreamsOfACellShareTheirPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{Closed: &Closed{Concurrency: 4, Duration: 10 * time.Second, Cell: &Cell{Scouts: 2}}, Salt: Salt{Kind: "run", Run: "r", Point: "p"}}
		s := &stage{cfg: cfg, reply: always(3 * time.Second)}
		res, err := s.run(t.Context(), t)
		if err != nil || len(s.records) != 2+20 {
			t.Fatalf("%d requests, %v", len(s.records), err)
		}
		bodies, sessions := map[string]int{}, map[string]bool{}
		for _, b := range s.bodies {
			bodies[b]++
		}
		for _, r := range s.records {
			if sessions[r.Session] {
				t.Errorf("session %s stands there twice", r.Session)
			}
			sessions[r.Session] = true
			if r.Warmup != (r.Index < 2) || !r.Warmup && r.SentUS < 6*second {
				t.Errorf("request %d, warm-up %t, sent at %d", r.Index, r.Warmup, r.SentUS)
			}
		}
		scout := strings.Replace(string(res.First), `"max_tokens":4`, `"max_tokens":1`, 1)
		if len(bodies) != 2 || bodies[scout] != 2 || bodies[string(res.First)] != 20 {
			t.Errorf("bodies %v", bodies)
		}
	})
}

// TestFailuresDoNotKillACellsSlot: it sends again, and a server that streams to others is not given up.
func TestFailuresDoNotKillACellsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		failed := 0
		s := &stage{cfg: Config{Closed: &Closed{Concurrency: 3, Duration: 60 * time.Second, Cell: &Cell{}}}, flows: true}
		s.reply = func(c *stream.Call) (time.Duration, record.Outcome) {
			mu.Lock()
			defer mu.Unlock()
			if c.Index >= 3 && failed < 40 {
				failed++
				return 0, record.HTTPStatus
			}
			if c.Index == 2 {
				return time.Second, record.OK
			}
			return 200 * time.Second, record.OK
		}
		res, err := s.run(t.Context(), t)
		last := s.records[len(s.records)-1]
		if err != nil || res.Stopped != "" || failed < 10 || last.Outcome != record.Censored {
			t.Errorf("%d failures, stopped %q, the last request ended with %s, %v", failed, res.Stopped, last.Outcome, err)
		}
	})
}

// TestPrefillHasTwoRequests, however long the first one takes, and at most so many as asked for.
func TestPrefillHasTwoRequests(t *testing.T) {
	for _, c := range []struct {
		name              string
		most, least, want int
		length            time.Duration
	}{
		{"longer than the pass", 0, 2, 2, time.Minute},
		{"short", 0, 2, 5, 7 * time.Second},
		{"at most", 3, 2, 3, 7 * time.Second},
		{"one", 1, 1, 1, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &stage{cfg: Config{Closed: &Closed{Concurrency: 1, Requests: c.most, MinRequests: c.least, Duration: 30 * time.Second, WarmupRequests: 1, ToEnd: true}, Drain: time.Hour},
				reply: always(c.length)}
			res, err := s.run(t.Context(), t)
			if err != nil || s.inside(res.Window) != c.want || res.Stopped != "" || len(s.records) != c.want+1 {
				t.Errorf("%s: %d requests in the window, want %d, of %d; stopped %q, %v", c.name, s.inside(res.Window), c.want, len(s.records), res.Stopped, err)
			}
		})
	}
}

// TestCancelEndsACell at once, whatever it waits for: its scout, the first tokens, or a steady load.
func TestCancelEndsACell(t *testing.T) {
	for _, after := range []time.Duration{time.Second, 12 * time.Second, 25 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			why := errors.New("ctrl-c")
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(after, func() { cancel(why) })
			begin := time.Now()
			never := &scraped{begin, time.Second, func(time.Duration) (float64, float64) { return 0, 4 }}
			s := &stage{cfg: Config{Closed: &Closed{Concurrency: 4, Duration: time.Hour, Cell: &Cell{Scouts: 1, Stable: 3 * time.Second, Timeout: time.Hour}}, Engine: never.state},
				token: 5 * time.Second, reply: func(c *stream.Call) (time.Duration, record.Outcome) {
					if c.Warmup {
						return 10 * time.Second, record.OK
					}
					return time.Hour, record.OK
				}}
			if _, err := s.run(ctx, t); !errors.Is(err, why) || time.Since(begin) > after+time.Second {
				t.Errorf("it ended after %v with %v", time.Since(begin), err)
			}
		})
	}
}
