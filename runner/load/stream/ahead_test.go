package stream

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"assay/runner/record"
)

// TestConnectionsDialledAhead carry the first requests, which then open none of their own.
func TestConnectionsDialledAhead(t *testing.T) {
	const ahead = 300
	var most atomic.Int64
	url := serve(t, func(n int, c net.Conn, _ *http.Request) {
		most.Store(max(most.Load(), int64(n)))
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: "+strconv.Itoa(len(token+finish+doneEvent))+"\r\n\r\n"+token+finish+doneEvent)
	})
	cfg := config(t, url)
	client := cfg.client()
	defer client.Close()
	if n, err := client.Dial(t.Context(), ahead); n != ahead || err != nil {
		t.Fatalf("%d connections, %v", n, err)
	}
	var sending sync.WaitGroup
	for range ahead {
		sending.Go(func() {
			r, _ := client.NewExchange().Do(t.Context(), hello(t, cfg))
			if r.Outcome != record.OK || r.ConnectUS != record.Never || r.Retries != 0 {
				t.Errorf("%s (%s), connected in %d us, %d retries", r.Outcome, r.Error, r.ConnectUS, r.Retries)
			}
		})
	}
	sending.Wait()
	if most.Load() >= ahead {
		t.Errorf("connection %d was opened, %d were there", most.Load(), ahead)
	}
}

func TestDiallingAheadTellsWhatFailed(t *testing.T) {
	client := config(t, refusing(t)).client()
	if n, err := client.Dial(t.Context(), 5); n != 0 || err == nil {
		t.Errorf("%d connections to a closed port, %v", n, err)
	}
}
