package metrics

import "assay/runner/record"

// finishedFigures are the figures of the ok requests that finish in the window.
type finishedFigures struct {
	e2e                   tally
	tpotMS                []float64
	rateSum               float64 // of the single rates, tokens/s
	rates                 int64
	input, output, cached total
}

func (f *finishedFigures) add(r *record.Request, s *Summary) {
	s.RequestsCompleted++
	out := outputTokens(r)
	f.input.add(r.InputTokens)
	f.output.add(out)
	f.cached.add(r.CachedTokens)
	n := len(r.Events)
	if n == 0 || r.SentUS == record.Never {
		return
	}
	first, last := r.Events[0], r.Events[n-1]
	f.e2e.addOne(last.AtUS - r.SentUS)
	if after := out - first.Tokens; n > 1 && after > 0 {
		f.speed(last.AtUS-first.AtUS, after)
	}
}

// speed takes a request whose tokens after the first event came within us.
func (f *finishedFigures) speed(us, tokens int64) {
	f.tpotMS = append(f.tpotMS, millis(us, tokens))
	if us > 0 {
		f.rateSum += float64(tokens) / (float64(us) / 1e6)
		f.rates++
	}
}

func (f *finishedFigures) write(s *Summary) {
	s.E2EMS = f.e2e.distribution()
	s.TPOTMS = distributionOf(f.tpotMS)
	if s.TPOTMS != nil {
		thousand := 1000.0
		s.TPSPerUserTPOT = ratio(&thousand, s.TPOTMS.Mean)
	}
	s.TPSPerRequest = ratio(&f.rateSum, float64(f.rates))
	s.InputTokens, s.OutputTokens = f.input.value(), f.output.value()
	s.AvgOutputTokens = ratio(float(s.OutputTokens), float64(s.RequestsCompleted))
	completed := float64(s.RequestsCompleted)
	s.QPS = ratio(&completed, s.DurationS)
	s.SystemTPSCompleted = ratio(float(s.OutputTokens), s.DurationS)
	if s.InputTokens != nil {
		both := float64(*s.InputTokens + *s.OutputTokens)
		s.TotalTPS = ratio(&both, s.DurationS)
	}
	f.writeCache(s)
}

// writeCache tells nothing when no request completed: then the server said nothing about its cache.
func (f *finishedFigures) writeCache(s *Summary) {
	s.CachedTokens = f.cached.value()
	if s.RequestsCompleted == 0 {
		s.CachedTokens = nil
	}
	if s.CachedTokens != nil && s.InputTokens != nil {
		percent := 100 * float64(*s.CachedTokens)
		s.PrefixHitRate = ratio(&percent, float64(*s.InputTokens))
	}
}
