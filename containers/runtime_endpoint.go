package containers

import (
	"context"
	"net/url"
	"path"
	"strings"

	"assay/fault"
)

// endpoint is servers that somebody else runs: they are measured, never started or stopped.
type endpoint struct{}

// Name is the word in a plan.
func (endpoint) Name() string { return "endpoint" }

// Prepare has nothing to do.
func (endpoint) Prepare(context.Context, Spec, func(Pull)) error { return nil }

// Start only takes the addresses.
func (endpoint) Start(_ context.Context, s Spec) (Instance, error) {
	s, err := endpointSpec(Spec{}, s.URLs)
	return distant(s.URLs), err
}

// Reap finds nothing: an endpoint leaves nothing.
func (endpoint) Reap(context.Context, string) ([]string, error) { return nil, nil }

// distant is running servers known by their base URLs alone.
type distant []string

// BaseURLs are the addresses without /v1/….
func (r distant) BaseURLs() []string { return r }

// Identity is all that is known before the servers are asked.
func (r distant) Identity() Identity {
	return Identity{Runtime: "endpoint", Name: strings.Join(r, ", ")}
}

// LogPath is empty: its log is not ours.
func (distant) LogPath() string { return "" }

// Exited never yields: that a remote server is gone shows in the requests.
func (distant) Exited() <-chan Exit { return nil }

// Stop leaves the server running.
func (distant) Stop(context.Context) (Exit, error) { return Exit{}, nil }

// baseURL strips the API's part from an address: http://host:8000/v1/chat/completions → http://host:8000. A Unix socket has no such part.
func baseURL(raw string) (string, error) {
	raw = strings.TrimSpace(raw)
	if socket, ok := strings.CutPrefix(raw, "unix://"); ok && path.IsAbs(socket) {
		return raw, nil
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", fault.New(fault.Plan, "url_invalid", "write it as http://127.0.0.1:8000 or unix:///path/of/socket", "server.url %q is not an http address", raw)
	}
	p := strings.TrimSuffix(u.Path, "/")
	if i := strings.LastIndex(p, "/v1/"); i >= 0 {
		p = p[:i]
	}
	u.Path, u.RawPath, u.RawQuery, u.Fragment = strings.TrimSuffix(p, "/v1"), "", "", ""
	return strings.TrimSuffix(u.String(), "/"), nil
}
