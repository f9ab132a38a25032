package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"assay/result"
)

// TestVLLMMatrix runs a matrix on a real vLLM whose scheduler takes two requests and whose KV cache holds 5,120 tokens: its cells end in each
// of the states that a matrix knows, for the engine's own reasons.
func TestVLLMMatrix(t *testing.T) {
	dir := os.Getenv("ASSAY_VLLM")
	if dir == "" {
		t.Skip("ASSAY_VLLM names no folder with vLLM: `make test-heavy` gets it (6 GB) and runs this test")
	}
	p := newProgram(t)
	p.limit = 20 * time.Minute // vLLM on a busy CPU takes minutes to start
	plan := writePlan(t, fmt.Sprintf(`apiVersion: assay/v1
name: vllm-matrix
model: {name: tiny, path: %q}
server:
  engine: vllm
  runtime: process
  command: [%q, serve]
  args: [--load-format, dummy, --enforce-eager, --dtype, float32, --max-model-len, "2048", --max-num-seqs, "2", --num-gpu-blocks-override, "40", --enable-prompt-tokens-details]
  env: {VLLM_CPU_KVCACHE_SPACE: "1"}
  ready: {timeout: 10m}
workload: {kind: synthetic, seed: 7, sampling: {temperature: 0}}
protocol: {matrix: {contexts: [128, 1024], concurrency: [2, 4], duration: 3s, stable: 500ms, warmup_timeout: 5s, prefill_duration: 1s, max_tokens: 300}}
telemetry: {interval: 250ms}
`, filepath.Join(dir, "tiny"), filepath.Join(dir, "venv", "bin", "vllm")))
	ran := p.run("run", plan, "--json")
	doc := ran.result(t)
	states, bound := map[string]string{}, map[string]bool{}
	for _, pt := range doc.Points {
		states[pt.ID], bound[pt.ID] = string(pt.State), onlyBusy(pt.Reasons)
		t.Logf("%s %s %+v", pt.ID, pt.State, pt.Reasons)
		if pt.Metrics == nil {
			continue
		}
		if pt.Engine == nil || pt.Engine.GenerationTokens < pt.Engine.ClientTokens || pt.Phase == "prefill" && pt.Engine.GenerationTokens != pt.Engine.ClientTokens {
			t.Errorf("%s: the server's counter and the client differ: %+v", pt.ID, pt.Engine)
		}
		if pt.State == result.PointNotValid && !bound[pt.ID] {
			t.Errorf("%s: %v", pt.ID, pt.Reasons)
		}
	}
	for id, want := range map[string]string{"decode-128x4": "requests_queued", "decode-1024x4": "over_capacity"} {
		if states[id] != want && !bound[id] {
			t.Errorf("%s is %q, want %s", id, states[id], want)
		}
	}
	if len(doc.Points) != 6 {
		t.Errorf("%d points: %v", len(doc.Points), states)
	}
	var server struct {
		Version  string
		KVTokens int64 `json:"kv_tokens"`
	}
	decodeJSON(t, string(doc.Identity.Server), &server)
	if server.Version == "" || server.KVTokens != 5120 {
		t.Errorf("identity %+v", server)
	}
}
