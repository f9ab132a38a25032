package foreign

import (
	"strings"
	"testing"

	"assay/plan"
	"assay/probes"
	"assay/result"
	"assay/runner"
	"assay/runner/imported"
	"assay/runner/metrics"
)

func TestVersionIn(t *testing.T) {
	for log, want := range map[string]string{
		"0.13.0\n":                              "0.13.0",
		"guidellm version: 0.8.1\n":             "0.8.1",
		"WARNING 12-01 a warning\n0.32.0+cpu\n": "0.32.0+cpu",
		"nothing\n":                             "",
		"":                                      "",
		"tool v1.2-rc.1 (python 3.12)\nTrailing\n": "1.2-rc.1",
	} {
		if got := versionIn(log); got != want {
			t.Errorf("%q: %q, want %q", log, got, want)
		}
	}
}

// gauges are samples every 100 ms.
func gauges(running, waiting []float64) Samples {
	var all []probes.Sample
	for i := range running {
		all = append(all, probes.Sample{Series: "engine.running", AtUS: int64(i) * 100_000, Value: running[i]}, probes.Sample{Series: "engine.waiting", AtUS: int64(i) * 100_000, Value: waiting[i]},
			probes.Sample{Series: "gpu0.power_w", AtUS: int64(i) * 100_000, Value: 300})
	}
	return SamplesOf(all)
}

func TestUnderload(t *testing.T) {
	active := 15.6
	full := imported.Measured{Reading: &runner.Reading{Metrics: metrics.Summary{ActiveMean: &active}}}
	zero := make([]float64, 6)
	for _, c := range []struct {
		name    string
		m       imported.Measured
		samples Samples
		words   string // of the evidence; "" for no reason
	}{
		{"it held its load", full, gauges([]float64{16, 16, 15, 16, 15, 15}, zero), ""},
		{"the engine let some wait", full, gauges([]float64{8, 8, 8, 8, 8, 8}, []float64{8, 8, 8, 8, 8, 8}), ""},
		{"too few", full, gauges([]float64{12, 13, 14, 12, 13, 13}, zero), "12.83 requests on average and 14 at most of the 16 asked for, in 6 samples; the client's own records say 15.60"},
		{"too few samples to tell", full, gauges([]float64{12, 12, 12, 12}, zero), ""},
		{"a client that lists no requests", imported.Measured{}, gauges([]float64{2, 2, 2, 2, 2}, zero), "the client's own records say nothing"},
		{"slots that wait for tools", imported.Measured{Unknown: imported.Unknown{Waits: true}}, gauges([]float64{2, 2, 2, 2, 2}, zero), ""},
	} {
		r := Underload(plan.Point{Phase: plan.PhaseSweep, Concurrency: 16}, c.m, c.samples)
		if (r == nil) != (c.words == "") || r != nil && (r.Code != "client_underload" || !strings.Contains(r.Evidence, c.words)) {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

func TestHidden(t *testing.T) {
	of := func(source string, unfinished int, unknown imported.Unknown) imported.Measured {
		return imported.Measured{Reading: &runner.Reading{TokenSource: source, Unfinished: unfinished}, Unknown: unknown}
	}
	for _, c := range []struct {
		name           string
		engine, client int64
		m              imported.Measured
		unlisted       int64
		hidden         bool
	}{
		{"equal", 1000, 1000, of("estimated", 0, imported.Unknown{}), 0, false},
		{"within 2 %", 1020, 1000, of("estimated", 0, imported.Unknown{}), 0, false},
		{"more of the engine", 1100, 1000, of("estimated", 0, imported.Unknown{}), 0, true},
		{"its warm-up is listed nowhere", 1100, 1000, of("estimated", 0, imported.Unknown{}), 100, false},
		{"more than its warm-up", 1200, 1000, of("estimated", 0, imported.Unknown{}), 100, true},
		{"tokens that nobody made", 900, 1000, of("estimated", 0, imported.Unknown{}), 100, true},
		{"chunks are no tokens", 900, 1000, of("events", 0, imported.Unknown{}), 0, false},
		{"requests failed", 1100, 1000, of("estimated", 2, imported.Unknown{}), 0, false},
		{"not every request is listed", 1100, 1000, of("estimated", 0, imported.Unknown{Some: true}), 0, false},
	} {
		told := result.EngineCount{GenerationTokens: c.engine, ClientTokens: c.client}
		if r := Hidden(&told, c.m, c.unlisted); (r != nil) != c.hidden || r != nil && r.Code != "failures_hidden" {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

func TestLength(t *testing.T) {
	p := plan.Plan{Workload: plan.Workload{Kind: "synthetic", Lengths: "tokens", InputLen: 1000}}
	for _, c := range []struct {
		tokens int64
		off    bool
	}{{10_000, false}, {10_900, false}, {9_400, true}, {12_000, true}, {0, false}} {
		m := imported.Measured{Reading: &runner.Reading{MLPerf: &metrics.Summary{InputTokens: &c.tokens, RequestsCompleted: 10}}}
		if r := Length(p, m); (r != nil) != c.off {
			t.Errorf("%d tokens of 10 prompts: %+v", c.tokens, r)
		}
	}
	p.Workload.Lengths = "words"
	few := int64(1)
	if r := Length(p, imported.Measured{Reading: &runner.Reading{MLPerf: &metrics.Summary{InputTokens: &few, RequestsCompleted: 10}}}); r != nil {
		t.Errorf("prompts of assay: %+v", r)
	}
}
