package metrics

import "assay/runner/record"

// Collector makes a summary of the requests of a recording, added one after another in its order. What it keeps grows with the number of
// requests and of different gaps, not with the tokens.
type Collector struct {
	population population
	shape      Shape
	sum        Summary
	sent       sentFigures
	finished   finishedFigures
	speed      speedFigures
	flow       flowFigures
}

// OverWindow collects the figures over the measuring window, each of its own population (Table). Requests of the warm-up are in none of
// them.
func OverWindow(w Window, s Shape) *Collector { return newCollector(population{window: w}, s) }

// OverInside collects the figures of the requests that were sent and finished inside the window, and of nothing else: what a client prints
// that leaves out every request which touches the warm-up or the cool-down.
func OverInside(w Window, s Shape) *Collector {
	return newCollector(population{window: w, reach: inside}, s)
}

// OverIssue collects the figures over the whole time from the first measured request's issue to the end of the drain, as MLPerf defines
// them: every measured request and gap counts, and throughput is the output of the completed requests by that time. As of any window the
// end is outside: a microsecond after the last request's.
func OverIssue(issue Window, s Shape) *Collector {
	return newCollector(population{window: issue, reach: whole}, s)
}

// OverCell collects the figures of every request that was under way inside the window of a decode cell: those sent before it, of which a
// cell has nearly no others, and those that its end cuts off, which is how they all end there. Their latencies count as those of ok ones.
func OverCell(w Window, s Shape) *Collector {
	return newCollector(population{window: w, reach: streams}, s)
}

func newCollector(p population, s Shape) *Collector {
	return &Collector{population: p, shape: s, sum: Summary{Outcomes: map[string]int{}, DurationS: p.window.Seconds()}}
}

// Add takes one request; it is not kept.
func (c *Collector) Add(r *record.Request) {
	if !c.population.takes(r) {
		return
	}
	c.flow.add(r, c.population)
	if c.population.sent(r) {
		c.sent.add(r, c.population, &c.sum)
	}
	finished := c.population.finished(r)
	if finished {
		c.finished.add(r, &c.sum)
	}
	if finished || c.population.reach == streams && c.population.good(r) {
		c.speed.add(r)
	}
}

// Summary gives the figures of what was added; the collector is used up.
func (c *Collector) Summary() Summary {
	c.sent.write(&c.sum, c.shape)
	c.finished.write(&c.sum)
	c.speed.write(&c.sum)
	c.flow.write(&c.sum)
	if c.population.reach == whole {
		c.sum.SystemTPS = c.sum.SystemTPSCompleted
	}
	perConcurrency(&c.sum, c.shape)
	return c.sum
}

// Deviations are standard deviations of the populations of four distributions, milliseconds; nil for no samples. They stand in no result;
// other clients print them.
type Deviations struct{ TTFTMS, TPOTMS, ITLMS, E2EMS *float64 }

// Deviations gives those of what was added; after Summary.
func (c *Collector) Deviations() Deviations {
	return Deviations{TTFTMS: c.sent.ttft.deviation(), TPOTMS: deviationOf(c.speed.tpotMS), ITLMS: c.flow.itl.deviation(), E2EMS: c.finished.e2e.deviation()}
}

// Summarise is OverWindow of a recording in memory.
func Summarise(rec record.Recording, w Window, s Shape) Summary {
	return collect(rec, OverWindow(w, s))
}

// Inside is OverInside of a recording in memory.
func Inside(rec record.Recording, w Window, s Shape) Summary { return collect(rec, OverInside(w, s)) }

// Cell is OverCell of a recording in memory.
func Cell(rec record.Recording, w Window, s Shape) Summary { return collect(rec, OverCell(w, s)) }

// MLPerf is OverIssue of a recording in memory.
func MLPerf(rec record.Recording, issue Window, s Shape) Summary {
	return collect(rec, OverIssue(issue, s))
}

func collect(rec record.Recording, c *Collector) Summary {
	for i := range rec.Requests {
		c.Add(&rec.Requests[i])
	}
	return c.Summary()
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
