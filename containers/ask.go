package containers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// askTimeout bounds one question; a server that computes may answer a health question late.
const askTimeout = 5 * time.Second

// answerCap bounds what is read of an answer.
const answerCap = 16 << 20

// Asker asks a server about itself.
type Asker struct {
	base      string
	token     string
	transport http.RoundTripper
}

// answer is what came back: a status and a body, or why there is none.
type answer struct {
	status int
	body   []byte
	err    error
}

// get asks for a path.
func (a Asker) get(ctx context.Context, path string) answer {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	resp, err := a.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, answerCap))
	return answer{status: resp.StatusCode, body: body, err: err}
}

// send gives the raw response. Connections are not kept: a server that closes an idle one would look like one that failed.
func (a Asker) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, a.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", path, err)
	}
	req.Close = true
	req.Header.Set("Content-Type", "application/json")
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	return a.transport.RoundTrip(req)
}

// JSON reads the answer of a path into v; false when there is none.
func (a Asker) JSON(ctx context.Context, path string, v any) bool {
	r := a.get(ctx, path)
	return r.err == nil && r.status == http.StatusOK && json.Unmarshal(r.body, v) == nil
}

// Labels gives the labels of each series of a metric, for metrics that carry facts in them.
func (a Asker) Labels(ctx context.Context, path, metric string) []map[string]string {
	r := a.get(ctx, path)
	if r.err != nil || r.status != http.StatusOK {
		return nil
	}
	families, err := parseMetrics(r.body)
	if err != nil {
		return nil
	}
	var out []map[string]string
	for _, m := range families[metric].GetMetric() {
		labels := map[string]string{}
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		out = append(out, labels)
	}
	return out
}

// String is an answer in words, for a person: "503: Loading model".
func (r answer) String() string {
	switch {
	case errors.Is(r.err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(r.err, syscall.ECONNRESET), errors.Is(r.err, io.EOF):
		return "connection accepted and closed without an answer"
	case isTimeout(r.err):
		return "no answer in time"
	case r.err != nil:
		return r.err.Error()
	case len(r.body) == 0:
		return fmt.Sprint(r.status)
	}
	return fmt.Sprintf("%d: %s", r.status, messageOf(r.body))
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &n) && n.Timeout()
}

// messageOf finds the sentence in an error body: servers answer {"error":{"message":…}}, {"error":"…"}, {"detail":…} or text.
func messageOf(body []byte) string {
	var v struct {
		Error   json.RawMessage
		Detail  json.RawMessage
		Message string
	}
	if json.Unmarshal(body, &v) != nil {
		return firstLine(string(body))
	}
	var inner struct{ Message string }
	if json.Unmarshal(v.Error, &inner) == nil && inner.Message != "" {
		return inner.Message
	}
	var text string
	for _, raw := range []json.RawMessage{v.Error, v.Detail} {
		if json.Unmarshal(raw, &text) == nil && text != "" {
			return text
		}
	}
	if v.Message != "" {
		return v.Message
	}
	return firstLine(string(body))
}

// firstLine shortens a text to one line that fits an error.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300]) + "…"
	}
	return strings.TrimSpace(s)
}
