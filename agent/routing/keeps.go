package routing

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"assay/containers/engine"
)

// keepsFor is how long a connection must stay open after a stream. A server that closes it does so at once.
const keepsFor = 200 * time.Millisecond

// Keeps tells whether every server keeps a connection on which a stream has ended. One that promises to, and closes it without a word, as
// llama.cpp does, loses requests of a router that uses it again in that instant.
func Keeps(ctx context.Context, r Request) bool {
	for _, base := range r.Servers {
		if r.keeps(ctx, base) != nil {
			return false
		}
	}
	return true
}

// keeps is nil for a server whose connection was still open, or that said it would close it.
func (r Request) keeps(ctx context.Context, base string) error {
	network, address, err := engine.Address(base)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(requestLimit))
	path, body := r.small(1)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	r.Access.Sign(req.Header)
	if err := req.Write(c); err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	in := bufio.NewReader(c)
	resp, err := http.ReadResponse(in, req)
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	drain(resp)
	if err := resp.Body.Close(); err != nil || resp.Close {
		return err
	}
	_ = c.SetReadDeadline(time.Now().Add(keepsFor))
	if _, err := in.ReadByte(); !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("closed after the stream: %w", err)
	}
	return nil
}
