package runner

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"assay/plan"
	"assay/runner/metrics"
	"assay/runner/record"
)

// llama starts a real llama.cpp server and gives its address; it skips the test where there is none.
func llama(t *testing.T) string {
	t.Helper()
	cache := filepath.Join("..", ".cache")
	server, model := os.Getenv("ASSAY_LLAMA_SERVER"), os.Getenv("ASSAY_LLAMA_MODEL")
	if server == "" {
		server = filepath.Join(cache, "engines", "llama-server")
	}
	if model == "" {
		model = filepath.Join(cache, "models", "SmolLM2-135M-Instruct.Q4_1.gguf")
	}
	for _, path := range []string{server, model} {
		if _, err := os.Stat(path); err != nil {
			t.Skip("no real engine here: ", err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(address)
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, server, "-m", model, "--host", "127.0.0.1", "--port", port, "--parallel", "2", "--ctx-size", "1024", "--metrics", "-t", "1", "--no-webui", "--alias", "smollm2")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	ready(t, "http://"+address+"/health")
	return "http://" + address
}

func ready(t *testing.T, url string) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 600 {
		<-tick.C
		if resp, err := http.Get(url); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
	}
	t.Fatal("the engine did not get ready")
}

// counter reads one of the engine's counters.
func counter(t *testing.T, url, name string) int64 {
	t.Helper()
	resp, err := http.Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			return int64(v)
		}
	}
	t.Fatalf("no counter %s", name)
	return 0
}

// TestRealEngineCounts holds our counts against the engine's own, in both endpoints and with requests queued in it.
func TestRealEngineCounts(t *testing.T) {
	url := llama(t)
	for _, endpoint := range []string{"chat", "completions"} {
		t.Run(endpoint, func(t *testing.T) {
			before := [2]int64{counter(t, url, "llamacpp:tokens_predicted_total"), prompts(t, url)}
			p := plan.Plan{Server: plan.Server{Engine: "llamacpp", Endpoint: endpoint}, Protocol: plan.Protocol{Sweep: &plan.Sweep{Requests: 8, Warmup: plan.Warmup{Requests: 1}}}}
			p.Workload.Sampling.MaxTokens = 12
			point := plan.Point{ID: "c3", Phase: "sweep", Concurrency: 3}
			m, rec := run(t, job(t, url, p, point))
			after := [2]int64{counter(t, url, "llamacpp:tokens_predicted_total"), prompts(t, url)}
			var out, in int64
			for _, r := range rec.Requests {
				if r.Outcome != record.OK {
					t.Errorf("%+v", r)
				}
				out += r.OutputTokens
				in += r.InputTokens
			}
			if out != after[0]-before[0] || in != after[1]-before[1] {
				t.Errorf("%d and %d tokens out and in, the engine counted %d and %d", out, in, after[0]-before[0], after[1]-before[1])
			}
			sum := metrics.Summarise(rec, m.Window, metrics.Shape{Concurrency: 3})
			if sum.RequestsIssued != 8 || sum.TTFTMS == nil || sum.TTFTMS.Min <= 0 {
				t.Errorf("%d issued, ttft %+v", sum.RequestsIssued, sum.TTFTMS)
			}
			counts := rec.Count(m.Window.StartUS, m.Window.EndUS)
			t.Logf("stamps %s, lag %+v, shared reads %d of %d", m.Client.StampSource, m.Client.LagUS, counts.SharedReads, counts.Events)
		})
	}
}

// prompts is the engine's count of prompt tokens, those from its cache too.
func prompts(t *testing.T, url string) int64 {
	return counter(t, url, "llamacpp:prompt_tokens_total") + counter(t, url, "llamacpp:prompt_tokens_cached_total")
}
