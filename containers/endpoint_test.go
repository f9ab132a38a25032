package containers

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/containers/endpoint"
	"assay/containers/enginetest"
	"assay/containers/instancetest"
	"assay/plan"
)

// counting is a healthy server that has made some tokens and answers with its version.
func counting(version string, tokens int, waiting bool) http.Handler {
	h := http.NewServeMux()
	h.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"version":%q}`, version) })
	h.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "# TYPE vllm:generation_tokens_total counter\nvllm:generation_tokens_total %d\n# TYPE vllm:kv_cache_usage_perc gauge\nvllm:kv_cache_usage_perc 0.%d\n", tokens, tokens)
		fmt.Fprintf(w, "# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{kv_cache_size_tokens=\"%d\"} 1\n", 1000*tokens)
		if waiting {
			fmt.Fprint(w, "# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting 1\n")
		}
	})
	h.Handle("/", enginetest.Handler("m"))
	return h
}

// socketOf serves on a Unix socket and gives its base URL.
func socketOf(t *testing.T, h http.Handler) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "e.sock"))
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h}
	t.Cleanup(func() { srv.Close() })
	go srv.Serve(l)
	return "unix://" + filepath.Join(dir, "e.sock")
}

// TestSeveralServers: each is waited for, each has an identity, their counters add up, and what one of them lacks is told of none.
func TestSeveralServers(t *testing.T) {
	secure := httptest.NewTLSServer(counting("1.2.4", 5, true))
	t.Cleanup(secure.Close)
	plain := httptest.NewServer(counting("1.2.3", 2, true))
	t.Cleanup(plain.Close)
	urls := []string{plain.URL + "/v1", secure.URL, socketOf(t, counting("1.2.3", 2, false))}
	s, p, err := oneSpec(plan.Plan{Server: plan.Server{Engine: "vllm", Runtime: "endpoint", URLs: urls}}, SpecOptions{})
	if err != nil {
		t.Fatal(err)
	}
	inst := instancetest.Start(t, endpoint.Runtime{}, s)
	urls[0] = plain.URL
	if d := cmp.Diff(urls, inst.BaseURLs()); d != "" {
		t.Fatal(d)
	}
	access := Access{Insecure: true}
	id, err := Ready(t.Context(), inst, p, ReadyOptions{Access: access}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if id.Version != "1.2.3, 1.2.4" || id.KVTokens != 9000 || id.MaxModelLen != 2048 || id.Name != strings.Join(urls, ", ") || !slices.Equal(id.Models, []string{"m"}) {
		t.Errorf("together %+v", id)
	}
	for i, each := range id.Servers {
		if each.Name != urls[i] || each.Runtime != "endpoint" || each.MaxModelLen != 2048 || len(each.Servers) > 0 {
			t.Errorf("server %d: %+v", i, each)
		}
	}
	m, err := Scrape(t.Context(), inst.BaseURLs(), p, access)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]float64{"generation_tokens": 9, "kv_usage": 0.3}, m.Values); d != "" {
		t.Error(d)
	}
	each := []map[string]float64{{"generation_tokens": 2, "kv_usage": 0.2, "waiting": 1}, {"generation_tokens": 5, "kv_usage": 0.5, "waiting": 1}, {"generation_tokens": 2, "kv_usage": 0.2}}
	if d := cmp.Diff(each, m.Each); d != "" {
		t.Error(d)
	}
	if _, err := Scrape(t.Context(), inst.BaseURLs(), p, Access{}); err == nil {
		t.Error("the counters of two of three servers pass for those of all")
	}
	_, err = Ready(t.Context(), inst, p, ReadyOptions{Model: "other", Access: access}, func(string) {})
	enginetest.WantFault(t, err, "server.wrong_model", urls[0])
}

// One of several servers that is not there is named.
func TestSeveralServersOneMissing(t *testing.T) {
	_, err := Ready(t.Context(), endpoint.Servers{servedBy(t, enginetest.Handler("m")).BaseURLs()[0], "unix:///no/such.sock"}, instancetest.Preset(t, "vllm"),
		ReadyOptions{Port: 2 * time.Second}, func(string) {}) // in which a busy machine gets as far as the missing one
	enginetest.WantFault(t, err, "server.not_ready", "unix:///no/such.sock", StagePort)
}

// TestAccess: token and headers go with each question, and none of the secrets comes back in words.
func TestAccess(t *testing.T) {
	access := Access{Token: "sk-0123456789", Headers: map[string]string{"X-Key": "gate-0123456789", "X-Lane": "7"}, Secrets: []string{"gate-0123456789"}}
	healthy := enginetest.Handler("m")
	inst := servedBy(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer sk-0123456789" || r.Header.Get("X-Key") != "gate-0123456789" || r.Header.Get("X-Lane") != "7":
			http.Error(w, "who are you?", http.StatusForbidden)
		case r.Method == http.MethodPost:
			http.Error(w, "no room for "+r.Header.Get("X-Key")+" with "+r.Header.Get("Authorization"), http.StatusBadRequest)
		default:
			healthy.ServeHTTP(w, r)
		}
	}))
	_, err := Ready(t.Context(), inst, instancetest.Preset(t, "vllm"), ReadyOptions{Access: access}, func(string) {})
	enginetest.WantFault(t, err, "server.no_tokens", "no room for [token]")
	if strings.Contains(err.Error(), "0123456789") {
		t.Errorf("it tells a secret: %v", err)
	}
	_, err = Ready(t.Context(), inst, instancetest.Preset(t, "vllm"), ReadyOptions{}, func(string) {})
	enginetest.WantFault(t, err, "server.unauthorized", "who are you?")
}

// A server that serves its one model by any name is not refused for how it lists it.
func TestAnyModel(t *testing.T) {
	h := http.NewServeMux()
	h.HandleFunc("GET /info", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"model_id":"/model","version":"3.3.6","max_total_tokens":4096,"max_batch_total_tokens":50000,"model_dtype":"float16"}`)
	})
	h.Handle("/", enginetest.Handler("/model"))
	id, err := Ready(t.Context(), servedBy(t, h), instancetest.Preset(t, "tgi"), ReadyOptions{Model: "lab/m-7b"}, func(string) {})
	if err != nil || id.Version != "3.3.6" || id.MaxModelLen != 4096 || id.KVTokens != 50000 || id.DType != "float16" || id.Models[0] != "/model" {
		t.Errorf("%+v, %v", id, err)
	}
}

func TestOllamaIdentity(t *testing.T) {
	h := http.NewServeMux()
	h.HandleFunc("GET /api/version", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"version":"0.13.1"}`) })
	h.HandleFunc("GET /api/ps", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"models":[{"name":"llama3.2:1b","context_length":8192}]}`)
	})
	h.Handle("/", enginetest.Handler("llama3.2:1b"))
	id, err := Ready(t.Context(), servedBy(t, h), instancetest.Preset(t, "ollama"), ReadyOptions{Model: "llama3.2:1b"}, func(string) {})
	if err != nil || id.Version != "0.13.1" || id.MaxModelLen != 8192 {
		t.Errorf("%+v, %v", id, err)
	}
	_, err = Scrape(t.Context(), []string{"http://127.0.0.1:1"}, instancetest.Preset(t, "ollama"), Access{})
	enginetest.WantFault(t, err, "telemetry.no_metrics")
}

// TestRouterSessionHeader: the routers keep a session by the header that the plan says.
func TestRouterSessionHeader(t *testing.T) {
	up := []string{"http://127.0.0.1:8001", "http://127.0.0.1:8002"}
	for kind, want := range map[string]string{"nginx": "map $http_x_smg_routing_key $session", "haproxy": "stick on req.hdr(X-SMG-Routing-Key)"} {
		s, err := RouterSpec(plan.Router{Kind: kind}, up, RouterOptions{SpecOptions: specOptions, Headers: []string{"X-SMG-Routing-Key"}, Streams: 8})
		if err != nil || !strings.Contains(string(s.Files[0].Data), want) {
			t.Errorf("%s, %v", s.Files[0].Data, err)
		}
	}
}
