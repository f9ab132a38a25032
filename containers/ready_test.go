package containers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/containers/endpoint"
	"assay/containers/engine"
	"assay/containers/enginetest"
	"assay/containers/instancetest"
	"assay/containers/process"
)

// stagesOf collects what Ready reports.
func stagesOf(seen *[]string) func(string) {
	return func(s string) { *seen = append(*seen, s) }
}

func TestReadyPassesItsStagesInOrder(t *testing.T) {
	var seen []string
	id, err := Ready(t.Context(), servedBy(t, enginetest.Handler("m")), instancetest.Preset(t, "vllm"), ReadyOptions{}, stagesOf(&seen))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{StageProcess, StagePort, StageHealth, StageModel, StageTokens}, seen); d != "" {
		t.Error(d)
	}
	if id.Models[0] != "m" || id.Version != "1.2.3" || id.MaxModelLen != 2048 || id.KVTokens != 0 {
		t.Errorf("identity %+v", id)
	}
}

// inMemory answers requests without sockets, so that a test can run on synthetic time.
type inMemory struct{ h http.Handler }

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	m.h.ServeHTTP(w, r)
	return w.Result(), nil
}

// script is a server whose answer to a path changes after some time.
type script struct {
	start time.Time
	path  string
	until time.Duration
	early http.HandlerFunc
	then  http.Handler
}

func (s script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if (s.path == "" || r.URL.Path == s.path) && time.Since(s.start) < s.until {
		s.early(w, r)
		return
	}
	s.then.ServeHTTP(w, r)
}

const never = 1000 * time.Hour

func TestReadyWaits(t *testing.T) {
	const loading = `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`
	for _, c := range []struct {
		name   string
		path   string
		until  time.Duration
		early  http.HandlerFunc
		preset Preset
		model  string
		code   string // "": it gets ready
		words  []string
		within time.Duration
	}{
		{"loads for ten minutes", "", 10 * time.Minute, enginetest.Status(503, loading), instancetest.Preset(t, "llamacpp"), "m", "", nil, 11 * time.Minute},
		{"loads for ever", "", never, enginetest.Status(503, loading), instancetest.Preset(t, "llamacpp"), "m", "server.not_ready", []string{`waiting for "health"`, "503: Loading model", "20m"}, 21 * time.Minute},
		{"has no health", "/health", never, enginetest.Status(404, `{"detail":"Not Found"}`), instancetest.Preset(t, "vllm"), "m", "server.not_ready", []string{"404: Not Found"}, time.Minute},
		{"health appears late", "/health", 10 * time.Second, enginetest.Status(404, ""), instancetest.Preset(t, "vllm"), "m", "", nil, time.Minute},
		{"health wants a token", "/health", never, enginetest.Status(401, `{"error":"Unauthorized"}`), instancetest.Preset(t, "vllm"), "m", "server.unauthorized", []string{"401: Unauthorized"}, time.Second},
		{"models want a token", "/v1/models", never, enginetest.Status(401, ""), instancetest.Preset(t, "openai"), "m", "server.unauthorized", nil, time.Second},
		{"serves another model", "", 0, nil, instancetest.Preset(t, "vllm"), "other", "server.wrong_model", []string{`"other"`, " m"}, time.Second},
		{"lists no models", "/v1/models", never, enginetest.Status(404, ""), instancetest.Preset(t, "openai"), "m", "", nil, time.Second},
		{"lists no models, none was named", "/v1/models", never, enginetest.Status(404, ""), instancetest.Preset(t, "openai"), "", "server.not_ready", []string{`waiting for "model listed"`, "404"}, 21 * time.Minute},
		{"engine without model list", "/v1/models", never, enginetest.Status(404, ""), instancetest.Preset(t, "vllm"), "m", "", nil, time.Minute},
		{"tokens come late", "/v1/chat/completions", time.Minute, enginetest.Status(503, ""), instancetest.Preset(t, "vllm"), "m", "", nil, 2 * time.Minute},
		{"refuses the request", "/v1/chat/completions", never, enginetest.Status(400, `{"error":{"message":"no template"}}`), instancetest.Preset(t, "vllm"), "m", "server.no_tokens", []string{"400: no template"}, time.Minute},
		{"streams an error and [DONE]", "/v1/chat/completions", never, enginetest.Status(200, "data: {\"error\": {\"message\": \"EngineCore encountered an issue\"}}\n\ndata: [DONE]\n\n"), instancetest.Preset(t, "vllm"), "m",
			"server.no_tokens", []string{"EngineCore encountered an issue"}, time.Minute},
		{"streams nothing", "/v1/chat/completions", never, enginetest.Status(200, "data: [DONE]\n\n"), instancetest.Preset(t, "vllm"), "m", "server.no_tokens", []string{"no token"}, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				h := script{begun, c.path, c.until, c.early, enginetest.Handler("m")}
				opt := ReadyOptions{Timeout: 20 * time.Minute, Model: c.model, transport: inMemory{h}}
				_, err := Ready(t.Context(), endpoint.Servers{"http://127.0.0.1:1"}, c.preset, opt, func(string) {})
				if took := time.Since(begun); took > c.within {
					t.Errorf("took %s", took)
				}
				if c.code == "" && err != nil {
					t.Fatal(err)
				}
				if c.code != "" {
					enginetest.WantFault(t, err, c.code, c.words...)
				}
			})
		})
	}
}

// A server that is killed by the wait's caller is no fault of the server.
func TestReadyStopsWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		_, err := Ready(ctx, endpoint.Servers{"http://127.0.0.1:1"}, instancetest.Preset(t, "vllm"), ReadyOptions{transport: inMemory{enginetest.Status(503, "")}}, func(string) {})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

func TestReadyTellsWhyTheServerExited(t *testing.T) {
	for _, c := range []struct {
		mode, code string
		words      []string
	}{
		{"exit-early", "server.bad_argument", []string{"exited with code 3", "unrecognized arguments: --nope"}},
		{"silent-exit", "server.exited", []string{"exited with code 0", "it wrote nothing"}},
	} {
		inst := instancetest.Start(t, process.Runtime{}, instancetest.Child(t, c.mode))
		_, err := Ready(t.Context(), inst, instancetest.Preset(t, "vllm"), ReadyOptions{}, func(string) {})
		enginetest.WantFault(t, err, c.code, c.words...)
	}
}

func TestReadyOnARefusedPort(t *testing.T) {
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	_, err = Ready(t.Context(), endpoint.Servers{fmt.Sprintf("http://127.0.0.1:%d", port)}, instancetest.Preset(t, "vllm"), ReadyOptions{Timeout: 2 * time.Second}, func(string) {})
	enginetest.WantFault(t, err, "server.not_ready", "port open", "connection refused")
}

// The test request goes out as the plan's endpoint and token want it.
func TestTestRequest(t *testing.T) {
	var paths []string
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		paths = append(paths, r.URL.Path)
		if r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("%s without token", r.URL.Path)
		}
		if r.URL.Path == "/v1/completions" {
			if !strings.Contains(string(body), `"stream":true`) || !strings.Contains(string(body), `"prompt"`) {
				t.Errorf("body %s", body)
			}
			fmt.Fprint(w, "data: {\"choices\":[{\"text\":\"x\"}]}\n\n")
			return
		}
		enginetest.Handler("m").ServeHTTP(w, r)
	})
	if _, err := Ready(t.Context(), servedBy(t, h), instancetest.Preset(t, "openai"), ReadyOptions{Access: Access{Token: "secret"}, Endpoint: "completions"}, func(string) {}); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(paths, "/v1/completions") {
		t.Errorf("paths %v", paths)
	}
}

func TestIdentityOfRealServers(t *testing.T) {
	answers := func(files map[string]string) http.Handler {
		mux := http.NewServeMux()
		for path, file := range files {
			body := enginetest.CaptureBody(t, file) // here: without the captures the test is skipped, which a handler cannot do
			mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
		}
		if files["/version"] == "" {
			mux.Handle("GET /version", http.NotFoundHandler())
		}
		mux.Handle("/", enginetest.Handler("unused"))
		return mux
	}
	vl := answers(map[string]string{"/version": "vllm-get-version.http", "/v1/models": "vllm-get-v1_models.http", "/metrics": "vllm-metrics-idle.http"})
	ll := answers(map[string]string{"/props": "llama-get-props.http", "/v1/models": "llama-get-v1_models.http"})
	slots := []engine.Setting{{Name: "slots", Value: "4", Source: "/props"}}
	for _, c := range []struct {
		p    Preset
		h    http.Handler
		want Identity
	}{
		{instancetest.Preset(t, "vllm"), vl, Identity{Version: "0.32.0", Models: []string{"tiny"}, MaxModelLen: 2048, KVTokens: 1048576, Settings: []engine.Setting{
			{Name: "engines", Value: "1", Source: "/metrics"}, {Name: "kv_blocks", Value: "8192", Source: "/metrics"}, {Name: "kv_block_tokens", Value: "128", Source: "/metrics"},
			{Name: "kv_cache_dtype", Value: "auto", Source: "/metrics"}, {Name: "prefix_caching", Value: "True", Source: "/metrics"}, {Name: "gpu_memory_share", Value: "0.92", Source: "/metrics"}}}},
		{instancetest.Preset(t, "llamacpp"), ll, Identity{Version: "b0-unknown", Models: []string{"smollm2"}, MaxModelLen: 2048, KVTokens: 8192, Settings: slots}},
		{instancetest.Preset(t, "openai"), ll, Identity{Version: "b0-unknown", Models: []string{"smollm2"}, MaxModelLen: 2048, KVTokens: 8192, Settings: slots}},
	} {
		got, err := Ready(t.Context(), servedBy(t, c.h), c.p, ReadyOptions{}, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		c.want.Runtime, c.want.Name = "endpoint", got.Name
		got.Start = nil // times
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.p.Name, d)
		}
	}
}

func TestSGLangIdentity(t *testing.T) {
	h := http.NewServeMux()
	h.HandleFunc("GET /get_server_info", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"version":"0.5.2","max_total_num_tokens":1000,"dp_size":2,"quantization":"fp8","dtype":"bfloat16"}`)
	})
	h.Handle("/", enginetest.Handler("m"))
	id, err := Ready(t.Context(), servedBy(t, h), instancetest.Preset(t, "sglang"), ReadyOptions{}, func(string) {})
	if err != nil || id.Version != "0.5.2" || id.KVTokens != 2000 || id.Quantization != "fp8" || id.DType != "bfloat16" {
		t.Errorf("%+v, %v", id, err)
	}
}

func TestExitFaultReadsTheLog(t *testing.T) {
	log := t.TempDir() + "/server.log"
	if err := os.WriteFile(log, []byte("starting\nsomething odd\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	i := recorded{log: log}
	if err := os.WriteFile(log+".dead", []byte("EngineDeadError: gone\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	dead := ExitFault(recorded{log: log + ".dead"}, Exit{Code: 1, Reason: "exited with code 1"})
	enginetest.WantFault(t, dead, "server.engine_dead", "gone")
	if !strings.HasSuffix(dead.Hint, "its log: "+log+".dead") {
		t.Errorf("it names no log: %s", dead.Hint)
	}
	enginetest.WantFault(t, ExitFault(i, Exit{Code: 1, Reason: "exited with code 1"}), "server.exited", `"something odd"`)
	enginetest.WantFault(t, ExitFault(i, Exit{Code: 137, OOM: true, Reason: "was killed"}), "server.host_oom", "want of memory")
	i.log, i.role = "/no/such/log", "router"
	enginetest.WantFault(t, ExitFault(i, Exit{Reason: "exited with code 1"}), "router.exited")
}

// recorded is an instance that is known by its log alone.
type recorded struct {
	endpoint.Servers
	log, role string
}

func (r recorded) LogPath() string    { return r.log }
func (r recorded) Identity() Identity { return Identity{Role: r.role} }
