package count

import (
	"testing"

	"assay/result"
	"assay/runner"
)

func TestCompare(t *testing.T) {
	cases := []struct {
		name   string
		engine float64
		told   runner.Reading
		differ bool
	}{
		{"equal", 100, runner.Reading{OutputTokens: 100}, false},
		{"within 2 %", 102, runner.Reading{OutputTokens: 100}, false},
		{"over 2 %", 103, runner.Reading{OutputTokens: 100}, true},
		{"fewer", 97, runner.Reading{OutputTokens: 100}, true},
		{"a request was cut off", 150, runner.Reading{OutputTokens: 70, Unfinished: 1}, false},
	}
	for _, c := range cases {
		var out result.Point
		Compare(Of(Counters{"generation_tokens": 1000}, Counters{"generation_tokens": 1000 + c.engine}, c.told), c.told, &out)
		if want := (result.EngineCount{GenerationTokens: int64(c.engine), ClientTokens: c.told.OutputTokens}); *out.Engine != want {
			t.Errorf("%s: %+v, want %+v", c.name, *out.Engine, want)
		}
		if differ := len(out.Reasons) == 1 && out.Reasons[0].Code == "tokens_differ"; differ != c.differ || out.State != "" {
			t.Errorf("%s: reasons %v, state %q", c.name, out.Reasons, out.State)
		}
	}
}

// TestPrefixCounters: the engine's word on its prefix cache stands beside what usage tells; a counter that it does not keep is unknown.
func TestPrefixCounters(t *testing.T) {
	before := Counters{"generation_tokens": 5, "prefix_queries": 100, "prefix_hits": 50}
	cases := []struct {
		name          string
		after         Counters
		queries, hits int64
		rate          float64
	}{
		{"both", Counters{"generation_tokens": 9, "prefix_queries": 500, "prefix_hits": 150}, 400, 100, 25},
		{"nothing looked up", Counters{"generation_tokens": 9, "prefix_queries": 100, "prefix_hits": 50}, 0, 0, -1},
		{"no hits told", Counters{"generation_tokens": 9, "prefix_queries": 500}, 400, -1, -1},
	}
	for _, c := range cases {
		e := Of(before, c.after, runner.Reading{OutputTokens: 4})
		if (e.PrefixHits == nil) != (c.hits < 0) || e.PrefixHits != nil && *e.PrefixHits != c.hits || *e.PrefixQueries != c.queries ||
			(e.PrefixHitRate == nil) != (c.rate < 0) || e.PrefixHitRate != nil && *e.PrefixHitRate != c.rate || e.GenerationTokens != 4 {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
}
