package ceiling

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"assay/runner/load"
	"assay/runner/record"
	"assay/sim/paced"
)

const zeroNS = 5_000_000_000 // CLOCK_MONOTONIC at time 0 of the recording

// truth is a request that arrived at an instant of the recording's clock, in microseconds, and whose events were sent at others.
func truth(n uint64, arrived, ended int64, whole bool, sent ...int64) paced.Truth {
	at := func(us int64) int64 { return zeroNS + us*1000 }
	t := paced.Truth{N: n, ArrivedNS: at(arrived), EndedNS: at(ended), Whole: whole}
	for _, us := range sent {
		t.SentNS = append(t.SentNS, at(us))
	}
	return t
}

func seen(n uint64, outcome record.Outcome, shared int, at ...int64) record.Request {
	r := record.Request{ID: paced.ID(n), Outcome: outcome, SharedReads: shared}
	for _, us := range at {
		r.Events = append(r.Events, record.Event{AtUS: us, Tokens: 1})
	}
	return r
}

func TestCompare(t *testing.T) {
	d := Driven{ZeroNS: zeroNS, Window: load.Span{StartUS: 1000, EndUS: 5000}}
	cases := []struct {
		name     string
		requests []record.Request
		truths   []paced.Truth
		want     Accuracy
	}{
		{"every error is known",
			[]record.Request{seen(0, record.OK, 0, 1010, 2020, 3005)},
			[]paced.Truth{truth(0, 500, 3000, true, 1000, 2000, 3000)},
			Accuracy{Sent: 3, InFlight: 0.5, Stamp: Quantiles{10, 20, 20}, TTFT: Quantiles{10, 10, 10}, ITL: Quantiles{10, 15, 15}}},
		{"events outside the window do not count",
			[]record.Request{seen(0, record.OK, 0, 510, 1520, 5530)},
			[]paced.Truth{truth(0, 0, 6000, true, 500, 1500, 5500)},
			Accuracy{Sent: 1, InFlight: 1, Stamp: Quantiles{20, 20, 20}, ITL: Quantiles{10, 10, 10}}},
		{"two streams, one of them later",
			[]record.Request{seen(0, record.OK, 0, 1001), seen(1, record.OK, 0, 3001)},
			[]paced.Truth{truth(0, 1000, 3000, true, 1000), truth(1, 3000, 9000, true, 3000)},
			Accuracy{Sent: 2, InFlight: 1, Stamp: Quantiles{1, 1, 1}, TTFT: Quantiles{1, 1, 1}}},
		{"an event that was not recorded is lost",
			[]record.Request{seen(0, record.OK, 0, 1001)},
			[]paced.Truth{truth(0, 1000, 3000, true, 1000, 2000)},
			Accuracy{Sent: 2, InFlight: 0.5, Stamp: Quantiles{1, 1, 1}, TTFT: Quantiles{1, 1, 1}, Lost: 1}},
		{"an event that was never sent is one too",
			[]record.Request{seen(0, record.OK, 0, 1001, 1002), seen(7, record.OK, 0, 1001)},
			[]paced.Truth{truth(0, 1000, 3000, true, 1000)},
			Accuracy{Sent: 1, InFlight: 0.5, Stamp: Quantiles{1, 1, 1}, TTFT: Quantiles{1, 1, 1}, Lost: 2}},
		{"a request that the client does not know of",
			nil, []paced.Truth{truth(0, 1000, 3000, true, 1000, 2000)}, Accuracy{Sent: 2, InFlight: 0.5, Lost: 2}},
		{"what the end cut off is not lost",
			[]record.Request{seen(0, record.Censored, 0, 1001), {Outcome: record.Censored}},
			[]paced.Truth{truth(0, 1000, 6000, false, 1000, 4999), truth(1, 4000, 6000, true, 4990, 4995)},
			Accuracy{Sent: 4, InFlight: 1.25, Stamp: Quantiles{1, 1, 1}, TTFT: Quantiles{1, 1, 1}}},
		{"a request that failed",
			[]record.Request{seen(0, record.Reset, 0, 1001)},
			[]paced.Truth{truth(0, 1000, 3000, false, 1000)},
			Accuracy{Sent: 1, InFlight: 0.5, Stamp: Quantiles{1, 1, 1}, TTFT: Quantiles{1, 1, 1}, Failed: 1}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, compare(c.requests, c.truths, d), cmpopts.EquateApprox(0, 1e-6)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestVerdictNamesEveryReason(t *testing.T) {
	d := Driven{Window: load.Span{StartUS: 0, EndUS: 1_000_000}, CPU: 500 * time.Millisecond, IdleRSS: 1 << 20, RSS: 1<<20 + 10<<20}
	good := Accuracy{Sent: 1000, InFlight: 10, Stamp: Quantiles{5, 50, 90}}
	m := sum(Point{10, 1000}, d, good)
	if !m.Held || m.CPUPerEvent != 500 || m.Cores != 0.5 || m.RSSPerStream != 1024 || m.Got != 1000 {
		t.Errorf("%+v", m)
	}
	bad := Accuracy{Sent: 900, InFlight: 9.9, Stamp: Quantiles{5, 51, 90}, TTFT: Quantiles{5, 60, 90}, ITL: Quantiles{5, 70, 90}, Lost: 3, Failed: 2}
	m = sum(Point{10, 1000}, d, bad)
	for _, part := range []string{"3 events lost", "2 requests failed", "9.9 of 10 streams", "stamp error 51", "TTFT error 60", "ITL error 70"} {
		if !slices.ContainsFunc(m.Why, func(why string) bool { return strings.Contains(why, part) }) {
			t.Errorf("%q is not among %q", part, m.Why)
		}
	}
	slow := good
	slow.Sent = 900
	if m := sum(Point{10, 1000}, d, slow); m.Held || !strings.Contains(m.Why[0], "cannot make the load") {
		t.Errorf("a server that was too slow: %+v", m.Why)
	}
	if m := sum(Point{10, 0}, d, slow); !m.Held {
		t.Errorf("a point without a schedule: %v", m.Why)
	}
}

func TestSentenceNamesTheLargestPointHeld(t *testing.T) {
	held := func(streams int, rate float64, ok bool) Measured {
		return Measured{Point: Point{streams, rate}, Got: rate, Held: ok, Accuracy: Accuracy{Stamp: Quantiles{P99: 20}}}
	}
	most := Measured{Point: Point{64, 0}, Got: 400_000, Held: true, Accuracy: Accuracy{Shared: 0.9375}}
	r := Report{Points: []Measured{held(1, 50, true), held(512, 5500, true), held(10_800, 66_000, false), most}}
	if got := r.sentence(); !strings.Contains(got, "Held: 512 streams at 5500 events/s") || !strings.Contains(got, "16 events a read: 400000 events/s") {
		t.Error(got)
	}
	r = Report{Points: []Measured{held(512, 5500, false)}}
	if got := r.sentence(); !strings.Contains(got, "No point was held") || r.anyHeld() {
		t.Error(got)
	}
	var text strings.Builder
	r.Points[0].Why = []string{"3 events lost"}
	r.print(&text)
	if !strings.Contains(text.String(), "not held") || !strings.Contains(text.String(), "3 events lost") {
		t.Error(text.String())
	}
}

// TestPairsWithTheFloor: a document has the ratio of each pair, and the median of a point that was measured several times.
func TestPairsWithTheFloor(t *testing.T) {
	paired := func(ratio float64) Measured {
		return Measured{Point: Point{512, 5500}, Held: true, CPUPerEvent: 10 * ratio, Floor: &Floor{CPUPerEvent: 10, Ratio: ratio}}
	}
	r := Report{CPU: "some processor", Pinned: true, Points: []Measured{paired(1.4), paired(1.2), paired(1.3)}}
	var text strings.Builder
	r.markdown(&text)
	for _, part := range []string{"some processor", "| 10.00 µs | 1.40 |", "|---:|", "1.30 times the floor's processor time per event (median of 3 pairs, 1.20 to 1.40)"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("%q is not in\n%s", part, text.String())
		}
	}
}

func TestPoints(t *testing.T) {
	cases := []struct {
		streams []int
		rates   []float64
		want    []Point
		err     string
	}{
		{nil, nil, Ladder(), ""},
		{[]int{1, 512}, []float64{50}, []Point{{1, 50}, {512, 50}}, ""},
		{[]int{1, 512}, []float64{50, 0}, []Point{{1, 50}, {512, 0}}, ""},
		{nil, []float64{50}, nil, "--rate needs --streams"},
		{[]int{1, 2, 3}, []float64{50, 60}, nil, "one for each"},
		{[]int{1, 512}, nil, []Point{{1, 0}, {512, 0}}, ""},
		{[]int{0}, []float64{50}, nil, "0 streams"},
		{[]int{1}, []float64{-1}, nil, "-1 events/s"},
	}
	for _, c := range cases {
		got, err := options{streams: c.streams, rates: c.rates}.points()
		if diff := cmp.Diff(c.want, got); diff != "" || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%v, %v: %v %s", c.streams, c.rates, err, diff)
		}
	}
}

// TestPromptsSpreadTheEnds: lengths differ, and those of the first requests begin short.
func TestPromptsSpreadTheEnds(t *testing.T) {
	p := prompts{mean: 50, first: 100}
	lengths := map[int]int{}
	for i := range 600 {
		c, err := p.Next()
		if err != nil || len(c.Turns) != 1 {
			t.Fatal(err)
		}
		n := c.Turns[0].MaxTokens
		if least := map[bool]int{true: 2, false: 25}[i < 100]; n < least || n > 75 {
			t.Errorf("prompt %d asks for %d tokens", i, n)
		}
		if i >= 100 {
			lengths[n]++
		}
	}
	if len(lengths) != 51 {
		t.Errorf("%d different lengths", len(lengths))
	}
}
