package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/result"
	"assay/sim"
)

// TestBenchAgreesWithTheServer: what the client counts is what the server knows it sent.
func TestBenchAgreesWithTheServer(t *testing.T) {
	cases := []struct {
		name, path string
		args       []string
		phase      string
	}{
		{"chat sweep", "", []string{"--input-len", "64", "--concurrency", "1,4", "--requests", "20"}, "sweep"},
		{"completions sweep", "/v1/completions", []string{"--input-len", "64", "--concurrency", "2", "--requests", "10"}, "sweep"},
		{"serve", "", []string{"--input-len", "64", "--rate", "20", "--requests", "30"}, "serve"},
		{"agentic", "", []string{"--dataset", "builtin:agentic-small", "--concurrency", "4", "--requests", "20"}, "sweep"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			engine := sim.New(sim.Default())
			srv := httptest.NewServer(engine.Handler())
			defer srv.Close()
			p := newProgram(t)
			saved := filepath.Join(t.TempDir(), "plan.yaml")
			args := append([]string{"bench", srv.URL + c.path, "--output-len", "16", "--json", "--save-plan", saved}, c.args...)
			doc := p.must(exitValid, args...).result(t)
			p.agree(doc, engine, c.phase)
			p.must(exitValid, "plan", "validate", saved)
		})
	}
}

// measuredRequest is a line of the events report.
type measuredRequest struct {
	Point        string `json:"point"`
	ResponseID   string `json:"response_id"`
	Outcome      string `json:"outcome"`
	InputTokens  int64  `json:"input_tokens"`
	OutputTokens int64  `json:"output_tokens"`
	Events       [][2]int64
}

func (p testProgram) requests(run string) []measuredRequest {
	p.t.Helper()
	var all []measuredRequest
	for line := range strings.Lines(p.must(exitValid, "report", run, "--format", "events").stdout) {
		var r measuredRequest
		decodeJSON(p.t, line, &r)
		all = append(all, r)
	}
	return all
}

// agree holds every measured request against the server's own truth, by the id of its response.
func (p testProgram) agree(doc result.Result, engine *sim.Server, phase string) {
	p.t.Helper()
	truth := map[string]sim.Truth{}
	for _, x := range engine.Truth() {
		truth[x.ID] = x
	}
	for _, pt := range doc.Points {
		if pt.Phase != phase || pt.Metrics == nil || pt.Metrics.RequestsCompleted == 0 {
			p.t.Fatalf("point %s: phase %s, metrics %+v", pt.ID, pt.Phase, pt.Metrics)
		}
	}
	for _, r := range p.requests(doc.Run.ID) {
		x, ok := truth[r.ResponseID]
		var events int64
		for _, e := range r.Events {
			events += e[1]
		}
		if !ok || r.OutputTokens != int64(x.OutputTokens) || r.InputTokens != int64(x.InputTokens) || events != r.OutputTokens {
			p.t.Errorf("%s: client %d in, %d out, %d in events; server (known %t) %d in, %d out", r.ResponseID, r.InputTokens, r.OutputTokens, events, ok, x.InputTokens, x.OutputTokens)
		}
	}
}

func TestBenchOfNothing(t *testing.T) {
	p := newProgram(t)
	r := p.must(exitInfra, "bench", "http://127.0.0.1:9", "--concurrency", "1", "--duration", "1s")
	if out := r.stdout + r.stderr; !strings.Contains(out, "127.0.0.1:9") {
		t.Errorf("it does not name the server:\n%s", out)
	}
}

func TestProbeAndCheck(t *testing.T) {
	p := newProgram(t)
	var sut map[string]any
	decodeJSON(t, p.must(exitValid, "probe", "--json").stdout, &sut)
	if sut["schema"] != "assay.sut/v1" {
		t.Errorf("schema %v", sut["schema"])
	}
	capture := filepath.Join(t.TempDir(), "machine.tar.gz")
	p.must(exitValid, "probe", "--capture", capture)
	live := p.must(exitValid, "probe", "--plain").stdout
	replayed := p.must(exitValid, "probe", "--from", capture, "--plain").stdout
	if len(replayed) < len(live)/2 {
		t.Errorf("a capture of this machine gives %d bytes, the machine itself %d", len(replayed), len(live))
	}
	host, err := os.Hostname()
	if err == nil && len(host) > 3 && strings.Contains(live, host) {
		t.Errorf("the SUT names the host %s", host)
	}
	if r := p.run("check"); r.code != exitValid && r.code != exitPreflight {
		t.Errorf("check: exit %d: %s", r.code, r.stderr)
	}
}
