package stream

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// answer feeds a whole response in pieces cut at the given places.
func answer(t testing.TB, raw string, cuts ...int) (*response, string, error) {
	t.Helper()
	var body strings.Builder
	r := &response{body: func(b []byte) { body.Write(b) }}
	r.reset()
	from := 0
	for _, cut := range append(cuts, len(raw)) {
		if err := r.feed([]byte(raw[from:cut])); err != nil {
			return r, body.String(), err
		}
		from = cut
	}
	return r, body.String(), nil
}

func TestResponses(t *testing.T) {
	cases := []struct {
		name, raw, body string
		status          int
		ended, reusable bool
		stream          bool
	}{
		{"chunked", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n", "hello world", 200, true, true, true},
		{"trailers", "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\nA\r\n0123456789\r\n0\r\nX: y\r\nZ: w\r\n\r\n", "0123456789", 200, true, true, false},
		{"length", "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nabc", "abc", 404, true, true, false},
		{"no body", "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n", "", 503, true, true, false},
		{"204", "HTTP/1.1 204 No Content\r\n\r\n", "", 204, true, true, false},
		{"until close", "HTTP/1.1 200 OK\r\nContent-Type: TEXT/event-stream\r\n\r\nabc\r\ndef", "abc\r\ndef", 200, false, false, true},
		{"close asked", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", "x", 200, true, false, false},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", "x", 200, true, false, false},
		{"interim", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok", 200, true, true, false},
		{"bare line feeds", "HTTP/1.1 200 OK\nContent-Length: 6\n\na\r\n\r\nb", "a\r\n\r\nb", 200, true, true, false},
		{"more than it said", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1", "ok", 200, true, false, false},
		{"no reason", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "", 200, true, true, false},
		{"not ended", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", "hel", 200, false, true, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			check := func(cuts ...int) {
				r, body, err := answer(t, c.raw, cuts...)
				if err != nil || body != c.body || r.status != c.status || (r.state == ended) != c.ended || r.reusable != c.reusable || r.stream != c.stream {
					t.Fatalf("cut at %v: status %d, body %q, ended %v, reusable %v, stream %v, %v", cuts, r.status, body, r.state == ended, r.reusable, r.stream, err)
				}
			}
			check()
			for i := range len(c.raw) {
				check(i)
				for j := i; j < len(c.raw); j += 7 {
					check(i, j)
				}
			}
		})
	}
}

func TestNotHTTP(t *testing.T) {
	for _, raw := range []string{
		"SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 99 x\r\n\r\n", strings.Repeat("x", maxHead+1),
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffff\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1", maxLine+1),
	} {
		if _, _, err := answer(t, raw); err == nil {
			t.Errorf("%.40q was taken for HTTP/1.1", raw)
		}
	}
}

func TestHeadersThatMatter(t *testing.T) {
	cases := []struct {
		header string
		retry  time.Duration
		idle   time.Duration
	}{
		{"Retry-After: 7", 7 * time.Second, idleLimit},
		{"retry-after: 0.5", 500 * time.Millisecond, idleLimit},
		{"Retry-After: soon", 0, idleLimit},
		{"Retry-After: Wed, 21 Oct 2015 07:28:00 GMT", 0, idleLimit},
		{"Keep-Alive: timeout=2, max=100", 0, time.Second},
		{"Keep-Alive: timeout=60", 0, idleLimit},
		{"Keep-Alive: max=5", 0, idleLimit},
	}
	for _, c := range cases {
		r, _, err := answer(t, "HTTP/1.1 503 x\r\n"+c.header+"\r\nContent-Length: 0\r\n\r\n")
		if err != nil || r.retry != c.retry || r.idle != c.idle {
			t.Errorf("%s: retry %v, idle %v, %v", c.header, r.retry, r.idle, err)
		}
	}
	future := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	if r, _, err := answer(t, "HTTP/1.1 503 x\r\nRetry-After: "+future+"\r\nContent-Length: 0\r\n\r\n"); err != nil || r.retry < 59*time.Minute || r.retry > time.Hour {
		t.Errorf("retry %v, %v", r.retry, err)
	}
}

// FuzzResponse compares with net/http on what both take for a response.
func FuzzResponse(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), uint16(20))
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), uint16(3))
	f.Fuzz(func(t *testing.T, raw []byte, cut uint16) {
		r, body, err := answer(t, string(raw), int(cut)%(len(raw)+1))
		_, whole, err2 := answer(t, string(raw))
		if (err == nil) != (err2 == nil) || err == nil && body != whole {
			t.Fatalf("%q: the cut at %d changes %q to %q, %v, %v", raw, cut, whole, body, err2, err)
		}
		if err != nil || r.state != ended || !r.reusable || r.status == 204 || r.status == 304 {
			return
		}
		resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), &http.Request{Method: "POST"})
		if err != nil || resp.StatusCode != r.status {
			return // stricter than we are
		}
		want, err := io.ReadAll(resp.Body)
		if err == nil && !bytes.Contains(bytes.ToLower(raw), []byte("\r\n\r\nhttp")) && string(want) != body && len(want) > 0 {
			t.Errorf("%q: body %q, net/http says %q", raw, body, want)
		}
	})
}
