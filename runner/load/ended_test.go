package load

import (
	"testing"
	"testing/synctest"
	"time"

	"assay/runner/dataset"
	"assay/runner/load/stream"
	"assay/runner/record"
)

// TestTakenConversationIsSent: one slot finds that the data has ended at 2 s, when the other one has taken a conversation that it may not send
// before 4 s. Issue ends with that, and early only where more was wanted.
func TestTakenConversationIsSent(t *testing.T) {
	const early = "the dataset ended"
	cases := []struct {
		name string
		load Closed
		why  string
	}{
		{"more requests wanted", Closed{Requests: 50}, early},
		{"as many requests as wanted", Closed{Requests: 4}, ""},
		{"as many requests, too soon", Closed{Requests: 4, MinDuration: time.Minute}, early},
		{"more conversations wanted", Closed{Trajectories: 5}, early},
		{"as many conversations as wanted", Closed{Trajectories: 4}, ""},
		{"as many conversations, too soon", Closed{Trajectories: 4, MinDuration: time.Minute}, early},
		{"more time wanted", Closed{Duration: time.Minute}, early},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				src := single()
				src.limit = 4
				s := held(src, c.load)
				res, err := s.run(t.Context(), t)
				if err != nil || len(s.records) != 4 || res.Stopped != c.why || res.Window != (Span{0, 4*second + 1}) {
					t.Errorf("%d requests, window %v, stopped %q, want %q, %v", len(s.records), res.Window, res.Stopped, c.why, err)
				}
			})
		})
	}
}

// TestTakenConversationIsSentWhenDataFails, also by slots that it left without any.
func TestTakenConversationIsSentWhenDataFails(t *testing.T) {
	for _, slots := range []int{2, 4, 8} {
		synctest.Test(t, func(t *testing.T) {
			src := &broken{*single()}
			src.limit = 4
			s := held(src, Closed{Requests: 50})
			s.cfg.Closed.Concurrency = slots
			if _, err := s.run(t.Context(), t); err == nil || len(s.records) != 4 {
				t.Errorf("%d slots: %d requests, %v", slots, len(s.records), err)
			}
		})
	}
}

// TestTimeEndsDespiteATakenConversation: that is not sent after the time is up.
func TestTimeEndsDespiteATakenConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := single()
		src.limit = 4
		s := held(src, Closed{Duration: 3 * time.Second})
		if res, err := s.run(t.Context(), t); err != nil || len(s.records) != 3 || res.Stopped != "" || res.Window != (Span{0, 3 * second}) {
			t.Errorf("%d requests, window %v, stopped %q, %v", len(s.records), res.Window, res.Stopped, err)
		}
	})
}

// TestOpenLoopSendsAllThatWasTaken: the data ends, or fails, with requests that wait for the cap.
func TestOpenLoopSendsAllThatWasTaken(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			data := &broken{*single()}
			data.limit = 4
			var src dataset.Source = data
			if !fails {
				src = &data.endless
			}
			s := &stage{src: src, cfg: Config{Open: &Open{Rate: 1, Arrival: "constant", Requests: 50, MaxConcurrency: 1}, Drain: time.Minute}, reply: always(3 * time.Second)}
			res, err := s.run(t.Context(), t)
			if (err != nil) != fails || res.Stopped != "the dataset ended" || len(s.records) != 4 {
				t.Errorf("%d requests, stopped %q, %v", len(s.records), res.Stopped, err)
			}
			for _, r := range s.records {
				if r.Outcome != record.OK {
					t.Errorf("request %d ended with %s", r.Index, r.Outcome)
				}
			}
		})
	}
}

// held is a load of two slots whose first request fails after a second: its slot is told to come again three seconds later.
func held(src dataset.Source, load Closed) *stage {
	load.Concurrency = 2
	return &stage{src: src, retry: 3 * time.Second, cfg: Config{Closed: &load, Drain: time.Minute}, reply: func(c *stream.Call) (time.Duration, record.Outcome) {
		if c.Index == 0 {
			return time.Second, record.HTTPStatus
		}
		return time.Second, record.OK
	}}
}
