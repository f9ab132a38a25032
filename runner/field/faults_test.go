package field

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"assay/plan"
	"assay/runner/record"
)

// Bad input and faults of a server: each lands in its outcome, the slot takes the next request, and nothing hangs.

// broken is an answer that goes wrong, and what it must be called.
type broken struct {
	name   string
	answer func(*reply)
	want   record.Outcome
	events int    // token events of the broken answer
	says   string // a part of the error's text
}

// raw answers with bytes and closes the connection.
func raw(b string) func(*reply) {
	return func(a *reply) {
		a.write(b)
		a.c.Close()
	}
}

// streamed answers with an event stream of some events, framed well.
func streamed(events ...string) func(*reply) {
	return func(a *reply) {
		a.head()
		for _, e := range events {
			a.chunk(e)
		}
		a.write("0\r\n\r\n")
	}
}

const (
	oneToken = `data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}` + "\n\n"
	stopped  = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	doneLine = "data: [DONE]\n\n"
)

func brokenAnswers() []broken {
	return []broken{
		{"reset in mid-stream", func(a *reply) { a.head(); a.token(1); a.wait(20 * time.Millisecond); a.reset() }, record.Reset, 1, "reset"},
		{"reset before the head", func(a *reply) { a.reset() }, record.Reset, 0, ""},
		{"closed in mid-stream", func(a *reply) { a.head(); a.token(1); a.c.Close() }, record.Truncated, 1, "middle"},
		{"closed without an answer", raw(""), record.Reset, 0, "before an answer"},
		{"closed in the head", raw("HTTP/1.1 200 OK\r\nContent-Ty"), record.Reset, 0, ""},
		{"500", func(a *reply) { a.status(500, "", "boom") }, record.HTTPStatus, 0, "boom"},
		{"503 as an event stream", func(a *reply) {
			a.status(503, "Content-Type: text/event-stream\r\n", `{"error":{"message":"overloaded"}}`)
		}, record.HTTPStatus, 0, "overloaded"},
		{"504 of a proxy", raw("HTTP/1.1 504 Gateway Timeout\r\nContent-Type: text/html\r\n\r\n<html>late</html>"), record.HTTPStatus, 0, "late"},
		{"301", func(a *reply) { a.status(301, "Location: http://example.invalid/\r\n", "") }, record.HTTPStatus, 0, "301"},
		{"an error frame, then [DONE]", streamed(oneToken, `data: {"error":{"message":"engine died","code":500}}`+"\n\n", doneLine), record.ErrorFrame, 1, "engine died"},
		{"an error frame before any token", streamed(`data: {"error":{"message":"no memory"}}` + "\n\n"), record.ErrorFrame, 0, "no memory"},
		{"an error frame between tokens", streamed(oneToken, `data: {"error":"hiccup"}`+"\n\n", oneToken, stopped, doneLine), record.ErrorFrame, 2, "hiccup"},
		{"an error object", streamed(oneToken, `data: {"object":"error","message":"bad request","code":400}`+"\n\n"), record.ErrorFrame, 1, "bad request"},
		{"an event named error", streamed(oneToken, "event: error\ndata: out of memory\n\n"), record.ErrorFrame, 1, "out of memory"},
		{"finish reason abort", streamed(oneToken, strings.Replace(stopped, "stop", "abort", 1), doneLine), record.Aborted, 1, "abort"},
		{"ended early and properly", streamed(oneToken), record.Truncated, 1, "without a finish reason"},
		{"an empty stream", streamed(), record.Truncated, 0, ""},
		{"an event cut off", streamed(oneToken, oneToken[:40]), record.Truncated, 1, ""},
		{"an event that is no JSON", streamed("data: {oops\n\n", oneToken, stopped, doneLine), record.BadResponse, 1, "oops"},
		{"JSON and no stream", func(a *reply) { a.status(200, "Content-Type: application/json\r\n", `{"choices":[]}`) }, record.BadResponse, 0, "no event stream"},
		{"no HTTP", raw("SSH-2.0-OpenSSH_9.2\r\n\r\n"), record.BadResponse, 0, "HTTP"},
		{"a chunk size that is none", raw(eventStream + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n"), record.BadResponse, 0, "HTTP"},
		{"an endless head", raw("HTTP/1.1 200 OK\r\n" + strings.Repeat("X-A: b\r\n", 20_000)), record.BadResponse, 0, "HTTP"},
		{"stalled in mid-stream", func(a *reply) { a.head(); a.token(1); a.until(a.server.down) }, record.Stalled, 1, "stall"},
		{"stalled before the head", func(a *reply) { a.until(a.server.down) }, record.Stalled, 0, "stall"},
	}
}

// stallsAfter sets a short stall limit where stalls are looked at: on a busy machine a server that is none may be silent for a while.
func stallsAfter(want record.Outcome) edit {
	return func(j *job) {
		if want == record.Stalled {
			j.Plan.Client.StallTimeout = ms(4000)
		}
	}
}

// Of 12 answers every fourth is broken.
func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	for _, b := range brokenAnswers() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, func(a *reply) {
				if a.n%4 == 3 {
					b.answer(a)
					return
				}
				a.good(2)
			})
			s.usage = "final"
			m := sweep(t, s, 3, 12, stallsAfter(b.want))
			bad := len(s.seen()) / 4
			if n := m.outcomes(); n[b.want] != bad || n[record.OK] != len(m.all)-bad || len(s.seen()) != len(m.all) || bad == 0 {
				t.Errorf("%v; the server broke %d of %d", n, bad, len(s.seen()))
			}
			for _, r := range m.all {
				if r.Outcome == b.want && (len(r.Events) != b.events || !strings.Contains(r.Error, b.says) || r.Error == "" || r.DoneUS < r.SentUS) {
					t.Errorf("%s %q, %d events, sent %d, done %d", r.Outcome, r.Error, len(r.Events), r.SentUS, r.DoneUS)
				}
			}
			inside := 0
			for outcome, n := range m.sum.Outcomes {
				inside += n
				if record.Outcome(outcome) == b.want && (m.sum.RequestsFailed != n || !m.has("errors")) {
					t.Errorf("%d %s, %d failed, reasons %v", n, outcome, m.sum.RequestsFailed, m.reasons)
				}
			}
			if inside != m.sum.RequestsIssued || m.Stopped != "" {
				t.Errorf("outcomes of %d requests, %d issued; stopped: %q", inside, m.sum.RequestsIssued, m.Stopped)
			}
		})
	}
}

// odd is an answer that is strange and good.
type odd struct {
	name        string
	answer      func(*reply)
	events, out int
	source      string
}

func oddAnswers() []odd {
	whole := oneToken + strings.Replace(oneToken, `"a"`, `"é€😀"`, 1) + stopped
	usage := func(n string) string {
		return fmt.Sprintf(`data: {"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%s}}`+"\n\n", promptTokens, n)
	}
	return []odd{
		{name: "CR LF lines", answer: streamed(strings.ReplaceAll(whole+usage("2")+doneLine, "\n", "\r\n")), events: 2, out: 2, source: "estimated"},
		{name: "CR lines", answer: streamed(strings.ReplaceAll(whole+usage("2")+doneLine, "\n", "\r")), events: 2, out: 2, source: "estimated"},
		{name: "each byte a chunk", answer: bytewise(whole + usage("2") + doneLine), events: 2, out: 2, source: "estimated"},
		{name: "a line of 5 MB", answer: streamed(oneToken, strings.Replace(oneToken, `"a"`, `"`+strings.Repeat("x", 5<<20)+`"`, 1), stopped, doneLine), events: 2, out: 2, source: "events"},
		{name: "a comment of 5 MB", answer: streamed(":"+strings.Repeat("x", 5<<20)+"\n\n", whole, doneLine), events: 2, out: 2, source: "events"},
		{name: "no usage", answer: streamed(whole, doneLine), events: 2, out: 2, source: "events"},
		{name: "usage of less than the events", answer: streamed(whole, usage("1"), doneLine), events: 2, out: 1, source: "estimated"},
		{name: "usage of far more", answer: streamed(whole, usage("1000"), doneLine), events: 2, out: 1000, source: "estimated"},
		{name: "usage of 0", answer: streamed(whole, usage("0"), doneLine), events: 2, out: 0, source: "estimated"},
		{name: "usage that is negative", answer: streamed(whole, usage("-3"), doneLine), events: 2, out: 2, source: "events"},
		{name: "usage that is a text", answer: streamed(whole, usage(`"2"`), doneLine), events: 2, out: 2, source: "events"},
		{name: "usage beyond all numbers", answer: streamed(whole, usage("99999999999999999999"), doneLine), events: 2, out: 2, source: "events"},
		{name: "usage that is null", answer: streamed(whole, `data: {"choices":[],"usage":null}`+"\n\n", doneLine), events: 2, out: 2, source: "events"},
		{name: "choices: []", answer: streamed(`data: {"choices":[]}`+"\n\n", whole, `data: {"choices":[]}`+"\n\n", doneLine), events: 2, out: 2, source: "events"},
		{name: "no [DONE]", answer: streamed(whole, usage("2")), events: 2, out: 2, source: "estimated"},
		{name: "no finish reason", answer: streamed(oneToken, oneToken, doneLine), events: 2, out: 2, source: "events"},
		{name: "bytes after [DONE]", answer: streamed(whole, doneLine, doneLine, ": bye\n\n"), events: 2, out: 2, source: "events"},
		{name: "role before prefill", answer: func(a *reply) {
			a.head()
			a.role()
			a.wait(20 * time.Millisecond)
			a.chunk(whole + doneLine)
			a.write("0\r\n\r\n")
		}, events: 2, out: 2, source: "events"},
		{name: "a body until the close", answer: raw(eventStream + "\r\n" + whole + doneLine), events: 2, out: 2, source: "events"},
		{name: "a body of a told length", answer: func(a *reply) { a.status(200, "Content-Type: text/event-stream\r\n", whole+doneLine) }, events: 2, out: 2, source: "events"},
		{name: "an interim answer first", answer: raw("HTTP/1.1 102 Processing\r\n\r\n" + eventStream + "\r\n" + whole + doneLine), events: 2, out: 2, source: "events"},
		{name: "HTTP/1.0", answer: raw(strings.Replace(eventStream, "1.1", "1.0", 1) + "\r\n" + whole + doneLine), events: 2, out: 2, source: "events"},
	}
}

// bytewise answers with each byte as a chunk and a write of its own.
func bytewise(body string) func(*reply) {
	return func(a *reply) {
		a.head()
		for i := range len(body) {
			a.chunk(body[i : i+1])
		}
		a.write("0\r\n\r\n")
	}
}

func TestOddAnswers(t *testing.T) {
	t.Parallel()
	for _, o := range oddAnswers() {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, o.answer)
			s.usage = "final"
			m := sweep(t, s, 2, 4)
			if n := m.outcomes(); n[record.OK] != len(m.all) || len(s.seen()) != len(m.all) {
				t.Errorf("%v, the server saw %d", n, len(s.seen()))
			}
			for _, r := range m.all {
				var sum int64
				for _, e := range r.Events {
					sum += e.Tokens
				}
				if len(r.Events) != o.events || r.OutputTokens != int64(o.out) || sum != int64(o.out) || r.TokenSource != o.source {
					t.Errorf("%s %q: %d events, %d tokens, %d in the events, source %s", r.Outcome, r.Error, len(r.Events), r.OutputTokens, sum, r.TokenSource)
				}
			}
		})
	}
}

// A 429 with Retry-After paces its slot, and is no request sent again.
func TestRetryAfterPacesTheSlot(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) {
		if a.n == 1 {
			a.status(429, "Retry-After: 1\r\n", `{"error":"slow down"}`)
			return
		}
		a.good(1)
	})
	m := sweep(t, s, 1, 4)
	refused, next := m.all[1], m.all[2]
	if refused.Outcome != record.HTTPStatus || refused.Status != 429 || refused.RetryAfterUS != 1_000_000 || refused.Retries != 0 {
		t.Errorf("%s, status %d, Retry-After %d µs, %d retries", refused.Outcome, refused.Status, refused.RetryAfterUS, refused.Retries)
	}
	if next.SentUS < refused.DoneUS+1_000_000 || s.seen()[1].prompt() == s.seen()[2].prompt() {
		t.Errorf("the next request went %d µs after the refusal", next.SentUS-refused.DoneUS)
	}
	if m.Waiting <= 0 {
		t.Errorf("%v slots waited", m.Waiting)
	}
}

// A server that dies at a request and comes back: those in flight are reset, those to a closed port are refused, and then the
// load goes on.
func TestServerDiesAndComesBack(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	s.script = func(a *reply) {
		if a.n == 5 {
			s.restart(t, 2*time.Second) // long enough for a busy client to be refused
			return
		}
		a.good(1)
	}
	m := sweep(t, s, 2, 24)
	n := m.outcomes()
	if broke := n[record.Reset] + n[record.Truncated]; broke == 0 || broke > 2 || n[record.Refused] == 0 || n[record.OK]+broke+n[record.Refused] != len(m.all) {
		t.Errorf("%v of %d", n, len(m.all))
	}
	if last := m.all[len(m.all)-1]; last.Outcome != record.OK || m.sum.RequestsIssued != 24 || m.Stopped != "" {
		t.Errorf("the last one ended with %s; %d issued; stopped: %q", last.Outcome, m.sum.RequestsIssued, m.Stopped)
	}
}

// A server that refuses everybody ends the load by itself, and the point says why.
func TestServerStaysAway(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(a *reply) { a.status(503, "", "gone") })
	m := sweep(t, s, 16, 0, func(j *job) { j.Plan.Protocol.Sweep.Duration = plan.Duration(hang) })
	if n := m.outcomes(); n[record.HTTPStatus] != len(m.all) || !m.has("stopped_early") || !strings.Contains(m.Stopped, "gone") {
		t.Errorf("%v, stopped: %q", n, m.Stopped)
	}
}
