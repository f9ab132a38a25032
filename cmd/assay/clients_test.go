package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/result"
	"assay/runner/dataset"
	"assay/runner/metrics"
	"assay/sim"
)

var writeClients = flag.Bool("update-clients", false, "write what the heavy test of other clients measured into docs/clients.md")

// otherClient is a real client, and what its plan says.
type otherClient struct {
	name     string
	program  []string // below the folder of clients
	kind     string
	workload string
	protocol string
}

const (
	heavyTokens = 32 // of an answer, in heavyWords
	heavyWords  = `{kind: synthetic, input_len: 64, lengths: words, sampling: {max_tokens: 32}}`
	heavySweep  = `{sweep: {concurrency: 16, requests: 320}}`
	heavyMatrix = `{matrix: {contexts: 1k, concurrency: 4, duration: 10s, prefill_duration: 4s, max_tokens: 200}}`
)

func otherClients() []otherClient {
	return []otherClient{
		{"assay", nil, "native", heavyWords, heavySweep},
		{"inference-endpoint", []string{"mlperf/bin/inference-endpoint"}, "mlperf-endpoints", heavyWords, heavySweep},
		{"vllm bench serve", []string{"venv/bin/vllm"}, "vllm-bench", heavyWords, heavySweep},
		{"AIPerf", []string{"aiperf/bin/aiperf"}, "aiperf", heavyWords, heavySweep},
		{"GuideLLM", []string{"guidellm/bin/guidellm"}, "guidellm", heavyWords, heavySweep},
		{"assay, matrix", nil, "native", `{kind: synthetic, lengths: words, sampling: {ignore_eos: true}}`, heavyMatrix},
		{"llm-inference-bench", []string{"llm-bench/bin/python", "llm-bench/llm_decode_bench.py"}, "llm-inference-bench", `{kind: synthetic, sampling: {ignore_eos: true}}`, heavyMatrix},
	}
}

// TestHeavyClients has the real clients measure the simulated engine, one after another, each with a new engine of the same seed. What the engine
// did in the same run stands beside what each client says.
func TestHeavyClients(t *testing.T) {
	dir := os.Getenv("ASSAY_CLIENTS")
	if dir == "" {
		t.Skip("ASSAY_CLIENTS names no folder with other clients: `make test-heavy` gets them (3 GB) and runs this test")
	}
	var rows []string
	for _, c := range otherClients() {
		t.Run(c.name, func(t *testing.T) {
			for _, file := range c.program {
				if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
					rows = append(rows, fmt.Sprintf("| %s | not run | | | | | | | | |", c.name))
					t.Skip(err)
				}
			}
			rows = append(rows, c.measure(t, dir))
		})
	}
	table := strings.Join(rows, "\n") + "\n"
	t.Log("\n" + table)
	if *writeClients {
		replaceIn(t, filepath.Join("..", "..", "docs", "clients.md"), "<!-- measured -->\n", "<!-- end measured -->\n", table)
	}
}

func (c otherClient) measure(t *testing.T, dir string) string {
	cfg := sim.Default()
	cfg.StepBase, cfg.StepPerSeq = 20*time.Millisecond, 0
	engine := sim.New(cfg)
	srv := httptest.NewServer(engine.Handler())
	t.Cleanup(srv.Close)
	p := newProgram(t)
	plan := writePlan(t, fmt.Sprintf("apiVersion: assay/v1\nname: clients\nmodel: {name: sim}\nserver: {engine: sim, runtime: endpoint, url: %q}\nworkload: %s\nprotocol: %s\nclient: %s\ntelemetry: {interval: 100ms}\n",
		srv.URL, c.workload, c.protocol, c.client(dir)))
	before := childrenCPU(t)
	doc := p.run("run", plan, "--json").result(t)
	spent := childrenCPU(t) - before
	if doc.Run.State != result.Done {
		t.Fatalf("%s: %v", doc.Run.State, doc.Run.Error)
	}
	return c.row(t, doc, doc.Points[len(doc.Points)-1], engine.Truth(), spent)
}

// client is the plan's section of that name, of a client in dir.
func (c otherClient) client(dir string) string {
	if len(c.program) == 0 {
		return "{kind: " + c.kind + "}"
	}
	var command []string
	for _, file := range c.program {
		command = append(command, fmt.Sprintf("%q", filepath.Join(dir, file)))
	}
	return fmt.Sprintf("{kind: %s, command: [%s], tokenizer: %q}", c.kind, strings.Join(command, ", "), filepath.Join(dir, "tiny"))
}

// childrenCPU is the processors' time of all programs that were started here and have ended.
func childrenCPU(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// row tells of a client, and in brackets of what the engine did in the same run.
func (c otherClient) row(t *testing.T, doc result.Result, p result.Point, truth []sim.Truth, spent time.Duration) string {
	t.Helper()
	name, says := c.name, []string{}
	if c.kind != "native" {
		name += " " + cmp.Or(doc.Identity.Client.Version, "of an unknown version")
	}
	for _, r := range p.Reasons {
		says = append(says, "`"+r.Code+"`")
	}
	if p.MLPerf == nil {
		figures := map[string]float64{}
		if p.Metrics != nil {
			figures["tok/s"] = *p.Metrics.SystemTPS
		}
		if p.Imported != nil {
			for _, f := range p.Imported.Figures {
				figures[f.Name] = f.Value
			}
			figures["tok/s"] = figures["aggregate_tps"]
		}
		if figures["tok/s"] <= 0 {
			t.Errorf("no tokens: %v", figures)
		}
		return fmt.Sprintf("| %s, %s | – | – | – | – | – | %.0f | – | %.1f | %s |", name, p.ID, figures["tok/s"], spent.Seconds(), cmp.Or(strings.Join(says, ", "), "–"))
	}
	m, truly := p.MLPerf, truthOf(truth, *p.Window)
	if m.RequestsCompleted < 320 || m.RequestsFailed != 0 {
		t.Errorf("%d completed, %d failed", m.RequestsCompleted, m.RequestsFailed)
	}
	if err := truly.allows(m); err != nil {
		t.Errorf("%v: %+v, true %+v", err, m, truly)
	}
	return fmt.Sprintf("| %s | %d | %.1f (%.1f) | %.1f (%.1f) | %.1f (%.1f) | %.2f (%.2f) | %.0f (%.0f) | %.2f | %.1f | %s |", name, m.RequestsCompleted,
		m.TTFTMS.Mean, truly.ttftMean, m.TTFTMS.P50, truly.ttft50, m.TTFTMS.P99, truly.ttft99, m.TPOTMS.Mean, truly.tpot, *p.Metrics.SystemTPS, truly.tps, truly.held, spent.Seconds(), cmp.Or(strings.Join(says, ", "), "–"))
}

// engineTruth is what the engine did: times of all requests in milliseconds, tokens a second and requests in flight inside the window.
type engineTruth struct{ ttftMean, ttft50, ttft99, tpot, e2eMean, tps, held float64 }

// allows holds a client's figures against the engine's, however busy the machine is: a client begins before the engine has the request and sees a
// token after it was sent, and what it was late by at a reply's first and last token is all by which its TPOT may be off.
func (e engineTruth) allows(m *metrics.Summary) error {
	const gaps, rounding = heavyTokens - 1, 0.02
	if m.TTFTMS == nil || m.TPOTMS == nil || m.E2EMS == nil {
		return errors.New("times are missing")
	}
	late, later := m.TTFTMS.Mean-e.ttftMean, m.E2EMS.Mean-e.e2eMean
	if late < -rounding*e.ttftMean || later < -rounding*e.e2eMean {
		return fmt.Errorf("tokens were seen before they were sent: TTFT %.1f ms early, the end %.1f ms", -late, -later)
	}
	if least, most := (1-rounding)*e.tpot-late/gaps, (1+rounding)*e.tpot+later/gaps; m.TPOTMS.Mean < least || m.TPOTMS.Mean > most {
		return fmt.Errorf("a TPOT of %.2f ms, which can be %.2f to %.2f", m.TPOTMS.Mean, least, most)
	}
	return nil
}

func truthOf(all []sim.Truth, w result.Window) engineTruth {
	var ttfts []float64
	var out engineTruth
	tokens := 0
	for _, q := range all {
		n := len(q.Events)
		if n < 2 || q.OutputTokens < heavyTokens { // the probe for a first token before the load
			continue
		}
		ttft := float64(q.Events[0].AtUS-q.ArrivedUS) / 1000
		ttfts = append(ttfts, ttft)
		out.ttftMean += ttft
		out.e2eMean += float64(q.Events[n-1].AtUS-q.ArrivedUS) / 1000
		out.tpot += float64(q.Events[n-1].AtUS-q.Events[0].AtUS) / 1000 / float64(q.OutputTokens-1)
		out.held += float64(max(0, min(q.EndedUS, w.EndedUS)-max(q.ArrivedUS, w.StartedUS)))
		for _, e := range q.Events {
			if e.AtUS >= w.StartedUS && e.AtUS < w.EndedUS {
				tokens += e.Tokens
			}
		}
	}
	slices.Sort(ttfts)
	n := len(ttfts)
	out.ttftMean, out.tpot, out.e2eMean = out.ttftMean/float64(n), out.tpot/float64(n), out.e2eMean/float64(n)
	out.ttft50, out.ttft99 = ttfts[n/2], ttfts[n*99/100]
	out.held, out.tps = out.held/(w.DurationS*1e6), float64(tokens)/w.DurationS
	return out
}

// TestHeavyClientsAgentic has inference-endpoint replay conversations, the only other client that can. Some rows of the data have a limit, which it
// sends as 48.0.
func TestHeavyClientsAgentic(t *testing.T) {
	dir := os.Getenv("ASSAY_CLIENTS")
	client := otherClients()[1]
	if _, err := os.Stat(filepath.Join(dir, client.program[0])); dir == "" || err != nil {
		t.Skip("ASSAY_CLIENTS names no folder with inference-endpoint: `make test-heavy` gets it and runs this test")
	}
	const talks, planned = 6, 64
	data, limits, turns := agenticData(t, talks)
	cfg := sim.Default()
	cfg.StepBase, cfg.StepPerSeq = 5*time.Millisecond, 0
	engine := sim.New(cfg)
	srv := httptest.NewServer(engine.Handler())
	t.Cleanup(srv.Close)
	p := newProgram(t)
	doc := p.must(exitValid, "run", "--json", writePlan(t, fmt.Sprintf(`apiVersion: assay/v1
name: agentic
model: {name: sim}
server: {engine: sim, runtime: endpoint, url: %q}
workload: {kind: agentic, dataset: {path: %q}, salt: session, tool_delay: true, sampling: {max_tokens: %d}}
protocol: {sweep: {concurrency: 2, trajectories: %d}}
client: %s
`, srv.URL, data, planned, talks, client.client(dir)))).result(t)

	var asked, tokens int
	sessions := map[string]bool{}
	for _, q := range engine.Truth() {
		if q.Session == "" { // the probe for a first token before the load
			continue
		}
		most := planned
		if !sessions[q.Session] { // of the first turn alone the data has a limit
			most = limits[q.Session]
		}
		asked, tokens, sessions[q.Session] = asked+1, tokens+q.OutputTokens, true
		if q.Status != 200 || most == 0 || q.OutputTokens > most {
			t.Errorf("%s: status %d, %d tokens, at most %d: %s", q.Session, q.Status, q.OutputTokens, most, q.End)
		}
	}
	at := doc.Points[0]
	t.Logf("%d turns of %d conversations, %d tokens", asked, len(sessions), tokens)
	if asked != turns || len(sessions) != talks || at.Recording.Requests != turns || at.MLPerf.RequestsFailed != 0 {
		t.Errorf("%d turns of %d conversations reached the engine, %d are recorded, want %d of %d; %d failed", asked, len(sessions), at.Recording.Requests, turns, talks, at.MLPerf.RequestsFailed)
	}
	if told := at.MLPerf.OutputTokens; told == nil || int(*told) != tokens || at.Engine == nil || int(at.Engine.GenerationTokens) != tokens {
		t.Errorf("%d tokens, told as %+v, %+v", tokens, at.MLPerf, at.Engine)
	}
	p.must(exitValid, "report", "last", "--format", "html", "--out", filepath.Join(t.TempDir(), "report.html"))
	p.verified()
}

// agenticData writes the first conversations of those that ship with the program to a file, gives each one's limit of tokens, and counts their turns.
func agenticData(t *testing.T, talks int) (file string, limits map[string]int, turns int) {
	t.Helper()
	all, err := dataset.Builtin("agentic-small")
	if err != nil {
		t.Fatal(err)
	}
	var kept []byte
	limits = map[string]int{}
	for line := range bytes.Lines(all) {
		var row struct {
			ID   string `json:"conversation_id"`
			Role string `json:"role"`
			Most int    `json:"max_completion_tokens"` // of the first row, for all turns
		}
		decodeJSON(t, string(line), &row)
		if row.ID == "" { // what the file says of itself
			continue
		}
		if limits[row.ID] == 0 && len(limits) == talks {
			break
		}
		limits[row.ID] = max(limits[row.ID], row.Most)
		kept = append(kept, line...)
		if row.Role != "assistant" {
			turns++
		}
	}
	file = filepath.Join(t.TempDir(), "talks.jsonl")
	if err := os.WriteFile(file, kept, 0o644); err != nil {
		t.Fatal(err)
	}
	return file, limits, turns
}

// replaceIn writes text between two marks of a page; what stands before the first row of the table stays.
func replaceIn(t *testing.T, name, begin, end, text string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), begin)
	_, after, also := strings.Cut(rest, end)
	if !ok || !also {
		t.Fatalf("%s has no place for the table", name)
	}
	const head = "| client | requests | TTFT mean ms | p50 | p99 | TPOT mean ms | tok/s | in flight of 16 | CPU s | the import says |\n|---|---|---|---|---|---|---|---|---|---|\n"
	if err := os.WriteFile(name, []byte(before+begin+head+text+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
