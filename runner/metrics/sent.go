package metrics

import "assay/runner/record"

// sentFigures are the figures of the requests sent in the window.
type sentFigures struct {
	ttft, ttfat, connect, queue tally
	prompt                      total // input tokens of the requests in ttft
}

// add counts how r ended, and takes its latencies when they are good.
func (f *sentFigures) add(r *record.Request, p population, s *Summary) {
	s.RequestsIssued++
	s.Outcomes[string(r.Outcome)]++
	if p.good(r) {
		f.latencies(r)
	}
	switch r.Outcome {
	case record.OK:
	case record.Censored:
		s.Censored++
	default:
		s.RequestsFailed++
	}
}

func (f *sentFigures) latencies(r *record.Request) {
	if r.SentUS == record.Never {
		return
	}
	f.queue.addOne(r.SentUS - r.IntendedUS)
	if r.ConnectUS != record.Never {
		f.connect.addOne(r.ConnectUS)
	}
	if len(r.Events) == 0 {
		return
	}
	f.ttft.addOne(r.Events[0].AtUS - r.SentUS)
	f.prompt.add(r.InputTokens)
	if r.FirstAnswer >= 0 && r.FirstAnswer < len(r.Events) {
		f.ttfat.addOne(r.Events[r.FirstAnswer].AtUS - r.SentUS)
	}
}

func (f *sentFigures) write(s *Summary, shape Shape) {
	s.TTFTMS, s.TTFATMS = f.ttft.distribution(), f.ttfat.distribution()
	s.ConnectMS, s.QueueMS = f.connect.distribution(), f.queue.distribution()
	if shape.Prefill && f.ttft.n > 0 {
		s.PromptTPS = ratio(float(f.prompt.value()), float64(f.ttft.sumUS)/1e6)
	}
}
