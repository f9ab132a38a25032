package engine

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// NewTransport asks the server of a base URL without a proxy, on a connection of its own: a server that closes an idle one would look like
// one that failed.
func NewTransport(base string, access Access) *http.Transport {
	t := &http.Transport{Proxy: nil, DisableKeepAlives: true, MaxResponseHeaderBytes: headCap, TLSClientConfig: &tls.Config{InsecureSkipVerify: access.Insecure}}
	if socket, ok := socketOf(base); ok {
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		}
	}
	return t
}

// socketOf gives the path of a base URL unix:///path.
func socketOf(base string) (path string, ok bool) { return strings.CutPrefix(base, "unix://") }

// httpBase is a base URL as HTTP has it: what reaches a Unix socket names no host.
func httpBase(base string) string {
	if _, ok := socketOf(base); ok {
		return "http://localhost"
	}
	return base
}

// Address is where the server of a base URL listens.
func Address(base string) (network, address string, err error) {
	if socket, ok := socketOf(base); ok {
		return "unix", socket, nil
	}
	u, err := url.Parse(base)
	if err != nil {
		return "", "", fmt.Errorf("read the address %s: %w", base, err)
	}
	return "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])), nil
}
