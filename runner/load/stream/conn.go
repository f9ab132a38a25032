package stream

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"time"
)

// reader reads bytes and says when they arrived, on the recording's clock.
type reader interface {
	// read hands on what arrives, as long as who takes it wants more or for a while; then it gives nil. It waits for the first bytes.
	read(by taker) error
	kernel() bool // the stamps so far are the kernel's
}

// taker takes what a read brings, and says whether it wants more.
type taker interface {
	arrived(arrival) (more bool)
}

// arrival is bytes, valid until take returns, and when they came.
type arrival struct {
	bytes  []byte
	atUS   int64
	lateUS int64 // from their arrival to their reading; below 0 when it is not known
}

// link is what carries the bytes.
type link interface {
	io.WriteCloser
	SetDeadline(time.Time) error
}

// conn is one connection to the target.
type conn struct {
	link
	reader
	vitals   *Vitals
	used     bool          // it carried a request
	idle     time.Duration // longest time it may lie unused
	returned time.Time     // when it was given back
}

// userReader stamps in user space, as soon as a read returns.
type userReader struct {
	net.Conn
	clock *Clock
	buf   []byte
}

func newUserReader(c net.Conn, clock *Clock) reader {
	return userReader{c, clock, make([]byte, smallRead)}
}

func (r userReader) read(by taker) error {
	n, err := r.Read(r.buf)
	at := r.clock.Now()
	if n > 0 && !by.arrived(arrival{r.buf[:n], at, -1}) {
		return nil
	}
	return err
}

func (r userReader) kernel() bool { return false }

// close ends the connection, once. How that went tells nothing: the answer was read, or is not waited for.
func (c *conn) close() {
	c.vitals.closed()
	_ = c.link.Close()
}

const (
	smallRead   = 2 << 10 // bytes of a read: a few events, so that those which waited together have stamps of their own
	largeRead   = 64 << 10
	dialTimeout = 30 * time.Second
	dialsAtOnce = 256 // more at once overflow the backlog of common servers
)

// fit gives the size of the next read after one of n bytes that had room for so many: a large one as long as bytes come in bulk.
func fit(room, n int) int {
	switch {
	case n == room:
		return largeRead
	case n < smallRead:
		return smallRead
	}
	return room
}

// dialer opens connections to one target.
type dialer struct {
	target Target
	clock  *Clock
	vitals *Vitals
	slots  chan struct{}
	tls    *tls.Config
	wires  wires
}

func newDialer(t Target, clock *Clock, vitals *Vitals) *dialer {
	d := &dialer{target: t, clock: clock, vitals: vitals, slots: make(chan struct{}, dialsAtOnce)}
	if t.TLS {
		d.tls = &tls.Config{ServerName: t.serverName(), NextProtos: []string{"http/1.1"}, InsecureSkipVerify: t.Insecure}
	}
	return d
}

// dial opens a connection and tells how long that took; the wait for a turn to dial is not in it.
func (d *dialer) dial(ctx context.Context) (*conn, int64, error) {
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	from := d.clock.Now()
	c, err := d.open(ctx)
	return c, d.clock.Now() - from, err
}

func (d *dialer) open(ctx context.Context) (*conn, error) {
	plain := net.Dialer{Timeout: dialTimeout, KeepAlive: -1} // probes would end healthy connections of a busy server; our own limits watch them
	if d.target.Network == "tcp" && !d.target.TLS {
		plain.Control = askStamps
	}
	raw, err := plain.DialContext(ctx, d.target.Network, d.target.Address)
	if err != nil {
		return nil, err
	}
	c := &conn{vitals: d.vitals}
	if c.link, c.reader, err = d.prepare(ctx, raw); err != nil {
		return nil, err
	}
	d.vitals.connected()
	return c, nil
}

// prepare makes a new connection ready to be used.
func (d *dialer) prepare(ctx context.Context, raw net.Conn) (link, reader, error) {
	if !d.target.TLS {
		return d.plain(raw)
	}
	secure := tls.Client(raw, d.tls)
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if err := secure.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, nil, fmt.Errorf("TLS handshake: %w", err)
	}
	return secure, newUserReader(secure, d.clock), nil
}
