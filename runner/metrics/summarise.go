package metrics

import "assay/runner/record"

// Summarise gives the figures of a recording over the measuring window, each of its own population (Table). Requests of the
// warm-up are in none of them.
func Summarise(rec record.Recording, w Window, s Shape) Summary {
	return summarise(rec, population{window: w}, s)
}

// MLPerf gives the figures over the whole time from the first measured request's issue to the end of the drain: every measured
// request and gap counts, and throughput is the output of the completed requests by that time.
func MLPerf(rec record.Recording, issue Window, s Shape) Summary {
	sum := summarise(rec, population{window: issue, whole: true}, s)
	sum.SystemTPS = sum.SystemTPSCompleted
	perConcurrency(&sum, s)
	return sum
}

func summarise(rec record.Recording, p population, shape Shape) Summary {
	s := Summary{Outcomes: map[string]int{}, DurationS: max(0, p.seconds())}
	var sent sentFigures
	var finished finishedFigures
	var flow flowFigures
	for i := range rec.Requests {
		r := &rec.Requests[i]
		if r.Warmup {
			continue
		}
		flow.add(r, p)
		if p.sent(r) {
			sent.add(r, &s)
		}
		if p.finished(r) {
			finished.add(r, &s)
		}
	}
	sent.write(&s, shape)
	finished.write(&s)
	flow.write(&s)
	perConcurrency(&s, shape)
	return s
}

// perConcurrency sets what is the system's throughput shared out.
func perConcurrency(s *Summary, shape Shape) {
	s.TPSPerUser = ratio(s.SystemTPS, float64(shape.Concurrency))
	s.TPSPerNode = ratio(s.SystemTPS, float64(shape.DecodeNodes))
}

// Utilize sets each summary's share of the highest system throughput among them, in percent.
func Utilize(run []*Summary) {
	var top float64
	for _, s := range run {
		if s != nil && s.SystemTPS != nil {
			top = max(top, *s.SystemTPS)
		}
	}
	for _, s := range run {
		if s == nil || s.SystemTPS == nil || top == 0 {
			continue
		}
		share := 100 * *s.SystemTPS / top
		s.Utilization = &share
	}
}
