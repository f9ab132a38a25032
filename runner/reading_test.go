package runner

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"assay/plan"
	"assay/runner/metrics"
	"assay/runner/record"
)

// replies writes a recording of requests sent 10 ms apart, each with 20 tokens 50 ms apart, that ended so.
func replies(t *testing.T, requests int, outcome record.Outcome) (path string, file record.File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "c512.rec")
	w, err := record.Create(path, record.Header{Run: "r", Point: "c512", StampSource: "kernel"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range requests {
		sent := int64(i) * 10_000
		r := record.Request{Index: i, IntendedUS: sent, SentUS: sent, ConnectUS: record.Never, FirstByteUS: sent, DoneUS: sent + 1_000_000, Outcome: outcome,
			RetryAfterUS: record.Never, InputTokens: 30, OutputTokens: 20, CachedTokens: record.Never, TokenSource: "usage", FirstAnswer: -1}
		for k := range int64(20) {
			r.Events = append(r.Events, record.Event{AtUS: sent + 50_000*(k+1), Tokens: 1})
		}
		if err := w.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if file, err = w.Close(); err != nil {
		t.Fatal(err)
	}
	return path, file
}

// TestReadingIsTheFiguresInMemory: one pass gives what each function gives of the same recording in memory.
func TestReadingIsTheFiguresInMemory(t *testing.T) {
	path, file := replies(t, 300, record.OK)
	rec, err := record.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	window, issue := metrics.Window{StartUS: 500_000, EndUS: 3_500_000}, metrics.Window{EndUS: 4_000_000}
	pass := PassOf(plan.Plan{}, plan.Point{Phase: plan.PhaseServe, Concurrency: 512}, window, issue)
	pass.MLPerf = true
	got, err := pass.File(path)
	if err != nil {
		t.Fatal(err)
	}
	shape := metrics.Shape{Concurrency: 512}
	drained, inside := metrics.MLPerf(rec, issue, shape), metrics.Inside(rec, window, shape)
	want := Reading{
		Whole:   record.Whole{Header: rec.Header, Requests: file.Requests, Events: file.Events},
		Metrics: metrics.Summarise(rec, window, shape), MLPerf: &drained, Inside: &inside, Counts: rec.Count(window.StartUS, window.EndUS),
		OutputTokens: 300 * 20, TokenSource: "usage", Warmup: &Warmup{Requests: 50, DurationS: 0.5},
	}
	got.Refills = nil // of the client, not of the figures
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Reading{})); d != "" {
		t.Error(d)
	}
	if n := got.Inside.RequestsIssued; n == 0 || n == got.Metrics.RequestsIssued || n == got.Metrics.RequestsCompleted {
		t.Errorf("%d requests inside, %d sent and %d finished there: the populations do not differ, so nothing was shown", n, got.Metrics.RequestsIssued, got.Metrics.RequestsCompleted)
	}
}

// TestCutOffStreamsAreJudged: a decode cell has gaps to hold the client's reads against although its end cuts every stream off.
func TestCutOffStreamsAreJudged(t *testing.T) {
	path, _ := replies(t, 50, record.Censored)
	at := plan.Point{ID: "decode-8192x50", Phase: plan.PhaseDecode, Concurrency: 50, Context: 8192}
	told, err := PassOf(plan.Plan{}, at, metrics.Window{StartUS: 500_000, EndUS: 1_000_000}, metrics.Window{EndUS: 2_000_000}).File(path)
	if err != nil {
		t.Fatal(err)
	}
	if told.Metrics.ITLMS != nil || told.Judged().ITLMS == nil || told.Judged().ITLMS.P50 != 50 {
		t.Fatalf("ITL of the window %v, of what is judged %v", told.Metrics.ITLMS, told.Judged().ITLMS)
	}
	late := metrics.Client{StampSource: "kernel", Events: told.Counts.Events, SharedReads: told.Counts.Events / 2, StampDelayUS: metrics.Lag{P99: 30_000}}
	if state, reasons := Verdict(at, told.Judged(), Measurement{Client: late}); state != NotValid || len(reasons) != 1 || reasons[0].Code != "client_bound" {
		t.Errorf("%s: %v", state, reasons)
	}
}
