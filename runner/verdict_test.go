package runner

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/plan"
	"assay/runner/metrics"
)

func TestVerdict(t *testing.T) {
	float := func(v float64) *float64 { return &v }
	dist := func(p50 float64) *metrics.Distribution { return &metrics.Distribution{P50: p50} }
	sweep := plan.Point{ID: "c10", Phase: "sweep", Concurrency: 10}
	good := metrics.Summary{DurationS: 10, RequestsIssued: 1000, RequestsCompleted: 990, SystemTPS: float(100), ActiveMean: float(9.95), E2EMS: dist(100),
		Outcomes: map[string]int{"ok": 1000}}
	cases := []struct {
		name   string
		point  plan.Point
		change func(s *metrics.Summary, m *Measurement)
		state  string
		codes  []string
	}{
		{"good", sweep, func(*metrics.Summary, *Measurement) {}, Valid, nil},
		{"few errors", sweep, func(s *metrics.Summary, _ *Measurement) { s.RequestsFailed = 10 }, Valid, []string{"errors"}},
		{"many errors", sweep, func(s *metrics.Summary, _ *Measurement) { s.RequestsFailed = 11 }, NotValid, []string{"errors"}},
		{"censored", sweep, func(s *metrics.Summary, _ *Measurement) { s.Censored = 11 }, NotValid, []string{"censored"}},
		{"censored in a cell", plan.Point{Phase: "decode", Concurrency: 10}, func(s *metrics.Summary, _ *Measurement) { s.Censored = 900 }, Valid, nil},
		{"nearly full", sweep, func(s *metrics.Summary, _ *Measurement) { s.ActiveMean = float(9.6) }, Valid, []string{"underfilled"}},
		{"not full", sweep, func(s *metrics.Summary, _ *Measurement) { s.ActiveMean = float(9.4) }, NotValid, []string{"underfilled"}},
		{"slots that wait for tools", sweep, func(s *metrics.Summary, m *Measurement) { s.ActiveMean, m.Waiting = float(6), 3.95 }, Valid, nil},
		{"open loop is never underfilled", plan.Point{Phase: "serve", Rate: 5}, func(s *metrics.Summary, _ *Measurement) { s.ActiveMean = float(1) }, Valid, nil},
		{"an open loop that max_concurrency held back", plan.Point{Phase: "serve", Rate: 5}, func(s *metrics.Summary, m *Measurement) {
			s.QueueMS, m.Client.LagUS.P99, m.AtOnce = &metrics.Distribution{P50: 1700, P99: 3000}, 9000, 64
		}, Valid, []string{"held_back"}},
		{"an open loop whose client was late", plan.Point{Phase: "serve", Rate: 5}, func(s *metrics.Summary, m *Measurement) {
			s.QueueMS, m.Client.LagUS.P99, m.AtOnce = &metrics.Distribution{P50: 1, P99: 31}, 30_000, 64
		}, NotValid, []string{"client_bound"}},
		{"an open loop without a limit", plan.Point{Phase: "serve", Rate: 5}, func(s *metrics.Summary, _ *Measurement) { s.QueueMS = &metrics.Distribution{P99: 3000} }, Valid, nil},
		{"clock set", sweep, func(_ *metrics.Summary, m *Measurement) { m.Client.ClockSteps, m.Client.StampSource = 1, "kernel" }, NotValid, []string{"clock_step"}},
		{"clock set, own stamps", sweep, func(_ *metrics.Summary, m *Measurement) { m.Client.ClockSteps = 1 }, Valid, []string{"clock_step"}},
		{"gave up", sweep, func(_ *metrics.Summary, m *Measurement) { m.Stopped = "the server served no request" }, NotValid, []string{"stopped_early"}},
		{"nothing came", sweep, func(s *metrics.Summary, _ *Measurement) {
			s.RequestsCompleted, s.SystemTPS, s.RequestsFailed = 0, float(0), 1000
			s.Outcomes = map[string]int{"refused": 999, "reset": 1}
		}, NotValid, []string{"no_requests", "errors"}},
		{"tokens, and no request to its end", sweep, func(s *metrics.Summary, _ *Measurement) { s.RequestsCompleted = 0 }, NotValid, []string{"no_requests"}},
		{"the same in an open loop", plan.Point{Phase: "serve", Rate: 5}, func(s *metrics.Summary, _ *Measurement) { s.RequestsCompleted = 0 }, NotValid, []string{"no_requests"}},
		{"the same in a cell", plan.Point{Phase: "decode", Concurrency: 10}, func(s *metrics.Summary, _ *Measurement) { s.RequestsCompleted = 0 }, Valid, nil},
		{"nothing but empty answers", sweep, func(s *metrics.Summary, _ *Measurement) { s.SystemTPS = float(0) }, NotValid, []string{"no_tokens"}},
		{"no window", sweep, func(s *metrics.Summary, _ *Measurement) { *s = metrics.Summary{} }, NotValid, []string{"window_empty", "no_requests"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, m := good, Measurement{}
			c.change(&s, &m)
			state, reasons := Verdict(c.point, s, m)
			var codes []string
			for _, r := range reasons {
				codes = append(codes, r.Code)
				if r.Text == "" || r.Evidence == "" {
					t.Errorf("%s has no text or evidence", r.Code)
				}
			}
			if diff := cmp.Diff(c.codes, codes); diff != "" || state != c.state {
				t.Errorf("%s: %s", state, diff)
			}
		})
	}
}

// TestReplayOfTheWrongUnit: a trace that is over at once is asked for its unit.
func TestReplayOfTheWrongUnit(t *testing.T) {
	short := metrics.Summary{DurationS: 0.0015, RequestsIssued: 90}
	for _, c := range []struct {
		point plan.Point
		want  bool
	}{{plan.Point{Phase: plan.PhaseServe, Speed: 1}, true}, {plan.Point{Phase: plan.PhaseServe, Rate: 9}, false}} {
		f := noRequests(c.point, short, Measurement{})
		if f == nil || strings.Contains(f.Text, "timestamps are milliseconds") != c.want {
			t.Errorf("%+v: %+v", c.point, f)
		}
	}
}
