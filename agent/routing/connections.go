package routing

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"assay/containers/engine"
	"assay/result"
)

const (
	dialsAtOnce     = 64
	connectionLimit = 20 * time.Second // for all of them
)

// connections opens the point's connections and a tenth more, has a small question answered on each, and keeps them all open until the last one is.
func (r Request) connections(ctx context.Context, note func(string, ...any)) *result.RoutedConnections {
	out := &result.RoutedConnections{Asked: r.Concurrency + (r.Concurrency+9)/10}
	ctx, cancel := context.WithTimeout(ctx, connectionLimit)
	defer cancel()
	network, address, err := engine.Address(r.Router)
	if err != nil {
		note("connections could not be opened: %v", err)
		return nil
	}
	conns := make([]net.Conn, out.Asked)
	failed := make([]error, out.Asked)
	slots := make(chan struct{}, dialsAtOnce)
	var asking sync.WaitGroup
	for i := range out.Asked {
		slots <- struct{}{}
		asking.Go(func() {
			defer func() { <-slots }()
			conns[i], failed[i] = r.hold(ctx, network, address)
		})
	}
	asking.Wait()
	for i, c := range conns {
		switch {
		case failed[i] == nil:
			out.Held++
		case errors.Is(failed[i], syscall.EMFILE), errors.Is(failed[i], syscall.EADDRNOTAVAIL):
			out.Asked-- // a limit of this program, not of the router
		}
		if c != nil {
			_ = c.Close()
		}
	}
	if missing := len(conns) - out.Asked; missing > 0 {
		note("%d connections less were tried than the point's and a tenth more: this program may open no more", missing)
	}
	return out
}

// hold opens a connection and has a question answered on it. It is closed by a reset later, so that its port is free at once.
func (r Request) hold(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(deadline)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+cmp.Or(r.Preset.HealthPath, r.Preset.ModelsPath), nil)
	if err != nil {
		return c, fmt.Errorf("ask: %w", err)
	}
	r.Access.Sign(req.Header)
	if err := req.Write(c); err != nil {
		return c, fmt.Errorf("ask: %w", err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), req)
	if err != nil {
		return c, fmt.Errorf("read the answer: %w", err)
	}
	defer resp.Body.Close()
	drain(resp)
	if resp.StatusCode >= http.StatusInternalServerError {
		return c, fmt.Errorf("answered %d", resp.StatusCode)
	}
	return c, nil
}
