package runner

import (
	"slices"
	"strings"
	"testing"

	"assay/plan"
	"assay/runner/metrics"
)

// TestInnocence tries each limit of the client from both sides.
func TestInnocence(t *testing.T) {
	float := func(v float64) *float64 { return &v }
	ms := func(p99 float64) metrics.Lag { return metrics.Lag{P50: 1, P99: 1000 * p99, Max: 1e6 * p99} }
	// 10 streams with an event each 20 ms, two tokens in each.
	good := metrics.Summary{
		DurationS: 10, RequestsIssued: 50, RequestsCompleted: 50, Outcomes: map[string]int{"ok": 50},
		SystemTPS: float(1000), ActiveMean: float(10), E2EMS: &metrics.Distribution{P50: 2000}, ITLMS: &metrics.Distribution{Mean: 10},
	}
	client := metrics.Client{StampSource: "kernel", Events: 5000, GOMAXPROCS: 2}
	point := func(phase string) plan.Point { return plan.Point{ID: "p", Phase: phase, Concurrency: 10} }
	short := func(s *metrics.Summary, _ *metrics.Client) { s.E2EMS = &metrics.Distribution{P50: 50} }
	cases := []struct {
		name   string
		phase  string
		change []func(s *metrics.Summary, c *metrics.Client)
		why    string // in the one reason; "" when innocent
	}{
		{"good", "sweep", nil, ""},
		{"a late start of short requests", "sweep", with(short, func(c *metrics.Client) { c.LagUS = ms(10) }), ""},
		{"later", "sweep", with(short, func(c *metrics.Client) { c.LagUS = ms(10.1) }), "sent late: lag p99 10.1 ms, the limit is 10 ms"},
		{"late against long requests", "sweep", with(nil, func(c *metrics.Client) { c.LagUS = ms(200) }), ""},
		{"later against long requests", "sweep", with(nil, func(c *metrics.Client) { c.LagUS = ms(201) }), "sent late: lag p99 201.0 ms, the limit is 200 ms"},
		{"the same with stamps of its own", "sweep", with(nil, func(c *metrics.Client) { c.LagUS, c.StampSource = ms(11), "user" }), "sent late: lag p99 11.0 ms, the limit is 10 ms"},
		{"late in an open loop", "serve", with(nil, func(c *metrics.Client) { c.LagUS = ms(11) }), "sent late: lag p99 11.0 ms, the limit is 10 ms"},
		{"late before a decode cell", "decode", with(nil, func(c *metrics.Client) { c.LagUS = ms(500) }), ""},
		{"late between prefills", "prefill", with(short, func(c *metrics.Client) { c.LagUS = ms(45) }), ""},
		{"idle by one per cent", "sweep", with(nil, func(c *metrics.Client) { c.IdleShare = float(0.01) }), ""},
		{"idle by more", "sweep", with(nil, func(c *metrics.Client) { c.IdleShare, c.RefillUS = float(0.0101), ms(3) }),
			"left its slots idle: 1.01 % of their time, the limit is 1 %; refill p50 0.00 ms, p99 3.00 ms"},
		{"idle in a decode cell", "decode", with(nil, func(c *metrics.Client) { c.IdleShare = float(0.02) }), "left its slots idle: 2.00 %"},
		{"idle between prefills", "prefill", with(nil, func(c *metrics.Client) { c.IdleShare = float(0.3) }), ""},
		{"late reads, kernel stamps", "serve", with(nil, func(c *metrics.Client) { c.StampDelayUS = ms(500) }), ""},
		{"late reads, own stamps", "serve", with(nil, func(c *metrics.Client) { c.StampDelayUS, c.StampSource = ms(10.5), "user" }), "stamped arrivals late: delay p99 10.5 ms, the limit is 10 ms"},
		{"reads in time, own stamps", "serve", with(nil, func(c *metrics.Client) { c.StampDelayUS, c.StampSource = ms(10), "user" }), ""},
		{"the server sends several at once", "serve", with(nil, func(c *metrics.Client) { c.SharedReads, c.StampDelayUS = 4000, ms(10) }), ""},
		{"the client read late", "serve", with(nil, func(c *metrics.Client) { c.SharedReads, c.StampDelayUS = 51, ms(10.01) }),
			"token events met in one read: 1.0 % of 5000 events; delay p99 10.01 ms, mean gap of a stream's events 20.00 ms"},
		{"too few to matter", "serve", with(nil, func(c *metrics.Client) { c.SharedReads, c.StampDelayUS = 50, ms(100) }), ""},
		{"one hiccup in a short test", "serve", with(nil, func(c *metrics.Client) { c.Events, c.SharedReads, c.StampDelayUS = 64, 10, ms(100) }), ""},
		{"no gaps to bend", "decode", with(func(s *metrics.Summary, _ *metrics.Client) { s.ITLMS = nil }, func(c *metrics.Client) { c.SharedReads, c.StampDelayUS = 51, ms(100) }), ""},
		{"all in one read", "serve", with(func(s *metrics.Summary, _ *metrics.Client) { s.ITLMS = &metrics.Distribution{} }, func(c *metrics.Client) { c.SharedReads, c.StampDelayUS = 4900, ms(1) }), ""},
		{"busy", "sweep", with(nil, func(c *metrics.Client) { c.CPUShare = 0.8 }), ""},
		{"too busy", "sweep", with(nil, func(c *metrics.Client) { c.CPUShare, c.CPUWaitS = 0.81, 4 }),
			"used up its processors: 81 % of the 2 it may use, the limit is 80 %; its threads waited 4.0 s for one"},
		{"looked at itself in time", "sweep", with(nil, func(c *metrics.Client) { c.UnseenS = 1 }), ""},
		{"looked at itself late", "decode", with(nil, func(c *metrics.Client) { c.UnseenS = 1.01 }),
			"came to look at itself late, so it knows little of how it fared: its first look came 1.01 s into a window of 10.00 s, the limit is 1.00 s"},
		{"never saw the window", "serve", with(nil, func(c *metrics.Client) { c.UnseenS = 10 }), "its first look came 10.00 s into a window of 10.00 s"},
		{"one hiccup in a short pass", "prefill", with(func(s *metrics.Summary, _ *metrics.Client) { s.DurationS = 0.1 }, func(c *metrics.Client) { c.UnseenS = 0.1 }), ""},
		{"more than a hiccup in a short pass", "prefill", with(func(s *metrics.Summary, _ *metrics.Client) { s.DurationS = 0.2 }, func(c *metrics.Client) { c.UnseenS = 0.15 }),
			"its first look came 0.15 s into a window of 0.20 s, the limit is 0.10 s"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, m := good, Measurement{Client: client}
			for _, change := range c.change {
				change(&s, &m.Client)
			}
			state, reasons := Verdict(point(c.phase), s, m)
			if c.why == "" {
				if state != Valid || len(reasons) > 0 {
					t.Errorf("%s: %v", state, reasons)
				}
				return
			}
			said := slices.ContainsFunc(reasons, func(r Reason) bool {
				return r.Code == "client_bound" && strings.Contains(r.Text+": "+r.Evidence, c.why)
			})
			if state != NotValid || len(reasons) != 1 || !said {
				t.Errorf("%s: %v, want %q", state, reasons, c.why)
			}
		})
	}
}

// with changes a good point by what is not nil.
func with(s func(*metrics.Summary, *metrics.Client), c func(*metrics.Client)) []func(*metrics.Summary, *metrics.Client) {
	changes := []func(*metrics.Summary, *metrics.Client){func(_ *metrics.Summary, client *metrics.Client) { c(client) }}
	if s != nil {
		changes = append(changes, s)
	}
	return changes
}
