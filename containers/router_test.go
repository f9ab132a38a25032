package containers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/containers/enginetest"
	"assay/containers/imagetest"
	"assay/containers/instancetest"
	"assay/containers/mark"
	"assay/containers/process"
	"assay/containers/router"
	"assay/plan"
)

// routerOptions are those of a first point with 64 requests at once.
var routerOptions = RouterOptions{SpecOptions: specOptions, Streams: 64, Point: "c64"}

func TestRouterSpec(t *testing.T) {
	got := map[string]Spec{}
	for _, k := range Routers() {
		for _, r := range []plan.Router{{Kind: k.Name}, {Kind: k.Name, Command: []string{"/opt/" + k.Name, "serve"}}, {Kind: k.Name, Image: k.Name + "@" + digest},
			{Kind: k.Name, Image: k.Name + "@" + digest, Command: []string{"/opt/" + k.Name}, Args: []string{"--more", "{port}"}, Env: map[string]string{"A": "1"}}} {
			if k.Config != nil {
				r.Args, r.Env = nil, nil
			}
			setup := router.Setup{Host: "127.0.0.1", Port: 30001, AdminPort: 30002, Session: router.DefaultHeader, Upstreams: []string{"127.0.0.1:8001"}, Streams: 64, Workers: 4}
			s, err := routerSpec(r, k, setup, routerOptions)
			if err != nil {
				t.Fatal(err)
			}
			for i := range s.Files {
				s.Files[i].Data = nil // they have golden files of their own
			}
			got[fmt.Sprintf("%s %s %v", k.Name, s.Runtime, r.Command)] = s
		}
	}
	enginetest.GoldenJSON(t, "router_specs.json", got)
}

func TestRouterSpecFaults(t *testing.T) {
	one := []string{"http://127.0.0.1:8001"}
	other := RouterOptions{SpecOptions: specOptions, Headers: []string{"X-Session-ID"}}
	for _, c := range []struct {
		r    plan.Router
		up   []string
		opt  RouterOptions
		code string
	}{
		{plan.Router{Kind: "envoy"}, one, routerOptions, "plan.router_unknown"},
		{plan.Router{Kind: "nginx", Runtime: "endpoint"}, one, routerOptions, "plan.runtime_unknown"},
		{plan.Router{Kind: "none"}, one, routerOptions, "plan.router_unknown"}, // starts nothing: there is nothing to say
		{plan.Router{Kind: "nginx"}, []string{"https://host/prefix"}, routerOptions, "router.upstream_invalid"},
		{plan.Router{Kind: "nginx"}, nil, routerOptions, "router.no_upstreams"},
		{plan.Router{Kind: "sglang-router"}, one, other, "plan.router_header"},
		{plan.Router{Kind: "haproxy"}, one, RouterOptions{SpecOptions: specOptions, Streams: 1 << 40}, "router.too_few_files"},
	} {
		_, err := RouterSpec(c.r, c.up, c.opt)
		enginetest.WantFault(t, err, c.code)
	}
}

// TestRouterRoom: what a point needs of a router is known before anything is started. A load without limit gets what there is, and in docker
// the engine is asked.
func TestRouterRoom(t *testing.T) {
	enginetest.WantFault(t, CheckRouter(plan.Router{Kind: "nginx"}, nil, 1<<40), "router.too_few_files")
	enginetest.WantFault(t, CheckRouter(plan.Router{Kind: "sglang-router"}, []string{"X-Session-ID"}, 8), "plan.router_header")
	for _, r := range []plan.Router{{Kind: "nginx"}, {Kind: "haproxy", Image: "haproxy@" + digest}, {Kind: "vllm-router"}} {
		if err := CheckRouter(r, nil, 0); err != nil {
			t.Errorf("%s: %v", r.Kind, err)
		}
	}
	s, err := RouterSpec(plan.Router{Kind: "haproxy", Image: "haproxy@" + digest}, []string{"http://127.0.0.1:8001"}, RouterOptions{SpecOptions: specOptions, Streams: 10800})
	if err != nil || s.Rights.Ulimits["nofile"] != "24144" || !strings.Contains(string(s.Files[0].Data), "maxconn 11944\n") {
		t.Errorf("%v, %v", s.Rights.Ulimits, err)
	}
}

// TestRoutingHeaders: the client sends what the routers of the plan keep sessions by, unless the plan says what it sends.
func TestRoutingHeaders(t *testing.T) {
	for want, p := range map[string]plan.Plan{
		"X-Session-ID":                   {Routers: []plan.Router{{Kind: "none"}, {Kind: "nginx"}, {Kind: "vllm-router"}, {Kind: "generic"}}},
		"X-Session-ID X-SMG-Routing-Key": {Routers: []plan.Router{{Kind: "haproxy"}, {Kind: "sglang-router"}, {Kind: "sglang-router"}}},
		"X-Mine":                         {Client: plan.Client{RoutingHeaders: []string{"X-Mine"}}, Routers: []plan.Router{{Kind: "sglang-router"}}},
	} {
		if got := strings.Join(RoutingHeaders(p), " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestConfigNames: each start keeps its own configuration.
func TestConfigNames(t *testing.T) {
	opt := routerOptions
	opt.Dir = t.TempDir()
	var names []string
	for range 3 {
		s, err := RouterSpec(plan.Router{Kind: "nginx"}, []string{"http://127.0.0.1:8001"}, opt)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.WriteFiles(); err != nil {
			t.Fatal(err)
		}
		names = append(names, s.Files[0].Name)
		kept, err := s.Kept()
		if err != nil || len(kept) != 1 || kept[0].Path != s.Files[0].Name || kept[0].SHA256 != fmt.Sprintf("%x", sha256.Sum256(s.Files[0].Data)) {
			t.Errorf("kept %v, %v", kept, err)
		}
	}
	if got := strings.Join(names, " "); got != "nginx-c64.conf nginx-c64-2.conf nginx-c64-3.conf" {
		t.Error(got)
	}
}

// streamEvents is how many events a backend's stream has.
const streamEvents = 8

// backend is a server behind a router: it streams slowly, and says which one it is.
func backend(name string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/who", func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, name, " ", n)
	})
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		inStep(r, w, http.NewResponseController(w).Flush)
	})
	// nginx passes chunks on as they come, whatever it is told of buffers: only of a stream without them it waits for its end.
	mux.HandleFunc("/unframed", func(w http.ResponseWriter, r *http.Request) {
		c, out, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer c.Close()
		fmt.Fprint(out, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
		inStep(r, out, out.Flush)
	})
	return mux
}

// inStep writes the events of a stream, each when the client has read the one before.
func inStep(r *http.Request, w io.Writer, flush func() error) {
	for i := range streamEvents {
		fmt.Fprintf(w, "data: %d\n\n", i)
		_ = flush()
		if i == streamEvents-1 {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-steps(r).next:
		}
	}
}

// stepper lets a client and a backend of one test process go in step, apart from the stream under test.
type stepper struct{ next chan struct{} }

type stepperKey struct{}

func steps(r *http.Request) stepper {
	s, _ := r.Context().Value(stepperKey{}).(stepper)
	return s
}

func serveBackend(t *testing.T, name string, s stepper) string {
	t.Helper()
	h := backend(name)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), stepperKey{}, s)))
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// withConfig are the kinds that a distribution has.
func withConfig() []RouterKind {
	return slices.DeleteFunc(Routers(), func(k RouterKind) bool { return k.Config == nil })
}

func optionsOf(t *testing.T) RouterOptions {
	t.Helper()
	return RouterOptions{SpecOptions: SpecOptions{Owner: instancetest.Owner(t), Run: instancetest.Owner(t), Dir: t.TempDir()}, Streams: 64, Reuse: true}
}

func needProgram(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		imagetest.Missing(t, "%s: %v", name, err)
	}
}

func TestRealRouters(t *testing.T) {
	for _, k := range withConfig() {
		t.Run(k.Name, func(t *testing.T) {
			needProgram(t, k.Name)
			step := stepper{make(chan struct{})}
			up := []string{serveBackend(t, "a", step), serveBackend(t, "b", step)}
			s, err := RouterSpec(plan.Router{Kind: k.Name}, up, optionsOf(t))
			if err != nil {
				t.Fatal(err)
			}
			r := instancetest.Start(t, process.Runtime{}, s)
			instancetest.Await(t, "router", func() bool { return sendTo(t, r, "/who", "", nil) != "" })
			t.Run("sticky", func(t *testing.T) { routerIsSticky(t, r) })
			t.Run("large body", func(t *testing.T) {
				if got := sendTo(t, r, "/who", "s", make([]byte, 8<<20)); !strings.HasSuffix(got, fmt.Sprint(8<<20)) {
					t.Errorf("answer %q", got)
				}
			})
			t.Run("unbuffered", func(t *testing.T) { routerStreams(t, r, step, "/stream") })
			t.Run("unbuffered without chunks", func(t *testing.T) { routerStreams(t, r, step, "/unframed") })
			t.Run("stop", func(t *testing.T) {
				if _, err := r.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
				if left, err := mark.Processes(mark.Mark{Owner: s.Owner}); err != nil || len(left) > 0 {
					t.Errorf("left behind: %v, %v", left, err)
				}
				if b, err := os.ReadFile(s.Dir + "/" + s.Files[0].Name); err != nil || !bytes.Equal(b, s.Files[0].Data) {
					t.Errorf("the configuration is not kept: %v", err)
				}
			})
		})
	}
}

// In docker a router gets its configuration by copy and reaches servers on the host's loopback.
func TestRoutersInDocker(t *testing.T) {
	imagetest.NeedDocker(t)
	for _, k := range withConfig() {
		t.Run(k.Name, func(t *testing.T) {
			ref := imagetest.ProgramImage(t, k.Name)
			up := []string{serveBackend(t, "a", stepper{}), serveBackend(t, "b", stepper{})}
			s, err := RouterSpec(plan.Router{Kind: k.Name, Image: ref}, up, optionsOf(t))
			if err != nil {
				t.Fatal(err)
			}
			s, _ = instancetest.Prepare(t, here(), s)
			r := instancetest.Start(t, here(), s)
			instancetest.Await(t, "router", func() bool { return sendTo(t, r, "/who", "", nil) != "" })
			routerIsSticky(t, r)
			if id := r.Identity(); id.Role != "router" || id.Image != ref {
				t.Errorf("identity %+v", id)
			}
		})
	}
}

// A router that is left behind is found although nginx overwrites its environment, with its workers.
func TestReapFindsRouters(t *testing.T) {
	for _, k := range withConfig() {
		t.Run(k.Name, func(t *testing.T) {
			needProgram(t, k.Name)
			s, err := RouterSpec(plan.Router{Kind: k.Name}, []string{"http://127.0.0.1:9"}, optionsOf(t))
			if err != nil {
				t.Fatal(err)
			}
			r := instancetest.Start(t, process.Runtime{}, s)
			instancetest.Await(t, "router", func() bool { return sendTo(t, r, "/", "", nil) != "" })
			if f := (process.Runtime{}).Reap(t.Context(), Search{Owner: s.Owner}); f.Failed != nil || len(f.Removed) == 0 {
				t.Errorf("reaped %+v", f)
			}
			<-r.Exited()
			if left, err := mark.Processes(mark.Mark{Owner: s.Owner}); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

// sendTo posts to a router and gives the body, "" when there is no answer.
func sendTo(t *testing.T, r Instance, path, session string, body []byte) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.BaseURLs()[0]+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if session != "" {
		req.Header.Set(router.DefaultHeader, session)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// routerIsSticky: each session stays where it was, and the sessions do not all sit on one server.
func routerIsSticky(t *testing.T, r Instance) {
	where, seen := map[string]string{}, map[string]int{}
	for range 3 {
		for i := range 64 {
			session := fmt.Sprintf("session-%d", i)
			got := sendTo(t, r, "/who", session, nil)
			if where[session] != "" && where[session] != got {
				t.Fatalf("%s went to %s, then to %s", session, where[session], got)
			}
			where[session] = got
			seen[got]++
		}
	}
	if len(seen) != 2 || seen["a 0"] < 3*8 || seen["b 0"] < 3*8 {
		t.Errorf("spread %v", seen)
	}
}

// routerStreams: an event arrives before the server sends the next one, which it only does when we say so, and no event is held back
// as a rule. The median counts, of the best stream: HAProxy by default delays nearly all by 200 ms in each, a busy machine only some.
func routerStreams(t *testing.T, r Instance, step stepper, path string) {
	var waits []time.Duration
	for range 10 {
		waits = waitsOf(t, r, step, path)
		if waits[len(waits)/2] <= 100*time.Millisecond {
			return
		}
	}
	t.Errorf("events took %s", waits)
}

// waitsOf reads a stream and gives how long its events took, the shortest time first.
func waitsOf(t *testing.T, r Instance, step stepper, path string) (waits []time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.BaseURLs()[0]+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for i := range streamEvents {
		want := fmt.Sprintf("data: %d\n\n", i)
		got := make([]byte, len(want))
		begun := time.Now()
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != want {
			t.Fatalf("event %d: %q, %v", i, got, err)
		}
		waits = append(waits, time.Since(begun))
		if i < streamEvents-1 {
			step.next <- struct{}{}
		}
	}
	slices.Sort(waits)
	return waits
}
