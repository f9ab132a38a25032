package tool

import (
	"assay/plan"
	"assay/runner/record"
)

// Report is what a tool's files tell beside single requests.
type Report struct {
	Version  string // of the tool; "" when its files do not tell
	Model    string
	URL      string
	Endpoint string // chat | completions | ""
	Wall     bool   // the requests' times are UTC; else they are of a clock without a date
	Points   []Point
}

// Point is one measurement of a tool.
type Point struct {
	Setting plan.Point // ID is filled in from the rest
	File    string     // the one it stands in, relative to the source
	Told    Told
	Unknown Unknown
	Figures []Figure
	Stopped string // why the tool ended before it was done; "" when it was not
	Over    string // why the tool did not run it; "" when it did
	Notes   []string
}

// Told is how many requests the tool says there were; nil where it does not say.
type Told struct {
	Issued    *int // measured ones, as the tool counts them
	Completed *int
	Failed    *int

	Active *float64 // in flight, mean over time
}

// Unknown says what the tool's requests do not tell, so that no figure may be made of it.
type Unknown struct {
	Gaps   bool // between token events: there are only a first and a last one
	Tokens bool // of a reply
	Queue  bool // when a request was due
	Waits  bool // how long slots waited for a tool
	Some   bool // not every request is in the file
}

// Words lists what is unknown, as an import document has it.
func (u Unknown) Words() []string {
	var out []string
	for _, w := range []struct {
		is   bool
		word string
	}{{u.Gaps, "gaps"}, {u.Tokens, "tokens"}, {u.Queue, "queue"}, {u.Waits, "waits"}, {u.Some, "some"}} {
		if w.is {
			out = append(out, w.word)
		}
	}
	return out
}

// UnknownOf reads them back.
func UnknownOf(words []string) Unknown {
	var u Unknown
	for _, w := range words {
		switch w {
		case "gaps":
			u.Gaps = true
		case "tokens":
			u.Tokens = true
		case "queue":
			u.Queue = true
		case "waits":
			u.Waits = true
		case "some":
			u.Some = true
		}
	}
	return u
}

// Emit takes a request of the point with this index. Its times are microseconds of the tool's clock. It is not kept.
type Emit func(point int, q record.Request) error

// request is one without anything told yet.
func request() record.Request {
	return record.Request{IntendedUS: record.Never, SentUS: record.Never, ConnectUS: record.Never, FirstByteUS: record.Never, DoneUS: record.Never,
		RetryAfterUS: record.Never, InputTokens: record.Never, OutputTokens: record.Never, CachedTokens: record.Never, FirstAnswer: -1, Outcome: record.OK}
}

// share gives each of q's events its part of the reply's tokens, as even as whole numbers are; without a count every event is one.
func share(q *record.Request) {
	n := int64(len(q.Events))
	if n == 0 {
		return
	}
	if q.OutputTokens < 1 {
		q.TokenSource = "events"
		for i := range q.Events {
			q.Events[i].Tokens = 1
		}
		return
	}
	q.TokenSource = "estimated"
	given := int64(0)
	for i := range q.Events {
		upTo := (q.OutputTokens*int64(i+1) + n - 1) / n
		q.Events[i].Tokens, given = upTo-given, upTo
	}
}

// firstAndLast makes the two events of a reply of which no others are known: the first token, and the rest with the last one.
func firstAndLast(q *record.Request, firstUS, lastUS int64) {
	q.TokenSource = "estimated"
	q.Events = []record.Event{{AtUS: firstUS, Tokens: 1}}
	if q.OutputTokens > 1 {
		q.Events = append(q.Events, record.Event{AtUS: max(firstUS, lastUS), Tokens: q.OutputTokens - 1})
	}
}

// micros turns seconds into microseconds.
func micros(seconds float64) int64 { return int64(seconds*1e6 + 0.5) }

func count(n int) *int { return &n }

// inFlight is the mean of requests in flight by Little's law; nil when a part of it is not known.
func inFlight(perSecond, seconds float64) *float64 {
	if perSecond <= 0 || seconds <= 0 {
		return nil
	}
	v := perSecond * seconds
	return &v
}
