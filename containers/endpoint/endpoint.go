package endpoint

import (
	"context"
	"net/url"
	"path"
	"strings"

	"assay/containers/image"
	"assay/containers/instance"
	"assay/containers/leftover"
	"assay/fault"
)

// Runtime is of servers that somebody else runs: they are measured, never started or stopped.
type Runtime struct{}

// Name is the word in a plan.
func (Runtime) Name() string { return "endpoint" }

// Prepare has nothing to do.
func (Runtime) Prepare(_ context.Context, s instance.Spec, _ func(image.Progress)) (instance.Spec, error) {
	return s, nil
}

// Start only takes the addresses.
func (Runtime) Start(_ context.Context, s instance.Spec) (instance.Instance, error) {
	urls, err := BaseURLs(s.URLs)
	if err != nil {
		return nil, err
	}
	return Servers(urls), nil
}

// Reap finds nothing: an endpoint leaves nothing.
func (Runtime) Reap(context.Context, leftover.Search) leftover.Found { return leftover.Found{} }

// Servers are running servers known by their base URLs alone.
type Servers []string

// BaseURLs are the addresses without /v1/….
func (s Servers) BaseURLs() []string { return s }

// Identity is all that is known before the servers are asked.
func (s Servers) Identity() instance.Identity {
	return instance.Identity{Runtime: "endpoint", Name: strings.Join(s, ", ")}
}

// LogPath is empty: its log is not ours.
func (Servers) LogPath() string { return "" }

// Exited never yields: that a remote server is gone shows in the requests.
func (Servers) Exited() <-chan instance.Exit { return nil }

// Stop leaves the server running.
func (Servers) Stop(context.Context) (instance.Exit, error) { return instance.Exit{}, nil }

// BaseURLs strips the API's part from addresses.
func BaseURLs(raw []string) ([]string, error) {
	var urls []string
	for _, one := range raw {
		base, err := baseURL(one)
		if err != nil {
			return nil, err
		}
		urls = append(urls, base)
	}
	return urls, nil
}

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
