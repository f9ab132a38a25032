package load

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/runner/dataset"
	"assay/runner/load/stream"
	"assay/runner/record"
)

// turning are conversations of n turns whose replies are known.
func turning(n int) *endless {
	turn := dataset.Turn{Messages: []dataset.Message{{Role: "user", Content: "x"}}, Reply: "y"}
	return &endless{turns: slices.Repeat([]dataset.Turn{turn}, n)}
}

// sessions are the measured turns of each conversation.
func (s *stage) sessions() map[string][]int {
	turns := map[string][]int{}
	for _, r := range slices.SortedFunc(slices.Values(s.records), func(a, b record.Request) int { return a.Index - b.Index }) {
		if !r.Warmup {
			turns[r.Session] = append(turns[r.Session], r.Turn)
		}
	}
	return turns
}

// TestTrajectories: so many conversations are begun, in the order of the data, and issue stops when one has ended and none is left to take its slot.
func TestTrajectories(t *testing.T) {
	// Slot n's requests last n+1 s, and a conversation has 3 turns.
	slow := func(c *stream.Call) (time.Duration, record.Outcome) {
		var n int
		fmt.Sscanf(c.Session, "c%d", &n)
		return time.Duration(1+n%2) * time.Second, record.OK
	}
	cases := []struct {
		name     string
		load     Closed
		sessions map[string][]int
		window   Span
		note     string
	}{
		// c1 takes 6 s and c2 3 s; c3 takes c2's slot until 9 s, and c4 that of c1 until 9 s.
		{"more than slots", Closed{Concurrency: 2, Trajectories: 4}, map[string][]int{"c1": {0, 1, 2}, "c2": {0, 1, 2}, "c3": {0, 1, 2}, "c4": {0, 1, 2}}, Span{0, 9 * second}, ""},
		// c2 ends at 3 s, when c1 is in its second turn: its third one is not sent.
		{"as many as slots", Closed{Concurrency: 2, Trajectories: 2}, map[string][]int{"c1": {0, 1}, "c2": {0, 1, 2}}, Span{0, 3 * second}, "1 turns of 1 conversations"},
		{"fewer than slots", Closed{Concurrency: 5, Trajectories: 1}, map[string][]int{"c1": {0, 1, 2}}, Span{0, 6 * second}, "1 conversations cannot keep 5 slots busy"},
		{"the time is up first", Closed{Concurrency: 1, Trajectories: 9, Duration: 5 * time.Second}, map[string][]int{"c1": {0, 1, 2}}, Span{0, 5 * second}, ""},
		// The slot leaves c1 when the warm-up is over; c2 and c3 are measured whole.
		{"after a warm-up", Closed{Concurrency: 1, Trajectories: 2, WarmupRequests: 2}, map[string][]int{"c2": {0, 1, 2}, "c3": {0, 1, 2}}, Span{4 * second, 13 * second}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stage{src: turning(3), cfg: Config{Closed: &c.load, Drain: time.Minute}, reply: slow}
				res, err := s.run(t.Context(), t)
				if err != nil || res.Stopped != "" || res.Window != c.window {
					t.Errorf("window %v, want %v, stopped %q, %v", res.Window, c.window, res.Stopped, err)
				}
				if diff := cmp.Diff(c.sessions, s.sessions()); diff != "" {
					t.Error(diff)
				}
				if got := strings.Join(res.Notes, "; "); (got == "") != (c.note == "") || !strings.Contains(got, c.note) {
					t.Errorf("notes %q, want %q", got, c.note)
				}
				for _, r := range s.records {
					if r.Outcome != record.OK {
						t.Errorf("request %d ended with %s", r.Index, r.Outcome)
					}
				}
			})
		})
	}
}

// TestTrajectoriesEndBeforeTheLeastTime: then the point was shorter than the plan says.
func TestTrajectoriesEndBeforeTheLeastTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{src: turning(3), cfg: Config{Closed: &Closed{Concurrency: 1, Trajectories: 2, MinDuration: time.Minute}, Drain: time.Minute}, reply: always(time.Second)}
		res, err := s.run(t.Context(), t)
		if err != nil || len(s.records) != 6 || !strings.Contains(res.Stopped, "conversations") {
			t.Errorf("%d requests, stopped %q, %v", len(s.records), res.Stopped, err)
		}
	})
}

// TestNextTurnIsMadeWhileTheLastOneRuns, where it does not need the reply, and is the same as one that is made after it.
func TestNextTurnIsMadeWhileTheLastOneRuns(t *testing.T) {
	q := Request{Endpoint: "chat", Model: "m", Dialect: "sim", MaxTokens: 4}
	for _, live := range []bool{false, true} {
		src := turning(3)
		if live {
			for i := range src.turns {
				src.turns[i].Reply = ""
			}
		}
		talks := make([]*talk, 2)
		for i := range talks {
			c, _ := src.Next()
			talks[i] = &talk{session: c.ID, turns: c.Turns, turn: -1}
		}
		for turn := range src.turns {
			for _, one := range talks {
				if err := one.advance(q, "said"); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(talks[0].body.With("")), string(talks[1].body.With(""))); diff != "" {
				t.Errorf("turn %d: %s", turn, diff)
			}
			talks[0].prepare(q)
			if ahead := talks[0].next != nil; ahead != (!live && turn < 2) {
				t.Errorf("turn %d is made ahead: %t, live: %t", turn+1, ahead, live)
			}
		}
	}
}

// TestFirstBodyIsKept as it was sent, with its salt: that of the first measured request.
func TestFirstBodyIsKept(t *testing.T) {
	for _, cfg := range []Config{
		{Closed: &Closed{Concurrency: 2, Requests: 9, WarmupRequests: 3}},
		{Open: &Open{Rate: 5, Arrival: "constant", Requests: 9}},
	} {
		synctest.Test(t, func(t *testing.T) {
			cfg.Drain, cfg.Salt = time.Minute, Salt{Kind: "run", Run: "r", Point: "p"}
			s := &stage{cfg: cfg, reply: always(time.Second)}
			res, err := s.run(t.Context(), t)
			if err != nil || len(res.First) == 0 {
				t.Fatal(err)
			}
			for i, r := range slices.SortedFunc(slices.Values(s.records), func(a, b record.Request) int { return a.Index - b.Index }) {
				if !r.Warmup {
					if !slices.Contains(s.bodies[i:], string(res.First)) || slices.Contains(s.bodies[:i], string(res.First)) {
						t.Errorf("%s is not the body of request %d", res.First, r.Index)
					}
					break
				}
			}
		})
	}
}
