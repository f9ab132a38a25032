package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"assay/plan"
	"assay/runner/metrics"
	"assay/runner/record"
)

// engine is a small server with vLLM's stream: role chunk, tokens with continuous usage, final usage, [DONE].
type engine struct {
	mu       sync.Mutex
	requests []map[string]any
	sessions []string
	tokens   int
	inFlight int
	peak     int
	gap      time.Duration
	refuse   string // a body field that gets 400
}

func (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	options, _ := body["stream_options"].(map[string]any)
	e.mu.Lock()
	e.requests = append(e.requests, body)
	e.sessions = append(e.sessions, r.Header.Get("X-Session-ID"))
	e.inFlight++
	e.peak = max(e.peak, e.inFlight)
	e.mu.Unlock()
	defer func() { e.mu.Lock(); e.inFlight--; e.mu.Unlock() }()
	if e.refuse != "" && (body[e.refuse] != nil || options[e.refuse] != nil) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"message":"unknown field %s","code":400}}`, e.refuse)
		return
	}
	n := int(body["max_tokens"].(float64))
	w.Header().Set("Content-Type", "text/event-stream")
	usage := func(n int) string {
		return fmt.Sprintf(`"usage":{"prompt_tokens":7,"completion_tokens":%d,"prompt_tokens_details":{"cached_tokens":3}}`, n)
	}
	each := func(int) string { return `"usage":null` }
	if options["continuous_usage_stats"] == true {
		each = usage
	}
	say := func(data string) {
		fmt.Fprintf(w, "data: %s\n\n", data)
		w.(http.Flusher).Flush()
	}
	say(`{"id":"cmpl-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],` + each(0) + `}`)
	for i := range n {
		if e.gap > 0 && i > 0 {
			<-time.After(e.gap)
		}
		finish := "null"
		if i == n-1 {
			finish = `"length"`
		}
		say(fmt.Sprintf(`{"id":"cmpl-1","choices":[{"index":0,"delta":{"content":" t%d"},"finish_reason":%s}],%s}`, i, finish, each(i+1)))
	}
	say(`{"id":"cmpl-1","choices":[],` + usage(n) + `}`)
	say("[DONE]")
	e.mu.Lock()
	e.tokens += n
	e.mu.Unlock()
}

func job(t *testing.T, url string, p plan.Plan, point plan.Point) Job {
	t.Helper()
	if p.Workload.Kind == "" {
		p.Workload.Kind, p.Workload.InputLen = "synthetic", 16
	}
	if p.Workload.Sampling.MaxTokens == 0 {
		p.Workload.Sampling.MaxTokens = 5
	}
	if p.Server.Engine == "" {
		p.Server.Engine = "sim"
	}
	p.Client.Drain = plan.Duration(10 * time.Second)
	return Job{Run: "run1", Plan: p, Point: point, BaseURL: url, Model: "m", Dir: t.TempDir()}
}

func run(t *testing.T, j Job) (Measurement, record.Recording) {
	t.Helper()
	c, err := ClientNamed("native")
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.Run(t.Context(), j, func(Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := record.Read(filepath.Join(j.Dir, m.File.Path))
	if err != nil {
		t.Fatal(err)
	}
	return m, rec
}

func TestSweepPoint(t *testing.T) {
	e := &engine{gap: time.Millisecond}
	s := httptest.NewServer(e)
	defer s.Close()
	p := plan.Plan{Protocol: plan.Protocol{Sweep: &plan.Sweep{Requests: 20}}}
	point := plan.Point{ID: "c4", Phase: "sweep", Concurrency: 4}
	m, rec := run(t, job(t, s.URL, p, point))
	sum := metrics.Summarise(rec, m.Window, metrics.Shape{Concurrency: 4})
	if len(rec.Requests) != 21 || sum.RequestsIssued != 20 || len(e.requests) != 21 {
		t.Errorf("%d recorded, %d issued, the server saw %d; want 20 and the probe", len(rec.Requests), sum.RequestsIssued, len(e.requests))
	}
	if e.peak != 4 {
		t.Errorf("%d in flight at most, want 4", e.peak)
	}
	var out int64
	for _, r := range rec.Requests {
		out += r.OutputTokens
		if r.Session == "probe" {
			continue
		}
		if r.Outcome != record.OK || r.InputTokens != 7 || r.CachedTokens != 3 || len(r.Events) != 5 || r.FirstAnswer != 0 {
			t.Errorf("%+v", r)
		}
	}
	if out != int64(e.tokens) || m.Client.TokenSource != "usage" || rec.Header.TokenSource != "usage" {
		t.Errorf("%d tokens of source %q, the server sent %d", out, m.Client.TokenSource, e.tokens)
	}
	if state, reasons := Verdict(point, sum, m); state != Valid {
		t.Errorf("%s: %+v", state, reasons)
	}
}

func TestCancelRecords(t *testing.T) {
	s := httptest.NewServer(&engine{gap: time.Hour})
	defer s.CloseClientConnections()
	j := job(t, s.URL, plan.Plan{Protocol: plan.Protocol{Sweep: &plan.Sweep{Requests: 20}}}, plan.Point{ID: "c4", Phase: "sweep", Concurrency: 4})
	ctx, cancel := context.WithCancel(t.Context())
	m, err := native{}.Run(ctx, j, func(p Progress) {
		if p.InFlight == 4 {
			cancel()
		}
	})
	if err == nil {
		t.Error("a cancelled point has no error")
	}
	rec, err := record.Read(filepath.Join(j.Dir, m.File.Path))
	if err != nil || len(rec.Requests) != 5 || rec.Requests[1].Outcome != record.Aborted || len(rec.Requests[1].Events) != 1 {
		t.Errorf("%d requests, %v", len(rec.Requests), err)
	}
}
