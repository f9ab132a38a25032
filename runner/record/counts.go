package record

// Counts is what a client took in over a span of a recording, warm-up apart.
type Counts struct {
	Events      int64 // token events that arrived inside
	SharedReads int64 // those of them that came in one read with an earlier one of their stream
	Retries     int   // of the requests sent inside; of one that never was, by its intended instant
}

// Count counts over the span from startUS, inside, to endUS, outside.
func (r Recording) Count(startUS, endUS int64) Counts {
	var c Counts
	for i := range r.Requests {
		c.Add(&r.Requests[i], startUS, endUS)
	}
	return c
}

// Add counts what q had inside the span.
func (c *Counts) Add(q *Request, startUS, endUS int64) {
	if q.Warmup {
		return
	}
	inside := func(us int64) bool { return us >= startUS && us < endUS }
	if inside(q.SentUS) || q.SentUS == Never && inside(q.IntendedUS) {
		c.Retries += q.Retries
	}
	n := len(q.Events)
	if n > 0 && q.SharedReads == 0 && inside(q.Events[0].AtUS) && inside(q.Events[n-1].AtUS) { // nearly every request
		c.Events += int64(n)
		return
	}
	together := 0
	for i, e := range q.Events {
		if !inside(e.AtUS) {
			continue
		}
		c.Events++
		if i > 0 && q.Events[i-1].AtUS == e.AtUS { // the events of a read have its instant
			together++
		}
	}
	c.SharedReads += int64(min(together, q.SharedReads)) // two reads in one microsecond are no shared one
}
