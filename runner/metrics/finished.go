package metrics

import "assay/runner/record"

// finishedFigures are the figures of the ok requests that finish in the window.
type finishedFigures struct {
	e2e                   tally
	input, output, cached total
}

func (f *finishedFigures) add(r *record.Request, s *Summary) {
	s.RequestsCompleted++
	f.input.add(r.InputTokens)
	f.output.add(r.Output())
	f.cached.add(r.CachedTokens)
	if n := len(r.Events); n > 0 && r.SentUS != record.Never {
		f.e2e.addOne(r.Events[n-1].AtUS - r.SentUS)
	}
}

// speedFigures are how fast tokens came to the requests that finish in the window; to every stream of a decode cell.
type speedFigures struct {
	tpotMS  []float64
	rateSum float64 // of the single rates, tokens/s
	rates   int64
}

// add takes a request by its tokens after the first event and the time in which they came.
func (f *speedFigures) add(r *record.Request) {
	n := len(r.Events)
	if n < 2 || r.SentUS == record.Never {
		return
	}
	us, tokens := r.Events[n-1].AtUS-r.Events[0].AtUS, r.Output()-r.Events[0].Tokens
	if tokens <= 0 {
		return
	}
	f.tpotMS = append(f.tpotMS, millis(us, tokens))
	if us > 0 {
		f.rateSum += float64(tokens) / (float64(us) / 1e6)
		f.rates++
	}
}

func (f *speedFigures) write(s *Summary) {
	s.TPOTMS = distributionOf(f.tpotMS)
	if s.TPOTMS != nil {
		thousand := 1000.0
		s.TPSPerUserTPOT = ratio(&thousand, s.TPOTMS.Mean)
	}
	s.TPSPerRequest = ratio(&f.rateSum, float64(f.rates))
}

func (f *finishedFigures) write(s *Summary) {
	s.E2EMS = f.e2e.distribution()
	s.InputTokens, s.OutputTokens = f.input.value(), f.output.value()
	s.AvgOutputTokens = ratio(float(s.OutputTokens), float64(s.RequestsCompleted))
	completed := float64(s.RequestsCompleted)
	s.QPS = ratio(&completed, s.DurationS)
	s.SystemTPSCompleted = ratio(float(s.OutputTokens), s.DurationS)
	if s.InputTokens != nil && s.OutputTokens != nil {
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
