package report

import (
	"fmt"

	"assay/report/figure"
	"assay/report/point"
	"assay/result"
	"assay/runner/metrics"
)

// kpi is a headline figure.
type kpi struct {
	Value, Unit, Name string
	Title             string // what exactly it is
	Best              bool
}

// kpis are the headline figures of the run's protocol.
func (v view) kpis() []kpi {
	p, ok := v.bestOf()
	if !ok {
		return nil
	}
	var out []kpi
	if tps, known := point.SystemTPS(p); known {
		out = append(out, kpi{figure.Measure(tps), "tok/s", "system throughput, at " + point.Label(p), define("system_tps"), true})
	}
	if v.protocol == "matrix" {
		out = append(out, v.matrixKPIs()...)
	} else {
		out = append(out, pointKPIs(p)...)
	}
	return append(out, v.powerKPIs(p)...)
}

func pointKPIs(p result.Point) []kpi {
	var out []kpi
	m := p.Metrics
	if m.TPSPerUser != nil {
		out = append(out, kpi{figure.Measure(*m.TPSPerUser), "tok/s", "per user", define("tps_per_user"), false})
	} else if m.TPSPerUserTPOT != nil {
		out = append(out, kpi{figure.Measure(*m.TPSPerUserTPOT), "tok/s", "per user (1000 / TPOT)", define("tps_per_user_tpot"), false})
	}
	if m.TTFTMS != nil {
		out = append(out, kpi{figure.Measure(m.TTFTMS.P90), "ms", "time to first token, P90", define("ttft_ms"), false})
	}
	if m.TPSPerNode != nil {
		out = append(out, kpi{figure.Measure(*m.TPSPerNode), "tok/s", "per decode node", define("tps_per_node"), false})
	} else if m.TPOTMS != nil {
		out = append(out, kpi{figure.Measure(m.TPOTMS.P50), "ms", "time per output token, P50", define("tpot_ms"), false})
	}
	return out
}

// matrixKPIs are the fastest single stream, the fastest prefill and the longest context that ran.
func (v view) matrixKPIs() []kpi {
	var out []kpi
	if p, x := highest(v.phase("decode"), func(m *metrics.Summary) *float64 { return m.TPSPerRequest }); x != nil {
		out = append(out, kpi{figure.Measure(*x), "tok/s", "fastest request, at " + point.Label(p), define("tps_per_request"), false})
	}
	if p, x := highest(v.phase("prefill"), func(m *metrics.Summary) *float64 { return m.PromptTPS }); x != nil {
		out = append(out, kpi{figure.Measure(*x), "tok/s", "fastest prefill, at " + figure.Tokens(deref(p.Context)), define("prompt_tps"), false})
	}
	longest := 0
	for _, p := range v.phase("decode") {
		if p.State == result.PointValid && p.Context != nil {
			longest = max(longest, *p.Context)
		}
	}
	if longest > 0 {
		out = append(out, kpi{figure.Tokens(longest), "tokens", "longest valid context", "the longest context of a decode cell whose state is valid", false})
	}
	return out
}

func deref(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

func highest(points []result.Point, of func(*metrics.Summary) *float64) (at result.Point, value *float64) {
	for _, p := range points {
		s := point.Streams(p)
		if s == nil {
			continue
		}
		if x := of(s); x != nil && (value == nil || *x > *value) {
			at, value = p, x
		}
	}
	return at, value
}

func (v view) powerKPIs(p result.Point) []kpi {
	var out []kpi
	if j := point.TokensPerJoule(p); j != nil {
		title := fmt.Sprintf("at %s: output tokens in the window / energy of all %d accelerators in it, by %s, %s %% of the window known",
			point.Label(p), p.Energy.Accelerators, p.Energy.Method, figure.Measure(100*p.Energy.Coverage))
		out = append(out, kpi{figure.Measure(*j), "tok/J", "per joule of accelerator energy", title, false})
	}
	if v.sut == nil {
		return out
	}
	if w, ok := v.sut.Power.ProvisionedW.Get(); ok {
		title := "source: " + v.sut.Power.ProvisionedW.Source
		out = append(out, kpi{figure.Measure(w / 1000), "kW", "provisioned power", title, false})
	}
	return out
}

// define is the definition of a metric, for hover texts.
func define(id string) string {
	for _, d := range metrics.Table() {
		if d.ID == id {
			return fmt.Sprintf("%s: %s. Of: %s", d.ID, d.Text, d.Population)
		}
	}
	return ""
}
