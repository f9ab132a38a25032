package metrics

import (
	"math"
	"testing"

	"assay/runner/record"

	"github.com/google/go-cmp/cmp"
)

// TestInsideIsTheRestOfTheRecording: the figures of the requests inside are those of a recording that holds nothing else.
func TestInsideIsTheRestOfTheRecording(t *testing.T) {
	for seed := range uint64(20) {
		rec := random(seed, 200)
		var only record.Recording
		for _, r := range rec.Requests {
			end := r.DoneUS
			if r.Outcome == record.OK && len(r.Events) > 0 {
				end = r.Events[len(r.Events)-1].AtUS
			}
			if !r.Warmup && r.SentUS >= wide.StartUS && end < wide.EndUS && r.SentUS != record.Never && end >= wide.StartUS && r.SentUS < wide.EndUS {
				only.Requests = append(only.Requests, r)
			}
		}
		if n := len(only.Requests); n == 0 || n == len(rec.Requests) {
			t.Fatalf("seed %d: %d of %d requests are inside", seed, n, len(rec.Requests))
		}
		if diff := cmp.Diff(reference(only, wide, full), Inside(rec, wide, full), closely); diff != "" {
			t.Errorf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
}

// TestInsideAtTheEdges: the first instant is inside, the last is not; what ends outside has no part, not even its tokens inside.
func TestInsideAtTheEdges(t *testing.T) {
	inside := with(request(1000, [2]int64{1200, 1}, [2]int64{1999, 3}), func(*record.Request) {})
	tests := map[string]record.Request{
		"sent before":         request(999, [2]int64{1200, 1}, [2]int64{1500, 1}),
		"finished at the end": request(1100, [2]int64{1200, 1}, [2]int64{2000, 1}),
		"never sent":          with(request(1100), func(r *record.Request) { r.SentUS, r.Outcome = record.Never, record.Dropped }),
		"of the warm-up":      with(request(1100, [2]int64{1200, 1}), func(r *record.Request) { r.Warmup = true }),
	}
	for name, other := range tests {
		s := Inside(recording(inside, other), second, Shape{Concurrency: 2})
		if s.RequestsIssued != 1 || s.RequestsCompleted != 1 || *s.OutputTokens != 4 || *s.SystemTPS != 4 || s.ITLMS.N != 3 || s.TTFTMS.N != 1 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	failed := with(request(1100, [2]int64{1200, 1}), func(r *record.Request) { r.Outcome = record.Reset })
	if s := Inside(recording(inside, failed), second, Shape{}); s.RequestsIssued != 2 || s.RequestsFailed != 1 || *s.SystemTPS != 5 {
		t.Errorf("a request that failed inside: %+v", s)
	}
}

// TestQuotientsKeepTheirOrder: samples of several tokens are compared as the exact quotients they are.
func TestQuotientsKeepTheirOrder(t *testing.T) {
	for _, k := range []int64{1, 2, 3, 7, 64, 65, 1000} {
		for us := int64(1); us < 5_000_000; us += 7919 {
			if millis(us*k, k) != millis(us, 1) {
				t.Fatalf("%d/%d is not %d", us*k, k, us)
			}
			if !(millis(us*k-1, k) < millis(us, 1) && millis(us, 1) < millis(us*k+1, k)) {
				t.Fatalf("the neighbours of %d/%d are not beside it", us*k, k)
			}
		}
	}
}

// TestAbsurdTokenCounts: a recording made to break its reader gives some figures, and no panic.
func TestAbsurdTokenCounts(t *testing.T) {
	r := request(1100, [2]int64{1200, 1}, [2]int64{1300, 1}, [2]int64{1400, 1}, [2]int64{1500, 1})
	for _, tokens := range [][3]int64{{math.MaxInt64, math.MaxInt64, 5}, {math.MaxInt64, 1, 1}, {math.MinInt64, -1, 1}, {1 << 62, 1 << 62, 1 << 62}} {
		for i, n := range tokens {
			r.Events[i+1].Tokens = n
		}
		Summarise(recording(r), second, full)
	}
	r.Events[1].AtUS, r.Events[2].AtUS = math.MaxInt64, math.MinInt64
	MLPerf(recording(r), second, full)
}

// TestDeviations is worked out by hand: the values 20 20 20 30 60 of TestOneRequest have the mean 30 and the squares 3·100 + 0 + 900.
func TestDeviations(t *testing.T) {
	c := OverWindow(second, Shape{})
	r := request(1100, [2]int64{1200, 2}, [2]int64{1230, 1}, [2]int64{1290, 3}, [2]int64{1350, 1})
	c.Add(&r)
	slow := request(1100, [2]int64{1400, 1}, [2]int64{1430, 1})
	c.Add(&slow)
	c.Summary()
	want := Deviations{TTFTMS: ptr(100.0), TPOTMS: ptr(0.0), ITLMS: ptr(math.Sqrt(1200.0 / 6)), E2EMS: ptr(40.0)}
	if diff := cmp.Diff(want, c.Deviations(), closely); diff != "" {
		t.Error(diff)
	}
	if d := OverWindow(second, Shape{}).Deviations(); d != (Deviations{}) {
		t.Errorf("of nothing: %+v", d)
	}
}
