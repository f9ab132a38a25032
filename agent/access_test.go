package agent

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"assay/containers"
	"assay/fault"
	"assay/result"
	"assay/sim"
)

// guarded is a simulated engine that wants a token and a header, and remembers what came.
type guarded struct {
	engine http.Handler
	token  string
	key    string // of X-Gate
	mu     sync.Mutex
	seen   []*http.Request
}

func newGuarded(cfg sim.Config) *guarded {
	return &guarded{engine: sim.New(cfg).Handler(), token: "sk-0123456789abcdef", key: "gate-0123456789"}
}

func (g *guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.seen = append(g.seen, r)
	g.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+g.token || r.Header.Get("X-Gate") != g.key {
		http.Error(w, "you sent "+r.Header.Get("Authorization")+" and "+r.Header.Get("X-Gate"), http.StatusUnauthorized)
		return
	}
	g.engine.ServeHTTP(w, r)
}

// completions are the requests for one that came.
func (g *guarded) completions() []*http.Request {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(g.seen), func(r *http.Request) bool { return !strings.HasSuffix(r.URL.Path, "/completions") })
}

// onSocket serves on a Unix socket and gives its base URL.
func onSocket(t *testing.T, h http.Handler) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "engine.sock"))
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h}
	t.Cleanup(func() { srv.Close() })
	go srv.Serve(l)
	return "unix://" + filepath.Join(dir, "engine.sock")
}

// secrets are what a plan for a guarded engine needs beside its server.
func variables(t *testing.T, a *Agent, g *guarded) []string {
	t.Helper()
	a.Token = func(name string) string { return map[string]string{"GATE_KEY": g.key}[name] }
	file := write(t, filepath.Join(t.TempDir(), "token"), g.token+"\n")
	return []string{"server.token_file=" + file, "client.headers={X-Lane: left}", "client.headers_env={X-Gate: GATE_KEY}", "client.routing_headers=[X-Route, X-Session-ID]"}
}

// TestEveryWayToAServer: over TLS, over a Unix socket and plainly, with the token of a file, headers of the plan and of the environment,
// and a proxy that must not be used.
func TestEveryWayToAServer(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	t.Setenv("ALL_PROXY", "http://127.0.0.1:1")
	for name, serve := range map[string]func(http.Handler) string{
		"kernel": func(h http.Handler) string {
			srv := httptest.NewServer(h)
			t.Cleanup(srv.Close)
			return srv.URL
		},
		"tls": func(h http.Handler) string {
			srv := httptest.NewTLSServer(h)
			t.Cleanup(srv.Close)
			return srv.URL + "/v1/chat/completions"
		},
		"socket": func(h http.Handler) string { return onSocket(t, h) },
	} {
		t.Run(name, func(t *testing.T) {
			a, g := newAgent(t), newGuarded(quickSim("sim"))
			more := append(variables(t, a, g), "protocol.sweep.concurrency=2", "workload.lengths=words")
			if name == "tls" {
				more = append(more, "client.insecure_tls=true")
			}
			r := execute(t, a, submit(t, a, sweepOf(t, atURL(serve(g)), more...)))
			if r.Run.State != result.Done || len(r.Points) != 1 {
				t.Fatalf("%s: %v", r.Run.State, r.Run.Error)
			}
			checkStates(t, r, "c2 valid")
			p := r.Points[0]
			if name != "kernel" && p.Client.StampSource != "user" {
				t.Errorf("stamps of %s are the %s's", name, p.Client.StampSource)
			}
			if p.Engine == nil || p.Engine.GenerationTokens != p.Engine.ClientTokens {
				t.Errorf("the engine was not counted along: %+v", p.Engine)
			}
			for _, q := range g.completions() {
				if q.Header.Get("X-Session-ID") != q.Header.Get("X-Route") || q.Header.Get("X-Lane") != "left" {
					t.Errorf("headers %v", q.Header)
				}
			}
			notTold(t, a, r, g.token, g.key)
		})
	}
}

// notTold looks for secrets in what a run keeps.
func notTold(t *testing.T, a *Agent, r result.Result, secrets ...string) {
	t.Helper()
	err := filepath.WalkDir(a.Store.RunDir(r.Run.ID), func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		for _, s := range secrets {
			if strings.Contains(string(b), s) {
				t.Errorf("%s holds %s", name, s)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	raw, err := a.Store.ResultBytes(t.Context(), r.Run.ID)
	for _, s := range secrets {
		if err != nil || strings.Contains(string(raw), s) {
			t.Errorf("the result holds %s, %v", s, err)
		}
	}
}

// TestSecretsThatAreRepeated: a server that says the secrets back, at its start and while it is measured, has them in no result.
func TestSecretsThatAreRepeated(t *testing.T) {
	a, g := newAgent(t), newGuarded(quickSim("sim"))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && len(g.completions()) > 3 {
			http.Error(w, "you sent "+r.Header.Get("Authorization")+" and "+r.Header.Get("X-Gate"), http.StatusTooManyRequests)
			return
		}
		g.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	r := execute(t, a, submit(t, a, sweepOf(t, atURL(srv.URL), append(variables(t, a, g), "protocol.sweep.concurrency=1")...)))
	notTold(t, a, r, g.token, g.key)
	a.Token = func(string) string { return "another-secret" }
	r = execute(t, a, submit(t, a, sweepOf(t, atURL(srv.URL), "server.token_env=TOKEN", "client.headers_env={X-Gate: GATE_KEY}")))
	if r.Run.Error == nil || r.Run.Error.Code != "server.unauthorized" || !strings.Contains(r.Run.Error.Text, fault.Hidden) || strings.Contains(r.Run.Error.Text, "another") {
		t.Errorf("%v", r.Run.Error)
	}
}

// TestACertificateIsChecked unless the plan says otherwise.
func TestACertificateIsChecked(t *testing.T) {
	a := newAgent(t)
	srv := httptest.NewTLSServer(sim.New(quickSim("sim")).Handler())
	t.Cleanup(srv.Close)
	r := execute(t, a, submit(t, a, sweepOf(t, atURL(srv.URL), "server.ready.timeout=1m")))
	if r.Run.Error == nil || !strings.Contains(r.Run.Error.Text, "certificate") {
		t.Errorf("%v", r.Run.Error)
	}
}

// TestServersShareALoad: three servers get a third each, the engines' counters are summed, and the result names each.
func TestServersShareALoad(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	var engines []*guarded
	var urls []string
	for i := range 3 {
		g := newGuarded(quickSim("sim"))
		engines = append(engines, g)
		if i == 2 {
			urls = append(urls, onSocket(t, g))
			continue
		}
		srv := httptest.NewServer(g)
		t.Cleanup(srv.Close)
		urls = append(urls, srv.URL)
	}
	list, err := json.Marshal(urls)
	if err != nil {
		t.Fatal(err)
	}
	more := append(variables(t, a, engines[0]), "protocol.sweep={concurrency: 3, requests: 12}", "workload.lengths=words")
	r := execute(t, a, submit(t, a, sweepOf(t, fmt.Sprintf("{engine: sim, runtime: endpoint, urls: %s}", list), more...)))
	if r.Run.State != result.Done {
		t.Fatalf("%s: %v", r.Run.State, r.Run.Error)
	}
	checkStates(t, r, "c3 valid")
	shares := make([]int, len(engines))
	for i, g := range engines {
		shares[i] = len(g.completions())
	}
	if slices.Min(shares) < 6 || slices.Max(shares)-slices.Min(shares) > 1 { // readiness and the question what it takes, then a third
		t.Errorf("the servers had %v requests", shares)
	}
	p := r.Points[0]
	if p.Engine == nil || p.Engine.GenerationTokens != p.Engine.ClientTokens || p.Client.StampSource != "user" {
		t.Errorf("engines %+v, stamps of the %s", p.Engine, p.Client.StampSource)
	}
	if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, "requests by server: "+urls[0]+" ") {
		t.Errorf("notes: %s", notes)
	}
	var id containers.Identity
	if err := json.Unmarshal(r.Identity.Server, &id); err != nil || len(id.Servers) != 3 || id.Servers[2].Name != urls[2] || id.KVTokens != 3*id.Servers[0].KVTokens {
		t.Errorf("identity %+v, %v", id, err)
	}
}

func TestSecretsThatAreMissing(t *testing.T) {
	a := newAgent(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"empty": " \n", "lines": "root:x:0\ndaemon:x:1\n"} {
		write(t, filepath.Join(dir, name), text)
	}
	for _, more := range []string{"server.token_env=NONE", "client.headers_env={X-Gate: NONE}", "server.token_file=" + dir + "/none",
		"server.token_file=" + dir + "/empty", "server.token_file=" + dir + "/lines", "server.token_file=" + dir} {
		r := execute(t, a, submit(t, a, sweepOf(t, atURL("http://127.0.0.1:1"), more)))
		if e := r.Run.Error; e == nil || e.Code != "preflight.token_missing" || e.Hint == "" || strings.Contains(e.Text, "root") {
			t.Errorf("%s: %v", more, r.Run.Error)
		}
	}
}
