package metrics

import (
	"encoding/json"
	"testing"

	"assay/runner/record"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// closely compares floats to a relative 1e-9.
var closely = cmpopts.EquateApprox(1e-9, 1e-12)

// request is an ok request with sensible instants; events are pairs of instant in ms and tokens.
func request(sentMS int64, events ...[2]int64) record.Request {
	r := record.Request{
		Outcome: record.OK, IntendedUS: sentMS * 1000, SentUS: sentMS * 1000, ConnectUS: record.Never, FirstAnswer: -1,
		InputTokens: 10, CachedTokens: record.Never, DoneUS: sentMS * 1000,
	}
	for _, e := range events {
		r.Events = append(r.Events, record.Event{AtUS: e[0] * 1000, Tokens: e[1]})
		r.OutputTokens += e[1]
		r.DoneUS = e[0] * 1000
	}
	return r
}

func with(r record.Request, change func(*record.Request)) record.Request {
	change(&r)
	return r
}

func recording(list ...record.Request) record.Recording { return record.Recording{Requests: list} }

func ptr[T any](v T) *T { return &v }

// flat is a distribution whose n samples are all equal.
func flat(ms float64, n int64) *Distribution {
	return &Distribution{ms, ms, ms, ms, ms, ms, ms, ms, ms, ms, ms, ms, ms, n}
}

var second = Window{StartUS: 1_000_000, EndUS: 2_000_000}

// TestOneRequest is worked out by hand: sent at 1.1 s, 2 tokens at 1.2, 1 at 1.23, 3 at 1.29, 1 at 1.35.
func TestOneRequest(t *testing.T) {
	r := with(request(1100, [2]int64{1200, 2}, [2]int64{1230, 1}, [2]int64{1290, 3}, [2]int64{1350, 1}), func(r *record.Request) {
		r.IntendedUS, r.ConnectUS, r.FirstAnswer, r.CachedTokens = 1_090_000, 400, 1, 4
	})
	got := Summarise(recording(r), second, Shape{Concurrency: 2, DecodeNodes: 4, Prefill: true})
	itl := &Distribution{
		// 30, 20, 20, 20, 60 → sorted 20 20 20 30 60
		Min: 20, Mean: 30, P1: 20, P5: 20, P10: 20, P25: 20, P50: 20, P75: 30, P90: 48, P95: 54, P99: 58.8, P999: 59.88, Max: 60, N: 5,
	}
	want := Summary{
		RequestsIssued: 1, RequestsCompleted: 1, Outcomes: map[string]int{"ok": 1}, DurationS: 1, QPS: ptr(1.0),
		InputTokens: ptr(int64(10)), OutputTokens: ptr(int64(7)), AvgOutputTokens: ptr(7.0),
		SystemTPS: ptr(7.0), SystemTPSCompleted: ptr(7.0), TotalTPS: ptr(17.0), PromptTPS: ptr(100.0), TPSPerUser: ptr(3.5), TPSPerNode: ptr(1.75),
		TPSPerUserTPOT: ptr(1000.0 / 30), TPSPerRequest: ptr(5 / 0.15),
		TTFTMS: flat(100, 1), TTFATMS: flat(130, 1), TPOTMS: flat(30, 1), ITLMS: itl, E2EMS: flat(250, 1), ConnectMS: flat(0.4, 1), QueueMS: flat(10, 1),
		ActiveMean: ptr(0.25), CachedTokens: ptr(int64(4)), PrefixHitRate: ptr(40.0),
	}
	if diff := cmp.Diff(want, got, closely); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPopulations has one request for each place relative to the window.
func TestPopulations(t *testing.T) {
	before := request(500, [2]int64{600, 1}, [2]int64{900, 1})                     // all before: in nothing
	into := request(800, [2]int64{900, 1}, [2]int64{1100, 1}, [2]int64{1500, 2})   // sent before, finishes inside
	out := request(1900, [2]int64{1950, 1}, [2]int64{2100, 1})                     // sent inside, finishes after
	across := request(700, [2]int64{800, 1}, [2]int64{1600, 1}, [2]int64{2500, 1}) // only one gap and event inside
	atStart := request(1000, [2]int64{1000, 1})                                    // the window holds its start …
	atEnd := request(2000, [2]int64{2000, 1})                                      // … and not its end
	warm := with(request(1200, [2]int64{1300, 1}, [2]int64{1400, 1}), func(r *record.Request) { r.Warmup = true })
	got := Summarise(recording(before, into, out, across, atStart, atEnd, warm), second, Shape{Concurrency: 1})
	want := Summary{
		RequestsIssued: 2, RequestsCompleted: 2, Outcomes: map[string]int{"ok": 2}, DurationS: 1, QPS: ptr(2.0),
		InputTokens: ptr(int64(20)), OutputTokens: ptr(int64(5)), AvgOutputTokens: ptr(2.5),
		SystemTPS: ptr(6.0), SystemTPSCompleted: ptr(5.0), TotalTPS: ptr(25.0), TPSPerUser: ptr(6.0),
		TPSPerUserTPOT: ptr(5.0), TPSPerRequest: ptr(5.0), // into: 600 ms for 3 tokens
		TTFTMS:  &Distribution{0, 25, 0.5, 2.5, 5, 12.5, 25, 37.5, 45, 47.5, 49.5, 49.95, 50, 2},
		TPOTMS:  flat(200, 1),
		ITLMS:   &Distribution{200, 350, 200, 200, 200, 200, 200, 350, 620, 710, 782, 798.2, 800, 4}, // 200, 2 × 200, 800
		E2EMS:   &Distribution{0, 350, 7, 35, 70, 175, 350, 525, 630, 665, 693, 699.3, 700, 2},
		QueueMS: flat(0, 2), ActiveMean: ptr(0.5 + 0.1 + 1),
	}
	if diff := cmp.Diff(want, got, closely); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFailedRequestsEnterNoDistribution(t *testing.T) {
	broken := with(request(1100, [2]int64{1200, 5}, [2]int64{1300, 5}), func(r *record.Request) { r.Outcome = record.Reset })
	never := record.Request{Outcome: record.Dropped, IntendedUS: 1_500_000, SentUS: record.Never, ConnectUS: record.Never, DoneUS: record.Never, FirstAnswer: -1}
	cut := with(request(1800, [2]int64{1900, 1}), func(r *record.Request) { r.Outcome, r.DoneUS = record.Censored, record.Never })
	got := Summarise(recording(broken, never, cut), second, Shape{})
	want := Summary{
		RequestsIssued: 3, RequestsFailed: 2, Censored: 1, Outcomes: map[string]int{"reset": 1, "dropped": 1, "censored": 1}, DurationS: 1,
		QPS: ptr(0.0), InputTokens: ptr(int64(0)), OutputTokens: ptr(int64(0)), SystemTPS: ptr(11.0), SystemTPSCompleted: ptr(0.0), TotalTPS: ptr(0.0),
		ActiveMean: ptr(0.2 + 0.2),
	}
	if diff := cmp.Diff(want, got, closely); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUnknownIsAbsent(t *testing.T) {
	untold := with(request(1100, [2]int64{1200, 1}, [2]int64{1300, 1}), func(r *record.Request) {
		r.InputTokens, r.OutputTokens = record.Never, record.Never
	})
	got := Summarise(recording(untold, request(1200, [2]int64{1300, 1})), second, Shape{Prefill: true})
	if got.InputTokens != nil || got.TotalTPS != nil || got.PromptTPS != nil || got.CachedTokens != nil || got.PrefixHitRate != nil || got.TPSPerUser != nil {
		t.Errorf("known from nothing: %+v", got)
	}
	if *got.OutputTokens != 3 {
		t.Errorf("output tokens %d, want those of the events", *got.OutputTokens)
	}
	empty := Summarise(recording(), Window{StartUS: 5, EndUS: 5}, Shape{Concurrency: 1})
	b, err := json.Marshal(empty)
	if want := `{"requests_issued":0,"requests_completed":0,"requests_failed":0,"censored":0,"outcomes":{},"duration_s":0,"input_tokens":0,"output_tokens":0}`; err != nil || string(b) != want {
		t.Errorf("empty: %v %s", err, b)
	}
}

func TestRequestsWithoutSpeed(t *testing.T) {
	for name, r := range map[string]record.Request{
		"no token":           with(request(1100), func(r *record.Request) { r.DoneUS = 1_200_000 }),
		"one token":          request(1100, [2]int64{1200, 1}),
		"one event":          request(1100, [2]int64{1200, 8}),
		"no token after":     with(request(1100, [2]int64{1200, 2}, [2]int64{1300, 0}), func(r *record.Request) {}),
		"usage in one event": with(request(1100, [2]int64{1200, 1}), func(r *record.Request) { r.OutputTokens = 9 }),
	} {
		got := Summarise(recording(r), second, Shape{})
		if got.RequestsCompleted != 1 || got.TPOTMS != nil || got.TPSPerRequest != nil || got.TPSPerUserTPOT != nil || got.ITLMS != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	burst := Summarise(recording(request(1100, [2]int64{1200, 1}, [2]int64{1200, 1})), second, Shape{})
	if burst.TPOTMS == nil || burst.TPOTMS.Mean != 0 || burst.TPSPerUserTPOT != nil || burst.TPSPerRequest != nil {
		t.Errorf("two events at once: %+v", burst)
	}
}

func TestEventWithoutTokensLengthensTheGap(t *testing.T) {
	got := Summarise(recording(request(1100, [2]int64{1200, 1}, [2]int64{1210, 0}, [2]int64{1240, 2})), second, Shape{})
	if diff := cmp.Diff(flat(20, 2), got.ITLMS, closely); diff != "" {
		t.Error(diff)
	}
}

func TestMLPerfTakesEverythingMeasured(t *testing.T) {
	rec := recording(
		with(request(100, [2]int64{200, 50}), func(r *record.Request) { r.Warmup = true }),
		request(500, [2]int64{600, 1}, [2]int64{900, 4}),
		request(1900, [2]int64{1950, 1}, [2]int64{2100, 4}),
		with(request(1000, [2]int64{1100, 7}), func(r *record.Request) { r.Outcome = record.Stalled }),
	)
	got := MLPerf(rec, Window{StartUS: 500_000, EndUS: 2_500_000}, Shape{Concurrency: 5})
	if got.RequestsIssued != 3 || got.RequestsCompleted != 2 || got.RequestsFailed != 1 || got.DurationS != 2 {
		t.Errorf("%+v", got)
	}
	if *got.SystemTPS != 5 || *got.SystemTPSCompleted != 5 || *got.TPSPerUser != 1 || *got.QPS != 1 || got.ITLMS.N != 8 {
		t.Errorf("system_tps %v, per user %v, qps %v, itl %+v", *got.SystemTPS, *got.TPSPerUser, *got.QPS, got.ITLMS)
	}
}

// TestCellTakesEveryStream: also those begun before the window and those that its end cuts off; a failed one has tokens and no latency.
func TestCellTakesEveryStream(t *testing.T) {
	cut := with(request(500, [2]int64{700, 1}, [2]int64{1100, 2}, [2]int64{1500, 2}), func(r *record.Request) { r.Outcome, r.DoneUS = record.Censored, 2_000_000 })
	rec := recording(cut,
		request(1200, [2]int64{1400, 1}, [2]int64{1600, 1}),
		with(request(1000, [2]int64{1100, 1}), func(r *record.Request) { r.Outcome = record.Reset }),
		request(100, [2]int64{300, 1}, [2]int64{900, 1}),    // ended before
		request(2000, [2]int64{2001, 1}, [2]int64{2002, 1}), // sent as the window ended
		with(request(1100, [2]int64{1200, 9}), func(r *record.Request) { r.Warmup = true }),
		with(request(1100), func(r *record.Request) { r.SentUS, r.Outcome = record.Never, record.Dropped }),
	)
	got := Cell(rec, second, Shape{Concurrency: 2})
	if got.RequestsIssued != 3 || got.RequestsCompleted != 1 || got.RequestsFailed != 1 || got.Censored != 1 || *got.SystemTPS != 7 || *got.TPSPerUser != 3.5 || *got.TPSPerRequest != 5 {
		t.Errorf("%+v, system_tps %v, per user %v, per request %v", got, *got.SystemTPS, *got.TPSPerUser, *got.TPSPerRequest)
	}
	want := []*Distribution{flat(200, 2), flat(200, 5), flat(200, 2), flat(400, 1)}
	if d := cmp.Diff(want, []*Distribution{got.TTFTMS, got.ITLMS, got.TPOTMS, got.E2EMS}, closely); d != "" {
		t.Errorf("TTFT, ITL, TPOT, E2E (-want +got):\n%s", d)
	}
}

func TestUtilize(t *testing.T) {
	run := []*Summary{{SystemTPS: ptr(50.0)}, {}, nil, {SystemTPS: ptr(200.0)}, {SystemTPS: ptr(0.0)}}
	Utilize(run)
	want := []*Summary{{SystemTPS: ptr(50.0), Utilization: ptr(25.0)}, {}, nil, {SystemTPS: ptr(200.0), Utilization: ptr(100.0)}, {SystemTPS: ptr(0.0), Utilization: ptr(0.0)}}
	if diff := cmp.Diff(want, run); diff != "" {
		t.Error(diff)
	}
	Utilize([]*Summary{{SystemTPS: ptr(0.0)}})
	Utilize(nil)
}

func TestPercentile(t *testing.T) {
	v := []float64{10, 20, 30, 40}
	for p, want := range map[float64]float64{0: 10, 25: 17.5, 50: 25, 90: 37, 100: 40, -5: 10, 120: 40} {
		if got := Percentile(v, p); cmp.Diff(want, got, closely) != "" {
			t.Errorf("p%v = %v, want %v", p, got, want)
		}
	}
	if got := Percentile([]float64{7}, 99); got != 7 {
		t.Errorf("of one value: %v", got)
	}
	if got := Percentile(nil, 50); got == got {
		t.Errorf("of none: %v", got)
	}
}
