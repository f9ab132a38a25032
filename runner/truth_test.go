package runner_test

import (
	"cmp"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"assay/plan"
	"assay/runner"
	"assay/runner/metrics"
	"assay/runner/record"
	"assay/sim"
)

// stampSlackUS is how far a stamp may be from the server's readings: the kernel stamps what comes over the loopback inside the
// server's write, so what is left is the reading of the offset between the real-time and the monotonic clock, and rounding. It does not
// grow with the load of the machine.
const stampSlackUS = 15

// measured is one point, measured by the native client against a simulated engine.
type measured struct {
	cfg     sim.Config
	plan    plan.Plan
	point   plan.Point
	m       runner.Measurement
	rec     record.Recording
	reading runner.Reading
	sights  []sight
	engine  *sim.Server
	quiet   *quiet
	wire    *wire
	slack   float64 // µs between the clocks
}

// quiet knows when connections fell idle or were closed: what ends an answer was written before.
type quiet struct {
	mu sync.Mutex
	at map[string][]time.Time // by the client's end
}

func (q *quiet) note(conn net.Conn, state http.ConnState) {
	if state == http.StateIdle || state == http.StateClosed || state == http.StateHijacked {
		q.mu.Lock()
		defer q.mu.Unlock()
		remote := conn.RemoteAddr().String()
		q.at[remote] = append(q.at[remote], time.Now())
	}
}

// after is the first instant after us, UTC, at which the connection fell idle or was closed; a second later when it never did.
func (q *quiet) after(remote string, us int64) int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, t := range q.at[remote] {
		if t.UnixMicro() >= us {
			return t.UnixMicro()
		}
	}
	return us + 1_000_000
}

// measure measures a point of p.
func measure(t testing.TB, cfg sim.Config, p plan.Plan, point plan.Point) measured {
	t.Helper()
	drift := clockDrift()
	engine := sim.New(cfg)
	idle := &quiet{at: map[string][]time.Time{}}
	server := httptest.NewUnstartedServer(engine.Handler())
	server.Listener.Close()
	wire := listen(t)
	server.Listener, server.Config.ConnState = wire, idle.note
	server.Start()
	p.Server.Engine = "sim"
	p.Workload.Lengths = "words"
	if p.Client.Drain == 0 {
		p.Client.Drain = plan.Duration(20 * time.Second)
	}
	client, err := runner.ClientNamed("native")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	m, err := client.Run(t.Context(), runner.Job{Run: "truth", Plan: p, Point: point, BaseURLs: []string{server.URL}, Model: "sim", Dir: dir}, func(runner.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	server.Close() // returns when every request has ended there too
	path := filepath.Join(dir, m.File.Path)
	rec, err := record.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Header.StampSource != "kernel" {
		t.Skip("the kernel gives no receive stamps here")
	}
	reading, err := runner.PassOf(p, point, m.Window, m.Issue).File(path)
	if err != nil {
		t.Fatal(err)
	}
	out := measured{cfg: cfg, plan: p, point: point, m: m, rec: rec, reading: reading, engine: engine, quiet: idle, wire: wire}
	out.slack = float64(stampSlackUS + drift())
	out.join(t, out.slack)
	return out
}

// clockDrift gives a function that says by how many microseconds the system's clock moved against the monotonic one since: the zeros of
// the two sides' clocks were read at different instants.
func clockDrift() func() int64 {
	start := time.Now()
	return func() int64 {
		now := time.Now()
		return now.Sub(start).Microseconds() - now.Round(0).Sub(start.Round(0)).Microseconds()
	}
}

// join makes pairs of what both sides saw.
func (d *measured) join(t testing.TB, slack float64) {
	t.Helper()
	byID := map[string]sim.Truth{}
	statuses := map[int]int{} // of the answers that had no id
	for _, truth := range d.engine.Truth() {
		if truth.Status == http.StatusOK {
			byID[truth.ID] = truth
		} else {
			statuses[truth.Status]++
		}
	}
	requests := slices.Clone(d.rec.Requests)
	slices.SortStableFunc(requests, func(a, b record.Request) int { return cmp.Compare(len(b.ID), len(a.ID)) }) // those without an id last
	for _, r := range requests {
		if r.Outcome == record.HTTPStatus {
			statuses[r.Status]--
			d.sights = append(d.sights, sight{client: r, epoch: d.rec.Header.EpochUS, answer: -1})
			continue
		}
		truth, ok := byID[idOf(r, byID)]
		if !ok {
			t.Errorf("request %d (%s, id %q) is not in the server's log, or is there once and came twice", r.Index, r.Outcome, r.ID)
			continue
		}
		delete(byID, truth.ID)
		d.sights = append(d.sights, d.sightOf(r, truth, slack))
	}
	for id, truth := range byID {
		t.Errorf("the server served %s (%s), and the client has no record of it", id, truth.End)
	}
	for status, n := range statuses {
		if n != 0 {
			t.Errorf("status %d: the server sent %d more than the client saw", status, n)
		}
	}
}

// idOf is the id of a request in the server's log. One that was cut off before anything came has none of its own and is known by its
// session.
func idOf(r record.Request, log map[string]sim.Truth) string {
	if r.ID != "" {
		return r.ID
	}
	for id, truth := range log {
		if truth.Session == r.Session && truth.End == "gone" {
			return id
		}
	}
	return ""
}

// sightOf puts a request's stamps beside the server's. The kernel puts one stamp on all that waits together: that of the last of it. So
// the stamp of an event is the time of its own write or, when the client was late, of a later one of its stream.
func (d *measured) sightOf(r record.Request, truth sim.Truth, slack float64) sight {
	s := sight{client: r, server: truth, epoch: d.rec.Header.EpochUS, answer: -1}
	before := 0
	for i := range min(len(r.Events), len(truth.Events)) {
		e := truth.Events[i]
		s.events = append(s.events, sent{span: d.write(r, truth, i, slack), at: r.Events[i].AtUS, n: int64(e.Tokens)})
		if s.answer < 0 && truth.OutputTokens > d.hidden() && (truth.Path != "/v1/chat/completions" || before >= d.cfg.Reasoning) {
			s.answer = i
		}
		before += e.Tokens
	}
	for i := range s.events {
		e := &s.events[i]
		for m := i + 1; m < len(truth.Events) && float64(e.at) > e.hi; m++ {
			later := d.write(r, truth, m, slack)
			if e.nowhere = float64(e.at) < later.lo; e.nowhere {
				break
			}
			e.hi, e.late = later.hi, true
		}
	}
	return s
}

// hidden is how many tokens of a reply are never sent.
func (d *measured) hidden() int {
	for _, f := range d.cfg.Faults {
		if f.Kind == sim.Hidden {
			return f.Amount
		}
	}
	return 0
}

// write is when event i was written, on the client's clock; what ends the stream can come in one read with the last event.
func (d *measured) write(r record.Request, truth sim.Truth, i int, slack float64) span {
	e, epoch := truth.Events[i], d.rec.Header.EpochUS
	after := e.AfterUS
	if i+1 == len(truth.Events) && i < len(r.Events) {
		after = d.endOf(r, truth, epoch+r.Events[i].AtUS-int64(slack))
	}
	return span{float64(e.AtUS-epoch) - slack, float64(after-epoch) + slack + d.queued()}
}

// queued is how long bytes may wait in the server's kernel, µs. Many small segments and long lines wait for the client's acknowledgements
// before they are sent, so that the client sees them later than they were written; a plain event never does. A comment that comes in one
// read with an event gives it its stamp.
func (d *measured) queued() float64 {
	for _, f := range d.cfg.Faults {
		if f.Kind == sim.Pieces || f.Kind == sim.MidCharacter || f.Kind == sim.LongLine || f.Kind == sim.Ping {
			return 60e6
		}
	}
	return 0
}

// endOf is when the server had written what followed the last event, as far as the client read it with that.
func (d *measured) endOf(r record.Request, truth sim.Truth, stamp int64) int64 {
	if r.Outcome == record.OK && stamp <= truth.EndedUS {
		return truth.EndedUS
	}
	return d.quiet.after(truth.Remote, truth.EndedUS)
}

// check holds each request against the server's log: counts are equal, instants lie between the server's.
func (s sight) check(t *testing.T) {
	t.Helper()
	r, truth := s.client, s.server
	if truth.ID == "" { // turned away with a status
		return
	}
	want := outcomes(truth.End)
	if r.Outcome == record.Censored && want == record.OK {
		want = record.Censored // the server had sent it all when the client cut it off
	}
	if r.Outcome != want || r.Status != truth.Status {
		t.Errorf("request %d ended with %s and status %d; by the server %s and %d", r.Index, r.Outcome, r.Status, truth.End, truth.Status)
	}
	if r.Session != "probe" && r.Session != truth.Session {
		t.Errorf("request %d: session %q, the server saw %q", r.Index, r.Session, truth.Session)
	}
	if r.Outcome != record.Censored && len(r.Events) != len(truth.Events) || len(r.Events) > len(truth.Events) {
		t.Errorf("request %d: %d token events, the server sent %d", r.Index, len(r.Events), len(truth.Events))
	}
	for i, e := range s.events {
		if e.nowhere {
			t.Errorf("request %d, event %d: at %d the server wrote none of its events; it wrote this one between %.0f and %.0f", r.Index, i, e.at, e.lo, e.hi)
		}
		if r.Events[i].Tokens != e.n || float64(e.at) < e.lo || float64(e.at) > e.hi {
			t.Errorf("request %d, event %d: %d tokens at %d; the server sent %d between %.0f and %.0f", r.Index, i, r.Events[i].Tokens, e.at, e.n, e.lo, e.hi)
		}
	}
	if len(s.events) > 0 && (r.TokenSource != "usage" || r.FirstAnswer != s.answer || r.InputTokens != int64(truth.InputTokens) || r.CachedTokens != int64(truth.CachedTokens)) {
		t.Errorf("request %d: %s, answer from event %d, %d tokens in, %d cached; by the server from %d, %d and %d",
			r.Index, r.TokenSource, r.FirstAnswer, r.InputTokens, r.CachedTokens, s.answer, truth.InputTokens, truth.CachedTokens)
	}
	if r.Outcome != record.OK {
		return
	}
	if r.OutputTokens != int64(truth.OutputTokens) || r.FinishReason != truth.End {
		t.Errorf("request %d: %d tokens out, %q; by the server %d, %q", r.Index, r.OutputTokens, r.FinishReason, truth.OutputTokens, truth.End)
	}
	if at := s.atServer(truth.HeadersUS); r.FirstByteUS < at-stampSlackUS {
		t.Errorf("request %d: first byte at %d, sent at %d", r.Index, r.FirstByteUS, at)
	}
	if n := len(s.events); n > 0 && float64(r.DoneUS) < s.events[n-1].lo {
		t.Errorf("request %d: done at %d, the server wrote its last event at %.0f", r.Index, r.DoneUS, s.events[n-1].lo)
	}
}

// check holds all requests against the log. Where stamps are of later events the client says so, as events that share one; but for the few
// whose later event has a stamp of yet another.
func (d *measured) check(t *testing.T) {
	t.Helper()
	events, unsaid := 0, 0
	for _, s := range d.sights {
		s.check(t)
		for _, e := range s.events {
			events++
			if e.late && s.client.SharedReads == 0 {
				unsaid++
			}
		}
	}
	if unsaid > max(2, events/100) {
		t.Errorf("%d of %d events have the stamp of a later one, and the client does not say so", unsaid, events)
	}
}

// outcomes is what the client must make of an end.
func outcomes(end string) record.Outcome {
	switch end {
	case "stop", "length":
		return record.OK
	case "gone":
		return record.Censored
	case string(sim.Abort):
		return record.Aborted
	case string(sim.Reset):
		return record.Reset
	case string(sim.ErrorFrame), string(sim.ErrorObject), string(sim.ErrorText), string(sim.ErrorEvent):
		return record.ErrorFrame
	case string(sim.Truncate), string(sim.Cut):
		return record.Truncated
	}
	return record.Outcome("unknown: " + end)
}

// figures holds every summary of the point against the reference.
func (d *measured) figures(t *testing.T) {
	t.Helper()
	shape := runner.ShapeOf(d.plan, d.point)
	for over, got := range map[string]*metrics.Summary{overWindow: &d.reading.Metrics, overInside: d.reading.Inside, overIssue: d.reading.MLPerf, overCell: d.reading.Cell} {
		if got == nil {
			continue
		}
		f := reference{over: over, window: d.m.Window, shape: shape, outcomes: map[string]span{}}
		if over == overIssue {
			f.window = d.m.Issue
		}
		for _, s := range d.sights {
			f.add(s)
		}
		compare(t, over, *got, f.figures())
	}
}

// counters holds the engine's own counters against the sum of the requests.
func (d *measured) counters(t *testing.T) {
	t.Helper()
	var in, out, cached, unseen int64
	for _, s := range d.sights {
		in, cached, out = in+int64(s.server.InputTokens), cached+int64(s.server.CachedTokens), out+int64(s.server.OutputTokens)
		if s.client.Outcome == record.Censored && s.server.OutputTokens == 0 {
			unseen += int64(s.server.InputTokens) // it may have left before the engine took it up
		}
	}
	told := scrape(t, d.engine)
	if n := told["vllm:prompt_tokens_total"]; n > in || n < in-unseen || told["vllm:prefix_cache_hits_total"] < cached || unseen == 0 && told["vllm:prefix_cache_hits_total"] != cached {
		t.Errorf("the engine counted %d prompt tokens, %d of them cached; the requests had %d, %d", n, told["vllm:prefix_cache_hits_total"], in, cached)
	}
	// Of what was cut off it may have made more than was sent.
	if made := told["vllm:generation_tokens_total"]; made < out || d.reading.Unfinished == 0 && made != out {
		t.Errorf("the engine counted %d tokens made, %d were sent", made, out)
	}
	if told["vllm:num_requests_running"]+told["vllm:num_requests_waiting"] != 0 {
		t.Errorf("the engine has %d running and %d waiting requests left", told["vllm:num_requests_running"], told["vllm:num_requests_waiting"])
	}
}

// gaps holds the intended instants of an open loop at equal gaps against its rate.
func (d *measured) gaps(t *testing.T) {
	t.Helper()
	if d.plan.Protocol.Serve == nil || d.plan.Protocol.Serve.Arrival != "constant" {
		return
	}
	var intended []int64
	for _, r := range d.rec.Requests {
		if r.Session != "probe" {
			intended = append(intended, r.IntendedUS)
		}
	}
	slices.Sort(intended)
	for i, at := range intended {
		if want := intended[0] + int64(float64(i)*1e6/d.point.Rate); at < want-2 || at > want+2 {
			t.Errorf("request %d was meant for %d, at a rate of %v it is %d", i, at, d.point.Rate, want)
		}
	}
}

// scrape reads the engine's metrics, summed over its ranks.
func scrape(t *testing.T, s *sim.Server) map[string]int64 {
	t.Helper()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	sum := map[string]int64{}
	for name, f := range families {
		for _, m := range f.Metric {
			sum[name] += int64(m.GetCounter().GetValue() + m.GetGauge().GetValue())
		}
	}
	return sum
}

// quick is an engine with steps of a few milliseconds.
func quick() sim.Config {
	return sim.Config{StepBase: 3 * time.Millisecond, StepPerSeq: 200 * time.Microsecond, Prefill: 20 * time.Microsecond}
}

// TestTruth measures points of every protocol and holds each figure that a result has against the server's log.
func TestTruth(t *testing.T) {
	sweep := plan.Plan{
		Workload: plan.Workload{Kind: "synthetic", InputLen: 40, Sampling: plan.Sampling{MaxTokens: 13, IgnoreEOS: true}},
		Protocol: plan.Protocol{Sweep: &plan.Sweep{Requests: 30, Warmup: plan.Warmup{Requests: 4}}},
	}
	natural := sweep
	natural.Workload.Sampling = plan.Sampling{MaxTokens: 60}
	agentic := sweep
	agentic.Workload.Kind, agentic.Workload.Dataset = "agentic", plan.Dataset{Builtin: "agentic-small"}
	text := sweep
	text.Server.Endpoint = "completions"
	serve := sweep
	serve.Protocol = plan.Protocol{Serve: &plan.Serve{Arrival: "poisson", Requests: 60, MaxConcurrency: 6, DecodeNodes: 2,
		Window: plan.Cut{Warmup: plan.Duration(100 * time.Millisecond), Cooldown: plan.Duration(100 * time.Millisecond)}}}
	constant := serve
	steady := *serve.Protocol.Serve
	steady.Arrival = "constant"
	constant.Protocol.Serve = &steady
	matrix := sweep
	matrix.Protocol = plan.Protocol{Matrix: &plan.Matrix{Duration: plan.Duration(400 * time.Millisecond), PrefillDuration: plan.Duration(200 * time.Millisecond),
		Stable: plan.Duration(20 * time.Millisecond), MaxTokens: 30}}
	c4 := plan.Point{ID: "c4", Phase: plan.PhaseSweep, Concurrency: 4}
	r100 := plan.Point{ID: "r100", Phase: plan.PhaseServe, Rate: 100}
	for _, c := range []struct {
		name   string
		change func(*sim.Config)
		plan   plan.Plan
		point  plan.Point
	}{
		{"sweep", func(*sim.Config) {}, sweep, c4},
		{"natural lengths", func(c *sim.Config) { c.OutputMean = 16 }, natural, c4},
		{"completions", func(*sim.Config) {}, text, c4},
		{"several tokens an event", func(c *sim.Config) { c.ChunkTokens = 4 }, sweep, c4},
		{"several tokens in the first event", func(c *sim.Config) { c.Faults = []sim.Fault{{Kind: sim.Bundle, Amount: 5}} }, sweep, c4},
		{"hidden tokens", func(c *sim.Config) { c.Faults = []sim.Fault{{Kind: sim.Hidden, Amount: 4}} }, sweep, c4},
		{"speculative decoding", func(c *sim.Config) { c.Drafts, c.Acceptance = 4, 0.7 }, sweep, c4},
		{"reasoning", func(c *sim.Config) { c.Reasoning = 5 }, sweep, c4},
		{"reasoning under another name", func(c *sim.Config) { c.Reasoning, c.ReasoningField = 5, "reasoning" }, sweep, c4},
		{"a tokenizer", func(c *sim.Config) { c.TokenBytes, c.TemplateTokens = 4, 3 }, sweep, c4},
		{"prefix cache", func(c *sim.Config) { c.BlockTokens = 8 }, agentic, c4},
		{"no prefix cache", func(c *sim.Config) { c.NoCache = true }, agentic, c4},
		{"queue", func(c *sim.Config) { c.MaxRunning = 2 }, sweep, c4},
		{"preemption", func(c *sim.Config) { c.KVTokens, c.ContextLen, c.BlockTokens, c.NoCache = 128, 128, 4, true }, sweep, c4},
		{"data-parallel ranks", func(c *sim.Config) { c.Ranks = 2 }, sweep, c4},
		{"faults", func(c *sim.Config) {
			c.Faults = []sim.Fault{{Kind: sim.ErrorFrame, AtToken: 3, Every: 7}, {Kind: sim.Cut, AtToken: 2, Every: 9}, {Kind: sim.Reset, AtToken: 5, Every: 11}, {Kind: sim.Reject, Every: 13}}
		}, sweep, c4},
		{"serve", func(*sim.Config) {}, serve, r100},
		{"serve at equal gaps", func(*sim.Config) {}, constant, r100},
		{"serve above capacity", func(c *sim.Config) { c.MaxRunning = 2 }, serve, r100},
		{"prefill", func(*sim.Config) {}, matrix, plan.Point{ID: "prefill-300", Phase: plan.PhasePrefill, Concurrency: 1, Context: 300}},
		{"decode", func(c *sim.Config) { c.BlockTokens = 4 }, matrix, plan.Point{ID: "decode-60x3", Phase: plan.PhaseDecode, Concurrency: 3, Context: 60}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := quick()
			c.change(&cfg)
			d := measure(t, cfg, c.plan, c.point)
			d.check(t)
			d.figures(t)
			d.counters(t)
			d.gaps(t)
			d.sending(t)
			asserted := d.medians(t)
			if d.reading.Metrics.RequestsIssued == 0 && d.reading.Cell == nil || len(d.sights) == 0 {
				t.Errorf("nothing was measured: %+v", d.reading.Metrics)
			}
			t.Logf("%d requests, %d events; half of the stamps are known to %.0f µs; medians held: %v", len(d.sights), d.reading.Counts.Events, d.width(), asserted)
		})
	}
}

// TestTruthOfOddStreams: streams that are odd and good are measured as exactly as plain ones, one fault of the engine after another.
func TestTruthOfOddStreams(t *testing.T) {
	p := plan.Plan{
		Workload: plan.Workload{Kind: "synthetic", InputLen: 20, Sampling: plan.Sampling{MaxTokens: 8, IgnoreEOS: true}},
		Protocol: plan.Protocol{Sweep: &plan.Sweep{Requests: 8}},
	}
	for _, text := range []string{
		"cr", "crlf+tight+mark", "comments+fields+lines", "cr+lines+comments+pieces", "pieces=7", "mid_character", "long_line@3=2000000",
		"no_choices+no_done", "tool_calls", "empty_delta@2", "role_alone", "role_alone:5ms", "headers_late", "usage_late:5ms",
		"stall@4:20ms", "ping@4:20ms", "close_idle:1ms",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			cfg := quick()
			for part := range strings.SplitSeq(text, "+") {
				f, err := sim.ParseFault(part)
				if err != nil {
					t.Fatal(err)
				}
				cfg.Faults = append(cfg.Faults, f)
			}
			d := measure(t, cfg, p, plan.Point{ID: "c2", Phase: plan.PhaseSweep, Concurrency: 2})
			d.check(t)
			for _, s := range d.sights {
				if s.client.Outcome != record.OK {
					t.Errorf("request %d: %s (%s)", s.client.Index, s.client.Outcome, s.client.Error)
				}
			}
			d.figures(t)
			d.counters(t)
			d.sending(t)
		})
	}
}

// width is the median length of the intervals that the stamps were held against, µs.
func (d *measured) width() float64 {
	var widths []float64
	for _, s := range d.sights {
		for _, e := range s.events {
			widths = append(widths, e.hi-e.lo)
		}
	}
	slices.Sort(widths)
	return widths[len(widths)/2]
}
