package containers

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assay/containers/endpoint"
	"assay/containers/engine"
	"assay/containers/enginetest"
	"assay/containers/imagetest"
	"assay/containers/instancetest"
	"assay/containers/process"
	"assay/containers/ready"
	"assay/plan"
)

// logged is an instance whose log holds a capture.
func logged(t *testing.T, capture string) recorded {
	t.Helper()
	log := filepath.Join(t.TempDir(), "server.log")
	if err := os.WriteFile(log, enginetest.Capture(t, capture), 0o644); err != nil {
		t.Fatal(err)
	}
	return recorded{log: log}
}

// A server that ends with code 0 although nobody asked it to has failed, and its log says why.
func TestField_realengines_01(t *testing.T) {
	inst := instancetest.Start(t, process.Runtime{}, instancetest.Child(t, "silent-exit"))
	_, err := Ready(t.Context(), inst, instancetest.Preset(t, "vllm"), ReadyOptions{}, func(string) {})
	enginetest.WantFault(t, err, "server.exited", "exited with code 0")
	core := logged(t, "vllm-enginecore-crash-log.txt")
	enginetest.WantFault(t, ExitFault(core, Exit{Code: 0, Reason: "exited with code 0"}), "server.wrong_arch", "exited with code 0", "head_dim=16")
}

// A 200 and a [DONE] are no proof of a token.
func TestField_realengines_02(t *testing.T) {
	died := "data: {\"error\": {\"message\": \"EngineCore encountered an issue. See stack trace (above) for the root cause.\", \"type\": \"InternalServerError\"}}\n\ndata: [DONE]\n\n"
	synctest.Test(t, func(t *testing.T) {
		h := script{time.Now(), "/v1/chat/completions", never, enginetest.Status(200, died), enginetest.Handler("m")}
		_, err := Ready(t.Context(), endpoint.Servers{"http://127.0.0.1:1"}, instancetest.Preset(t, "vllm"), ReadyOptions{Model: "m", transport: inMemory{h}}, func(string) {})
		enginetest.WantFault(t, err, "server.no_tokens", "EngineCore encountered an issue")
	})
}

// Without shared memory vLLM ends after a minute: its containers have it, and where a plan gives too little the fault says what to do.
func TestField_realengines_05(t *testing.T) {
	p := plan.Plan{Model: plan.Model{Name: "m"}, Server: plan.Server{Engine: "vllm", Runtime: "docker", Image: "vllm@sha256:" + strings.Repeat("0", 64)}}
	if s, _, err := oneSpec(p, SpecOptions{}); err != nil || s.ShmBytes < 1<<30 {
		t.Errorf("%d bytes of shared memory, %v", s.ShmBytes, err)
	}
	f := ExitFault(logged(t, "vllm-docker-shm-error.txt"), Exit{Code: 1, Reason: "exited with code 1"})
	enginetest.WantFault(t, f, "server.shm_too_small", "Insufficient space in /dev/shm")
	if !strings.Contains(f.Hint, "server.shm_size") {
		t.Errorf("hint %q", f.Hint)
	}
}

// llama.cpp answers to any name, so that its list of models decides and not its answer. It is the real one.
func TestField_realengines_06(t *testing.T) {
	server, model := imagetest.LlamaServer(t), imagetest.LlamaModel(t)
	p := plan.Plan{Model: plan.Model{Name: "smollm2", Path: model}, Server: plan.Server{Engine: "llamacpp", Runtime: "process", Command: []string{server}, Args: []string{"-t", "1", "--parallel", "1", "--ctx-size", "512"}}}
	s, llama, err := oneSpec(p, SpecOptions{Owner: instancetest.Owner(t), Run: "llama", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	inst := instancetest.Start(t, process.Runtime{}, s)
	_, err = Ready(t.Context(), inst, llama, ReadyOptions{Timeout: 5 * time.Minute, Model: "another"}, func(string) {})
	enginetest.WantFault(t, err, "server.wrong_model", `"another"`, "smollm2")
	var heard []string
	id, err := Ready(t.Context(), inst, llama, ReadyOptions{Timeout: 5 * time.Minute, Model: "smollm2"}, stagesOf(&heard))
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := engine.Found(id.Settings, engine.Slots); !ok || s.Value != "1" || id.MaxModelLen != 512 || len(id.Start.Stages) != 5 {
		t.Errorf("%+v %+v", id.Settings, id.Start)
	}
	var phases []string
	for _, part := range id.Start.Loading {
		phases = append(phases, part.Phase)
	}
	if got := strings.Join(phases, " "); !strings.HasPrefix(got, "weights") || !strings.HasSuffix(got, "up") {
		t.Errorf("parts of the start: %q", got)
	}
}

// busy answers its health late for a while, as a server does that computes.
type busy struct {
	until time.Time
	late  time.Duration
}

func (b busy) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/health" && time.Now().Before(b.until) {
		select {
		case <-time.After(b.late):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return inMemory{enginetest.Handler("m")}.RoundTrip(r)
}

// A slow health is no death: only an exit or the time ends the wait.
func TestField_realengines_11(t *testing.T) {
	for _, late := range []time.Duration{4 * time.Second, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			opt := ReadyOptions{Timeout: 20 * time.Minute, Model: "m", transport: busy{time.Now().Add(10 * time.Minute), late}}
			if _, err := Ready(t.Context(), endpoint.Servers{"http://127.0.0.1:1"}, instancetest.Preset(t, "llamacpp"), opt, func(string) {}); err != nil {
				t.Errorf("%s late: %v", late, err)
			}
		})
	}
}

// Servers close idle connections after 5 s: nothing here waits on one for longer, and vLLM is told to keep those of a router.
func TestField_realengines_12(t *testing.T) {
	if keep := instancetest.Preset(t, "vllm").Env["VLLM_HTTP_TIMEOUT_KEEP_ALIVE"]; keep != "600" {
		t.Errorf("vLLM keeps idle connections for %q s", keep)
	}
	if !engine.NewTransport("http://127.0.0.1:1", Access{}).DisableKeepAlives {
		t.Error("questions reuse connections that the server may have closed")
	}
	// Routers drop theirs before (TestIdleConnectionsToServers sees it).
	for kind, want := range map[string]string{"nginx": "keepalive_timeout 3s", "haproxy": "pool-purge-delay 100ms"} {
		s, err := RouterSpec(plan.Router{Kind: kind}, []string{"http://127.0.0.1:1"}, optionsOf(t))
		if err != nil {
			t.Fatal(err)
		}
		if config := s.Files[0].Data; !bytes.Contains(config, []byte(want)) {
			t.Errorf("%s has no %q:\n%s", kind, want, config)
		}
	}
}

// gpustack#6203: SGLang lists its model long before it is warm.
func TestField_gpustack_6203(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		h := script{begun, "/health", 10 * time.Minute, enginetest.Status(503, ""), enginetest.Handler("m")}
		var seen []string
		if _, err := Ready(t.Context(), endpoint.Servers{"http://127.0.0.1:1"}, instancetest.Preset(t, "sglang"), ReadyOptions{Timeout: time.Hour, Model: "m", transport: inMemory{h}}, stagesOf(&seen)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took < 10*time.Minute || seen[len(seen)-1] != ready.StageTokens {
			t.Errorf("ready after %s, %v", took, seen)
		}
	})
}

// vllm#34573 and others: the number of a group that may open the GPU differs in the container, and no GPU is found.
func TestField_vllm_34573(t *testing.T) {
	for line, code := range map[string]string{"RuntimeError: No HIP GPUs are available": "no_gpu", "Unable to open /dev/kfd read-write: Permission denied": "device_permission"} {
		s, _, ok := engine.Classify(strings.NewReader("INFO start\n" + line + "\n"))
		if !ok || s.Code != code || !strings.Contains(s.Hint, "groups") {
			t.Errorf("%q: %+v", line, s)
		}
	}
}

// vllm#1710, nccl#342: 64 MB of shared memory, as the engine gives by default.
func TestField_vllm_1710(t *testing.T) {
	const nccl = "host:1:1 [0] misc/shmutils.cc:72 NCCL WARN Call to posix_fallocate failed : No space left on device\nhost:1:1 [0] NCCL WARN Error while creating shared memory segment /dev/shm/nccl-a (size 9637888)\n"
	if s, line, ok := engine.Classify(strings.NewReader(nccl)); !ok || s.Code != "shm_too_small" || !strings.Contains(line, "posix_fallocate") {
		t.Errorf("%s: %s", s.Code, line)
	}
	for _, name := range []string{"vllm", "sglang", "trtllm"} {
		if instancetest.Preset(t, name).ShmBytes < 16<<30 {
			t.Errorf("%s has %d bytes of shared memory", name, instancetest.Preset(t, name).ShmBytes)
		}
	}
}

// A server that has exited is not waited for, however long it may take to get ready.
func TestField_issue_exited(t *testing.T) {
	begun := time.Now()
	inst := instancetest.Start(t, process.Runtime{}, instancetest.Child(t, "exit-early"))
	_, err := Ready(t.Context(), inst, instancetest.Preset(t, "vllm"), ReadyOptions{Timeout: time.Hour}, func(string) {})
	enginetest.WantFault(t, err, "server.bad_argument", "exited with code 3")
	if took := time.Since(begun); took > 30*time.Minute {
		t.Errorf("it took %s", took)
	}
}

// A server behind a published port that listens on the loopback inside is named as such, by its sockets or by its log.
func TestField_issue_loopback(t *testing.T) {
	log := filepath.Join(t.TempDir(), "server.log")
	if err := os.WriteFile(log, []byte("INFO:     Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ log, sockets, words string }{
		{log, "", "Uvicorn running on http://127.0.0.1:8000"},
		{"", "inside, port 8000 is listened on at 127.0.0.1 alone", "127.0.0.1 alone"},
	} {
		synctest.Test(t, func(t *testing.T) {
			inst := bridged{recorded{log: c.log}, c.sockets}
			for _, limit := range []time.Duration{30 * time.Minute, 5 * time.Second} { // the second is over before the first look
				opt := ReadyOptions{Timeout: limit, Model: "m", transport: dropping{}}
				_, err := Ready(t.Context(), inst, instancetest.Preset(t, "openai"), opt, func(string) {})
				enginetest.WantFault(t, err, "server.loopback_only", c.words)
			}
		})
	}
}

// bridged is a container whose port is published.
type bridged struct {
	recorded
	sockets string
}

func (b bridged) BaseURLs() []string { return []string{"http://127.0.0.1:1"} }
func (b bridged) Published() bool    { return true }

func (b bridged) ListensInside(ctx context.Context) string {
	if ctx.Err() != nil { // as an engine is not asked any more
		return ""
	}
	return b.sockets
}

// dropping takes connections and closes them, as the engine's own proxy does.
type dropping struct{}

func (dropping) RoundTrip(*http.Request) (*http.Response, error) { return nil, io.EOF }
