package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/sim"
)

// TestBadLinesAreTold: a valid run on data of which some lines could not be used says so where people look.
func TestBadLinesAreTold(t *testing.T) {
	data := filepath.Join(t.TempDir(), "p.jsonl")
	if err := os.WriteFile(data, []byte(strings.Repeat(`{"prompt":"one two three"}`+"\n", 5)+"not json\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newProgram(t)
	r := p.must(exitValid, "bench", simServer(t), "--dataset", data, "--output-len", "8", "--concurrency", "2", "--requests", "20")
	want := "C2: lines of the dataset that could not be used: 1; line 6"
	for name, out := range map[string]string{"bench": r.stdout, "show": p.must(exitValid, "show", "last").stdout,
		"text": p.must(exitValid, "report", "last", "--format", "text").stdout, "markdown": p.must(exitValid, "report", "last", "--format", "markdown").stdout} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("%s does not tell:\n%s", name, out)
		}
	}
}

// TestTokensAreNoted: what looks like somebody's token is told where people look, and not repeated there.
func TestTokensAreNoted(t *testing.T) {
	token := "hf_" + strings.Repeat("a1", 17)
	p := newProgram(t)
	r := p.must(exitValid, "run", writePlan(t, simPlan(", env: {X: "+token+"}")))
	want := "plan.yaml holds what looks like a Hugging Face token"
	for name, out := range map[string]string{"run": r.stdout, "show": p.must(exitValid, "show", "last").stdout} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) || strings.Contains(out, token) {
			t.Errorf("%s:\n%s", name, out)
		}
	}
}

// TestRefusalsAreTold: a server that refuses every request is quoted.
func TestRefusalsAreTold(t *testing.T) {
	p := newProgram(t)
	r := p.run("bench", simServer(t), "--input-len", "300000", "--output-len", "8", "--concurrency", "1", "--requests", "3")
	if want := "This model's maximum context length is"; r.code != exitNotValid || !strings.Contains(r.stdout, "(HTTP 400: "+want) {
		t.Errorf("exit %d, it does not tell what the server said:\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// simServer is a simulated engine in this process.
func simServer(t *testing.T) string {
	srv := httptest.NewServer(sim.New(sim.Default()).Handler())
	t.Cleanup(srv.Close)
	return srv.URL
}
