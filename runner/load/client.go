package load

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// client is what all exchanges of a load share.
type client struct {
	clock   *Clock
	dialer  *dialer
	pool    pool
	head    string // request line and fixed headers
	stall   time.Duration
	timeout time.Duration

	userStamps atomic.Bool // a connection gave none of the kernel's stamps
}

func newClient(cfg Config) *client {
	return &client{
		clock: cfg.Clock, dialer: newDialer(cfg.Target, cfg.Clock), head: requestHead(cfg),
		stall: cfg.Stall, timeout: cfg.Timeout,
	}
}

// requestHead is everything of the head but session and length.
func requestHead(cfg Config) string {
	path := "/v1/chat/completions"
	if cfg.Request.Endpoint == "completions" {
		path = "/v1/completions"
	}
	var h strings.Builder
	h.WriteString("POST " + cfg.Target.Prefix + path + " HTTP/1.1\r\nHost: " + cfg.Target.Host + "\r\n")
	line(&h, "User-Agent", "assay")
	line(&h, "Content-Type", "application/json")
	line(&h, "Accept", "text/event-stream")
	if cfg.Token != "" {
		line(&h, "Authorization", "Bearer "+cfg.Token)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Headers)) {
		line(&h, name, cfg.Headers[name])
	}
	return h.String()
}

// line writes a header; bytes that would end it early are left out.
func line(h *strings.Builder, name, value string) {
	h.WriteString(printable(name) + ": " + printable(value) + "\r\n")
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}

// message puts a whole request together: head, body up to the prompt, salt, rest of the body.
func (c *client) message(call *call) []byte {
	n := len(call.body.bytes) + len(call.salt)
	b := make([]byte, 0, len(c.head)+len(call.session)+64+n)
	b = append(b, c.head...)
	if call.session != "" {
		b = append(append(append(b, "X-Session-ID: "...), printable(call.session)...), "\r\n"...)
	}
	b = append(strconv.AppendInt(append(b, "Content-Length: "...), int64(n), 10), "\r\n\r\n"...)
	b = append(b, call.body.bytes[:call.body.salt]...)
	b = append(b, call.salt...)
	return append(b, call.body.bytes[call.body.salt:]...)
}
