package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"assay/fault"
	"assay/plan"
	"assay/runner/length"
	"assay/runner/metrics"
	"assay/runner/record"
	"assay/sim"
)

// counting is a simulated engine that counts as real ones do, a word in several tokens and a chat template around each message.
type counting struct {
	engine    http.Handler
	untold    bool // it has no /tokenize
	tokenizes atomic.Int64
	token     string // that /tokenize saw
}

func newCounting(t *testing.T) *counting {
	t.Helper()
	return &counting{engine: sim.New(sim.Config{Model: "m", TokenBytes: 5, TemplateTokens: 3, ContextLen: 32768, KVTokens: 1 << 20}).Handler()}
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/tokenize" {
		c.tokenizes.Add(1)
		c.token = r.Header.Get("Authorization")
		if c.untold {
			http.NotFound(w, r)
			return
		}
	}
	c.engine.ServeHTTP(w, r)
}

// serve listens on a Unix socket, behind which a token is wanted.
func (c *counting) serve(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: c}}
	s.Start()
	t.Cleanup(s.Close)
	return "unix://" + path
}

func put(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func prose() string {
	return strings.Repeat("It was a wet spring in the valley, and nobody remembered another one; extraordinarily heavy clouds came every afternoon.\n", 400)
}

func questions() string {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, `{"id":"q%d","conversations":[{"from":"human","value":"Why is number %d of all the questions so remarkably short?"},{"from":"gpt","value":"It is not."}]}`+"\n", i, i)
	}
	return b.String()
}

// workload is synthetic unless data of a kind is given.
func workload(kind, path string, tokens int) plan.Workload {
	w := plan.Workload{Kind: kind, InputLen: plan.Length(tokens), Lengths: "tokens", Sampling: plan.Sampling{MaxTokens: 2, IgnoreEOS: true}}
	w.Dataset.Path = path
	return w
}

// TestPromptsHaveTheirLength: whatever the kind of data and the endpoint, the server counts what was asked for, and the measurement says how
// that came about.
func TestPromptsHaveTheirLength(t *testing.T) {
	text, talks := put(t, "book.txt", prose()), put(t, "talks.json", questions())
	trace := put(t, "t.jsonl", `{"timestamp":0,"input_length":700,"output_length":3,"hash_ids":[1,2]}
{"timestamp":5,"input_length":90,"output_length":3}
`)
	for name, c := range map[string]struct {
		endpoint string
		untold   bool
		way      string
	}{
		"chat": {"chat", false, length.ByTokenizer}, "completions": {"completions", false, length.ByIDs}, "no tokenizer": {"chat", true, length.ByUsage},
	} {
		t.Run(name, func(t *testing.T) {
			e := newCounting(t)
			e.untold = c.untold
			url := e.serve(t)
			for _, w := range []plan.Workload{workload("synthetic", "", 40), workload("synthetic", "", 600), workload("text", text, 200), workload("sharegpt", talks, 128), workload("trace", trace, 0)} {
				p := plan.Plan{Server: plan.Server{Endpoint: c.endpoint}, Workload: w, Protocol: plan.Protocol{Sweep: &plan.Sweep{Requests: 6}}}
				j := job(t, url, p, plan.Point{ID: "c2", Phase: "sweep", Concurrency: 2})
				j.Access.Token, j.Dataset = "k", w.Dataset.Path
				m, rec := run(t, j)
				for _, r := range rec.Requests {
					want := int64(w.InputLen)
					if w.Kind == "trace" {
						want = map[bool]int64{true: 700, false: 90}[r.InputTokens > 300]
					}
					if !r.Warmup && (r.Outcome != record.OK || r.InputTokens != want) {
						t.Errorf("%s of %d: request %d is %s, %d tokens", w.Kind, w.InputLen, r.Index, r.Outcome, r.InputTokens)
					}
				}
				if l := m.Lengths; l.Way != c.way || l.Checked < 6 || l.Off > 0 || l.Worst != 0 || !slices.ContainsFunc(m.Notes, func(n string) bool { return strings.HasPrefix(n, "prompts have their length") }) {
					t.Errorf("%s: %+v, %q", w.Kind, l, m.Notes)
				}
			}
			if e.token != "Bearer k" {
				t.Errorf("/tokenize saw %q", e.token)
			}
		})
	}
}

// TestLaterPointsAskNoMore: what one point found out serves the others, and the prompts it cut are not cut again.
func TestLaterPointsAskNoMore(t *testing.T) {
	e := newCounting(t)
	s := httptest.NewServer(e)
	defer s.Close()
	text := put(t, "book.txt", prose())
	var known Prepared
	var first []string
	for i, id := range []string{"c1", "c2"} {
		before := e.tokenizes.Load()
		p := plan.Plan{Workload: workload("text", text, 100), Protocol: plan.Protocol{Sweep: &plan.Sweep{Requests: 4}}}
		j := job(t, s.URL, p, plan.Point{ID: id, Phase: "sweep", Concurrency: 1})
		j.Dataset, j.Prepared = text, &known
		m, rec := run(t, j)
		probes := 0
		for _, r := range rec.Requests {
			if r.Warmup {
				probes++
			}
		}
		if asked := e.tokenizes.Load() - before; (asked > 0) != (i == 0) || (probes > 1) != (i == 0) || m.Lengths.Off > 0 || len(m.Dataset) != 64 {
			t.Errorf("%s: %d texts tokenized, %d probes, %+v", id, asked, probes, m.Lengths)
		}
		first = append(first, rec.Requests[len(rec.Requests)-1].Session)
	}
	if first[0] != first[1] {
		t.Errorf("the points have other prompts: %q", first)
	}
}

// TestSharedPrompts: of three prompts in rotation each is computed once, and the prefix cache serves every other use.
func TestSharedPrompts(t *testing.T) {
	e := newCounting(t)
	s := httptest.NewServer(e)
	defer s.Close()
	w := workload("synthetic", "", 320)
	w.SharedPrompts, w.Salt = 3, "run"
	p := plan.Plan{Workload: w, Protocol: plan.Protocol{Sweep: &plan.Sweep{Requests: 12}}}
	m, rec := run(t, job(t, s.URL, p, plan.Point{ID: "c1", Phase: "sweep", Concurrency: 1}))
	cold := 0
	for _, r := range rec.Requests {
		if !r.Warmup && r.CachedTokens < 300 {
			cold++
		}
	}
	if cold != 3 || m.Lengths.Off > 0 {
		t.Errorf("%d of 12 prompts were computed, 3 are different; %+v", cold, m.Lengths)
	}
}

// TestOtherLengthsAreNotValid: a server whose count changes after it was asked gives a reason.
func TestOtherLengthsAreNotValid(t *testing.T) {
	var bodies atomic.Int64
	inner := newCounting(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/tokenize" && r.Header.Get("X-Session-ID") != "probe" {
			bodies.Add(1)
			w.Header().Set("Content-Type", "text/event-stream")
			usage, _ := json.Marshal(map[string]any{"choices": []any{}, "usage": map[string]int{"prompt_tokens": 500, "completion_tokens": 1}})
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: %s\n\ndata: [DONE]\n\n", usage)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	defer s.Close()
	p := plan.Plan{Workload: workload("synthetic", "", 100), Protocol: plan.Protocol{Sweep: &plan.Sweep{Requests: 5}}}
	point := plan.Point{ID: "c1", Phase: "sweep", Concurrency: 1}
	m, _ := run(t, job(t, s.URL, p, point))
	if l := m.Lengths; l.Far != l.Checked || l.Checked < 5 || l.Worst != 4 {
		t.Errorf("%+v", l)
	}
	if f := inputLength(point, metrics.Summary{}, m); f == nil || !f.fatal || f.Code != "input_length" {
		t.Errorf("%+v", f)
	}
	m.Lengths.Way = length.ByWords
	if f := inputLength(point, metrics.Summary{}, m); f == nil || f.fatal {
		t.Errorf("in words: %+v", f)
	}
}

// TestTokenizerGoesAway: a server that stops telling while texts are cut is measured with words, and the result says so.
func TestTokenizerGoesAway(t *testing.T) {
	inner := newCounting(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if r.URL.Path == "/tokenize" && bytes.Contains(body, []byte("wet spring")) || err != nil {
			http.Error(w, "overloaded", http.StatusServiceUnavailable)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		inner.ServeHTTP(w, r)
	}))
	defer s.Close()
	text := put(t, "book.txt", prose())
	p := plan.Plan{Workload: workload("text", text, 100), Protocol: plan.Protocol{Sweep: &plan.Sweep{Requests: 2}}}
	j := job(t, s.URL, p, plan.Point{ID: "c1", Phase: "sweep", Concurrency: 1})
	j.Dataset = text
	m, _ := run(t, j)
	if m.Lengths.Way != length.ByWords || m.Lengths.Checked < 2 || !strings.Contains(strings.Join(m.Notes, "\n"), "503 Service Unavailable") {
		t.Errorf("%+v %q", m.Lengths, m.Notes)
	}
}

// TestLengthsThatCannotBe: a prompt shorter than template and salt is refused before anything is measured.
func TestLengthsThatCannotBe(t *testing.T) {
	s := httptest.NewServer(newCounting(t))
	defer s.Close()
	p := plan.Plan{Workload: workload("synthetic", "", 5), Protocol: plan.Protocol{Sweep: &plan.Sweep{Requests: 2}}}
	j := job(t, s.URL, p, plan.Point{ID: "c1", Phase: "sweep", Concurrency: 1})
	_, err := native{}.Run(t.Context(), j, func(Progress) {})
	if f := fault.Of(err, fault.Client); err == nil || f.Code != "preflight.input_length" || !strings.Contains(f.Hint, "--input-len ") || !strings.HasPrefix(f.Text, "no prompt can have 5 tokens: ") {
		t.Errorf("%v", err)
	}
}

func TestPromptsNeeded(t *testing.T) {
	sweep := func(s plan.Sweep) plan.Protocol { return plan.Protocol{Sweep: &s} }
	for _, c := range []struct {
		protocol plan.Protocol
		point    plan.Point
		tokens   int
		want     int
	}{
		{sweep(plan.Sweep{Requests: 100, Warmup: plan.Warmup{Requests: 10}}), plan.Point{Concurrency: 8}, 512, 126},
		{sweep(plan.Sweep{Duration: 1}), plan.Point{Concurrency: 8}, 512, 512},
		{sweep(plan.Sweep{Duration: 1}), plan.Point{Concurrency: 4000}, 512, mostGuessed},
		{plan.Protocol{Serve: &plan.Serve{Requests: 32400}}, plan.Point{Rate: 140}, 512, 32400},
		{plan.Protocol{Serve: &plan.Serve{Requests: 32400}}, plan.Point{Rate: 140}, 8192, 2048},
		{plan.Protocol{Serve: &plan.Serve{Duration: plan.Duration(10e9)}}, plan.Point{Rate: 100}, 512, 1051},
		{plan.Protocol{Matrix: &plan.Matrix{}}, plan.Point{Phase: plan.PhaseDecode}, 8192, 1},
		{plan.Protocol{Matrix: &plan.Matrix{PrefillRepeats: 5}}, plan.Point{Phase: plan.PhasePrefill}, 8192, 6},
		{plan.Protocol{Matrix: &plan.Matrix{}}, plan.Point{Phase: plan.PhasePrefill}, 1 << 27, 1},
	} {
		if got := promptsNeeded(Job{Plan: plan.Plan{Protocol: c.protocol}, Point: c.point}, c.tokens); got != c.want {
			t.Errorf("%+v: %d, want %d", c, got, c.want)
		}
	}
}

// TestNobodyWaitsForAHash: a run that is stopped while its data is hashed ends there, and nothing of the point is begun.
func TestNobodyWaitsForAHash(t *testing.T) {
	data := put(t, "a.txt", "one two three four")
	for _, lengths := range []string{"words", "tokens"} {
		p := plan.Plan{Workload: plan.Workload{Kind: "text", InputLen: 2, Lengths: lengths}, Protocol: plan.Protocol{Sweep: &plan.Sweep{Requests: 1}}}
		j := job(t, "http://127.0.0.1:1", p, plan.Point{ID: "c1", Phase: plan.PhaseSweep, Concurrency: 1})
		j.Dataset = data
		stopped := errors.New("stopped")
		ctx, stop := context.WithCancelCause(t.Context())
		stop(stopped)
		_, err := native{}.Run(ctx, j, func(Progress) {})
		if _, begun := os.Stat(filepath.Join(j.Dir, Folder)); !errors.Is(err, stopped) || !errors.Is(begun, fs.ErrNotExist) {
			t.Errorf("%s: %v; recordings: %v", lengths, err, begun)
		}
	}
}
