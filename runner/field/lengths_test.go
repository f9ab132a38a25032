package field

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"assay/plan"
	"assay/runner/record"
	"assay/sim"
)

// Prompts of so many tokens: what is asked for them and when, and their salts.

// asked is a request to a server with a tokenizer.
type asked struct {
	path, session string
	body          map[string]any
}

// asks logs all requests to a simulated engine that counts as real ones do, a word in several tokens and a chat template around each message.
type asks struct {
	engine http.Handler
	untold bool // it has no /tokenize

	mu  sync.Mutex
	all []asked // in order of arrival
}

func (l *asks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	a := asked{path: r.URL.Path, session: r.Header.Get("X-Session-ID")}
	if err != nil || len(raw) > 0 && json.Unmarshal(raw, &a.body) != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	l.mu.Lock()
	l.all = append(l.all, a)
	l.mu.Unlock()
	if l.untold && a.path == "/tokenize" {
		http.NotFound(w, r)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	l.engine.ServeHTTP(w, r)
}

// wanted is how long prompts are to be, in tokens.
const wanted = 200

// counted runs six requests of so many tokens over two slots.
func counted(t *testing.T, l *asks, edits ...edit) measured {
	t.Helper()
	l.engine = sim.New(sim.Config{Model: "m", TokenBytes: 5, TemplateTokens: 3, ContextLen: 32768, KVTokens: 1 << 20}).Handler()
	server := httptest.NewServer(l)
	t.Cleanup(server.Close)
	s := newServer(t, nil)
	s.url = server.URL
	return sweep(t, s, 2, 6, append([]edit{func(j *job) {
		j.Plan.Server.Engine, j.Plan.Workload.Lengths, j.Plan.Workload.InputLen = "sim", "tokens", wanted
		j.Plan.Workload.Sampling = plan.Sampling{MaxTokens: 4, IgnoreEOS: true}
	}}, edits...)...)
}

// load gives the requests from the first of the load on, and those before it.
func (l *asks) load() (before, during []asked) {
	for i, a := range l.all {
		if a.path != "/tokenize" && a.session != "probe" {
			return l.all[:i], l.all[i:]
		}
	}
	return l.all, nil
}

// Tokenizing while a load runs, or after it, disturbed it or took hours → prompts of so many tokens are made before: by the server's tokenizer
// or by the usage of some requests. From the first request of the load on nothing is asked but completions.
func TestField_mlperfPR350_LengthsAreMadeBeforeTheLoad(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("It was a wet spring in the valley, and nobody remembered another one like it.\n", 400)
	for name, c := range map[string]struct {
		untold bool
		edits  []edit
	}{
		"chat": {}, "completions": {false, []edit{completions}}, "no tokenizer": {untold: true}, "text": {false, []edit{file(t, "text", text)}},
	} {
		l := &asks{untold: c.untold}
		for _, r := range counted(t, l, c.edits...).all {
			if r.Outcome != record.OK || r.InputTokens != wanted {
				t.Errorf("%s: %s %q, %d tokens in of %d", name, r.Outcome, r.Error, r.InputTokens, wanted)
			}
		}
		before, during := l.load()
		tokenized := 0
		for _, a := range before {
			if a.path == "/tokenize" {
				tokenized++
			}
		}
		for _, a := range during {
			if !strings.HasSuffix(a.path, "/completions") || a.session == "probe" {
				t.Errorf("%s: while the load ran %s was asked, in session %q", name, a.path, a.session)
			}
		}
		if tokenized == 0 || len(during) < 6 {
			t.Errorf("%s: %d times tokenized before the load, %d requests from then on", name, tokenized, len(during))
		}
	}
}

// A salt that found no prompt in some shapes of a request left them unsalted, silently → every shape has it at its front: the prompts of
// one seed begin in no run as they did in another, and without a salt they do.
func TestField_mlperfPR406_EveryShapeIsSalted(t *testing.T) {
	t.Parallel()
	words := func(j *job) { j.Plan.Workload.Lengths, j.Plan.Workload.InputLen = "words", 40 }
	for name, e := range map[string][]edit{
		"chat":        {words},
		"completions": {words, completions},
		"system":      {words, func(j *job) { j.Plan.Workload.System = "Be brief." }},
		"messages":    {words, file(t, "jsonl", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`+"\n")},
		"tokens":      {},
		"ids":         {completions},
	} {
		for _, salt := range []string{"run", "none"} {
			fronts, all := map[string]int{}, 0
			for _, run := range []string{"first", "second"} {
				l := &asks{}
				counted(t, l, append([]edit{func(j *job) { j.Run, j.Plan.Workload.Salt, j.Point.Concurrency = run, salt, 1 }}, e...)...)
				_, during := l.load()
				for _, a := range during {
					fronts[a.front(t, name)]++
				}
				all += len(during)
			}
			if salted := len(fronts) == all; salted != (salt == "run") || salt == "none" && len(fronts) > all/2 {
				t.Errorf("%s, salt %s: %d requests of two runs have %d beginnings: %v", name, salt, all, len(fronts), fronts)
			}
		}
	}
}

// front is the beginning of what a request asks.
func (a asked) front(t *testing.T, shape string) string {
	t.Helper()
	switch p := a.body["prompt"].(type) {
	case []any:
		if shape != "ids" {
			t.Errorf("%s: ids were sent", shape)
		}
		return fmt.Sprint(p[:16])
	case string:
		return beginning(p)
	}
	list, _ := a.body["messages"].([]any)
	text, _ := list[0].(map[string]any)["content"].(string)
	return beginning(text)
}

// beginning is as much as a cache would take to know a prompt again.
func beginning(s string) string { return s[:min(60, len(s))] }
