package export

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"assay/plan"
	"assay/report/point"
	"assay/result"
	"assay/runner/metrics"
)

// VLLMJSON writes the flat JSON that vLLM's benchmark client saves, a line for each measured point. Its figures are of the whole window;
// those of the requests wholly inside stand beside them with the prefix inside_, and what only assay knows with the prefix assay_.
func VLLMJSON(w io.Writer, r result.Result, recordings Recordings) error {
	if err := anyMeasured(r); err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	for _, p := range r.Points {
		if p.Recording == nil {
			continue
		}
		s, err := servingOf(r, p, recordings)
		if err != nil {
			return err
		}
		if err := enc.Encode(s.object(r, p)); err != nil {
			return fmt.Errorf("write point %s: %w", p.ID, err)
		}
	}
	return nil
}

func (s serving) object(r result.Result, p result.Point) object {
	var o object
	s.setting(&o, r, p)
	s.figures(&o, "", s.window, s.windowSpread)
	o.add("max_output_tokens_per_s", s.peakTPS)
	o.add("max_concurrent_requests", s.peakFlight)
	s.figures(&o, "inside_", s.inside, s.insideSpread)
	o.add("assay_window_output_tokens", s.tokens)
	o.add("assay_window_output_throughput", per(float64(s.tokens), s.window.DurationS))
	o.add("assay_run", r.Run.ID)
	o.add("assay_point", p.ID)
	o.add("assay_state", string(p.State))
	if arrivals := point.Arrivals(point.PlanOf(r)); arrivals != "" {
		o.add("assay_arrivals", arrivals)
	}
	o.add("assay_version", r.Run.Program.Version)
	o.add("assay_plan_sha256", r.Run.PlanSHA256)
	o.add("assay_verdict", r.Run.Verdict)
	o.add("assay_allow_unpinned", point.PlanOf(r).Unpinned)
	return o
}

// setting is what was asked for.
func (s serving) setting(o *object, r result.Result, p result.Point) {
	made := point.PlanOf(r)
	backend := "openai-chat"
	if made.Server.Endpoint == "completions" {
		backend = "openai"
	}
	model := r.Identity.Model.Served
	if model == "" {
		model = r.Identity.Model.Name
	}
	o.add("date", dateOf(p))
	o.add("endpoint_type", backend)
	o.add("backend", backend)
	o.add("label", nil)
	o.add("model_id", model)
	o.add("tokenizer_id", nil)
	o.add("num_prompts", s.window.RequestsIssued)
	o.add("request_rate", rate(p))
	o.add("burstiness", burstiness(made))
	if s.concurrency > 0 {
		o.add("max_concurrency", s.concurrency)
	} else {
		o.add("max_concurrency", nil)
	}
}

func dateOf(p result.Point) any {
	if p.Window == nil {
		return nil
	}
	return time.UnixMicro(p.Window.StartedUS).UTC().Format("20060102-150405")
}

// rate is that client's word for no limit in a closed loop; a replayed trace has no one rate.
func rate(p result.Point) any {
	switch {
	case p.Rate != nil:
		return *p.Rate
	case p.Speed != nil:
		return nil
	}
	return "inf"
}

// burstiness is the shape of the gaps between arrivals: 1 is poisson; a constant rate has none.
func burstiness(p plan.Plan) any {
	s := p.Protocol.Serve
	switch {
	case s == nil, s.Arrival == "poisson":
		return 1.0
	case s.Arrival == "gamma" && s.Burstiness > 0:
		return s.Burstiness
	}
	return nil
}

// figures are those of one population.
func (s serving) figures(o *object, prefix string, of metrics.Summary, spread metrics.Deviations) {
	o.add(prefix+"duration", of.DurationS)
	o.add(prefix+"completed", of.RequestsCompleted)
	o.add(prefix+"failed", of.RequestsFailed)
	o.add(prefix+"total_input_tokens", of.InputTokens)
	o.add(prefix+"total_output_tokens", of.OutputTokens)
	o.add(prefix+"request_throughput", of.QPS)
	o.add(prefix+"output_throughput", of.SystemTPSCompleted)
	o.add(prefix+"total_token_throughput", of.TotalTPS)
	for _, d := range []struct {
		name   string
		of     *metrics.Distribution
		spread *float64
	}{{"ttft", of.TTFTMS, spread.TTFTMS}, {"tpot", of.TPOTMS, spread.TPOTMS}, {"itl", of.ITLMS, spread.ITLMS}, {"e2el", of.E2EMS, spread.E2EMS}} {
		if d.of == nil {
			continue
		}
		o.add(prefix+"mean_"+d.name+"_ms", d.of.Mean)
		o.add(prefix+"median_"+d.name+"_ms", d.of.P50)
		o.add(prefix+"std_"+d.name+"_ms", d.spread)
		for _, q := range quantiles(*d.of) {
			o.add(prefix+q.name+"_"+d.name+"_ms", q.ms)
		}
	}
}

type quantile struct {
	name string
	ms   float64
}

func quantiles(d metrics.Distribution) []quantile {
	return []quantile{{"p1", d.P1}, {"p5", d.P5}, {"p10", d.P10}, {"p25", d.P25}, {"p50", d.P50}, {"p75", d.P75}, {"p90", d.P90}, {"p95", d.P95}, {"p99", d.P99}, {"p99.9", d.P999}}
}

// per is a / b, or nil for no b.
func per(a, b float64) *float64 {
	if b <= 0 {
		return nil
	}
	v := a / b
	return &v
}
