package load

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"assay/runner/dataset"
	"assay/runner/load/arrival"
	"assay/runner/record"
)

// replayed is a trace with the instants, in seconds, of its conversations; after its end it goes on as the dataset's does.
type replayed struct {
	at      []float64
	n       int
	repeats int
}

func (r *replayed) Next() (dataset.Conversation, error) {
	if r.n == len(r.at)*(r.repeats+1) {
		r.repeats++
	}
	c, _ := (&endless{turns: single().turns}).Next()
	seconds := r.at[r.n%len(r.at)] + float64(r.repeats)*10
	c.At = time.Duration(seconds * float64(time.Second))
	r.n++
	return c, nil
}

func (r *replayed) Stats() dataset.Stats { return dataset.Stats{Repeats: r.repeats} }

// TestTraceIsReplayed at the instants it tells, faster or slower, once or until what was asked for is reached; an instant that lies before
// its predecessor is due with it.
func TestTraceIsReplayed(t *testing.T) {
	cases := []struct {
		name   string
		open   Open
		sent   []int64
		window Span
	}{
		{"as recorded", Open{Speed: 1}, []int64{0, 1_500_000, 1_500_000, 6_000_000}, Span{0, 8_000_000}},
		{"twice as fast", Open{Speed: 2}, []int64{0, 750_000, 750_000, 3_000_000}, Span{0, 4_000_000}},
		{"half as fast, cut", Open{Speed: 0.5, Warmup: time.Second, Cooldown: 2 * time.Second}, []int64{0, 3_000_000, 3_000_000, 12_000_000}, Span{1_000_000, 14_000_000}},
		{"by requests", Open{Speed: 1, Requests: 3}, []int64{0, 1_500_000, 1_500_000}, Span{0, 6_000_000}},
		{"more than there are", Open{Speed: 1, Requests: 6}, []int64{0, 1_500_000, 1_500_000, 6_000_000, 10_000_000, 11_500_000}, Span{0, 11_500_000}},
		{"by time", Open{Speed: 1, Duration: 2 * time.Second}, []int64{0, 1_500_000, 1_500_000}, Span{0, 2_000_000}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.open.Arrival = arrival.Trace
				s := &stage{src: &replayed{at: []float64{0, 1.5, 1, 6}}, cfg: Config{Open: &c.open, Drain: time.Minute}, reply: always(20 * time.Second)}
				res, err := s.run(t.Context(), t)
				var sent []int64
				for _, r := range s.records {
					sent = append(sent, r.SentUS)
					if r.IntendedUS != r.SentUS || r.Outcome != record.OK {
						t.Errorf("%+v", r)
					}
				}
				slices.Sort(sent)
				if err != nil || !slices.Equal(sent, c.sent) || res.Window != c.window || res.Stopped != "" {
					t.Errorf("sent %v, window %v, stopped %q, %v", sent, res.Window, res.Stopped, err)
				}
			})
		})
	}
}

// TestConnectionsAhead: as many as the first requests need at once, and never more than may be in flight.
func TestConnectionsAhead(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		want int
		most int // Connections
	}{
		{"closed", Config{Closed: &Closed{Concurrency: 64}}, 64, 64},
		{"a cap above what comes", Config{Open: &Open{Rate: 3, MaxConcurrency: 100}}, 3, 100},
		{"a cap below", Config{Open: &Open{Rate: 140, MaxConcurrency: 100}}, 100, 100},
		{"no cap", Config{Open: &Open{Rate: 12.5}}, 13, 13},
		{"few requests", Config{Open: &Open{Rate: 140, Requests: 7}}, 7, 7},
		{"a ramp", Config{Open: &Open{Rate: 140, Ramp: &Ramp{From: 1, Over: time.Hour}}}, 2, 140},
		{"a trace", Config{Open: &Open{Arrival: arrival.Trace, Speed: 1, MaxConcurrency: 50}}, 0, 50},
	} {
		if got := c.cfg.Connections(); got != c.most {
			t.Errorf("%s: %d connections, want %d", c.name, got, c.most)
		}
		if got := c.cfg.ahead(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
