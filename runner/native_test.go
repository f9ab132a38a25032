package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/fault"
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
	fmt.Fprint(w, "data: [DONE]\n\n") // goes out with the end of the body: a client that waits for that in vain gives its connection up
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
	return Job{Run: "run1", Plan: p, Point: point, BaseURLs: []string{url}, Model: "m", Dir: t.TempDir()}
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
	e := &engine{gap: 10 * time.Millisecond}
	s := httptest.NewServer(e)
	defer s.Close()
	p := plan.Plan{Protocol: plan.Protocol{Sweep: &plan.Sweep{Requests: 20}}}
	point := plan.Point{ID: "c4", Phase: "sweep", Concurrency: 4}
	m, rec := run(t, job(t, s.URL, p, point))
	sum := metrics.Summarise(rec, m.Window, metrics.Shape{Concurrency: 4})
	early, busy, opening := 0, 0, false
	for _, r := range rec.Requests[1:] {
		if r.SentUS < m.Window.StartUS {
			early++
		}
		if r.SentUS <= m.Window.StartUS && r.DoneUS > m.Window.StartUS {
			busy++
		}
		opening = opening || r.SentUS == m.Window.StartUS
	}
	if sum.RequestsIssued != 20 || len(rec.Requests) != 21+early || len(e.requests) != 21+early {
		t.Errorf("%d recorded, %d issued, the server saw %d; want 20, the probe, and %d of before", len(rec.Requests), sum.RequestsIssued, len(e.requests), early)
	}
	if busy != 4 || !opening {
		t.Errorf("the window opened at %d with %d requests under way; one was sent at that instant: %t", m.Window.StartUS, busy, opening)
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
	state, reasons := Verdict(point, sum, m)
	passing := []string{"client_bound", "underfilled", "clock_step"} // which a busy or paused machine brings about
	bad := slices.ContainsFunc(reasons, func(r Reason) bool { return !slices.Contains(passing, r.Code) })
	if bad || state != Valid && len(reasons) == 0 {
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

// TestKilledPointKeepsWhatEnded reads the recording as a crash would leave it, while the point goes on.
func TestKilledPointKeepsWhatEnded(t *testing.T) {
	s := httptest.NewServer(&engine{gap: 50 * time.Millisecond})
	defer s.Close()
	j := job(t, s.URL, plan.Plan{Protocol: plan.Protocol{Sweep: &plan.Sweep{Duration: plan.Duration(time.Hour)}}}, plan.Point{ID: "c4", Phase: "sweep", Concurrency: 4})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	left := 0
	_, err := native{}.Run(ctx, j, func(Progress) {
		rec, err := record.Read(filepath.Join(j.Dir, Folder, j.Point.ID+".rec"+record.Suffix))
		if err == nil && rec.Torn && len(rec.Requests) > 4 {
			left = len(rec.Requests)
			cancel()
		}
	})
	if left == 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("a crash would leave %d requests: %v", left, err)
	}
}

func TestServePoint(t *testing.T) {
	e := &engine{gap: time.Millisecond}
	s := httptest.NewServer(e)
	defer s.Close()
	p := plan.Plan{Protocol: plan.Protocol{Serve: &plan.Serve{Arrival: "constant", Requests: 30, MaxConcurrency: 8, Window: plan.Cut{Warmup: plan.Duration(100 * time.Millisecond)}}}}
	point := plan.Point{ID: "r100", Phase: "serve", Rate: 100}
	m, rec := run(t, job(t, s.URL, p, point))
	sum := metrics.Summarise(rec, m.Window, metrics.Shape{})
	if len(rec.Requests) != 31 || sum.QueueMS == nil || e.peak > 8 || m.AtOnce != 8 || m.Window.EndUS-m.Window.StartUS != 200_000 {
		t.Errorf("%d recorded, %d at once, window %v", len(rec.Requests), e.peak, m.Window)
	}
}

func TestMatrixPoints(t *testing.T) {
	e := &engine{gap: 2 * time.Millisecond}
	s := httptest.NewServer(e)
	defer s.Close()
	p := plan.Plan{Protocol: plan.Protocol{Matrix: &plan.Matrix{Duration: plan.Duration(300 * time.Millisecond), PrefillDuration: plan.Duration(100 * time.Millisecond), MaxTokens: 40}}}
	point := plan.Point{ID: "prefill-64", Phase: "prefill", Concurrency: 1, Context: 64}
	m, rec := run(t, job(t, s.URL, p, point))
	sum := metrics.Summarise(rec, m.Window, metrics.Shape{Concurrency: 1, Prefill: true})
	if sum.PromptTPS == nil || sum.RequestsIssued == 0 || sum.RequestsIssued != sum.RequestsCompleted {
		t.Errorf("prefill: %d issued, %d completed", sum.RequestsIssued, sum.RequestsCompleted)
	}
	prompts := map[string]bool{}
	for _, r := range e.requests {
		if r["max_tokens"].(float64) != 1 {
			t.Errorf("max_tokens %v", r["max_tokens"])
		}
		prompts[fmt.Sprint(r["messages"])] = true
	}
	if len(prompts) != len(e.requests) {
		t.Errorf("%d prompts in %d requests: some could be cached", len(prompts), len(e.requests))
	}
	point = plan.Point{ID: "decode-64x3", Phase: "decode", Concurrency: 3, Context: 64}
	m, rec = run(t, job(t, s.URL, p, point))
	sum = metrics.Summarise(rec, m.Window, metrics.Shape{Concurrency: 3})
	tokens := rec.Count(m.Window.StartUS, m.Window.EndUS).Events // each brings one
	if m.Window.EndUS-m.Window.StartUS != 300_000 || sum.SystemTPS == nil || math.Abs(*sum.SystemTPS*0.3-float64(tokens)) > 0.01 || tokens == 0 {
		t.Errorf("decode: window %v with %d tokens, %v", m.Window, tokens, sum.SystemTPS)
	}
	for _, r := range rec.Requests {
		if r.Session != "probe" && len(r.Events) == 0 && r.SentUS < m.Window.StartUS {
			t.Errorf("the window opened at %d before request %d had a token", m.Window.StartUS, r.Index)
		}
	}
}

func TestRefusedFieldsAreDropped(t *testing.T) {
	for field, name := range map[string]string{"continuous_usage_stats": "stream_options.continuous_usage_stats", "min_tokens": "min_tokens"} {
		e := &engine{refuse: field}
		s := httptest.NewServer(e)
		p := plan.Plan{Server: plan.Server{Engine: "vllm"}, Protocol: plan.Protocol{Sweep: &plan.Sweep{Requests: 4}}}
		p.Workload.Sampling.IgnoreEOS = true
		m, rec := run(t, job(t, s.URL, p, plan.Point{ID: "c1", Phase: "sweep", Concurrency: 1}))
		s.Close()
		if len(m.Refused) != 1 || m.Refused[0].Field != name || m.Refused[0].Said == "" {
			t.Errorf("refused %q, want %s", m.Refused, name)
		}
		for _, r := range rec.Requests {
			if !r.Warmup && (r.Outcome != record.OK || (r.TokenSource == "usage") != (field == "min_tokens")) {
				t.Errorf("%s: %s %q", field, r.Outcome, r.TokenSource)
			}
		}
	}
}

func TestSaltsAndSessions(t *testing.T) {
	for _, salt := range []string{"run", "session", "none", "text: "} {
		e := &engine{}
		s := httptest.NewServer(e)
		p := plan.Plan{Protocol: plan.Protocol{Sweep: &plan.Sweep{Requests: 3}}}
		p.Workload.Salt = salt
		run(t, job(t, s.URL, p, plan.Point{ID: "c1", Phase: "sweep", Concurrency: 1}))
		s.Close()
		first := e.requests[1]["messages"].([]any)[0].(map[string]any)["content"].(string)
		plain := map[string]bool{"run": strings.HasPrefix(first, "1-"), "session": strings.HasPrefix(first, "[salt: 795e]\n\n[salt: "), "none": true, "text: ": strings.HasPrefix(first, "text: ")}
		if !plain[salt] {
			t.Errorf("salt %q: the prompt begins %.40q", salt, first)
		}
		if e.sessions[1] == "" || e.sessions[1] == e.sessions[2] {
			t.Errorf("sessions %q", e.sessions)
		}
	}
}

func TestReadOnlyFolder(t *testing.T) {
	j := job(t, "http://127.0.0.1:1", plan.Plan{Protocol: plan.Protocol{Sweep: &plan.Sweep{Requests: 1}}}, plan.Point{ID: "c1", Phase: "sweep", Concurrency: 1})
	j.Dir = filepath.Join(j.Dir, "file")
	if err := os.WriteFile(j.Dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := native{}.Run(t.Context(), j, func(Progress) {})
	if f := fault.Of(err, fault.Client); f == nil || f.Code != "store.recording" {
		t.Errorf("%v", err)
	}
}

func TestClientNamed(t *testing.T) {
	if _, err := ClientNamed("hammer"); fault.Of(err, fault.Client).Code != "plan.client_unknown" {
		t.Errorf("%v", err)
	}
	for _, c := range Clients() {
		if got, err := ClientNamed(c.Name()); err != nil || got.Name() != c.Name() {
			t.Errorf("%s: %v", c.Name(), err)
		}
	}
}

// TestDatasetIsClosed: after a point the file of its prompts is open no more.
func TestDatasetIsClosed(t *testing.T) {
	s := httptest.NewServer(&engine{})
	defer s.Close()
	p := plan.Plan{Workload: plan.Workload{Kind: "jsonl"}, Protocol: plan.Protocol{Sweep: &plan.Sweep{Requests: 2}}}
	j := job(t, s.URL, p, plan.Point{ID: "c1", Phase: "sweep", Concurrency: 1})
	j.Dataset = filepath.Join(j.Dir, "prompts.jsonl")
	if err := os.WriteFile(j.Dataset, []byte(`{"prompt": "hello"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, j)
	open, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(open) == 0 {
		t.Skip("this system does not list open files")
	}
	for _, fd := range open {
		if name, err := os.Readlink(fd); err == nil && name == j.Dataset {
			t.Errorf("%s is still open", name)
		}
	}
}
