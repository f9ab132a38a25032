package runner

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/plan"
	"assay/runner/metrics"
	"assay/runner/record"
)

// replies writes a recording of 866-token replies shaped like a published sweep's largest point: a gap of 66 ms with 5 % of noise, every
// hundredth a spike. It gives the file and its number of token events.
func replies(t testing.TB, requests int) (path string, file record.File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "c512.rec")
	w, err := record.Create(path, record.Header{Run: "r", Point: "c512", StampSource: "kernel"})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	events := make([]record.Event, 866)
	for i := range requests {
		if err := w.Append(reply(rng, i, events)); err != nil {
			t.Fatal(err)
		}
	}
	if file, err = w.Close(); err != nil {
		t.Fatal(err)
	}
	return path, file
}

// reply is one request whose events stand in the memory given.
func reply(rng *rand.Rand, i int, events []record.Event) record.Request {
	sent := int64(i) * 1000
	at := sent + 200_000
	for k := range events {
		events[k] = record.Event{AtUS: at, Tokens: 1}
		gap := 66_000 * (1 + 0.05*rng.NormFloat64())
		if rng.Uint32()%100 == 0 {
			gap *= 4
		}
		at += int64(gap)
	}
	return record.Request{Index: i, ID: "chatcmpl-6f1d7bd26f204f2ba5dd4dd9f4fd2be0", Session: "conversation-00412", Turn: i % 8, IntendedUS: sent, SentUS: sent + 20,
		ConnectUS: record.Never, FirstByteUS: sent + 199_000, DoneUS: events[len(events)-1].AtUS + 40, Outcome: record.OK, Status: 200, FinishReason: "stop",
		RetryAfterUS: record.Never, InputTokens: 30_000, OutputTokens: int64(len(events)), CachedTokens: 29_000, TokenSource: "usage", BytesIn: 250_000, FirstAnswer: 12, Events: events}
}

// TestReadingIsTheFiguresInMemory: one pass gives what each function gives of the same recording in memory.
func TestReadingIsTheFiguresInMemory(t *testing.T) {
	path, file := replies(t, 300)
	rec, err := record.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	window, issue := metrics.Window{StartUS: 100_000, EndUS: 57_500_000}, metrics.Window{EndUS: 90_000_000}
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
		Issued: 300, OutputTokens: 300 * 866, TokenSource: "usage",
	}
	got.Refills = nil // of the client, not of the figures
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := got.Inside.RequestsIssued; n == 0 || n == got.Metrics.RequestsIssued || n == got.Metrics.RequestsCompleted {
		t.Errorf("%d requests inside, %d sent and %d finished there: the populations do not differ, so nothing was shown", n, got.Metrics.RequestsIssued, got.Metrics.RequestsCompleted)
	}
}
