package stream

import (
	"fmt"
	"net"
	"net/http"
	"testing"
)

// TestSharedReads: of two token events that arrive as one the second shares a read; one that arrives after them shares none.
func TestSharedReads(t *testing.T) {
	told := make(chan struct{})
	cfg := config(t, serve(t, func(_ int, conn net.Conn, _ *http.Request) {
		fmt.Fprint(conn, streamHead+token+token)
		select {
		case <-told:
		case <-t.Context().Done():
		}
		fmt.Fprint(conn, token+finish+finalUsage+doneEvent)
		conn.Close()
	}))
	c := hello(t, cfg)
	c.OnToken = func() { close(told) }
	r, _ := cfg.client().NewExchange().Do(t.Context(), c)
	if len(r.Events) != 3 || r.SharedReads != 1 {
		t.Errorf("%d events, %d of them in one read with an earlier one: %s %s", len(r.Events), r.SharedReads, r.Outcome, r.Error)
	}
}
