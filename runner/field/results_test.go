package field

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"assay/plan"
	"assay/runner"
	"assay/runner/metrics"
	"assay/runner/record"
)

// What a result says: counts, windows, failures, and what it was made of.

// A run of 600 s was over after 74, by a count that nobody had asked for → min_duration is a floor: issue goes on until both
// the requests and the time are there.
func TestField_mlperfE373_MinDurationIsAFloor(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.good(1) })
	m := run(t, s, closedPlan(plan.Sweep{Requests: 4, MinDuration: ms(1000)}), closedPoint(2))
	if length := m.Window.EndUS - m.Window.StartUS; length < 1_000_000 || m.sum.RequestsIssued < 4 || m.sum.RequestsIssued > len(s.seen()) || m.Stopped != "" {
		t.Errorf("a window of %d µs with %d requests; stopped: %q", length, m.sum.RequestsIssued, m.Stopped)
	}
	var last int64
	for _, r := range m.all {
		last = max(last, r.DoneUS-m.Window.StartUS)
	}
	if last < 500_000 { // and the load lasts as long, not the window alone
		t.Errorf("the last of %d requests ended %d µs after the window opened", len(m.all), last)
	}
}

// An online run with a maximum length ended early → all that the schedule holds is issued, the stragglers are awaited, and the
// window is the time asked for.
func TestField_mlperfE197_StragglersAreAwaited(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.paced(1, 150*time.Millisecond, 0) })
	p := plan.Plan{Protocol: plan.Protocol{Serve: &plan.Serve{Arrival: "constant", Duration: ms(200)}}}
	m := run(t, s, p, plan.Point{ID: "r1", Phase: plan.PhaseServe, Rate: 100})
	n := len(m.all)
	if m.outcomes()[record.OK] != n || n < 19 || n > 21 || m.sum.Censored != 0 || m.Window.EndUS-m.Window.StartUS != 200_000 {
		t.Errorf("%v of a schedule of 20; window %v", m.outcomes(), m.Window)
	}
	late := 0
	for _, r := range m.all {
		if r.DoneUS > m.Window.EndUS {
			late++
		}
	}
	if late < 10 {
		t.Errorf("%d requests ended after the window; each takes 150 ms", late)
	}
}

// 60 of 60 requests failed and 166 requests/s were reported → only answers count as completed; with none the point is not valid.
func TestField_mlperfE34_FailuresAreNoThroughput(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	s.url = refusing(t)
	m := serve(t, s, 1000, 60)
	if m.outcomes()[record.Refused] != 60 || m.sum.RequestsCompleted != 0 || m.sum.RequestsFailed != m.sum.RequestsIssued {
		t.Errorf("%v; %d completed, %d of %d failed", m.outcomes(), m.sum.RequestsCompleted, m.sum.RequestsFailed, m.sum.RequestsIssued)
	}
	if q := m.sum.QPS; q != nil && *q != 0 || m.sum.TTFTMS != nil || m.state != "not_valid" || !m.has("no_requests") {
		t.Errorf("%v requests/s, TTFT %v, %s: %v", m.sum.QPS, m.sum.TTFTMS, m.state, m.reasons)
	}
}

// 20,999 errors, and failed = 0 → every end that is none of ok is counted, under its own name.
func TestField_mlperfE144_EveryErrorIsCounted(t *testing.T) {
	t.Parallel()
	kinds := []broken{}
	for _, b := range brokenAnswers() {
		if b.want != record.Stalled {
			kinds = append(kinds, b)
		}
	}
	s := newServer(t, func(a *reply) {
		if a.n%2 == 1 {
			kinds[a.n/2%len(kinds)].answer(a)
			return
		}
		a.good(1)
	})
	s.usage = "final"
	m := serve(t, s, 400, 4*len(kinds), func(j *job) { j.Plan.Protocol.Serve.MaxConcurrency = 1 })
	want := map[record.Outcome]int{}
	for _, a := range s.seen() {
		if a.n%2 == 1 {
			want[kinds[a.n/2%len(kinds)].want]++
		} else {
			want[record.OK]++
		}
	}
	got := m.outcomes()
	for outcome, n := range want {
		if got[outcome] != n {
			t.Errorf("%s: %d, the server made %d", outcome, got[outcome], n)
		}
	}
	all := metrics.MLPerf(m.rec, m.Issue, metrics.Shape{})
	if all.RequestsFailed != len(m.all)-got[record.OK] || all.RequestsIssued != len(m.all) || len(s.seen()) != len(m.all) {
		t.Errorf("%d failed of %d issued; %v", all.RequestsFailed, all.RequestsIssued, got)
	}
}

// manyRequests is a recording of n requests, each of three tokens.
func manyRequests(n int) record.Recording {
	rec := record.Recording{Requests: make([]record.Request, n)}
	for i := range rec.Requests {
		at := int64(i) * 10
		rec.Requests[i] = record.Request{
			Index: i, IntendedUS: at, SentUS: at, DoneUS: at + 900, Outcome: record.OK, InputTokens: 2, OutputTokens: 3, ConnectUS: record.Never,
			Events: []record.Event{{AtUS: at + 100 + int64(i%7), Tokens: 1}, {AtUS: at + 500, Tokens: 1}, {AtUS: at + 900, Tokens: 1}},
		}
	}
	return rec
}

// worked is the processor time of this thread, which other tests do not use.
func worked(t *testing.T) time.Duration {
	t.Helper()
	const thread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thread, &u); err != nil {
		t.Skipf("the system does not tell a thread's processor time: %v", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A report of 100,000 samples took hours → one pass over the recording, and percentiles without a comparison of all pairs: ten times
// the requests take about ten times the work.
func TestField_mlperfE208_ManyRequests(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const few, many = 10_000, 100_000
	least := map[int]time.Duration{}
	for _, n := range []int{few, many} {
		rec := manyRequests(n)
		for range 3 {
			from := worked(t)
			for range many / n { // the system tells this time in steps of some milliseconds
				sum := metrics.Summarise(rec, metrics.Window{EndUS: int64(n) * 10}, metrics.Shape{Concurrency: 90})
				if sum.RequestsIssued != n || sum.TTFTMS.N != int64(n) || sum.TTFTMS.P50 != 0.103 || sum.TTFTMS.Max != 0.106 {
					t.Errorf("%d issued, TTFT %+v", sum.RequestsIssued, sum.TTFTMS)
				}
			}
			if took := max(worked(t)-from, 10*time.Millisecond); least[n] == 0 || took < least[n] {
				least[n] = took
			}
		}
	}
	if least[many] > 3*least[few] {
		t.Errorf("%d requests took %v in tens of thousands, and %v at once", many, least[few], least[many])
	}
}

// A rate of poisson runs was compared with one of another window → both windows are recorded, and each has its figures.
func TestField_mlperfPR372_BothWindows(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.paced(2, 100*time.Millisecond, 0) })
	m := serve(t, s, 200, 30, func(j *job) {
		j.Plan.Protocol.Serve.Arrival = "poisson"
		j.Plan.Protocol.Serve.Window.Warmup = ms(30)
	})
	first, last := m.all[0].SentUS, int64(0)
	for _, r := range m.all {
		first, last = min(first, r.SentUS), max(last, r.DoneUS)
	}
	if m.Issue.StartUS != first || m.Issue.EndUS < last || m.Issue.EndUS > last+1 || m.Window.EndUS >= last {
		t.Errorf("issue to drain %v, by the requests %d to %d; window %v", m.Issue, first, last, m.Window)
	}
	whole := metrics.MLPerf(m.rec, m.Issue, metrics.Shape{})
	if whole.RequestsCompleted != 30 || !near(*whole.QPS*float64(m.Issue.EndUS-m.Issue.StartUS)/1e6, 30) || whole.RequestsCompleted == m.sum.RequestsCompleted {
		t.Errorf("%v requests/s of %d; in the window %d", *whole.QPS, whole.RequestsCompleted, m.sum.RequestsCompleted)
	}
}

// All units were lost to the infrastructure, and the exit code was 0 → without a number the point is not valid, after its
// recording was written.
func TestField_mlperfPR454_NoNumberIsNoSuccess(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.status(502, "", "bad gateway") })
	m := sweep(t, s, 2, 4)
	if m.state != "not_valid" || !m.has("no_requests") || !m.has("errors") || len(m.all) < 4 {
		t.Errorf("%s: %v", m.state, m.reasons)
	}
	if info, err := os.Stat(filepath.Join(m.job.Dir, m.File.Path)); err != nil || info.Size() == 0 || m.File.SHA256 == "" || m.File.Requests != len(m.rec.Requests) {
		t.Errorf("the recording: %v, %+v", err, m.File)
	}
}

// Which seeds and which pattern made a result stood nowhere → the canonical plan, which every result holds, has them spelled
// out, defaults too.
func TestField_mlperfPR353_SeedsStandInThePlan(t *testing.T) {
	t.Parallel()
	p, err := plan.Parse([]byte("apiVersion: assay/v1\nname: x\nmodel: {name: m}\nserver: {url: 'http://127.0.0.1:1'}\nprotocol: {serve: {rate: 3, requests: 5}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Workload struct{ Seed, Salt string }
		Protocol struct{ Serve struct{ Arrival string } }
	}
	if err := json.Unmarshal(p.Canonical(), &doc); err != nil || doc.Workload.Seed != "0" || doc.Workload.Salt != "run" || doc.Protocol.Serve.Arrival != "poisson" {
		t.Errorf("%+v, %v", doc, err)
	}
}

// Whether the client was the bottleneck could not be read from a result → each point holds the client's own figures, and one
// that sends late is not valid.
func TestField_mlperfE8_ClientsOwnFigures(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.paced(8, time.Millisecond, time.Millisecond) })
	m := sweep(t, s, 8, 80)
	c := m.Client
	var events int64
	for _, r := range m.all {
		for _, e := range r.Events {
			if e.AtUS >= m.Window.StartUS && e.AtUS < m.Window.EndUS {
				events++
			}
		}
	}
	if counts := m.rec.Count(m.Window.StartUS, m.Window.EndUS); counts.Events != events || events == 0 || c.StampSource == "" || c.LagUS.Max == 0 || c.RSSBytes == 0 {
		t.Errorf("%+v, %d events by the recording", c, events)
	}
	m.Client.LagUS = metrics.Lag{P50: 9e6, P99: 9e6, Max: 9e6}
	if m.state, m.reasons = runner.Verdict(m.job.Point, m.sum, m.Measurement); m.state != "not_valid" || !m.has("client_bound") {
		t.Errorf("a client that was 9 s late is %s: %v", m.state, m.reasons)
	}
}
