package runner

import (
	"fmt"

	"assay/plan"
	"assay/runner/metrics"
)

// The limits of a valid point (docs/verdicts.md); those of the client are beside its rules.
const (
	maxFailedShare   = 0.01
	maxFarShare      = 0.01 // of prompts further from their length than farShare
	maxCensoredShare = 0.01
	minFilled        = 0.95 // requests in flight over the concurrency asked for
	goodFilled       = 0.99 // below this the point is valid and says so
	shortReplay      = 1    // s; a trace whose window is shorter was hardly recorded so fast
)

// States of a point that a verdict gives.
const (
	Valid    = "valid"
	NotValid = "not_valid"
)

// finding is a reason, and whether it makes the point not valid.
type finding struct {
	Reason
	fatal bool
}

// Verdict judges a point by its figures (Reading.Judged): the reasons that apply, each with its evidence, and not_valid when one of them is past its
// limit.
func Verdict(p plan.Point, s metrics.Summary, m Measurement) (state string, reasons []Reason) {
	state = Valid
	for _, rule := range rules() {
		f := rule(p, s, m)
		if f == nil {
			continue
		}
		if f.fatal {
			state = NotValid
		}
		reasons = append(reasons, f.Reason)
	}
	return state, reasons
}

type rule func(plan.Point, metrics.Summary, Measurement) *finding

// rules lists what is looked at, in the order of the reasons.
func rules() []rule {
	return []rule{windowEmpty, stoppedEarly, neverStable, noRequests, noTokens, failedRequests, censoredRequests, underfilled,
		heldBack, inputLength, sentLate, leftIdle, readLate, readTogether, outOfProcessor, lookedLate, clockStep}
}

func found(fatal bool, code, text, evidence string, args ...any) *finding {
	return &finding{Reason{code, text, fmt.Sprintf(evidence, args...)}, fatal}
}

func windowEmpty(_ plan.Point, s metrics.Summary, m Measurement) *finding {
	if s.DurationS > 0 {
		return nil
	}
	return found(true, "window_empty", "the measuring window never opened, or closed as it opened", "from %d to %d µs", m.Window.StartUS, m.Window.EndUS)
}

func stoppedEarly(_ plan.Point, _ metrics.Summary, m Measurement) *finding {
	if m.Stopped == "" {
		return nil
	}
	return found(true, "stopped_early", "issue ended before the plan's end of the point", "%s", m.Stopped)
}

// neverStable is of a sweep; a decode cell has a rule of its own.
func neverStable(p plan.Point, _ metrics.Summary, m Measurement) *finding {
	if m.Unready == "" || p.Phase != plan.PhaseSweep {
		return nil
	}
	return found(true, "warmup_timeout", "the load was not stable in time and was measured all the same", "%s", m.Unready)
}

// noRequests lets a matrix cell do with tokens: a decode cell is cut off before any of its requests need end.
func noRequests(p plan.Point, s metrics.Summary, _ Measurement) *finding {
	cell := p.Phase == plan.PhaseDecode || p.Phase == plan.PhasePrefill
	if s.RequestsCompleted > 0 || cell && s.SystemTPS != nil && *s.SystemTPS > 0 {
		return nil
	}
	text := "no request was completed in the window"
	if s.RequestsFailed == 0 {
		text += "; make it longer"
	}
	if p.Speed > 0 && s.DurationS < shortReplay {
		text += ", or give the trace its unit: timestamps are milliseconds in JSON lines, seconds in CSV"
	}
	return found(true, "no_requests", text, "%d issued, %d failed", s.RequestsIssued, s.RequestsFailed)
}

// noTokens is a server whose every answer ended well and was empty: its rate of 0 is no measurement.
func noTokens(_ plan.Point, s metrics.Summary, _ Measurement) *finding {
	if s.RequestsCompleted == 0 || s.SystemTPS == nil || *s.SystemTPS > 0 {
		return nil
	}
	return found(true, "no_tokens", "requests were completed, and none of them brought a token", "%d completed without a token event in the window", s.RequestsCompleted)
}

func failedRequests(_ plan.Point, s metrics.Summary, m Measurement) *finding {
	if s.RequestsFailed == 0 {
		return nil
	}
	fatal := share(s.RequestsFailed, s.RequestsIssued) > maxFailedShare
	return found(fatal, "errors", "requests failed", "%d of %d: %s", s.RequestsFailed, s.RequestsIssued, m.Said.Count(s.Outcomes))
}

// censoredRequests says nothing of a decode cell, which is cut off at its end by design.
func censoredRequests(p plan.Point, s metrics.Summary, _ Measurement) *finding {
	if s.Censored == 0 || p.Phase == plan.PhaseDecode {
		return nil
	}
	fatal := share(s.Censored, s.RequestsIssued) > maxCensoredShare
	return found(fatal, "censored", "requests were still running when the drain limit cut them off", "%d of %d", s.Censored, s.RequestsIssued)
}

// inputLength holds prompts against their wanted length. Where nobody could say how the server counts, that is told and no more. A point
// of a matrix is held against its context instead.
func inputLength(p plan.Point, _ metrics.Summary, m Measurement) *finding {
	l := m.Lengths
	if l.Off == 0 || p.Context > 0 {
		return nil
	}
	fatal := l.ByTokens() && share(l.Far, l.Checked) > maxFarShare
	return found(fatal, "input_length", "prompts have other lengths than asked for",
		"%d of %d by more than a token, %d by more than %.0f %%; the worst by %.1f %%", l.Off, l.Checked, l.Far, 100*farShare, 100*l.Worst)
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// underfilled holds the requests in flight against the concurrency asked for. A decode cell's streams are refilled as they end, so what
// is missing there is gaps between two requests of a slot; what its server holds back is in flight.
func underfilled(p plan.Point, s metrics.Summary, m Measurement) *finding {
	if p.Concurrency == 0 || s.ActiveMean == nil || p.Phase == "serve" {
		return nil
	}
	filled := (*s.ActiveMean + m.Waiting) / float64(p.Concurrency)
	if filled >= goodFilled {
		return nil
	}
	code := "underfilled"
	if p.Phase == plan.PhaseDecode {
		code = "underfilled_by_restart"
	}
	return found(filled < minFilled, code, "fewer requests were in flight than asked for",
		"%.2f on average and %.2f slots waiting, of %d", *s.ActiveMean, m.Waiting, p.Concurrency)
}

// heldBack tells of an open loop whose requests waited for max_concurrency: fewer were sent than came, and the wait is in none of the latencies.
// What the client itself was late is for sentLate to tell.
func heldBack(_ plan.Point, s metrics.Summary, m Measurement) *finding {
	if m.AtOnce == 0 || s.QueueMS == nil || s.QueueMS.P99-m.Client.LagUS.P99/1000 <= maxLagMS {
		return nil
	}
	return found(false, "held_back", "requests waited for max_concurrency before they were sent, which TTFT and E2E leave out",
		"%.1f ms at the median, P99 %.1f ms, at most %d in flight", s.QueueMS.P50, s.QueueMS.P99, m.AtOnce)
}

// clockStep matters where receive times are on the system's clock.
func clockStep(_ plan.Point, _ metrics.Summary, m Measurement) *finding {
	if m.Client.ClockSteps == 0 {
		return nil
	}
	return found(m.Client.StampSource == "kernel", "clock_step", "the system's clock was set during the window", "%d steps of more than 1 ms", m.Client.ClockSteps)
}
