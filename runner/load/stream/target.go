package stream

import (
	"net"
	"net/url"
	"path"
	"strings"

	"assay/fault"
)

// Target is the server to send to, as ParseTarget read it.
type Target struct {
	Network  string // tcp | unix
	Address  string // host:port or path of the socket
	Host     string // of the Host header
	Prefix   string // path before /v1/…, escaped as it goes over the wire; "" for most
	TLS      bool
	Insecure bool // do not check the server's certificate
}

// ParseTarget reads a base URL (http, https, or unix:///path/of/socket). A path that ends in /v1 or in an endpoint's
// path is cut to what stands before /v1.
func ParseTarget(base string) (Target, error) {
	if socket, ok := strings.CutPrefix(base, "unix://"); ok {
		if !path.IsAbs(socket) {
			return Target{}, badTarget(base, "it names no socket")
		}
		return Target{Network: "unix", Address: socket, Host: "localhost"}, nil
	}
	u, err := url.Parse(base)
	if err != nil {
		return Target{}, badTarget(base, err.Error())
	}
	switch u.Scheme {
	case "http", "https":
	default:
		return Target{}, badTarget(base, "its scheme is "+u.Scheme)
	}
	if u.Hostname() == "" {
		return Target{}, badTarget(base, "it names no host")
	}
	t := Target{Network: "tcp", Host: u.Host, TLS: u.Scheme == "https", Prefix: prefix(u.EscapedPath())}
	port := u.Port()
	if port == "" {
		port = map[bool]string{false: "80", true: "443"}[t.TLS]
	}
	t.Address = net.JoinHostPort(u.Hostname(), port)
	return t, nil
}

func badTarget(base, why string) error {
	return fault.New(fault.Client, "bad_url", "write http://host:port, https://host:port or unix:///path", "cannot send requests to %q: %s", base, why)
}

func prefix(whole string) string {
	before, _, _ := strings.Cut(whole+"/", "/v1/")
	return strings.TrimRight(before, "/")
}

// String is the target as an address: http://host:port/prefix or unix:///path.
func (t Target) String() string {
	switch {
	case t.Network == "unix":
		return "unix://" + t.Address
	case t.TLS:
		return "https://" + t.Host + t.Prefix
	}
	return "http://" + t.Host + t.Prefix
}

// serverName is the name the certificate must have.
func (t Target) serverName() string {
	host, _, err := net.SplitHostPort(t.Address)
	if err != nil {
		return t.Address
	}
	return host
}
