package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/fault"
	"assay/plan"
	"assay/probes"
	"assay/report"
	"assay/result"
	"assay/runner/metrics"
	"assay/store"
)

// fixture is a server on a real store with a controller that does to the store what the daemon does.
type fixture struct {
	*Server
	t      *testing.T
	http   *httptest.Server
	ctl    *controller
	client *http.Client
	log    *lockedBuffer
}

func newFixture(t *testing.T, change ...func(*Deps)) *fixture {
	t.Helper()
	st, err := store.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	log := &lockedBuffer{}
	ctl := &controller{store: st, subs: map[chan result.Event]bool{}}
	d := Deps{
		Store: st, Controller: ctl, Now: ctl.now,
		Program: probes.Program{Version: "0.1.0", Commit: "abc1234", Go: "go1.26"},
		Log:     slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Report:  ctl.report, CheckNode: ctl.checkNode,
		Archive: func(_ context.Context, id string, w io.Writer) error {
			_, err := fmt.Fprintf(w, "archive of %s", id)
			return err
		},
	}
	for _, f := range change {
		f(&d)
	}
	f := &fixture{Server: New(d), t: t, ctl: ctl, log: log}
	f.http = httptest.NewUnstartedServer(nil)
	f.http.Config = f.NewHTTPServer("")
	f.http.Start()
	t.Cleanup(f.http.Close)
	t.Cleanup(f.stop)
	f.client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return f
}

// answer is a response that was read whole.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// problem decodes the body as a problem document and checks what holds for each.
func (a answer) problem(t *testing.T) Problem {
	t.Helper()
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Fatalf("content type %q, want a problem document; body: %s", got, a.body)
	}
	p := decode[Problem](t, a.body)
	if p.Status != a.status || p.Layer == "" || p.Code == "" || p.Text == "" || p.Type != "about:blank" || p.Title == "" {
		t.Errorf("incomplete problem with status %d: %s", a.status, a.body)
	}
	return p
}

func decode[T any](t *testing.T, b []byte) T {
	t.Helper()
	var v T
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("decode %T: %v\n%s", v, err, b)
	}
	return v
}

// do calls the server; headers come as pairs.
func (f *fixture) do(method, path, body string, headers ...string) answer {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), method, f.http.URL+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := f.client.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, b}
}

// controller stands for the daemon.
type controller struct {
	store *store.Store
	mu    sync.Mutex
	seq   int64
	ticks int64
	past  []result.Event
	subs  map[chan result.Event]bool
	asked int // for events, in all
	probe int // times probed
	sut   probes.SUT
	fail  error // what Probe answers
}

// now is a clock that moves one millisecond at each look.
func (c *controller) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ticks++
	return time.Date(2026, 11, 30, 23, 1, 25, 0, time.UTC).Add(time.Duration(c.ticks) * time.Millisecond)
}

func (c *controller) Submit(ctx context.Context, p plan.Plan, s Submission) (store.Run, error) {
	now := c.now()
	run := store.Run{
		ID: store.NewRunID(now), Name: p.Name, Plan: p.Canonical(), PlanSHA256: p.Hash(), Source: "api", Key: s.Key,
		CreatedUS: now.UnixMicro(), Points: len(p.Points()),
	}
	err := c.store.CreateRun(ctx, run)
	if errors.Is(err, store.ErrExists) {
		return c.store.RunByKey(ctx, s.Key)
	}
	if err != nil {
		return store.Run{}, err
	}
	c.publish(result.Event{Run: run.ID, Kind: result.RunQueued, State: result.Queued})
	return c.store.Run(ctx, run.ID)
}

func (c *controller) Change(ctx context.Context, id string, to Change) error {
	if to == Resume {
		return c.store.MoveRun(ctx, id, result.Queued, store.RunChange{AtUS: c.now().UnixMicro(), Resume: true})
	}
	return c.store.MoveRun(ctx, id, result.Canceled, store.RunChange{AtUS: c.now().UnixMicro()})
}

// checkNode finds the machine as it was, and takes it as it is when it is told to.
func (c *controller) checkNode(ctx context.Context, accept bool) (result.Node, error) {
	n, err := c.store.Node(ctx)
	if accept {
		n.State, n.Marks = result.NodeReady, []result.Mark{}
		err = errors.Join(err, c.store.PutNode(ctx, n))
	}
	return n, err
}

func (c *controller) publish(e result.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq++
	e.Seq, e.AtUS = c.seq, 1796079685000000+c.seq
	c.past = append(c.past, e)
	for ch := range c.subs {
		ch <- e
	}
}

func (c *controller) Events(ctx context.Context, seq int64, _ string) (<-chan result.Event, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := make(chan result.Event, 1024)
	for _, e := range c.past {
		if seq > 0 && e.Seq > seq {
			ch <- e
		}
	}
	c.subs[ch] = true
	c.asked++
	context.AfterFunc(ctx, func() { c.cut(ch) })
	return ch, nil
}

// cut ends a subscription, as the daemon does with a reader that is too slow.
func (c *controller) cut(ch chan result.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.subs[ch] {
		delete(c.subs, ch)
		close(ch)
	}
}

// cutAll ends every subscription.
func (c *controller) cutAll() {
	c.mu.Lock()
	all := make([]chan result.Event, 0, len(c.subs))
	for ch := range c.subs {
		all = append(all, ch)
	}
	c.mu.Unlock()
	for _, ch := range all {
		c.cut(ch)
	}
}

// awaitSubscribers waits for who listens now, or listened ever: a subscription begins a moment after its page, and ends one after its stream.
func (f *fixture) awaitSubscribers(what string, is func(now, ever int) bool) {
	f.t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for now, ever := f.ctl.subscribers(); !is(now, ever); now, ever = f.ctl.subscribers() {
		select {
		case <-deadline:
			f.t.Fatalf("no %s: %d subscribers now, %d ever", what, now, ever)
		case <-tick.C:
		}
	}
}

// subscribers counts who listens, and who ever did.
func (c *controller) subscribers() (now, ever int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.subs), c.asked
}

func (c *controller) Probe(context.Context) (probes.SUT, []probes.Check, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.probe++
	if c.fail != nil {
		return probes.SUT{}, nil, c.fail
	}
	sut := c.sut
	sut.Schema, sut.ProbedAtUS = probes.SchemaSUT, int64(c.probe)
	return sut, []probes.Check{{ID: "idle", State: probes.CheckOK, Text: "no other process uses an accelerator", Evidence: []string{"0 processes"}}}, nil
}

func (c *controller) Reschedule(ctx context.Context) error {
	all, err := c.store.Schedules(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.Enabled && strings.Contains(s.Cron, "never") {
			return fault.New(fault.Plan, "bad_cron", "write five fields", "%q is not a schedule", s.Cron)
		}
	}
	return nil
}

func (c *controller) report(ctx context.Context, id string) (report.Input, error) {
	raw, err := c.store.ResultBytes(ctx, id)
	if err != nil {
		return report.Input{}, err
	}
	r, err := result.Decode(raw)
	return report.Input{Result: r, Raw: raw}, err
}

// samplePlan is a valid plan of two points.
const samplePlan = `apiVersion: assay/v1
name: sample
model: {name: tiny}
server: {engine: openai, runtime: endpoint, url: "http://127.0.0.1:9"}
workload: {kind: synthetic, input_len: 32, sampling: {max_tokens: 16}}
protocol: {sweep: {concurrency: [1, 2], requests: 4}}
`

// queueRun adds a run as the daemon would.
func (f *fixture) queueRun() store.Run {
	f.t.Helper()
	p, err := plan.Parse([]byte(samplePlan))
	if err != nil {
		f.t.Fatal(err)
	}
	run, err := f.ctl.Submit(f.t.Context(), p, Submission{})
	if err != nil {
		f.t.Fatal(err)
	}
	return run
}

// move brings a run to a state.
func (f *fixture) move(id string, to result.State) {
	f.t.Helper()
	change := store.RunChange{AtUS: f.ctl.now().UnixMicro()}
	if to == result.Done {
		change.Verdict = result.Valid
	}
	if err := f.Store.MoveRun(f.t.Context(), id, to, change); err != nil {
		f.t.Fatal(err)
	}
}

// endedRun adds a run with two points, files and a result.
func (f *fixture) endedRun() store.Run {
	f.t.Helper()
	run := f.queueRun()
	f.move(run.ID, result.Running)
	f.putPoint(run.ID, 0, 1, 91.25)
	f.putPoint(run.ID, 1, 2, 180.5)
	f.write(run.ID, "server.log", "one\ntwo\nthree\n")
	f.write(run.ID, "router.log", "alpha\nbeta")
	f.write(run.ID, "points/c1.rec", "\x00\x01binary")
	return f.complete(run.ID)
}

// complete moves a running run to done and writes its result.
func (f *fixture) complete(id string) store.Run {
	f.t.Helper()
	f.move(id, result.Done)
	run, err := f.Store.Run(f.t.Context(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	points, err := f.Store.Points(f.t.Context(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	doc := result.Result{
		Schema: result.Schema, Plan: run.Plan, Points: points,
		Run: result.Run{
			ID: id, Name: run.Name, State: result.Done, Verdict: result.Valid, PlanSHA256: run.PlanSHA256,
			CreatedUS: run.CreatedUS, StartedUS: run.StartedUS, EndedUS: run.EndedUS,
		},
	}
	if _, err := f.Store.SaveResult(f.t.Context(), id, doc); err != nil {
		f.t.Fatal(err)
	}
	return run
}

func (f *fixture) putPoint(run string, index, concurrency int, tps float64) result.Point {
	f.t.Helper()
	perUser := tps / float64(concurrency)
	p := result.Point{
		ID: fmt.Sprintf("c%d", concurrency), Phase: "sweep", Concurrency: &concurrency, State: result.PointValid, Reasons: []result.Reason{},
		Metrics: &metrics.Summary{
			RequestsIssued: 4, RequestsCompleted: 4, Outcomes: map[string]int{"ok": 4}, DurationS: 1, SystemTPS: &tps, TPSPerUser: &perUser,
			TTFTMS: &metrics.Distribution{P50: 41.5, P90: 60.25, N: 4}, TPOTMS: &metrics.Distribution{P50: 10.5, N: 4},
		},
	}
	if err := f.Store.PutPoint(f.t.Context(), run, index, p); err != nil {
		f.t.Fatal(err)
	}
	return p
}

// write puts a file into a run's folder.
func (f *fixture) write(run, name, text string) {
	f.t.Helper()
	path := filepath.Join(f.Store.RunDir(run), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// lockedBuffer collects the log of many goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// frame is one server-sent event or comment.
type frame struct {
	id      string
	event   result.Event
	comment string
}

// follow opens an event stream; the function it gives reads the next frame, io.EOF at the end.
func (f *fixture) follow(path string, headers ...string) func() (frame, error) {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), http.MethodGet, f.http.URL+path, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := f.client.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { res.Body.Close() })
	if got := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || got != "text/event-stream" {
		f.t.Fatalf("GET %s: %d %s", path, res.StatusCode, got)
	}
	lines := bufio.NewReader(res.Body)
	return func() (frame, error) { return readFrame(f.t, lines) }
}

func readFrame(t *testing.T, lines *bufio.Reader) (frame, error) {
	t.Helper()
	var fr frame
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return fr, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "":
			if line == "\n" {
				return fr, nil
			}
			fr.comment = value
		case "id":
			fr.id = value
		case "data":
			fr.event = decode[result.Event](t, []byte(value))
		default:
			t.Fatalf("unexpected line in the stream: %q", line)
		}
	}
}
