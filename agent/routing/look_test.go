package routing

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/containers"
	"assay/containers/imagetest"
	"assay/plan"
	"assay/result"
	"assay/sim"
)

// servers are simulated engines that take 12 ms a token.
func servers(t *testing.T, n int) []string {
	t.Helper()
	return serversAt(t, n, 12*time.Millisecond)
}

// serversAt are simulated engines that take a while for each token.
func serversAt(t *testing.T, n int, token time.Duration) []string {
	t.Helper()
	var urls []string
	for range n {
		cfg := sim.Default()
		cfg.StepBase = token
		srv := httptest.NewServer(sim.New(cfg).Handler())
		t.Cleanup(srv.Close)
		urls = append(urls, srv.URL)
	}
	return urls
}

// requestOf is how a router before servers is looked at.
func requestOf(t *testing.T, router string, behind []string) Request {
	t.Helper()
	p, err := containers.PresetNamed("sim")
	if err != nil {
		t.Fatal(err)
	}
	return Request{Router: router, Servers: behind, Headers: []string{"X-Session-ID"}, Concurrency: 12, Started: true, Preset: p, Model: "sim", Endpoint: "chat"}
}

// start runs a real router as a process until the test ends, that keeps sessions by header.
func start(t *testing.T, kind, header string, behind []string) string {
	t.Helper()
	if _, err := exec.LookPath(kind); err != nil {
		imagetest.Missing(t, "%s: %v", kind, err)
	}
	return startRouter(t, plan.Router{Kind: kind}, []string{header}, behind)
}

func startRouter(t *testing.T, r plan.Router, headers, behind []string) string {
	t.Helper()
	owner := strings.NewReplacer("/", "-", " ", "-").Replace(t.Name()) + "-" + r.Kind + "-" + strconv.Itoa(os.Getpid())
	spec, err := containers.RouterSpec(r, behind, containers.RouterOptions{SpecOptions: containers.SpecOptions{Owner: owner, Run: owner, Dir: t.TempDir()}, Headers: headers, Streams: 64})
	if err != nil {
		t.Fatal(err)
	}
	rt, err := containers.RuntimeNamed(spec.Runtime, containers.DockerPlace{})
	if err != nil {
		t.Fatal(err)
	}
	inst, err := rt.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := inst.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	p, err := containers.PresetNamed("sim")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := containers.RouterReady(t.Context(), inst, r, len(behind), p, containers.ReadyOptions{Timeout: 2 * time.Minute, Model: "sim"}); err != nil {
		t.Fatal(err)
	}
	return inst.BaseURLs()[0]
}

// proxy is a router in this process: pick chooses the server, change may stand before it.
func proxy(t *testing.T, behind []string, pick func(*http.Request) int, change func(http.Handler) http.Handler) string {
	t.Helper()
	var to []*httputil.ReverseProxy
	for _, base := range behind {
		u, err := url.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		p := httputil.NewSingleHostReverseProxy(u)
		p.FlushInterval = -1
		to = append(to, p)
	}
	h := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { to[pick(r)].ServeHTTP(w, r) }))
	if change != nil {
		h = change(h)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

func first(*http.Request) int { return 0 }

// bySession is sticky.
func bySession(n int) func(*http.Request) int {
	return func(r *http.Request) int {
		id := r.Header.Get("X-Session-ID")
		if id == "" {
			return 0
		}
		return int(id[len(id)-1]) % n
	}
}

// inTurn is not.
func inTurn(n int) func(*http.Request) int {
	var asked atomic.Int64
	return func(*http.Request) int { return int(asked.Add(1)) % n }
}

// TestRealRouters: nginx and HAProxy as they are set up keep every session, take the body and hold the connections.
func TestRealRouters(t *testing.T) {
	for _, kind := range []string{"nginx", "haproxy"} {
		t.Run(kind, func(t *testing.T) {
			behind := servers(t, 3)
			r := requestOf(t, start(t, kind, "X-Session-ID", behind), behind)
			r.Upstream = "X-Upstream"
			got := Look(t.Context(), r)
			s := got.Sessions
			if s == nil || s.By != "X-Upstream" || s.Sessions != 12 || s.Moved != 0 || s.Turns != 3 || len(s.PerServer) < 2 {
				t.Errorf("sessions %+v, %v", s, got.Notes)
			}
			for server := range s.PerServer {
				if !strings.Contains(strings.Join(behind, " "), server) {
					t.Errorf("%s is none of %v", server, behind)
				}
			}
			if got.Body == nil || !got.Body.Accepted || got.Body.Status != 400 {
				t.Errorf("body %+v", got.Body)
			}
			if got.Connections == nil || got.Connections.Asked != 14 || got.Connections.Held != 14 {
				t.Errorf("connections %+v", got.Connections)
			}
			if f := got.FirstByte; f == nil || f.Tries != tries || f.DirectMS <= 0 || f.RouterMS <= 0 {
				t.Errorf("first byte %+v, %v", f, got.Notes)
			}
			if len(got.Notes) > 0 || !got.Started || got.Servers != 3 || got.DurationS <= 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// srt-slurm#236: a router keeps sessions by a header that no client sends, and nothing tells. Here the look does.
func TestField_srtslurm_236(t *testing.T) {
	for _, kind := range []string{"nginx", "haproxy"} {
		behind := servers(t, 2)
		r := requestOf(t, start(t, kind, "X-Never-Sent", behind), behind)
		r.Upstream = "X-Upstream"
		got := Look(t.Context(), r)
		found := Judge(got, plan.Point{Concurrency: 12}, plan.Workload{Kind: "agentic"})
		if len(found) == 0 || found[0].Code != "router_moved" || !found[0].Fatal {
			t.Errorf("%s: %+v, %+v", kind, got.Sessions, found)
		}
	}
}

// real engines, fact 15: sglang-router by its default sends what comes one after another to one server, and without its own header moves
// sessions about. What a router does is seen by the servers' counters where no header tells.
func TestField_realengines_15(t *testing.T) {
	behind := servers(t, 2)
	for name, c := range map[string]struct {
		pick          func(*http.Request) int
		moved, uneven bool
	}{
		"cache_aware": {pick: first, uneven: true},
		"round_robin": {pick: inTurn(2), moved: true},
		"sticky":      {pick: bySession(2)},
	} {
		r := requestOf(t, proxy(t, behind, c.pick, nil), behind)
		s := r.sessions(t.Context(), t.Logf)
		if s == nil || s.By != byCounters || s.Sessions != 12 || s.Moved > 0 != c.moved {
			t.Errorf("%s: %+v", name, s)
		} else if !c.moved && s.BusiestOverMean > maxBusiest != c.uneven {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if headers := containers.RoutingHeaders(plan.Plan{Routers: []plan.Router{{Kind: "sglang-router"}}}); !strings.Contains(strings.Join(headers, " "), "X-SMG-Routing-Key") {
		t.Errorf("the client sends %v", headers)
	}
}

// TestNoWayToFollow: a router that names nothing before servers that count nothing is told as such, and is no fault.
func TestNoWayToFollow(t *testing.T) {
	behind := servers(t, 2)
	r := requestOf(t, proxy(t, behind, bySession(2), nil), behind)
	r.Preset.MetricsPath, r.Upstream = "", "X-Nobody"
	got := Look(t.Context(), r)
	if got.Sessions != nil || len(got.Notes) != 2 || !strings.Contains(got.Notes[0], "X-Nobody") || !strings.Contains(got.Notes[1], "no metrics") {
		t.Errorf("%+v", got)
	}
	one := requestOf(t, proxy(t, behind[:1], first, nil), behind[:1])
	one.Started = false
	got = Look(t.Context(), one)
	if got.Sessions != nil || got.Body != nil || got.FirstByte == nil || len(got.Notes) != 1 || !strings.HasPrefix(got.Notes[0], "one server") {
		t.Errorf("%+v", got)
	}
}

// TestARouterThatBuffers holds the first token back until the last one: c8s#140. The cost is told, also of one that sends its header at once.
func TestARouterThatBuffers(t *testing.T) {
	behind := serversAt(t, 1, 50*time.Millisecond) // what is held back is long against the pauses of a busy machine
	for _, atOnce := range []bool{false, true} {
		buffer := func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if atOnce {
					_ = http.NewResponseController(w).Flush()
				}
				kept := httptest.NewRecorder()
				next.ServeHTTP(kept, r)
				_, _ = io.Copy(w, kept.Body)
			})
		}
		r := requestOf(t, proxy(t, behind, first, buffer), behind)
		f := r.firstByte(t.Context(), t.Logf)
		if found := Judge(result.Routing{FirstByte: f}, plan.Point{}, plan.Workload{}); len(found) != 1 || found[0].Code != "router_slow" || found[0].Fatal {
			t.Errorf("header at once %v: %+v: %+v", atOnce, f, found)
		}
	}
}

// TestBodies: what a router refuses is told from what its server refuses.
func TestBodies(t *testing.T) {
	behind := servers(t, 1)
	limit := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
			if err != nil {
				http.Error(w, "too large", http.StatusRequestEntityTooLarge)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(b))
			next.ServeHTTP(w, r)
		})
	}
	small := requestOf(t, proxy(t, behind, first, limit), behind)
	if got := small.body(t.Context()); got.Accepted || got.Direct != 400 || got.Status != 413 && got.Status != 0 {
		t.Errorf("a router with a limit: %+v", got)
	}
	narrow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}))
	t.Cleanup(narrow.Close)
	own := requestOf(t, proxy(t, []string{narrow.URL}, first, nil), []string{narrow.URL})
	if got := own.body(t.Context()); !got.Accepted || got.Status != 413 || got.Direct != 413 {
		t.Errorf("a server with a limit: %+v", got)
	}
}

// TestConnections: a router that serves fewer connections than the point has is found out, though it takes them all.
func TestConnections(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const room = 5
	var served atomic.Int64
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if served.Add(1) > room {
			<-r.Context().Done() // as one in the queue of a full router
		}
	})}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { srv.Close() })
	base := "http://" + l.Addr().String()
	r := requestOf(t, base, []string{base})
	r.Concurrency = 8
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // those that it serves are answered in this time
	defer cancel()
	got := r.connections(ctx, t.Logf)
	if got.Asked != 9 || got.Held != room {
		t.Errorf("%+v", got)
	}
}

// TestKeeps: a server that closes a connection after a stream without having said so is known before a router uses one again.
func TestKeeps(t *testing.T) {
	behind := servers(t, 1)
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, out, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = out.WriteString("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=100\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
		_ = out.Flush()
	}))
	t.Cleanup(silent.Close)
	spoken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") }))
	t.Cleanup(spoken.Close)
	for want, urls := range map[bool][]string{true: {behind[0], spoken.URL}, false: {behind[0], silent.URL}} {
		if got := Keeps(t.Context(), requestOf(t, "", urls)); got != want {
			t.Errorf("%v: %v", urls, got)
		}
	}
}

// TestHeavyRouters: the routers of SGLang and vLLM, as scripts/setup-routers leaves them in the folder that ASSAY_ROUTERS names, keep sessions as they are
// set up here; by another policy they do not, and that is seen by the servers' counters.
func TestHeavyRouters(t *testing.T) {
	home := os.Getenv("ASSAY_ROUTERS")
	if home == "" {
		t.Skip("ASSAY_ROUTERS names no folder with routers: `make test-heavy` gets them and runs this test")
	}
	for _, c := range []struct {
		r     plan.Router
		moved bool
	}{
		{plan.Router{Kind: "sglang-router", Command: []string{home + "/sglang-router/bin/sglang-router", "launch"}}, false},
		{plan.Router{Kind: "sglang-router", Command: []string{home + "/sglang-router/bin/sglang-router", "launch"}, Args: []string{"--policy", "round_robin"}}, true},
		{plan.Router{Kind: "vllm-router", Command: []string{home + "/vllm-router/bin/vllm-router"}}, false},
		{plan.Router{Kind: "vllm-router", Command: []string{home + "/vllm-router/bin/vllm-router"}, Args: []string{"--policy", "round_robin"}}, true},
	} {
		behind := servers(t, 2)
		headers := containers.RoutingHeaders(plan.Plan{Routers: []plan.Router{c.r}})
		r := requestOf(t, startRouter(t, c.r, headers, behind), behind)
		r.Headers = headers
		got := Look(t.Context(), r)
		if s := got.Sessions; s == nil || s.By != byCounters || s.Moved > 0 != c.moved || got.FirstByte == nil || !got.Body.Accepted || got.Connections.Held != got.Connections.Asked {
			t.Errorf("%s %v: %+v, %+v", c.r.Kind, c.r.Args, got.Sessions, got)
		}
	}
}
