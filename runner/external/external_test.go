package external

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/fault"
	"assay/plan"
	"assay/runner/dataset"
	"assay/runner/load"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// planOf is a plan with the client of a kind; lines replace or add to its keys.
func planOf(t *testing.T, kind string, lines ...string) plan.Plan {
	t.Helper()
	text := `apiVersion: assay/v1
name: short
model: {name: tiny, served: demo}
server: {engine: vllm, runtime: endpoint, url: "http://127.0.0.1:8000"}
workload: {kind: synthetic, seed: 7, input_len: 64, sampling: {max_tokens: 32}}
protocol: {sweep: {concurrency: 4, requests: 40}}
client: {kind: ` + kind + `}
`
	for _, line := range lines {
		key, _, _ := strings.Cut(line, ":")
		var kept []string
		for have := range strings.Lines(text) {
			if !strings.HasPrefix(have, key+":") {
				kept = append(kept, have)
			}
		}
		text = strings.Join(kept, "") + line + "\n"
	}
	p, err := plan.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

// told is all of a command that a reader of the golden file wants to see.
func told(c Command) string {
	var b strings.Builder
	for i, word := range c.Argv {
		if strings.HasPrefix(word, "--") && i > c.Len {
			b.WriteString("\n    ")
		} else if i > 0 {
			b.WriteString(" ")
		}
		b.WriteString(word)
	}
	b.WriteString("\n")
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		fmt.Fprintf(&b, "env %s=%s\n", name, c.Env[name])
	}
	if c.Token {
		fmt.Fprintf(&b, "env %s from the plan's token\n", TokenVariable)
	}
	for _, name := range c.Read {
		fmt.Fprintf(&b, "reads %s\n", name)
	}
	for _, f := range c.Files {
		fmt.Fprintf(&b, "file %s:\n%s", f.Name, f.Data)
	}
	for _, n := range c.Notes {
		fmt.Fprintf(&b, "note %s\n", n)
	}
	return b.String()
}

// settings are what the tools are told of: each is tried with each tool, which does it or refuses it.
func settings() map[string][]string {
	return map[string][]string{
		"1 closed loop by requests": {`workload: {kind: synthetic, input_len: 64, sampling: {max_tokens: 32, ignore_eos: true}}`},
		"2 warm-up, sampling, no salt": {`protocol: {sweep: {concurrency: 8, requests: 40, warmup: {requests: 4}}}`,
			`workload: {kind: synthetic, input_len: 64, lengths: words, salt: none, seed: 7, sampling: {max_tokens: 32, temperature: 0.5, top_p: 0.9, seed: 3}}`},
		"3 open loop": {`protocol: {serve: {rate: 2.5, duration: 20s, arrival: poisson}}`, `workload: {kind: synthetic, input_len: 64, lengths: words, sampling: {max_tokens: 32}}`},
		"4 gamma arrivals, completions, a bound": {`protocol: {serve: {rate: 4, requests: 40, arrival: gamma, burstiness: 0.5, max_concurrency: 16}}`,
			`server: {engine: vllm, runtime: endpoint, url: "http://127.0.0.1:8000", endpoint: completions}`,
			`workload: {kind: synthetic, input_len: 64, lengths: words, sampling: {max_tokens: 32}}`},
		"5 two servers, a token, a tokenizer, more arguments": {`server: {engine: vllm, runtime: endpoint, urls: ["http://a:1", "http://b:2"], token_env: KEY}`,
			`workload: {kind: synthetic, input_len: 64, lengths: words, sampling: {max_tokens: 32}}`},
		"6 agentic conversations": {`workload: {kind: agentic, dataset: {path: /data/talks.jsonl}, salt: session, tool_delay: true, sampling: {max_tokens: 64}}`,
			`protocol: {sweep: {concurrency: 4, trajectories: 12}}`},
		"7 a matrix": {`protocol: {matrix: {contexts: 8k, concurrency: 2, duration: 10s, prefill_duration: 5s, max_tokens: 256}}`,
			`workload: {kind: synthetic, sampling: {ignore_eos: true}}`},
		"9 a closed loop by time, a warm-up by time, answers that end by themselves": {`protocol: {sweep: {concurrency: 8, duration: 30s, warmup: {duration: 5s}}}`,
			`workload: {kind: synthetic, input_len: 64, sampling: {max_tokens: 32}}`},
		"8 headers, a certificate that is not checked": {`server: {engine: vllm, runtime: endpoint, url: "https://a"}`,
			`workload: {kind: synthetic, input_len: 64, sampling: {max_tokens: 32, ignore_eos: true}}`},
	}
}

func clientOf(kind, setting string) string {
	switch setting[0] {
	case '5':
		return fmt.Sprintf(`client: {kind: %s, command: [python3, /opt/tool], args: [--more, "1"], tokenizer: /models/tiny}`, kind)
	case '8':
		return fmt.Sprintf(`client: {kind: %s, headers: {X-Team: red}, insecure_tls: true}`, kind)
	}
	return fmt.Sprintf("client: {kind: %s}", kind)
}

// TestCommands: what each tool is told of each setting, or why it is refused. The golden file is read by people.
func TestCommands(t *testing.T) {
	var b strings.Builder
	for _, tool := range Tools() {
		for _, setting := range slices.Sorted(maps.Keys(settings())) {
			p := planOf(t, tool.Kind, append(slices.Clone(settings()[setting]), clientOf(tool.Kind, setting))...)
			fmt.Fprintf(&b, "== %s: %s\n", tool.Kind, setting)
			if err := tool.Check(p); err != nil {
				f := fault.Of(err, fault.Client)
				fmt.Fprintf(&b, "refused %s: %s\n  %s\n", f.Code, f.Text, f.Hint)
				continue
			}
			for _, at := range p.Points() {
				c, err := tool.Command(taskOf(p, at))
				if err != nil {
					t.Fatal(err)
				}
				b.WriteString(told(c))
			}
		}
	}
	golden(t, "commands.txt", b.String())
}

func taskOf(p plan.Plan, at plan.Point) Task {
	k := Task{Plan: p, Point: at, URLs: p.Server.BaseURLs(), Model: "demo", Dir: "/runs/r1/client/" + at.ID, Seed: 7, CPUs: 8, Token: p.Server.TokenEnv != "", Headers: p.Client.Headers}
	if NeedsPrompts(p) {
		k.Prompts = filepath.Join(k.Dir, PromptsName)
	}
	if p.Workload.Kind == "agentic" {
		k.Data = p.Workload.Dataset.Path
	}
	return k
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// TestRefused: what a tool cannot do is refused, and never measured as something else.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		kind  string
		lines []string
		key   string
	}{
		{"vllm-bench", []string{`workload: {kind: agentic, dataset: {path: /data/x.jsonl}, sampling: {max_tokens: 8}}`}, "workload.kind (agentic conversations)"},
		{"vllm-bench", []string{`protocol: {sweep: {concurrency: 4, duration: 10s}}`}, "protocol.sweep.duration"},
		{"vllm-bench", nil, "workload.sampling.ignore_eos (answers that end by themselves"},
		{"guidellm", []string{`server: {engine: vllm, runtime: endpoint, url: "http://a", token_env: KEY}`}, "server.token_env"},
		{"guidellm", []string{`protocol: {serve: {rate: 4, requests: 40, arrival: gamma}}`}, "protocol.serve.arrival (gamma arrivals)"},
		{"llm-inference-bench", []string{`protocol: {serve: {rate: 4, requests: 40}}`}, "protocol.serve (serve)"},
		{"llm-inference-bench", []string{`protocol: {matrix: {contexts: 8k, concurrency: 2, prefill_repeats: 3}}`, `workload: {kind: synthetic}`}, "protocol.matrix.prefill_repeats"},
		{"mlperf-endpoints", []string{`workload: {kind: synthetic, input_len: 64, lengths: words, sampling: {ignore_eos: true}}`}, "workload.sampling.ignore_eos"},
		{"mlperf-endpoints", []string{`workload: {kind: agentic, dataset: {path: /d.jsonl}, salt: run}`, `protocol: {sweep: {concurrency: 4, trajectories: 4}}`}, "workload.salt"},
		{"mlperf-endpoints", []string{`workload: {kind: agentic, dataset: {builtin: agentic-small}}`, `protocol: {sweep: {concurrency: 4, trajectories: 4}}`}, "workload.dataset.builtin"},
		{"aiperf", []string{`workload: {kind: trace, dataset: {path: /d.jsonl}}`, `protocol: {serve: {arrival: trace, requests: 4}}`}, "workload.kind (a trace)"},
		{"aiperf", []string{`workload: {kind: synthetic, input_len: 64, shared_prompts: 3}`}, "workload.shared_prompts"},
		{"aiperf", []string{`workload: {kind: synthetic, input_len: 64, salt: "hello"}`}, "workload.salt (a text before prompts"},
		{"aiperf", []string{`workload: {kind: synthetic, input_len: 64, lengths: words, turns: 3}`}, "workload.turns"},
		{"aiperf", []string{`protocol: {serve: {rate: 4, duration: 60s, window: {warmup: 10s}}}`}, "protocol.serve.window"},
		{"aiperf", []string{`server: {engine: vllm, runtime: endpoint, url: "unix:///run/x.sock"}`}, "server.url (a unix socket)"},
		{"aiperf", []string{`protocol: {sweep: {concurrency: 4, requests: 10, warmup: {stable: 0.05}}}`}, "protocol.sweep.warmup.stable"},
		{"aiperf", []string{`protocol: {sweep: {concurrency: 4, requests: 10, min_duration: 5s}}`}, "protocol.sweep.min_duration"},
	} {
		tool, ok := Named(c.kind)
		if !ok {
			t.Fatalf("no tool %s", c.kind)
		}
		err := tool.Check(planOf(t, c.kind, c.lines...))
		f := fault.Of(err, fault.Client)
		if err == nil || f.Code != "plan.client_cannot" || !strings.Contains(f.Text, c.key) || !strings.Contains(f.Hint, "native") {
			t.Errorf("%s %v: %v", c.kind, c.lines, err)
		}
	}
}

// TestOthers: who can do it is named.
func TestOthers(t *testing.T) {
	tool, _ := Named("mlperf-endpoints")
	err := tool.Check(planOf(t, "mlperf-endpoints", `workload: {kind: synthetic, input_len: 64, sampling: {ignore_eos: true}}`))
	if f := fault.Of(err, fault.Client); err == nil || !strings.HasSuffix(f.Hint, "native, vllm-bench, aiperf, guidellm") {
		t.Errorf("%v", err)
	}
}

// TestEveryAbilityIsKnown: the page lists all, and each is somebody's.
func TestEveryAbilityIsKnown(t *testing.T) {
	for _, tool := range Tools() {
		for _, a := range tool.Can {
			if !slices.Contains(abilities(), a) {
				t.Errorf("%s: %q is not in the table", tool.Kind, a)
			}
		}
		if tool.can(Filed) != (tool.row != nil) {
			t.Errorf("%s: files of prompts", tool.Kind)
		}
	}
	for _, a := range abilities() {
		if !slices.ContainsFunc(Tools(), func(t Tool) bool { return t.can(a) }) {
			t.Errorf("%q is nobody's", a)
		}
	}
}

// TestPrompts: a tool gets the prompts that the native client would send, salts too.
func TestPrompts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "data.jsonl")
	rows := `{"prompt": "one <\"quoted\">"}
{"messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "two"}]}
{"prompt": "three", "max_tokens": 9}
`
	if err := os.WriteFile(file, []byte(rows), 0o644); err != nil {
		t.Fatal(err)
	}
	p := planOf(t, "guidellm", fmt.Sprintf(`workload: {kind: jsonl, dataset: {path: %q}, sampling: {max_tokens: 32}}`, file), `protocol: {sweep: {concurrency: 1, requests: 3}}`)
	data := dataset.Config{Kind: "jsonl", Path: file, MaxTokens: 32}
	for _, c := range []struct{ kind, want, refused string }{
		{"guidellm", `{"prompt":"S one <\"quoted\">","output_tokens_count":32}
{"prompt":"two","system":"S be brief","output_tokens_count":32}
{"prompt":"S three","output_tokens_count":9}
`, ""},
		{"mlperf-endpoints", "", "conversation line-3"},
		{"vllm-bench", "", "conversation line-2"},
	} {
		tool, _ := Named(c.kind)
		prompts, err := tool.Prompts(t.Context(), p, p.Points()[0], data, load.Salt{Kind: "text", Text: "S "})
		if c.refused != "" {
			if f := fault.Of(err, fault.Client); err == nil || f.Code != "plan.client_cannot" || !strings.Contains(f.Text, c.refused) {
				t.Errorf("%s: %v", c.kind, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := tool.Encode(prompts)
		if diff := cmp.Diff(c.want, string(b)); err != nil || diff != "" {
			t.Errorf("%s: %v %s", c.kind, err, diff)
		}
	}
}

// TestEnd: prompts end with the data, and a point by time gets many.
func TestEnd(t *testing.T) {
	p := planOf(t, "aiperf", `workload: {kind: synthetic, input_len: 8, lengths: words, sampling: {max_tokens: 32}}`, `protocol: {sweep: {concurrency: 2, duration: 5s}}`)
	tool, _ := Named("aiperf")
	prompts, err := tool.Prompts(t.Context(), p, p.Points()[0], dataset.Config{Kind: "synthetic", InputLen: 8}, load.Salt{Kind: "run", Run: "r", Point: "c2"})
	if err != nil || len(prompts) != manyPrompts || prompts[0].Text == prompts[1].Text {
		t.Errorf("%d prompts, %v", len(prompts), err)
	}
}

// TestYAMLVariables: what the tool would take for a variable is refused.
func TestYAMLVariables(t *testing.T) {
	p := planOf(t, "mlperf-endpoints", `workload: {kind: synthetic, input_len: 8, lengths: words}`)
	k := taskOf(p, p.Points()[0])
	k.Model = "${HOME}"
	tool, _ := Named("mlperf-endpoints")
	if _, err := tool.Command(k); err == nil || fault.Of(err, fault.Client).Code != "plan.client_cannot" {
		t.Errorf("%v", err)
	}
}

// TestExamples: the example plans ask for nothing that their clients cannot do.
func TestExamples(t *testing.T) {
	names, err := filepath.Glob(filepath.Join("..", "..", "examples", "client-*.yaml"))
	if err != nil || len(names) < 2 {
		t.Fatalf("%v %v", names, err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Parse(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		tool, ok := Named(p.Client.Kind)
		if !ok || filepath.Base(name) != "client-"+tool.Kind+".yaml" {
			t.Fatalf("%s has the client %q", name, p.Client.Kind)
		}
		if err := tool.Check(p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
