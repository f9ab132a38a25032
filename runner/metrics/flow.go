package metrics

import "assay/runner/record"

// flowFigures are the figures of what happens inside the window, whichever request it belongs to.
type flowFigures struct {
	itl      tally
	tokens   int64
	activeUS int64 // request-microseconds in flight
}

func (f *flowFigures) add(r *record.Request, p population) {
	f.activeUS += inFlight(r, p.window)
	for _, e := range r.Events {
		if p.holds(e.AtUS) {
			f.tokens += e.Tokens
		}
	}
	if r.Outcome == record.OK {
		f.gaps(r.Events, p)
	}
}

// gaps takes the spans between events that brought tokens; an event without any lengthens the span to the next.
func (f *flowFigures) gaps(events []record.Event, p population) {
	if len(events) == 0 {
		return
	}
	before := events[0].AtUS
	for _, e := range events[1:] {
		if e.Tokens <= 0 {
			continue
		}
		if p.holds(e.AtUS) {
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
