package stream

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"assay/fault"
	"assay/runner/load/dialect"
)

// Body is an encoded request.
type Body = dialect.Body

// Options say how requests are sent.
type Options struct {
	Target   Target
	Token    string            // bearer token; "" when none
	Headers  map[string]string // extra headers of each request
	Sessions []string          // headers that carry the session; nil: X-Session-ID
	Secrets  []string          // is hidden in what the server says, beside Token
	Endpoint string            // chat | completions
	Clock    *Clock
	Vitals   *Vitals       // nil: its own
	Stall    time.Duration // no byte for this long ends a request as stalled; 0: no limit
	Timeout  time.Duration // a request's time limit; 0: no limit
}

// Client sends requests to one target over connections that it keeps. Many exchanges share it.
type Client struct {
	clock    *Clock
	dialer   *dialer
	vitals   *Vitals
	stamps   stamps
	pool     pool
	head     string   // request line and fixed headers
	sessions []string // beginnings of the lines that carry the session
	secrets  []string
	stall    time.Duration
	timeout  time.Duration

	userStamps atomic.Bool // a connection gave none of the kernel's stamps
}

// NewClient makes a client; it opens nothing yet.
func NewClient(o Options) *Client {
	vitals := o.Vitals
	if vitals == nil {
		vitals = NewVitals()
	}
	return &Client{
		clock: o.Clock, vitals: vitals, dialer: newDialer(o.Target, o.Clock, vitals), head: requestHead(o), sessions: sessionLines(o.Sessions),
		secrets: append([]string{o.Token}, o.Secrets...), stall: o.Stall, timeout: o.Timeout,
	}
}

// sessionHeader carries the session when nothing else was asked for.
const sessionHeader = "X-Session-ID"

// sessionLines are headers as they begin.
func sessionLines(names []string) []string {
	if names == nil {
		names = []string{sessionHeader}
	}
	lines := make([]string, len(names))
	for i, name := range names {
		lines[i] = printable(name) + ": "
	}
	return lines
}

// hide takes what must not be told out of a text of the server.
func (c *Client) hide(text string) string {
	for _, secret := range c.secrets {
		text = fault.Hide(text, secret)
	}
	return text
}

// Over has the exchange's next requests go over another client.
func (x *Exchange) Over(c *Client) *Exchange {
	x.Client = c
	return x
}

// SwitchOnStamps has the kernel stamp what it receives, where the target's connections can have stamps; Close ends it.
func (c *Client) SwitchOnStamps(ctx context.Context) {
	if t := c.dialer.target; t.Network == "tcp" && !t.TLS {
		c.stamps.open(ctx, c.dialer)
	}
}

// StampSource is kernel when every receive time so far was the kernel's, else user.
func (c *Client) StampSource() string {
	if c.stamps.kernel && !c.userStamps.Load() {
		return "kernel"
	}
	return "user"
}

// WatchIdle looks for a while whether the server closes idle connections.
func (c *Client) WatchIdle(ctx context.Context, span time.Duration) { c.pool.watch(ctx, span) }

// Reuses says whether connections carry one request after another; not when the server was seen to close them.
func (c *Client) Reuses() bool { return c.pool.reuses() }

// Close closes what lies idle; no request is under way then.
func (c *Client) Close() {
	c.pool.close()
	c.stamps.close()
	c.dialer.wires.close()
}

// requestHead is everything of the head but session and length.
func requestHead(o Options) string {
	path := "/v1/chat/completions"
	if o.Endpoint == "completions" {
		path = "/v1/completions"
	}
	var h strings.Builder
	h.WriteString("POST " + o.Target.Prefix + path + " HTTP/1.1\r\nHost: " + o.Target.Host + "\r\n")
	line(&h, "User-Agent", "assay")
	line(&h, "Content-Type", "application/json")
	line(&h, "Accept", "text/event-stream")
	if o.Token != "" {
		line(&h, "Authorization", "Bearer "+o.Token)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Headers)) {
		line(&h, name, o.Headers[name])
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
func (c *Client) message(call *Call) []byte {
	n := call.Body.Len(call.Salt)
	b := make([]byte, 0, len(c.head)+len(c.sessions)*(len(call.Session)+32)+64+n)
	b = append(b, c.head...)
	if session := printable(call.Session); session != "" {
		for _, line := range c.sessions {
			b = append(append(append(b, line...), session...), "\r\n"...)
		}
	}
	b = append(strconv.AppendInt(append(b, "Content-Length: "...), int64(n), 10), "\r\n\r\n"...)
	return call.Body.Append(b, call.Salt)
}
