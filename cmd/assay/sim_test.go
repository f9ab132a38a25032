package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// startSim runs `assay sim` on a port of its own and gives its address.
func startSim(p testProgram, args ...string) (url string) {
	p.t.Helper()
	ctx, cancel := context.WithCancel(p.t.Context())
	cmd := p.command(ctx, append([]string{"sim", "--port", "0"}, args...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
	})
	line, err := bufio.NewReader(stderr).ReadString('\n')
	at := strings.Index(line, "http://")
	if err != nil || at < 0 {
		p.t.Fatalf("it says %q: %v", line, err)
	}
	return strings.TrimSpace(line[at:])
}

// TestSimRunsItsModel: flags reach the engine, faults the requests, and what was sent the file.
func TestSimRunsItsModel(t *testing.T) {
	p := newProgram(t)
	log := filepath.Join(t.TempDir(), "truth.jsonl")
	url := startSim(p, "--truth", log, "--step-base", "1ms", "--drafts", "3", "--acceptance", "1", "--token-bytes", "4", "--template-tokens", "2",
		"--ranks", "2", "--reasoning", "3", "--reasoning-field", "reasoning", "--fault", "no_done/2")
	const body = `{"stream":true,"ignore_eos":true,"max_tokens":9,"messages":[{"role":"user","content":"extraordinary"}]}`
	var answers []string
	for range 2 {
		answers = append(answers, ask(t, url+"/v1/chat/completions", body))
	}
	if !strings.Contains(answers[0], `"delta":{"reasoning":"`) || !strings.Contains(answers[0], "data: [DONE]") || strings.Contains(answers[1], "[DONE]") {
		t.Errorf("%s\n%s", answers[0], answers[1])
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var first struct {
		Input  int `json:"input_tokens"`
		Events []struct {
			Tokens int
		}
	}
	if err := json.NewDecoder(strings.NewReader(string(text))).Decode(&first); err != nil {
		t.Fatal(err)
	}
	// 4 pieces of the word, 2 tokens for the message and 2 for the reply; then 1 token, 2 up to the answer, 2 of that step's 4, 4 more.
	if first.Input != 8 || len(first.Events) < 3 || first.Events[0].Tokens != 1 || strings.Count(string(text), "\n") != 2 {
		t.Errorf("%+v in\n%s", first, text)
	}
	if m := get(t, url+"/metrics"); !strings.Contains(m, `vllm:num_requests_running{engine="1",model_name="sim"} 0`) {
		t.Errorf("no second rank in\n%s", m)
	}
	if got := ask(t, url+"/tokenize", `{"prompt":"extraordinary"}`); !strings.Contains(got, `"count":4`) {
		t.Error(got)
	}
}

func ask(t *testing.T, url, body string) string {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	return read(t, resp, err)
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	return read(t, resp, err)
}

func read(t *testing.T, resp *http.Response, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSimRefusesBadFlags(t *testing.T) {
	p := newProgram(t)
	for _, c := range [][3]string{
		{"--fault", "fire", "unknown kind"},
		{"--fault", "stall@3", "needs a delay"},
		{"--acceptance", "2", "probability"},
		{"--ranks", "-1", "ranks must not be negative"},
		{"--kv-tokens", "100", "full context"},
		{"--max-running", "0", "--max-running must be at least 1"},
		{"--chunk-tokens", "0", "--chunk-tokens must be at least 1"},
		{"--fault", "cut/0", "/0"},
		{"--port", "99999", "65535"},
	} {
		if r := p.must(exitUsage, "sim", "--port", "0", c[0], c[1]); !strings.Contains(r.stderr, c[2]) {
			t.Errorf("%s %s: %s", c[0], c[1], r.stderr)
		}
	}
	if r := p.must(exitInfra, "sim", "--host", "300.1.1.1"); !strings.Contains(r.stderr, "--host") || strings.Contains(r.stderr, "port_in_use") {
		t.Error(r.stderr)
	}
}
