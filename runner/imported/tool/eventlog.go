package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/runner/record"
)

// held is how many ended samples wait for lines that come late: an error follows the end of its sample, and lines are in no strict order.
const held = 4096

// eventLog follows the events.jsonl of inference-endpoint. It keeps the samples under way and those that ended last.
type eventLog struct {
	point  int
	emit   Emit
	judged bool // a sample that ended well has a finish reason

	tracking bool
	lastNS   int64
	issued   int
	outside  int // issued before or after the tracked part
	samples  map[string]*sample
	ended    []string // of those, in order
	late     int      // chunks of samples that were handed over already
}

// sample is a request as far as its lines came.
type sample struct {
	index        int
	tracked      bool
	session      string
	turn         int
	issuedNS     int64
	firstNS      int64
	chunksNS     []int64
	doneNS       int64
	finish, said string
}

// event is a line. Its data is skipped but of errors: a prompt's is the whole conversation.
type event struct {
	Type    string          `json:"event_type"`
	AtNS    int64           `json:"timestamp_ns"`
	Sample  string          `json:"sample_uuid"`
	Session string          `json:"conversation_id"`
	Turn    *int            `json:"turn"`
	Finish  *string         `json:"finish_reason"`
	Data    json.RawMessage `json:"data"`
}

func (l *eventLog) line(b []byte) error {
	var e event
	if err := json.Unmarshal(b, &e); err != nil {
		return err
	}
	l.lastNS = max(l.lastNS, e.AtNS)
	switch e.Type {
	case "session.start_performance_tracking":
		l.tracking = true
	case "session.stop_performance_tracking":
		l.tracking = false
	case "sample.issued":
		l.issue(e)
	}
	s := l.samples[e.Sample]
	if s == nil {
		if strings.HasPrefix(e.Type, "sample.recv") {
			l.late++
		}
		return nil
	}
	switch {
	case e.Type == "sample.recv_first":
		s.firstNS = e.AtNS
	case e.Type == "sample.recv_non_first":
		s.chunksNS = append(s.chunksNS, e.AtNS)
	case strings.HasPrefix(e.Type, "error."):
		s.said = wordsOf(e.Data)
	case e.Type == "sample.complete":
		s.doneNS = e.AtNS
		if e.Finish != nil {
			s.finish = *e.Finish
		}
		return l.complete(e.Sample)
	}
	return nil
}

func (l *eventLog) issue(e event) {
	s := &sample{index: l.issued, tracked: l.tracking, session: e.Session, issuedNS: e.AtNS}
	if e.Turn != nil {
		s.turn = *e.Turn
	}
	l.issued++
	if !s.tracked {
		l.outside++
	}
	l.samples[e.Sample] = s
}

// complete hands over the sample that ended longest ago when too many wait.
func (l *eventLog) complete(id string) error {
	l.ended = append(l.ended, id)
	if len(l.ended) <= held {
		return nil
	}
	oldest := l.ended[0]
	l.ended = l.ended[1:]
	return l.hand(oldest)
}

func (l *eventLog) hand(id string) error {
	s := l.samples[id]
	if s == nil {
		return nil // told as ended twice
	}
	delete(l.samples, id)
	return l.emit(l.point, l.request(s))
}

// end hands over what is left: samples that ended, then those that never did.
func (l *eventLog) end() error {
	for _, id := range l.ended {
		if err := l.hand(id); err != nil {
			return err
		}
	}
	left := make([]string, 0, len(l.samples))
	for id := range l.samples {
		left = append(left, id)
	}
	slices.SortFunc(left, func(a, b string) int { return l.samples[a].index - l.samples[b].index })
	for _, id := range left {
		if err := l.hand(id); err != nil {
			return err
		}
	}
	return nil
}

// request makes a request of a sample. What was issued outside the tracked part is in no figure, as the tool has it.
func (l *eventLog) request(s *sample) record.Request {
	q := request()
	q.Index, q.Warmup, q.Session, q.Turn, q.FinishReason = s.index, !s.tracked, s.session, s.turn, s.finish
	q.SentUS = s.issuedNS / 1000
	q.IntendedUS = q.SentUS
	if s.firstNS > 0 {
		q.Events = append(q.Events, record.Event{AtUS: s.firstNS / 1000, Tokens: 1})
	}
	slices.Sort(s.chunksNS)
	for _, at := range s.chunksNS {
		q.Events = append(q.Events, record.Event{AtUS: at / 1000, Tokens: 1})
	}
	q.TokenSource = "events"
	if n := len(q.Events); n == 1 && s.doneNS > s.firstNS {
		q.Events = append(q.Events, record.Event{AtUS: s.doneNS / 1000}) // without chunks the end is all that is known of the last token
	}
	q.DoneUS = s.doneNS / 1000
	if n := len(q.Events); n > 0 {
		q.DoneUS = max(q.DoneUS, q.Events[n-1].AtUS)
	}
	l.judge(s, &q)
	return q
}

// judge says how a sample ended, which the tool does not: all that ended count as completed there.
func (l *eventLog) judge(s *sample, q *record.Request) {
	switch {
	case s.said != "":
		fail(q, s.said)
		if code, ok := strings.CutPrefix(s.said, "HTTP "); ok {
			code, _, _ = strings.Cut(code, ":")
			q.Status, _ = strconv.Atoi(code)
		}
	case s.doneNS == 0:
		q.DoneUS = max(l.lastNS/1000, q.DoneUS)
		q.Outcome, q.Error = record.Aborted, "it has no end: the run was over first"
	case s.firstNS > s.doneNS:
		q.Outcome, q.Error = record.BadResponse, "the first token is stamped after the end: the client could not tell the stream's events apart"
	case s.finish == "" && l.judged:
		q.Outcome, q.Error = record.Truncated, "the stream ended without a finish reason"
	}
}

func (l *eventLog) notes(chunks bool) []string {
	out := []string{"an event is a chunk, and counts as one token: how many tokens a reply has, the tool counts with its own tokenizer and not per request"}
	if !chunks {
		out[0] = "the tool kept no chunks but the first (stream_all_chunks: false): nothing is known of tokens and gaps"
	}
	if l.outside > 0 {
		out = append(out, fmt.Sprintf("%d requests were issued before or after the part the tool measured; they are in no figure, there and here", l.outside))
	}
	if l.late > 0 {
		out = append(out, fmt.Sprintf("%d chunks came long after the end of their request and are left out", l.late))
	}
	return out
}

// wordsOf are the words of an error's data: ["ErrorData", type, message].
func wordsOf(data json.RawMessage) string {
	var parts []string
	if json.Unmarshal(data, &parts) != nil || len(parts) == 0 {
		return "the tool tells no reason"
	}
	return parts[len(parts)-1]
}
