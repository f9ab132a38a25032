package field

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"assay/plan"
	"assay/runner"
	"assay/runner/metrics"
	"assay/runner/record"
)

// When requests go out, how many at once, and which of them a figure takes.

func ms(n int) plan.Duration { return plan.Duration(time.Duration(n) * time.Millisecond) }

// Latency that begins at the sending hides what waited in the client → intended, sent and end are all kept; what the cap
// holds back counts from its intended instant.
func TestField_vllm54101_ClientQueueIsVisible(t *testing.T) {
	t.Parallel()
	const every, hold = 10, 20 // ms
	s := newServer(t, func(a *reply) { a.paced(1, hold*time.Millisecond, 0) })
	m := serve(t, s, 1000/every, 30, func(j *job) { j.Plan.Protocol.Serve.MaxConcurrency = 1 })
	seen := s.seen()
	for i, r := range m.all {
		if want := m.all[0].IntendedUS + int64(i)*every*1000; r.IntendedUS != want {
			t.Errorf("request %d was intended at %d, want %d", i, r.IntendedUS, want)
		}
		if i > 0 && r.SentUS < m.at(seen[i-1].ended)-slack {
			t.Errorf("request %d was sent at %d, before the one before it had ended", i, r.SentUS)
		}
	}
	// the k-th is sent after k holds at the earliest, and was intended after k gaps
	if queue := m.sum.QueueMS; queue == nil || queue.N > 20 || queue.Max < float64((queue.N-1)*(hold-every)-1) {
		t.Errorf("queue %+v", queue)
	}
	if last := m.all[len(m.all)-1]; last.SentUS-last.IntendedUS < 29*(hold-every)*1000-slack {
		t.Errorf("the last one waited %d µs for its turn", last.SentUS-last.IntendedUS)
	}
}

// Warm-up that ignored the limit overloaded the server → no more than C at once from the first request on.
func TestField_sglang39398_WarmupObeysTheCap(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.paced(2, 2*time.Millisecond, 2*time.Millisecond) })
	m := sweep(t, s, 3, 12, func(j *job) { j.Plan.Protocol.Sweep.Warmup.Requests = 20 })
	if n := len(s.seen()); s.peak != 3 || n != len(m.all)+20 {
		t.Errorf("%d at once of 3; the server saw %d, %d were measured", s.peak, n, len(m.all))
	}
}

// intended gives the gaps between the intended instants.
func intended(rs []record.Request) []int64 {
	var gaps []int64
	for i := 1; i < len(rs); i++ {
		gaps = append(gaps, rs[i].IntendedUS-rs[i-1].IntendedUS)
	}
	return gaps
}

// Requests dealt to workers made bursts uneven → one schedule for all: the gaps at the server are the plan's, though 16
// connections share them.
func TestField_guidellm1041_OneScheduleForAll(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.paced(1, 30*time.Millisecond, 0) })
	m := serve(t, s, 400, 60)
	for i, gap := range intended(m.all) {
		if gap != 2500 {
			t.Errorf("gap %d is %d µs, want 2500", i, gap)
		}
	}
	for _, r := range m.all {
		a := s.answered(r)
		if at := m.at(a.arrived); at < r.IntendedUS-slack || r.SentUS < r.IntendedUS {
			t.Errorf("intended at %d, sent at %d, arrived at %d", r.IntendedUS, r.SentUS, at)
		}
	}
}

// One request more than asked, by the limit's last step → exactly as many, at each concurrency and in both loops.
func TestField_guidellm70_ExactRequestCount(t *testing.T) {
	t.Parallel()
	for _, c := range []int{1, 2, 7} {
		for _, n := range []int{7, 8, 20} {
			after := exactly(t, c, n)
			for tries := 5; after > 0 && tries > 0; tries-- { // a machine is not that busy each time
				after = exactly(t, c, n)
			}
			if after > 0 {
				t.Errorf("C=%d: each time some were sent after the last of %d, now %d", c, n, after)
			}
		}
	}
	s := newServer(t, func(a *reply) { a.good(1) })
	if m := serve(t, s, 2000, 33); len(m.all) != 33 || len(s.seen()) != 33 {
		t.Errorf("open loop: %d recorded, the server saw %d; want 33", len(m.all), len(s.seen()))
	}
}

// exactly asks c slots for n requests, and gives how many were sent after the window: while the last slot had yet to tell of its first, the others
// went on.
func exactly(t *testing.T, c, n int) (after int) {
	t.Helper()
	s := newServer(t, func(a *reply) { a.paced(1, 50*time.Millisecond, 0) }) // longer than a busy machine keeps a slot from its first
	m := sweep(t, s, c, n)
	before := 0
	for _, r := range m.all {
		switch {
		case r.SentUS < m.Window.StartUS:
			before++
		case r.SentUS >= m.Window.EndUS:
			after++
		}
	}
	if all := n + before + after; m.sum.RequestsIssued != n || len(s.seen()) != all || len(m.all) != all || c == 1 && all > n {
		t.Errorf("C=%d: %d of %d issued in the window, %d before and %d after it, %d recorded, the server saw %d", c, m.sum.RequestsIssued, n, before, after, len(m.all), len(s.seen()))
	}
	return after
}

// A rate over a duration that held the drain was too low → the window ends with issue, and the drain is in no rate.
func TestField_guidellm93_DrainIsInNoRate(t *testing.T) {
	t.Parallel()
	const slow = 4
	drain := make(chan struct{}) // issue has stopped
	s := newServer(t, nil)
	s.script = func(a *reply) {
		if a.n == slow {
			a.until(drain)
		}
		a.good(1)
	}
	once := sync.OnceFunc(func() { close(drain) })
	m := measure(t, t.Context(), newJob(t, s, closedPlan(plan.Sweep{Requests: 12}), closedPoint(2)), func(p runner.Progress) {
		if p.Stage == "drain" {
			once()
		}
	})
	last := s.seen()[slow]
	if end := m.at(last.ended); m.err != nil || m.Window.EndUS > end+slack || m.Issue.EndUS < end-slack {
		t.Errorf("the window ends at %d, issue to drain at %d, and the last answer at %d; %v", m.Window.EndUS, m.Issue.EndUS, end, m.err)
	}
	inside := 0
	for _, r := range m.all {
		if last := r.Events[len(r.Events)-1].AtUS; last >= m.Window.StartUS && last < m.Window.EndUS {
			inside++
		}
	}
	if want := float64(inside) / m.sum.DurationS; !near(*m.sum.QPS, want) || inside >= len(m.all) {
		t.Errorf("%v requests/s; %d of %d requests finish in the window of %v s", *m.sum.QPS, inside, len(m.all), m.sum.DurationS)
	}
}

// Timers that round made the rate too low → instants are absolute: at 4000/s none drifts, and a late one delays no other.
func TestField_aiperf1185_AbsoluteSchedule(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.good(1) })
	const n = 400
	m := serve(t, s, 4000, n, func(j *job) { j.Plan.Client.StallTimeout = plan.Duration(hang) })
	if len(m.all) != n || len(s.seen()) != n {
		t.Fatalf("%d recorded, the server saw %d", len(m.all), len(s.seen()))
	}
	for i, r := range m.all {
		if want := m.all[0].IntendedUS + int64(i)*250; r.IntendedUS != want {
			t.Fatalf("request %d was intended at %d, want %d", i, r.IntendedUS, want)
		}
	}
	if length := m.Window.EndUS - m.Window.StartUS; length != n*250 {
		t.Errorf("a window of %d µs for %d requests at 4000/s", length, n)
	}
}

// Event-loop delay was in TTFT and ITL, and nobody said so → times are the kernel's, none before the server wrote; how late
// the client sent is in the result.
func TestField_llmdbenchmark261_TimesOfTheRead(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.paced(6, 5*time.Millisecond, 3*time.Millisecond) })
	m := sweep(t, s, 8, 32)
	late := m.timely(t, s)
	if half := late[len(late)/2]; m.rec.Header.StampSource == "kernel" && half > lateUS+slack {
		t.Errorf("half of the token events were recorded %d µs or later after the server wrote them", half)
	}
	var held int64
	for _, r := range m.all {
		held = max(held, r.SentUS-r.IntendedUS-max(0, r.ConnectUS))
	}
	if lag := m.Client.LagUS; lag.Max > float64(held) || lag.P50 > lag.P99 || lag.P99 > lag.Max || lag.Max == 0 {
		t.Errorf("lag %+v; by the recording at most %d µs", lag, held)
	}
	if m.Client.StampSource != m.rec.Header.StampSource || m.Client.StampSource == "" || runtime.GOOS == "linux" && m.Client.StampSource != "kernel" {
		t.Errorf("stamps %q in the result, %q in the recording", m.Client.StampSource, m.rec.Header.StampSource)
	}
}

// cold is a server whose first requests are slow; the probe is none of them.
func cold(t *testing.T, n int) measured {
	t.Helper()
	s := newServer(t, func(a *reply) {
		if a.n < n {
			a.paced(2, 60*time.Millisecond, 0)
			return
		}
		a.good(2)
	})
	m := sweep(t, s, 1, 6, func(j *job) { j.Plan.Protocol.Sweep.Warmup.Requests = n })
	warm := 0
	for _, r := range m.rec.Requests {
		if r.Warmup && r.Session != "probe" {
			warm++
		}
	}
	if warm != n || len(s.seen()) != n+len(m.all) || m.sum.RequestsIssued != 6 {
		t.Errorf("%d warm-up requests of %d, %d measured, the server saw %d", warm, n, len(m.all), len(s.seen()))
	}
	for _, r := range m.all {
		if a := s.answered(r); a == nil || a.n < n {
			t.Errorf("request %d is measured and was one of the first", r.Index)
		}
	}
	return m
}

// A cold engine, or one that cooled down, gave 58 tok/s for 83, and other builds 43 for 69 → the plan's warm-up comes first, is
// kept in the recording, and is in no figure.
func TestField_minefield37_dflash135_ColdStartIsInNoFigure(t *testing.T) {
	t.Parallel()
	m := cold(t, 4)
	all := metrics.MLPerf(m.rec, m.Issue, metrics.Shape{Concurrency: 1})
	if all.RequestsIssued != len(m.all) || m.sum.TTFTMS.N != int64(m.sum.RequestsCompleted) {
		t.Errorf("issue to drain holds %d requests of %d measured", all.RequestsIssued, len(m.all))
	}
}

// Cold samples in the result and a drain that dilutes it → of both ends the window takes neither.
func TestField_vllm26943_sglang30918_SteadyWindow(t *testing.T) {
	t.Parallel()
	m := cold(t, 3)
	for _, r := range m.rec.Requests {
		if r.Warmup && r.SentUS >= m.Window.StartUS {
			t.Errorf("request %d of the warm-up was sent in the window", r.Index)
		}
	}
	serve := serve(t, newServer(t, func(a *reply) { a.good(1) }), 500, 50, func(j *job) {
		j.Plan.Protocol.Serve.Window = plan.Cut{Warmup: ms(20), Cooldown: ms(30)}
	})
	if got := serve.Window.EndUS - serve.Window.StartUS; got != 50_000 || serve.sum.RequestsIssued == 50 {
		t.Errorf("a window of %d µs with %d requests; 100 ms less 50", got, serve.sum.RequestsIssued)
	}
}

// A cap divided by workers was no whole number, and held nothing → the cap is one number for one client.
func TestField_moreh40_CapOfAnyNumber(t *testing.T) {
	t.Parallel()
	all := newGate(7)
	s := newServer(t, func(a *reply) {
		all.arrive()
		a.until(all.open)
		a.paced(1, 50*time.Millisecond, 0) // long enough for an eighth to come, if one is let
	})
	m := serve(t, s, 5000, 40, func(j *job) { j.Plan.Protocol.Serve.MaxConcurrency = 7 })
	if s.peak != 7 || m.outcomes()[record.OK] != 40 {
		t.Errorf("%d at once of 7; %v", s.peak, m.outcomes())
	}
}

// Input and output throughput of different requests stood in one sum → total_tps is of the requests that finish in the
// window, both ways; each metric names its population.
func TestField_moreh41_OnePopulationPerFigure(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.paced(4, time.Millisecond, 2*time.Millisecond) })
	m := sweep(t, s, 3, 20)
	var in, out, n int64
	for _, r := range m.all {
		if last := r.Events[len(r.Events)-1].AtUS; last >= m.Window.StartUS && last < m.Window.EndUS {
			in, out, n = in+r.InputTokens, out+r.OutputTokens, n+1
		}
	}
	if *m.sum.InputTokens != in || *m.sum.OutputTokens != out || !near(*m.sum.TotalTPS*m.sum.DurationS, float64(in+out)) || n == 0 {
		t.Errorf("%d in, %d out, %v in all; the %d that finish in the window have %d and %d", *m.sum.InputTokens, *m.sum.OutputTokens, *m.sum.TotalTPS*m.sum.DurationS, n, in, out)
	}
	for _, d := range metrics.Table() {
		if d.Population == "" {
			t.Errorf("%s names no population", d.ID)
		}
	}
}

// A stream that failed ended its slot, and concurrency shrank unseen → the slot goes on, the failure counts, and too many
// of them are not valid.
func TestField_llminferencebench43_FailedStreamsAreReplaced(t *testing.T) {
	t.Parallel()
	second := newGate(3)
	s := newServer(t, nil)
	s.script = func(a *reply) {
		if a.n < 3 {
			a.head()
			a.token(1)
			a.hangUp()
			return
		}
		second.arrive() // all three slots are back, at once
		a.until(second.open)
		a.good(2)
	}
	m := sweep(t, s, 3, 9)
	if n := m.outcomes(); s.peak != 3 || n[record.Truncated] != 3 || n[record.OK] != len(m.all)-3 {
		t.Errorf("%d at once; %v of %d", s.peak, n, len(m.all))
	}
	if !m.has("errors") || m.state != "not_valid" {
		t.Errorf("%s: %v", m.state, m.reasons)
	}
}

// Tokens over the sum of request times were called the aggregate, and C = 1 won → tokens over the wall clock.
func TestField_llminferencebench44_ThroughputIsOverTheWall(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.paced(3, 10*time.Millisecond, 5*time.Millisecond) })
	m := sweep(t, s, 4, 24)
	var tokens, busy int64
	for _, r := range m.all {
		busy += min(r.DoneUS, m.Window.EndUS) - max(min(r.SentUS, m.Window.EndUS), m.Window.StartUS)
		for _, e := range r.Events {
			if e.AtUS >= m.Window.StartUS && e.AtUS < m.Window.EndUS {
				tokens += e.Tokens
			}
		}
	}
	wall := float64(m.Window.EndUS-m.Window.StartUS) / 1e6
	if !near(*m.sum.SystemTPS, float64(tokens)/wall) || float64(busy)/1e6 < 1.5*wall {
		t.Errorf("%v tok/s; %d tokens in %v s of the wall and %v s of requests", *m.sum.SystemTPS, tokens, wall, float64(busy)/1e6)
	}
}

// "Constant" was an exponential schedule, rescaled → constant gaps are equal to the microsecond.
func TestField_inferenceperf48_ConstantIsConstant(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.good(1) })
	for _, gap := range intended(serve(t, s, 250, 20).all) {
		if gap != 4000 {
			t.Errorf("a gap of %d µs, want 4000", gap)
		}
	}
	equal := 0
	gaps := intended(serve(t, s, 250, 20, func(j *job) { j.Plan.Protocol.Serve.Arrival = "poisson" }).all)
	for _, gap := range gaps {
		if gap == gaps[0] {
			equal++
		}
	}
	if equal == len(gaps) {
		t.Error("a poisson schedule has equal gaps")
	}
}

// One-second buckets showed 3864 at once above a cap of 3600 → what was in flight is a sweep over exact spans.
func TestField_vllmbench50_InFlightNeverExceedsTheCap(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.paced(1, 2*time.Millisecond, 0) })
	m := sweep(t, s, 4, 80)
	if s.peak > 4 || *m.sum.ActiveMean > 4 {
		t.Errorf("at the server %d at once, on average %v; the cap is 4", s.peak, *m.sum.ActiveMean)
	}
	for i := 4; i < len(m.all); i++ {
		under := 0
		for _, r := range m.all {
			if r.SentUS <= m.all[i].SentUS && m.all[i].SentUS < r.DoneUS {
				under++
			}
		}
		if under > 4 {
			t.Errorf("%d requests were under way when request %d was sent", under, i)
		}
	}
}
