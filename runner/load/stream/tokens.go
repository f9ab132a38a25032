package stream

import "assay/runner/record"

// weigh turns marks into events with tokens, and says where the counts come from: the growth of a continuous usage, else
// the token ids, else an even share of the final usage, else one each. Where a usage is told, the sum equals it. hidden is how many of
// the tokens are reasoning that no event brought: they came before the first one, and count with it.
func weigh(ms *marks, usage int64, continuous bool, hidden int64) ([]record.Event, string) {
	if ms.n == 0 {
		return nil, ""
	}
	events := make([]record.Event, ms.n)
	for i, m := range ms.all() {
		events[i].AtUS = m.atUS
	}
	switch {
	case continuous:
		grow(events, ms)
		settle(events, usage)
		return events, "usage"
	case allHaveIDs(ms):
		for i, m := range ms.all() {
			events[i].Tokens = int64(m.ids)
		}
		events[0].Tokens += max(0, min(hidden, usage-total(events)))
		settle(events, usage)
		return events, "ids"
	case usage != record.Never:
		hidden = min(hidden, usage)
		share(events, usage-hidden)
		events[0].Tokens += hidden
		return events, "estimated"
	}
	for i := range events {
		events[i].Tokens = 1
	}
	return events, "events"
}

// grow gives each event the growth of the usage since the one before.
func grow(events []record.Event, ms *marks) {
	var seen int64
	for i, m := range ms.all() {
		if m.output > seen {
			events[i].Tokens = m.output - seen
			seen = m.output
		}
	}
}

func allHaveIDs(ms *marks) bool {
	for _, m := range ms.all() {
		if m.ids == 0 {
			return false
		}
	}
	return true
}

// share spreads a total evenly: the counts differ by one at most, the larger ones lie evenly among the others.
func share(events []record.Event, total int64) {
	n := int64(len(events))
	for i := range events {
		k := int64(i)
		events[i].Tokens = (k+1)*total/n - k*total/n
	}
}

// settle makes the sum equal the usage: what is missing came with the last event, what is too much is taken from the end.
func settle(events []record.Event, usage int64) {
	if usage == record.Never {
		return
	}
	for _, e := range events {
		usage -= e.Tokens
	}
	for i := len(events) - 1; i >= 0 && usage != 0; i-- {
		change := max(usage, -events[i].Tokens)
		events[i].Tokens += change
		usage -= change
	}
}

// total is the sum of the events' tokens.
func total(events []record.Event) int64 {
	var n int64
	for _, e := range events {
		n += e.Tokens
	}
	return n
}
