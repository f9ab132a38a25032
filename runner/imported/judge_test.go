package imported

import (
	"testing"

	"assay/runner"
	"assay/runner/metrics"
)

// TestLimits: from where on what a tool says of itself is told, and from where on its point does not count.
func TestLimits(t *testing.T) {
	made := func(issued, completed, first, all int) *runner.Reading {
		r := &runner.Reading{MLPerf: &metrics.Summary{RequestsIssued: issued, RequestsCompleted: completed, TTFTMS: &metrics.Distribution{N: int64(first)}}}
		r.Requests = all
		return r
	}
	told := func(issued, completed, failed int) Point {
		var p Point
		p.Told.Issued, p.Told.Completed, p.Told.Failed = &issued, &completed, &failed
		return p
	}
	differs := func(value float64) []Figure {
		ours := 100.0
		return []Figure{{Name: "mean_ttft_ms", Statistic: "mean", Metric: "ttft_ms", Value: value, Assay: &ours}}
	}
	for name, c := range map[string]struct {
		rule  func(judged) *finding
		of    judged
		told  bool
		fatal bool
	}{
		"all ended well":             {failuresHidden, judged{point: told(1000, 1000, 0), made: made(1000, 1000, 1000, 1000)}, false, false},
		"one in a hundred is hidden": {failuresHidden, judged{point: told(1000, 1000, 0), made: made(1000, 990, 990, 1000)}, true, false},
		"more are hidden":            {failuresHidden, judged{point: told(1000, 1000, 0), made: made(1000, 980, 980, 1000)}, true, true},
		"more without a token":       {failuresHidden, judged{point: told(1000, 1000, 0), made: made(1000, 1000, 980, 1000)}, true, true},
		"none failed":                {toldFailed, judged{point: told(1000, 1000, 0)}, false, false},
		"one in a hundred failed":    {toldFailed, judged{point: told(1000, 990, 10)}, true, false},
		"more failed":                {toldFailed, judged{point: told(1000, 980, 20)}, true, true},
		"its warm-up is not counted": {warmupIncluded, judged{point: told(1000, 1000, 0), made: made(1000, 1000, 1000, 1010)}, false, false},
		"its warm-up is counted":     {warmupIncluded, judged{point: told(1010, 1010, 0), made: made(1000, 1000, 1000, 1010)}, true, true},
		"a figure nearly the same":   {figuresDiffer, judged{figures: differs(100.9)}, false, false},
		"a figure that differs":      {figuresDiffer, judged{figures: differs(102)}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := c.rule(c.of)
			if (f != nil) != c.told || f != nil && f.fatal != c.fatal {
				t.Errorf("%+v", f)
			}
		})
	}
}

// TestSlow: an open loop that began fewer requests than its rate asks for, by more than chance.
func TestSlow(t *testing.T) {
	of := func(requests int, rate float64) judged {
		j := judged{rate: rate, made: &runner.Reading{}}
		j.point.Setting.Rate, j.made.Requests = 100, requests
		return j
	}
	some, none, closed := of(10_000, 50), of(10_000, 50), of(10_000, 50)
	some.point.Unknown.Some, none.made, closed.point.Setting.Rate = true, nil, 0
	for name, c := range map[string]struct {
		of   judged
		slow bool
	}{
		"in time":                  {of(10_000, 99.2), false},
		"slow":                     {of(10_000, 94), true},
		"by chance":                {of(100, 80), false},
		"more than chance":         {of(100, 65), true},
		"a rate that nobody knows": {of(0, 0), false},
		"not every request":        {some, false},
		"no requests listed":       {none, false},
		"a closed loop":            {closed, false},
	} {
		if f := slow(c.of); (f != nil) != c.slow || f != nil && (!f.fatal || f.Code != "client_underload") {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
