package load

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/runner/dataset"
	"assay/runner/record"
)

func TestOpenLoopNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{cfg: Config{Open: &Open{Rate: 10, Arrival: "constant", Duration: 5 * time.Second, Warmup: time.Second, Cooldown: 500 * time.Millisecond}, Drain: time.Minute},
			reply: always(20 * time.Second)}
		res, err := s.run(t.Context(), t)
		if err != nil || len(s.records) != 50 || s.peak != 50 {
			t.Fatalf("%d requests, %d at once, %v", len(s.records), s.peak, err)
		}
		for _, r := range s.records {
			if want := int64(r.Index) * 100_000; r.SentUS != want || r.IntendedUS != want {
				t.Errorf("request %d sent at %d", r.Index, r.SentUS)
			}
		}
		if res.Window != (Span{second, 4_500_000}) || s.inside(res.Window) != 35 {
			t.Errorf("window %v with %d requests", res.Window, s.inside(res.Window))
		}
	})
}

// A process that got no time for longer than the schedule lasts may come to its end before its timers: the window is the one asked for.
func TestWindowOfASchedulePassedInOneStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want := Open{Rate: 10, Arrival: "constant", Duration: 5 * time.Second, Warmup: time.Second, Cooldown: 500 * time.Millisecond}
		o := newOpen(newLoad(Config{Clock: NewClock(), Open: &want}, nil, nil), want)
		o.opensUS = second
		time.Sleep(6 * time.Second)
		o.until(5*second, "")
		o.looks.Wait()
		if want := (Span{second, 4_500_000}); o.window != want {
			t.Errorf("window %v, want %v", o.window, want)
		}
	})
}

func TestOpenLoopByRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{cfg: Config{Open: &Open{Rate: 4, Arrival: "poisson", Seed: 9, Requests: 100}, Drain: time.Minute}, reply: always(time.Second)}
		res, err := s.run(t.Context(), t)
		if err != nil || len(s.records) != 100 || s.inside(res.Window) != 100 {
			t.Errorf("%d requests, %d in the window, %v", len(s.records), s.inside(res.Window), err)
		}
	})
}

// TestCapQueues: what the cap holds back counts from its intended time, is no lag of the client, and what never got its
// turn is recorded as dropped.
func TestCapQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{cfg: Config{Open: &Open{Rate: 1, Arrival: "constant", Duration: 6 * time.Second, MaxConcurrency: 2}, Drain: 8 * time.Second}, reply: always(5 * time.Second)}
		res, err := s.run(t.Context(), t)
		if err != nil || s.peak != 2 || len(s.records) != 6 {
			t.Fatalf("%d requests, %d at once, %v", len(s.records), s.peak, err)
		}
		sent := map[int][2]int64{}
		outcomes := map[record.Outcome]int{}
		for _, r := range s.records {
			sent[r.Index] = [2]int64{r.IntendedUS, r.SentUS}
			outcomes[r.Outcome]++
		}
		want := map[int][2]int64{0: {0, 0}, 1: {second, second}, 2: {2 * second, 5 * second}, 3: {3 * second, 6 * second}, 4: {4 * second, 10 * second}, 5: {5 * second, 11 * second}}
		if diff := cmp.Diff(want, sent); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[record.Outcome]int{record.OK: 4, record.Censored: 2}, outcomes); diff != "" || res.Health.LagUS.Max != 0 {
			t.Errorf("%s, lag %v", diff, res.Health.LagUS)
		}
	})
}

func TestQueuedAtTheEndIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{cfg: Config{Open: &Open{Rate: 1, Arrival: "constant", Duration: 5 * time.Second, MaxConcurrency: 1}, Drain: time.Second}, reply: always(time.Hour)}
		if _, err := s.run(t.Context(), t); err != nil {
			t.Fatal(err)
		}
		outcomes := map[record.Outcome]int{}
		for _, r := range s.records {
			outcomes[r.Outcome]++
			if r.Outcome == record.Dropped && (r.SentUS != record.Never || r.IntendedUS == 0) {
				t.Errorf("%+v", r)
			}
		}
		if diff := cmp.Diff(map[record.Outcome]int{record.Censored: 1, record.Dropped: 4}, outcomes); diff != "" {
			t.Error(diff)
		}
	})
}

func TestOpenLoopSendsScriptedTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		user := []dataset.Message{{Role: "user", Content: "x"}}
		src := &endless{turns: []dataset.Turn{{Messages: user, Reply: "r"}, {Messages: user}, {Messages: user}, {Messages: user}}}
		s := &stage{src: src, cfg: Config{Open: &Open{Rate: 1, Arrival: "constant", Requests: 4}, Drain: time.Minute}, reply: always(time.Second)}
		res, err := s.run(t.Context(), t)
		var turns []int
		for _, r := range s.records {
			turns = append(turns, r.Turn)
		}
		if diff := cmp.Diff([]int{0, 1, 0, 1}, turns); diff != "" || err != nil || len(res.Notes) != 1 {
			t.Errorf("%s, notes %q, %v", diff, res.Notes, err)
		}
	})
}

// TestOpenLoopShowsItsStages: what is cut off the window is shown as measured neither before nor after it.
func TestOpenLoopShowsItsStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{cfg: Config{Open: &Open{Rate: 10, Arrival: "constant", Duration: 12 * time.Second, Warmup: 4 * time.Second, Cooldown: 3 * time.Second}, Drain: time.Minute},
			reply: always(5 * time.Second)}
		if _, err := s.run(t.Context(), t); err != nil {
			t.Fatal(err)
		}
		totals, most := map[string]time.Duration{}, map[string]time.Duration{}
		for _, p := range s.shown {
			totals[p.Stage], most[p.Stage] = p.Total, max(most[p.Stage], p.Elapsed)
		}
		want := map[string]time.Duration{"warmup": 0, "measure": 5 * time.Second, "cooldown": 3 * time.Second, "drain": time.Minute}
		if diff := cmp.Diff(want, totals); diff != "" {
			t.Error(diff)
		}
		if most["warmup"] > 4*time.Second || most["measure"] > 5*time.Second || most["cooldown"] > 3*time.Second {
			t.Errorf("shown for longer than they last: %v", most)
		}
	})
}
