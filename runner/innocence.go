package runner

import (
	"assay/plan"
	"assay/runner/metrics"
)

// The limits within which the client counts as innocent (docs/verdicts.md).
const (
	maxLagMS       = 10   // p99 of the client's lag
	maxLateShare   = 0.10 // the same in a closed loop with the kernel's stamps, over the median E2E latency, when that is more
	maxIdleShare   = 0.01 // of the slots' time that the client left free
	maxDelayMS     = 10   // p99 of the delay of reads that the client stamps itself
	maxSharedShare = 0.01 // of the token events that came in one read with an earlier one, when reads were late
	fewShared      = 10   // of them: no more are one hiccup
	lateForGap     = 0.5  // p99 of the delay of reads over the mean gap between a stream's token events: later, and they meet
	maxCPUShare    = 0.80 // of the processors that the client may use
	maxUnseenShare = 0.10 // of the window that passed before the client came to look at itself
	fewUnseenS     = 0.1  // of it: no more is one hiccup
)

func bound(text, evidence string, args ...any) *finding {
	return found(true, "client_bound", text, evidence, args...)
}

// sentLate holds the client's lag against its limit. In a closed loop whose receive times are the kernel's, lateness bends no figure of
// a request, so there it is held against the length of one. A matrix is held against none: a decode cell sends nothing that it measures, and
// a prefill pass one request after another, each timed from its own sending.
func sentLate(p plan.Point, s metrics.Summary, m Measurement) *finding {
	if p.Phase == plan.PhaseDecode || p.Phase == plan.PhasePrefill {
		return nil
	}
	p99, limit := m.Client.LagUS.P99/1000, float64(maxLagMS)
	if p.Phase != plan.PhaseServe && m.Client.StampSource == "kernel" && s.E2EMS != nil {
		limit = max(limit, maxLateShare*s.E2EMS.P50)
	}
	if p99 <= limit {
		return nil
	}
	return bound("the client sent late", "lag p99 %.1f ms, the limit is %.0f ms", p99, limit)
}

// leftIdle looks at what a closed loop promises: that a slot whose request has ended is filled at once. A prefill pass measures one
// request after another and promises nothing.
func leftIdle(p plan.Point, _ metrics.Summary, m Measurement) *finding {
	idle := m.Client.IdleShare
	if p.Phase == plan.PhasePrefill || idle == nil || *idle <= maxIdleShare {
		return nil
	}
	return bound("the client left its slots idle", "%.2f %% of their time, the limit is %.0f %%; refill p50 %.2f ms, p99 %.2f ms",
		100**idle, 100*maxIdleShare, m.Client.RefillUS.P50/1000, m.Client.RefillUS.P99/1000)
}

// readLate matters where the client stamps arrivals itself: all figures are late by as much.
func readLate(_ plan.Point, _ metrics.Summary, m Measurement) *finding {
	p99 := m.Client.StampDelayUS.P99 / 1000
	if m.Client.StampSource == "kernel" || p99 <= maxDelayMS {
		return nil
	}
	return bound("the client stamped arrivals late", "delay p99 %.1f ms, the limit is %d ms", p99, maxDelayMS)
}

// readTogether finds the token events that the client let pile up: the first of those in one read gets the last one's time, and the ITL
// is wrong. A server that sends several at once makes shared reads too, but then the client's other reads are in time.
func readTogether(_ plan.Point, s metrics.Summary, m Measurement) *finding {
	gap := eventGapMS(s, m.Client)
	share, p99 := m.Client.SharedShare(), m.Client.StampDelayUS.P99/1000
	if gap == 0 || m.Client.SharedReads <= fewShared || share <= maxSharedShare || p99 <= lateForGap*gap {
		return nil
	}
	return bound("the client read late, and token events met in one read", "%.1f %% of %d events; delay p99 %.2f ms, mean gap of a stream's events %.2f ms",
		100*share, m.Client.Events, p99, gap)
}

// eventGapMS is the mean time between two token events of a stream, of which each may bring several tokens; 0 when it is not known.
func eventGapMS(s metrics.Summary, c metrics.Client) float64 {
	if s.ITLMS == nil || s.SystemTPS == nil || c.Events == 0 {
		return 0
	}
	return s.ITLMS.Mean * *s.SystemTPS * s.DurationS / float64(c.Events)
}

// outOfProcessor finds the client that had no processor left to be in time with.
func outOfProcessor(_ plan.Point, _ metrics.Summary, m Measurement) *finding {
	c := m.Client
	if c.CPUShare <= maxCPUShare {
		return nil
	}
	return bound("the client used up its processors", "%.0f %% of the %d it may use, the limit is %.0f %%; its threads waited %.1f s for one",
		100*c.CPUShare, c.GOMAXPROCS, 100*maxCPUShare, c.CPUWaitS)
}

// lookedLate finds the client that was so short of processors that it came to look at itself late: of what passed until then it has no figures
// that could accuse it.
func lookedLate(_ plan.Point, s metrics.Summary, m Measurement) *finding {
	unseen, limit := m.Client.UnseenS, max(fewUnseenS, maxUnseenShare*s.DurationS)
	if unseen <= limit {
		return nil
	}
	return bound("the client came to look at itself late, so it knows little of how it fared",
		"its first look came %.2f s into a window of %.2f s, the limit is %.2f s", unseen, s.DurationS, limit)
}
