package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// minimal is the least a plan says.
const minimal = `apiVersion: assay/v1
name: least
model: {name: m}
server: {url: "http://127.0.0.1:8000"}
protocol: {sweep: {concurrency: 8, requests: 10}}
`

// full sets every key that a plan of runtime docker may set, none of them to its default.
var full = strings.ReplaceAll(`apiVersion: assay/v1
name: "every key"
model: {name: m, served: org/m, revision: 0123456, path: /models/m}
server:
  engine: vllm
  runtime: docker
  image: registry.example:5000/vllm/vllm-openai@sha256:DIGEST
  image_file: /images/engine.tar
  base_image: registry.example:5000/vllm/vllm-openai@sha256:DIGEST
  command: [python3, -m, vllm]
  args: [--tensor-parallel-size, 8, "--x=y z", "true", '']
  env: {A: 1, B: true, C: "a b", D: 'it''s "so"'}
  gpus: 0,1
  mounts:
    - {source: /data, target: /data, writable: true}
    - {source: /more, target: /more}
  shm_size: 64g
  network: host
  port: 9000
  endpoint: completions
  token_env: TOKEN
  ready: {timeout: 90m, process: 5m, port: 1h, health: 10m, model: 1m, token: 15m, idle: 20m}
  expect: {version: "0.32", max_model_len: 128k, kv_tokens: 1000000, tensor_parallel: 8, pipeline_parallel: 1, data_parallel: 1, expert_parallel: 8, config_sha256: DIGEST}
  stop: {grace: 1h0m30s}
routers:
  - {points: 1-31, kind: none}
  - {points: 32 - 384, kind: nginx, image: nginx@sha256:DIGEST, command: [nginx, -g]}
  - {points: 512, kind: haproxy}
client: {kind: native, stall_timeout: 90s, timeout: 2h, drain: 0}
workload:
  kind: sharegpt
  dataset: {path: data/prompts.json, sha256: DIGEST}
  input_len: 8k
  seed: 18446744073709551615
  salt: "a <b> & c"
  system: |
    You are a test.
    Answer.
  sampling: {temperature: 0, top_p: 0.5, seed: -9223372036854775808, max_tokens: 1, cache_prompt: false, ignore_eos: true}
protocol:
  sweep: {concurrency: [32, 1, 512], requests: 5, duration: 20m, min_duration: 90s, warmup: {requests: 3, duration: 1500ms}}
checks: {gpu_count: 8, idle: required, power_cap: 750.5, partition: [relaxed, CPX/NPS4], memory: [64, relaxed], temperature: "8"}
telemetry: {interval: 250ms}
allow_unpinned: true
`, "DIGEST", strings.Repeat("0a", 32))

func TestCanonicalGolden(t *testing.T) {
	for name, text := range map[string]string{"minimal": minimal, "full": full} {
		p := mustParse(t, text)
		var shown bytes.Buffer
		if err := json.Indent(&shown, p.Canonical(), "", "  "); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&shown, "\n%s\n", p.Hash())
		golden(t, "testdata/"+name+".canonical.json", shown.Bytes())
		golden(t, "testdata/"+name+".yaml", p.YAML())
	}
}

// TestReadsBack: both written forms, and the struct's own JSON, give the same plan.
func TestReadsBack(t *testing.T) {
	texts := map[string]string{"minimal": minimal, "full": full}
	for _, name := range Examples() {
		b, err := Example(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(b)
	}
	for name, text := range texts {
		p := mustParse(t, text)
		for form, written := range map[string][]byte{"YAML": p.YAML(), "Canonical": p.Canonical()} {
			again := mustParse(t, string(written))
			if diff := cmp.Diff(p, again); diff != "" || again.Hash() != p.Hash() {
				t.Errorf("%s: %s reads back different (-first +again), hash %s, %s:\n%s", name, form, p.Hash(), again.Hash(), diff)
			}
		}
		var decoded Plan
		if err := json.Unmarshal(p.Canonical(), &decoded); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(p, decoded); diff != "" {
			t.Errorf("%s: JSON reads back different (-first +again):\n%s", name, diff)
		}
	}
}

func TestSameMeaningSameHash(t *testing.T) {
	want := mustParse(t, minimal).Hash()
	for name, text := range map[string]string{
		"other order": `protocol: {sweep: {requests: 10, concurrency: [8]}}
server: {url: "http://127.0.0.1:8000"}
model: {name: m}
name: least
apiVersion: assay/v1
`,
		"defaults written": minimal + "workload: {kind: synthetic, input_len: 1k, seed: \"0\", salt: true, sampling: {max_tokens: 256}}\nclient: {timeout: 60m, drain: 600s}\n",
		"JSON": `{"apiVersion":"assay/v1","name":"least","model":{"name":"m"},"server":{"url":"http://127.0.0.1:8000"},
			"protocol":{"sweep":{"concurrency":["8"],"requests":"10"}}}`,
		"byte order mark, CRLF": "\ufeff" + strings.ReplaceAll(minimal, "\n", "\r\n"),
		"nulls":                 minimal + "checks:\nrouters: ~\n",
	} {
		if got := mustParse(t, text).Hash(); got != want {
			t.Errorf("%s: hash %s, want %s", name, got, want)
		}
	}
	if got := mustParse(t, strings.Replace(minimal, "requests: 10", "requests: 11", 1)).Hash(); got == want {
		t.Error("another plan has the same hash")
	}
}

func TestDurationText(t *testing.T) {
	for text, want := range map[string]string{
		"20m": "20m", "1h": "1h", "90m": "1h30m", "3600s": "1h", "100ms": "100ms", "1h0m30s": "1h0m30s", "0": "0s", "10m": "10m", "1500ms": "1.5s",
	} {
		d, err := ParseDuration(text)
		if err != nil || d.String() != want {
			t.Errorf("%s: %s, %v; want %s", text, d, err, want)
		}
		if again, err := ParseDuration(d.String()); err != nil || again != d {
			t.Errorf("%s reads back as %s, %v", d, again, err)
		}
	}
}
