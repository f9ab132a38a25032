package engine

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/containers/enginetest"
)

// serve gives the address of a test server.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestScrapeRealServers(t *testing.T) {
	for _, c := range []struct {
		file string
		p    Preset
		want map[string]float64
	}{
		{"vllm-metrics-loaded.http", vllm(), nil},
		{"vllm-metrics-loaded.http", openai(), nil},
		{"llama-get-metrics.http", llamacpp(), nil},
		{"llama-get-metrics.http", vllm(), nil},
	} {
		name := strings.TrimSuffix(c.file, ".http") + "_as_" + c.p.Name + ".json"
		body := enginetest.CaptureBody(t, c.file)
		base := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }))
		m, err := Scrape(t.Context(), []string{base}, c.p, Access{})
		if err != nil {
			t.Fatal(err)
		}
		if m.At.IsZero() {
			t.Error("no time")
		}
		enginetest.GoldenJSON(t, name, m.Values)
	}
}

// Several engines behind one server: counts add up, the share of the KV cache in use does not.
func TestScrapeOverEngines(t *testing.T) {
	const text = `# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0"} 3
vllm:num_requests_running{engine="1"} 4
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0"} 0.2
vllm:kv_cache_usage_perc{engine="1"} 0.4
# TYPE vllm:prompt_tokens_total counter
vllm:prompt_tokens_total{engine="0"} 10
# TYPE vllm:prompt_tokens_created gauge
vllm:prompt_tokens_created{engine="0"} 1.79e9
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0"} NaN`
	families, err := parseMetrics([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got := valuesOf(families, vllm())
	want := map[string]float64{"running": 7, "kv_usage": 0.30000000000000004, "prompt_tokens": 10}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Ranks of tensor and pipeline parallelism tell the same requests again, those of data parallelism others; a longer name is another series.
func TestScrapeCountsRequestsOnce(t *testing.T) {
	const text = `sglang:num_running_reqs{dp_rank="0",tp_rank="0",pp_rank="0"} 5
sglang:num_running_reqs{dp_rank="0",tp_rank="1",pp_rank="0"} 5
sglang:num_running_reqs{dp_rank="0",tp_rank="0",pp_rank="1"} 5
sglang:num_running_reqs{dp_rank="1",tp_rank="0",pp_rank="0"} 7
sglang:num_running_reqs_offline{tp_rank="0"} 100
sglang:num_queue_reqs{tp_rank="0"} 2
sglang:num_queue_reqs_by_reason{tp_rank="0"} 9
`
	families, err := parseMetrics([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]float64{"running": 12, "waiting": 2}, valuesOf(families, sglang())); d != "" {
		t.Error(d)
	}
}

// llama.cpp counts what came from its cache apart; together they are the prompt. Without the second name nothing is known.
func TestScrapeAddsNames(t *testing.T) {
	const computed, cached = "llamacpp:prompt_tokens_total 10\n", "llamacpp:prompt_tokens_cached_total 5\n"
	for text, want := range map[string]map[string]float64{
		computed + cached: {"prompt_tokens": 15, "prefix_queries": 15, "prefix_hits": 5},
		computed:          {},
	} {
		families, err := parseMetrics([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, valuesOf(families, llamacpp())); d != "" {
			t.Error(d)
		}
	}
}

func TestScrapeFaults(t *testing.T) {
	off := serve(t, enginetest.Status(501, `{"error":{"message":"This server does not support metrics endpoint."}}`))
	_, err := Scrape(t.Context(), []string{off}, llamacpp(), Access{})
	enginetest.WantFault(t, err, "telemetry.scrape_failed", "501: This server does not support metrics endpoint.")
	for _, body := range []string{"", "{not metrics", "a{b=\"c\" 1\n"} {
		base := serve(t, enginetest.Status(200, body))
		if m, err := Scrape(t.Context(), []string{base}, vllm(), Access{}); err == nil {
			t.Errorf("%q was read as %v", body, m)
		}
	}
	p := vllm()
	p.MetricsPath = ""
	if _, err := Scrape(t.Context(), []string{off}, p, Access{}); err == nil {
		t.Error("no metrics is no error")
	}
}

func TestKVTokensOfOlderVersions(t *testing.T) {
	for _, c := range []struct {
		labels map[string]string
		want   int64
	}{
		{map[string]string{"block_size": "16", "num_gpu_blocks": "1000"}, 16000},
		{map[string]string{"block_size": "16", "num_gpu_blocks": "1000", "decode_context_parallel_size": "4"}, 64000},
		{map[string]string{"block_size": "16", "num_gpu_blocks": "1000", "decode_context_parallel_size": "4", "kv_cache_size_tokens": "60000"}, 60000},
		{map[string]string{"block_size": "16", "num_gpu_blocks": "None"}, 0},
		{nil, 0},
	} {
		if got := kvTokens(c.labels); got != c.want {
			t.Errorf("%v: %d, want %d", c.labels, got, c.want)
		}
	}
}

func FuzzParseMetrics(f *testing.F) {
	f.Add([]byte("# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine=\"0\"} 3\n"))
	f.Add([]byte("vllm:kv_cache_usage_perc NaN"))
	f.Fuzz(func(t *testing.T, b []byte) {
		families, err := parseMetrics(b)
		if err != nil {
			return
		}
		for name, v := range valuesOf(families, openai()) {
			if v != v {
				t.Errorf("%s is no number", name)
			}
		}
	})
}
