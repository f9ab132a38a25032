package stream

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"assay/runner/record"
)

// TestLargeLines sends events far larger than any buffer: they are read, and the buffers they took are given back.
func TestLargeLines(t *testing.T) {
	for _, size := range []int{1 << 20, 5 << 20, 10 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			large := strings.Replace(token, `"a"`, `"`+strings.Repeat("x", size)+`"`, 1)
			calls := 0
			url := serve(t, func(_ int, c net.Conn, _ *http.Request) {
				body := token + finish + doneEvent
				if calls++; calls == 1 {
					body = token + large + body
				}
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			})
			cfg := config(t, url)
			x := cfg.client().NewExchange()
			r, reply := x.Do(t.Context(), hello(t, cfg))
			if r.Outcome != record.OK || len(r.Events) != 3 || len(reply) != size+2 {
				t.Fatalf("%s (%s), %d events, a reply of %d bytes", r.Outcome, r.Error, len(r.Events), len(reply))
			}
			if r, _ := x.Do(t.Context(), hello(t, cfg)); r.Outcome != record.OK || len(r.Events) != 1 {
				t.Fatalf("the request after: %s (%s), %d events", r.Outcome, r.Error, len(r.Events))
			}
			if len(x.buf) != smallBuffer || cap(x.sse.line) > keptEvent || cap(x.sse.data) > keptEvent || cap(x.reply) > keptEvent {
				t.Errorf("kept: receive buffer %d, line %d, data %d, reply %d", len(x.buf), cap(x.sse.line), cap(x.sse.data), cap(x.reply))
			}
		})
	}
}

// TestEndlessLine is cut off: memory has a bound.
func TestEndlessLine(t *testing.T) {
	for name, head := range map[string]string{"data": "data: ", "comment": ":"} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, func(_ int, c net.Conn, _ *http.Request) {
				io.WriteString(c, streamHead+token+head)
				for piece := strings.Repeat("x", 1<<20); ; {
					if _, err := io.WriteString(c, piece); err != nil {
						return
					}
				}
			})
			r, _ := ask(t, config(t, url))
			if r.Outcome != record.BadResponse || !strings.Contains(r.Error, "longer than 64 MiB") || len(r.Events) != 1 {
				t.Errorf("%s: %s, %d events", r.Outcome, r.Error, len(r.Events))
			}
		})
	}
}

// TestManyLargeEvents have no bound together.
func TestManyLargeEvents(t *testing.T) {
	got := 0
	s := sse{emit: func(_, data []byte) { got += len(data) }}
	piece := []byte(strings.Repeat("x", 1<<20))
	for range 3 {
		s.feed([]byte("data: "))
		for range 40 {
			s.feed(piece)
		}
		s.feed([]byte("\n\n"))
	}
	if s.tooLong || got != 3*40<<20 {
		t.Errorf("too long: %v, %d bytes", s.tooLong, got)
	}
}

// TestReceiveBufferFitsItsReads: it grows with reads that fill it, and is small again after one that would have fitted.
func TestReceiveBufferFitsItsReads(t *testing.T) {
	x := config(t, "http://localhost:1").client().NewExchange()
	x.begin(&Call{})
	for i, c := range []struct{ read, want int }{
		{300, smallBuffer}, {smallBuffer, 2 * smallBuffer}, {2 * smallBuffer, 4 * smallBuffer}, {3 * smallBuffer, 4 * smallBuffer},
		{4 * smallBuffer, 8 * smallBuffer}, {smallBuffer - 1, smallBuffer}, {largeBuffer, smallBuffer},
	} {
		if x.fit(c.read); len(x.buf) != c.want {
			t.Errorf("read %d, of %d bytes: the buffer has %d, want %d", i, c.read, len(x.buf), c.want)
		}
	}
}
