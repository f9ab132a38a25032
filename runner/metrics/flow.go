package metrics

import "assay/runner/record"

// flowFigures are the figures of what happens inside the window, whichever request it belongs to.
type flowFigures struct {
	itl      tally
	tokens   int64
	activeUS int64 // request-microseconds in flight
}

// add takes the tokens of the events inside, and of a good request the gaps that end inside: a gap is the span between events that brought
// tokens, so that an event without any lengthens the span to the next.
func (f *flowFigures) add(r *record.Request, p population) {
	f.activeUS += inFlight(r, p.window)
	if len(r.Events) == 0 {
		return
	}
	good, before := p.good(r), r.Events[0].AtUS
	for i, e := range r.Events {
		in := p.holds(e.AtUS)
		if in {
			f.tokens += e.Tokens
		}
		if i == 0 || e.Tokens <= 0 {
			continue
		}
		if in && good {
			f.itl.add(e.AtUS-before, e.Tokens)
		}
		before = e.AtUS
	}
}

// inFlight is the time r was under way inside the window, from its sending to its end; without a known end, to the window's.
func inFlight(r *record.Request, w Window) int64 {
	if r.SentUS == record.Never {
		return 0
	}
	end := w.EndUS
	if r.DoneUS != record.Never {
		end = min(end, r.DoneUS)
	}
	return max(0, end-max(r.SentUS, w.StartUS))
}

func (f *flowFigures) write(s *Summary) {
	s.ITLMS = f.itl.distribution()
	tokens, active := float64(f.tokens), float64(f.activeUS)/1e6
	s.SystemTPS = ratio(&tokens, s.DurationS)
	s.ActiveMean = ratio(&active, s.DurationS)
}
