package cell

import (
	"fmt"
	"math"
	"slices"
	"time"

	"assay/agent/telemetry"
	"assay/plan"
	"assay/probes"
	"assay/result"
	"assay/runner"
	"assay/runner/metrics"
)

// Interval is how often the engine's metrics are read at least in a matrix.
const Interval = time.Second

const (
	queueShare     = 0.05 // of the window's samples with waiting requests, above which a cell counts as queued (contract section 6)
	runningShare   = 0.98 // of the streams in flight that the engine runs, below which it holds some back
	cellSamples    = 2    // samples that must have seen it: one alone may have met the instant of a prefill
	cellErrorShare = 0.01 // of the streams of a decode cell that failed in it
	wordsTolerance = 0.05 // of the context, by which prompts may be off; where they were made by the server's count a point that is further off is none
	exactTolerance = 0.01 // the same where the plan counts tokens, before the point says so
)

// OverCapacity tells that a decode cell, whose answers have at most so many tokens, cannot fit the engine's KV cache; nil when it can, or
// when the engine does not say.
func OverCapacity(p plan.Point, maxTokens int, kvTokens int64) *result.Reason {
	if p.Phase != plan.PhaseDecode || kvTokens <= 0 {
		return nil
	}
	need := int64(p.Concurrency) * int64(p.Context+maxTokens)
	if need <= kvTokens {
		return nil
	}
	return &result.Reason{Code: "kv_precheck", Text: "the cell needs more KV cache than the engine has",
		Evidence: fmt.Sprintf("%d × (%d + %d) = %d tokens, the engine has %d: %d too few", p.Concurrency, p.Context,
			maxTokens, need, kvTokens, need-kvTokens)}
}

// Judge gives a point of a matrix the reasons of its own, and a decode cell its state. All that apply are told. A cell whose requests
// the server held back is a result, requests_queued; one that was never steady, without the server having held any back, is none.
// lengths is workload.lengths of the plan.
func Judge(p plan.Point, lengths string, m runner.Measurement, told runner.Reading, samples []probes.Sample, out *result.Point) {
	if p.Context == 0 {
		return
	}
	out.PromptTokens = told.PromptTokens
	add := func(r *result.Reason) bool {
		if r != nil {
			out.Reasons = append(out.Reasons, *r)
		}
		return r != nil
	}
	off := excess(told.PromptTokens, p.Context)
	add(contextOff(p, lengths, told.PromptTokens))
	if m.Lengths.ByTokens() && math.Abs(off) > wordsTolerance {
		out.State = result.PointNotValid
	}
	if p.Phase != plan.PhaseDecode {
		return
	}
	failed := streamsFailed(told.Cell, told.Said)
	if !slices.ContainsFunc(out.Reasons, func(r result.Reason) bool { return r.Code == "errors" }) { // it is not said twice, and counts all the same
		add(failed)
	}
	queued := add(queueSeen(samples))
	queued = add(underfilledByServer(p, told.Metrics, samples)) || queued
	late := add(neverSteady(m))
	switch {
	case out.State != result.PointValid:
	case failed != nil:
		out.State = result.PointNotValid
	case queued:
		out.State = result.PointQueued
	case late:
		out.State = result.PointNotValid
	}
}

// excess is by which share of a context prompts are longer; 0 when their length is not known.
func excess(tokens *int64, context int) float64 {
	if tokens == nil {
		return 0
	}
	return float64(*tokens)/float64(context) - 1
}

// contextOff holds the prompts' tokens, as the server counts them, against the context that was asked for.
func contextOff(p plan.Point, lengths string, tokens *int64) *result.Reason {
	limit := exactTolerance
	if lengths == "words" {
		limit = wordsTolerance
	}
	off := excess(tokens, p.Context)
	if math.Abs(off) <= limit {
		return nil
	}
	return &result.Reason{Code: "context_off", Text: "prompts have another length than the context says",
		Evidence: fmt.Sprintf("%d tokens by the server's count, %d asked for (%+.1f %%)", *tokens, p.Context, 100*off)}
}

// streamsFailed looks at every stream under way in the window: most of a cell's were sent before it.
func streamsFailed(cell *metrics.Summary, said runner.Said) *result.Reason {
	if cell == nil || float64(cell.RequestsFailed) <= cellErrorShare*float64(cell.RequestsIssued) {
		return nil
	}
	return &result.Reason{Code: "errors", Text: "streams failed", Evidence: fmt.Sprintf("%d of the %d under way in the window: %s", cell.RequestsFailed, cell.RequestsIssued, said.Count(cell.Outcomes))}
}

// queueSeen tells that the engine reported waiting requests for more than queueShare of the window.
func queueSeen(samples []probes.Sample) *result.Reason {
	waiting := valuesOf(samples, telemetry.SeriesWaiting)
	seen, most := 0, 0.0
	for _, v := range waiting {
		if v > 0 {
			seen++
		}
		most = max(most, v)
	}
	if seen < cellSamples || float64(seen) <= queueShare*float64(len(waiting)) {
		return nil
	}
	return &result.Reason{Code: "queue_seen", Text: "the engine reported waiting requests",
		Evidence: fmt.Sprintf("in %d of %d samples of the window, %g at most", seen, len(waiting), most)}
}

// underfilledByServer tells that the client kept the cell's streams in flight and the engine ran fewer. One alone has nothing to wait for:
// between two of its requests an engine runs none while it tokenises.
func underfilledByServer(p plan.Point, s metrics.Summary, samples []probes.Sample) *result.Reason {
	running := valuesOf(samples, telemetry.SeriesRunning)
	if p.Concurrency < 2 || s.ActiveMean == nil || *s.ActiveMean < runningShare*float64(p.Concurrency) || len(running) == 0 {
		return nil
	}
	want := runningShare * float64(p.Concurrency)
	short, sum := 0, 0.0
	for _, v := range running {
		if v < want {
			short++
		}
		sum += v
	}
	mean := sum / float64(len(running))
	if short < cellSamples || mean >= want {
		return nil
	}
	return &result.Reason{Code: "underfilled_by_server", Text: "the engine ran fewer requests than were in flight",
		Evidence: fmt.Sprintf("%.2f running on average of %.2f in flight; fewer than %.4g in %d of %d samples", mean, *s.ActiveMean, want, short, len(running))}
}

func neverSteady(m runner.Measurement) *result.Reason {
	if m.Unready == "" {
		return nil
	}
	return &result.Reason{Code: "warmup_timeout", Text: "the cell was not steady in time and was measured all the same", Evidence: m.Unready}
}

func valuesOf(samples []probes.Sample, series string) []float64 {
	var values []float64
	for _, s := range samples {
		if s.Series == series {
			values = append(values, s.Value)
		}
	}
	return values
}
