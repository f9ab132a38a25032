package routing

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"time"

	"assay/containers"
	"assay/containers/engine"
	"assay/result"
)

// Limits of a look: a point of minutes bears it, and a slow server cuts it short rather than the point.
const (
	lookLimit    = 90 * time.Second
	requestLimit = 30 * time.Second
	answerBytes  = 1 << 20 // of an answer that are read
)

// Request is a router, what stands behind it, and how the load will come.
type Request struct {
	Router      string   // base URL
	Servers     []string // base URLs of those behind it
	Headers     []string // that carry the session
	Upstream    string   // header of its answers that names the server; "" when it has none
	Concurrency int      // of the point; 0 when it has none
	Started     bool     // for this point
	Preset      containers.Preset
	Access      containers.Access
	Model       string
	Endpoint    string // chat | completions
}

// Look asks a router and its servers. Its requests are small and alike, and no part of what is measured: no prompt of the load is in a cache for them.
func Look(ctx context.Context, r Request) result.Routing {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	out := result.Routing{Started: r.Started, Headers: r.Headers, Servers: len(r.Servers)}
	note := func(format string, args ...any) { out.Notes = append(out.Notes, fmt.Sprintf(format, args...)) }
	if len(r.Servers) == 1 {
		note("one server: a session has nowhere else to go")
	} else {
		out.Sessions = r.sessions(ctx, note)
	}
	out.FirstByte = r.firstByte(ctx, note)
	if r.Started {
		out.Body = r.body(ctx)
	}
	if r.Concurrency > 0 {
		out.Connections = r.connections(ctx, note)
	}
	out.DurationS = time.Since(begun).Seconds()
	return out
}

// asker asks at a base URL, as a request of a session; "" has none.
func (r Request) asker(base, session string) engine.Asker {
	access := r.Access
	access.Headers = maps.Clone(access.Headers)
	if access.Headers == nil {
		access.Headers = map[string]string{}
	}
	for _, header := range r.Headers {
		if session != "" {
			access.Headers[header] = session
		}
	}
	return engine.Asker{Base: base, Access: access, Transport: engine.NewTransport(base, r.Access)}
}

// small is a streamed request of so many tokens.
func (r Request) small(tokens int) (path string, body []byte) {
	path, body = engine.TestRequest(r.Endpoint, r.Model)
	var fields map[string]any
	_ = json.Unmarshal(body, &fields) // it was made by Marshal
	fields["max_tokens"] = tokens
	body, _ = json.Marshal(fields)
	return path, body
}

// turn sends a request of one token and gives the answer's headers once it has been read.
func (r Request) turn(ctx context.Context, session string) (http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	path, body := r.small(1)
	resp, err := r.asker(r.Router, session).Send(ctx, http.MethodPost, path, body)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", path, err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, answerBytes)); err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", path, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %d", path, resp.StatusCode)
	}
	return resp.Header, nil
}

// Name is how a server is called in the result: host:port.
func Name(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return base
	}
	return u.Host
}
