package engine

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

// Timeout bounds one question; a server that computes may answer a health question late.
const Timeout = 5 * time.Second

// What is read of an answer; more is no answer to the question.
const (
	answerCap  = 1 << 20
	metricsCap = 16 << 20
	headCap    = 64 << 10
)

// ErrTooLarge is the end of an answer that goes on past its bound.
var ErrTooLarge = errors.New("the answer is too large")

// Asker asks a server about itself.
type Asker struct {
	Base string // base URL: http://host:port, https://…, unix:///path/of/socket
	Access
	Transport http.RoundTripper
}

// Answer is what came back: a status and a body, or why there is none.
type Answer struct {
	Status int
	Body   []byte
	Err    error
	access Access // its secrets are hidden in words
}

// Get asks for a path.
func (a Asker) Get(ctx context.Context, path string) Answer { return a.get(ctx, path, answerCap) }

func (a Asker) get(ctx context.Context, path string, most int64) Answer {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	resp, err := a.Send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return a.Failed(err)
	}
	defer resp.Body.Close()
	return a.read(resp, most)
}

// Failed is the answer that did not come.
func (a Asker) Failed(err error) Answer { return Answer{Err: err, access: a.Access} }

// Read takes a whole answer, for as long as Timeout.
func (a Asker) Read(resp *http.Response) Answer { return a.read(resp, answerCap) }

func (a Asker) read(resp *http.Response, most int64) Answer {
	late := time.AfterFunc(Timeout, func() { _ = resp.Body.Close() })
	defer late.Stop()
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if int64(len(body)) > most {
		body, err = nil, ErrTooLarge
	}
	return Answer{Status: resp.StatusCode, Body: body, Err: err, access: a.Access}
}

// Send gives the raw response.
func (a Asker) Send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, httpBase(a.Base)+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", path, err)
	}
	req.Close = true
	req.Header.Set("Content-Type", "application/json")
	a.Sign(req.Header)
	return a.Transport.RoundTrip(req)
}

// JSON reads the answer of a path into v; false when there is none.
func (a Asker) JSON(ctx context.Context, path string, v any) bool {
	r := a.Get(ctx, path)
	return r.Err == nil && r.Status == http.StatusOK && json.Unmarshal(r.Body, v) == nil
}

// Labels gives the labels of each series of a metric, for metrics that carry facts in them.
func (a Asker) Labels(ctx context.Context, path, metric string) []map[string]string {
	r := a.get(ctx, path, metricsCap)
	if r.Err != nil || r.Status != http.StatusOK {
		return nil
	}
	families, err := parseMetrics(r.Body)
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

// Sums gives metrics over all their series, 0 for what is not there.
func (a Asker) Sums(ctx context.Context, path string, metrics ...string) []float64 {
	out := make([]float64, len(metrics))
	r := a.get(ctx, path, metricsCap)
	if r.Err != nil || r.Status != http.StatusOK {
		return out
	}
	families, err := parseMetrics(r.Body)
	if err != nil {
		return out
	}
	for i, name := range metrics {
		out[i], _, _ = Series{name}.sum(families)
	}
	return out
}

// String is an answer in words, for a person: "503: Loading model".
func (r Answer) String() string {
	switch {
	case errors.Is(r.Err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(r.Err, syscall.ECONNRESET), errors.Is(r.Err, io.EOF):
		return "connection accepted and closed without an answer"
	case isTimeout(r.Err):
		return "no answer in time"
	case r.Err != nil:
		return r.access.Hide(r.Err.Error())
	case len(r.Body) == 0:
		return fmt.Sprint(r.Status)
	}
	return fmt.Sprintf("%d: %s", r.Status, FirstLine(r.access.Hide(messageOf(r.Body))))
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
		return string(body)
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
	return string(body)
}

// FirstLine shortens a text to one line that fits an error.
func FirstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300]) + "…"
	}
	return strings.TrimSpace(s)
}
