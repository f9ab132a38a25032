package stream

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"assay/runner/record"
)

// FuzzTarget: a base URL that is taken goes into a request as it is, and is read again to the same target.
func FuzzTarget(f *testing.F) {
	for _, s := range []string{"http://h:8000", "https://[::1]/v1", "unix:///run/x.sock", "http://h/a%2fb/v1/chat/completions", "h:80", "http://:1", "http://u:p@h", "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, base string) {
		target, err := ParseTarget(base)
		if err != nil {
			return
		}
		if strings.ContainsAny(target.Prefix+target.Host, " \r\n\x00") {
			t.Errorf("%q: prefix %q, host %q", base, target.Prefix, target.Host)
		}
		if target.Network == "tcp" && (target.Address == "" || target.Host == "") {
			t.Errorf("%q: %+v", base, target)
		}
	})
}

// FuzzHeader: waits that a server asks for are never negative, and none is made of nothing.
func FuzzHeader(f *testing.F) {
	for _, s := range []string{"1", "0.5", "-3", "1e300", "NaN", "Fri, 31 Dec 9999 23:59:59 GMT", "timeout=5, max=100", "timeout=0", "timeout=99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if wait := retryAfter(value); wait < 0 {
			t.Errorf("Retry-After %q is %v", value, wait)
		}
		if idle := keepAlive(strings.ToLower(value)); idle > time.Hour {
			t.Errorf("Keep-Alive %q is %v", value, idle)
		}
	})
}

// FuzzAnswer: whatever a server sends, the record is the same however it is split into reads, and holds together.
func FuzzAnswer(f *testing.F) {
	chunked := func(body string) string {
		return strings.Replace(streamHead, "\r\n\r\n", fmt.Sprintf("\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body), 1)
	}
	f.Add([]byte(streamHead+token+token+finish+finalUsage+doneEvent), uint16(90), uint16(91))
	f.Add([]byte(chunked(token+finish+doneEvent)), uint16(3), uint16(120))
	f.Add([]byte(streamHead+"event: error\r\rdata: {\"message\":\"x\"}\r\r"), uint16(60), uint16(62))
	f.Add([]byte("HTTP/1.1 429 x\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\nno"), uint16(1), uint16(2))
	f.Fuzz(func(t *testing.T, raw []byte, a, b uint16) {
		i, j := int(a)%(len(raw)+1), int(b)%(len(raw)+1)
		whole, split := read(raw), read(raw[:min(i, j)], raw[min(i, j):max(i, j)], raw[max(i, j):])
		if got, want := told(split), told(whole); got != want {
			t.Errorf("%q cut at %d and %d gives %s, whole %s", raw, i, j, got, want)
		}
		var sum int64
		for _, e := range whole.Events {
			if sum += e.Tokens; e.Tokens < 0 {
				t.Errorf("%q: an event brought %d tokens", raw, e.Tokens)
			}
		}
		if len(whole.Events) > 0 && sum != whole.OutputTokens || whole.FirstAnswer >= len(whole.Events) {
			t.Errorf("%q: %d tokens in the events, %d told; the answer at %d of %d", raw, sum, whole.OutputTokens, whole.FirstAnswer, len(whole.Events))
		}
	})
}

// read gives the record of an answer whose connection closed after it, as it came in pieces.
func read(pieces ...[]byte) record.Request {
	c := NewClient(Options{Clock: NewClock(), Endpoint: "chat"})
	x := c.NewExchange()
	call := &Call{}
	r := Blank(call)
	x.begin(call)
	var end error
	for _, p := range pieces {
		if len(p) > 0 && end == nil && x.resp.state != ended {
			end = x.take(p, 1)
		}
	}
	if end == nil && x.resp.state != ended && x.resp.state != inRest && !x.seen.done {
		end = io.EOF
	}
	x.fill(context.Background(), &r, end)
	return r
}

// told is what a record says, without its times and how many events shared a read.
func told(r record.Request) string {
	r.SentUS, r.DoneUS, r.FirstByteUS, r.SharedReads, r.BytesIn = 0, 0, 0, 0, 0
	if r.RetryAfterUS > 0 {
		r.RetryAfterUS = 1 // of a date it is the time until then
	}
	return fmt.Sprintf("%+v", r)
}
