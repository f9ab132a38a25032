package containers

import (
	"bytes"
	"context"
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
	"assay/containers/mark"
	"assay/plan"
)

func TestRouterSpec(t *testing.T) {
	up := []string{"http://127.0.0.1:8001", "http://127.0.0.1:8002/"}
	got := map[string]Spec{}
	for _, k := range Routers() {
		for _, r := range []plan.Router{{Kind: k.Name}, {Kind: k.Name, Command: []string{"/opt/" + k.Name}}, {Kind: k.Name, Image: k.Name + "@" + digest}} {
			s, err := routerSpec(r, up, specOptions, 30001)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Files) != 1 {
				t.Fatalf("%d files", len(s.Files))
			}
			enginetest.Golden(t, s.Files[0].Name, s.Files[0].Data)
			s.Files[0].Data = nil
			got[fmt.Sprintf("%s %s %v", k.Name, s.Runtime, r.Command)] = s
		}
	}
	enginetest.GoldenJSON(t, "router_specs.json", got)
}

func TestRouterSpecFaults(t *testing.T) {
	one := []string{"http://127.0.0.1:8001"}
	for _, c := range []struct {
		r    plan.Router
		up   []string
		code string
	}{
		{plan.Router{Kind: "envoy"}, one, "plan.router_unknown"},
		{plan.Router{Kind: "nginx", Runtime: "endpoint"}, one, "plan.runtime_unknown"},
		{plan.Router{Kind: "none"}, one, "plan.router_unknown"}, // starts nothing: there is nothing to say
		{plan.Router{Kind: "nginx"}, []string{"https://host/prefix"}, "router.upstream_invalid"},
	} {
		_, err := RouterSpec(c.r, c.up, specOptions)
		enginetest.WantFault(t, err, c.code)
	}
	if _, err := RouterSpec(plan.Router{Kind: "nginx"}, nil, specOptions); err == nil {
		t.Error("a router before nothing is no error")
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
		for i := range streamEvents {
			fmt.Fprintf(w, "data: %d\n\n", i)
			_ = http.NewResponseController(w).Flush()
			if i < streamEvents-1 {
				select { // the client lets go on when it has read the event
				case <-r.Context().Done():
					return
				case <-steps(r).next:
				}
			}
		}
	})
	return mux
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

func needProgram(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		imagetest.Missing(t, "%s: %v", name, err)
	}
}

func TestRealRouters(t *testing.T) {
	for _, k := range Routers() {
		t.Run(k.Name, func(t *testing.T) {
			needProgram(t, k.Name)
			step := stepper{make(chan struct{})}
			up := []string{serveBackend(t, "a", step), serveBackend(t, "b", step)}
			s, err := RouterSpec(plan.Router{Kind: k.Name}, up, SpecOptions{Owner: ownerOf(t), Run: "run1", Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			r := startSpec(t, process{}, s)
			await(t, "router", func() bool { return sendTo(t, r, "/who", "", nil) != "" })
			t.Run("sticky", func(t *testing.T) { routerIsSticky(t, r) })
			t.Run("large body", func(t *testing.T) {
				if got := sendTo(t, r, "/who", "s", make([]byte, 8<<20)); !strings.HasSuffix(got, fmt.Sprint(8<<20)) {
					t.Errorf("answer %q", got)
				}
			})
			t.Run("unbuffered", func(t *testing.T) { routerStreams(t, r, step) })
			t.Run("stop", func(t *testing.T) {
				if _, err := r.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
				if left, err := mark.Processes(mark.Mark{Owner: s.Owner}); err != nil || len(left) > 0 {
					t.Errorf("left behind: %v, %v", left, err)
				}
				if b, err := os.ReadFile(s.Dir + "/" + k.ConfigName); err != nil || !bytes.Equal(b, s.Files[0].Data) {
					t.Errorf("the configuration is not kept: %v", err)
				}
			})
		})
	}
}

// In docker a router gets its configuration by copy and reaches servers on the host's loopback.
func TestRoutersInDocker(t *testing.T) {
	imagetest.NeedDocker(t)
	for _, k := range Routers() {
		t.Run(k.Name, func(t *testing.T) {
			ref := imagetest.ProgramImage(t, k.Name)
			up := []string{serveBackend(t, "a", stepper{}), serveBackend(t, "b", stepper{})}
			s, err := RouterSpec(plan.Router{Kind: k.Name, Image: ref}, up, SpecOptions{Owner: ownerOf(t), Run: ownerOf(t), Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			prepare(t, s)
			r := startSpec(t, docker{DefaultSocket}, s)
			await(t, "router", func() bool { return sendTo(t, r, "/who", "", nil) != "" })
			routerIsSticky(t, r)
			if id := r.Identity(); id.Role != "router" || id.Image != ref {
				t.Errorf("identity %+v", id)
			}
		})
	}
}

// A router that is left behind is found although nginx overwrites its environment, with its workers.
func TestReapFindsRouters(t *testing.T) {
	for _, k := range Routers() {
		t.Run(k.Name, func(t *testing.T) {
			needProgram(t, k.Name)
			s, err := RouterSpec(plan.Router{Kind: k.Name}, []string{"http://127.0.0.1:9"}, SpecOptions{Owner: ownerOf(t), Run: "run1", Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			r := startSpec(t, process{}, s)
			await(t, "router", func() bool { return sendTo(t, r, "/", "", nil) != "" })
			if names, err := (process{}).Reap(t.Context(), s.Owner); err != nil || len(names) == 0 {
				t.Errorf("reaped %v, %v", names, err)
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
		req.Header.Set(sessionHeader, session)
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
// as a rule. The median counts: HAProxy by default delays nearly all by 200 ms, a busy machine only some.
func routerStreams(t *testing.T, r Instance, step stepper) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.BaseURLs()[0]+"/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var waits []time.Duration
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
	if slices.Sort(waits); waits[len(waits)/2] > 100*time.Millisecond {
		t.Errorf("events took %s", waits)
	}
}
