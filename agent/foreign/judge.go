package foreign

import (
	"fmt"
	"math"

	"assay/agent/telemetry"
	"assay/plan"
	"assay/probes"
	"assay/result"
	"assay/runner"
	"assay/runner/imported"
)

const (
	fewSamples = 5    // of the engine's gauges in the window, below which they say nothing
	minHeld    = 0.90 // requests that the engine has, on average, over the concurrency asked for; below it the client did not hold its load
	tokensOff  = 0.02 // between the engine's tokens and those of the requests that the client lists
)

// Samples are the engine's gauges within a point's window.
type Samples struct{ Running, Waiting []probes.Sample }

// Underload tells that the client did not make the load that it was asked for, by what the engine and the client's own records say; nil when
// it did, or when nobody can say. The rate of an open loop is held against the records of any import.
func Underload(p plan.Point, m imported.Measured, s Samples) *result.Reason {
	if p.Phase == plan.PhaseServe || p.Concurrency == 0 || len(s.Running) < fewSamples || m.Unknown.Waits {
		return nil
	}
	mean, peak := held(s)
	if mean >= minHeld*float64(p.Concurrency) {
		return nil
	}
	own := "nothing"
	if r := m.Reading; r != nil && r.Metrics.ActiveMean != nil {
		own = fmt.Sprintf("%.2f on average", *r.Metrics.ActiveMean)
	}
	return underload(fmt.Sprintf("the engine had %.2f requests on average and %.0f at most of the %d asked for, in %d samples; the client's own records say %s", mean, peak, p.Concurrency, len(s.Running), own))
}

func underload(evidence string) *result.Reason {
	return &result.Reason{Code: "client_underload", Text: "the client made less load than it was asked for", Evidence: evidence}
}

// held is the mean and the peak of the requests that the engine had, running and waiting, at the same instants.
func held(s Samples) (mean, peak float64) {
	waiting := map[int64]float64{}
	for _, w := range s.Waiting {
		waiting[w.AtUS] = w.Value
	}
	sum := 0.0
	for _, r := range s.Running {
		n := r.Value + waiting[r.AtUS]
		sum += n
		peak = max(peak, n)
	}
	return sum / float64(len(s.Running)), peak
}

// Hidden holds the engine's counter of output tokens against the requests that the client lists as ended well; nil when they agree, or when
// the tool's files do not tell tokens. unlisted is how many tokens requests may have that the tool lists nowhere.
func Hidden(told *result.EngineCount, m imported.Measured, unlisted int64) *result.Reason {
	r := m.Reading
	if told == nil || r == nil || m.Unknown.Tokens || m.Unknown.Some || r.TokenSource == "events" || r.Unfinished > 0 {
		return nil
	}
	engine, client := told.GenerationTokens, told.ClientTokens
	slack := int64(math.Ceil(tokensOff * float64(client)))
	switch {
	case engine < client-slack:
		return &result.Reason{Code: "failures_hidden", Text: "the client counts tokens that the engine did not make",
			Evidence: fmt.Sprintf("engine %d, client %d of requests that it calls completed", engine, client)}
	case engine > client+unlisted+slack:
		return &result.Reason{Code: "failures_hidden", Text: "the engine made tokens that are in no request of the client's files",
			Evidence: fmt.Sprintf("engine %d, client %d, and %d at most of requests that it lists nowhere", engine, client, unlisted)}
	}
	return nil
}

// lengthOff is by which share prompts may differ from the length asked for; what a chat's template adds is more in short ones, so there is room for it.
const (
	lengthOff    = 0.05
	templateRoom = 64 // tokens
)

// Length tells that prompts which the tool made by its tokenizer have another length by the server's count; nil when they have it, or when
// the tool does not list the server's count. It is told and no more: with another tokenizer the workload is another one, and is known.
func Length(p plan.Plan, m imported.Measured) *result.Reason {
	w := p.Workload
	if m.Reading == nil || m.Reading.MLPerf == nil || m.Unknown.Some || w.Kind != "synthetic" || w.Lengths == "words" || p.Protocol.Matrix != nil {
		return nil
	}
	s := m.Reading.MLPerf
	if s.InputTokens == nil || *s.InputTokens <= 0 || s.RequestsCompleted == 0 {
		return nil
	}
	mean, asked := float64(*s.InputTokens)/float64(s.RequestsCompleted), float64(w.InputLen)
	if mean >= (1-lengthOff)*asked && mean <= (1+lengthOff)*asked+templateRoom {
		return nil
	}
	return &result.Reason{Code: "input_length", Text: "prompts have other lengths than asked for",
		Evidence: fmt.Sprintf("%.1f tokens on average by the server's count, %.0f asked for: is the client's tokenizer the model's?", mean, asked)}
}

// Unlisted is how many tokens the requests may have that a tool lists nowhere.
func Unlisted(p plan.Plan, by runner.Foreign) int64 {
	return int64(by.Unlisted) * int64(p.Workload.Sampling.MaxTokens)
}

// SamplesOf picks the engine's gauges.
func SamplesOf(all []probes.Sample) Samples {
	var s Samples
	for _, one := range all {
		switch one.Series {
		case telemetry.SeriesRunning:
			s.Running = append(s.Running, one)
		case telemetry.SeriesWaiting:
			s.Waiting = append(s.Waiting, one)
		}
	}
	return s
}
