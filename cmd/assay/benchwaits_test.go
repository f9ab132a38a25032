package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestBenchWithoutURL(t *testing.T) {
	r := newProgram(t).must(exitUsage, "bench")
	if !strings.Contains(r.stderr, "assay bench http://127.0.0.1:8000") {
		t.Errorf("no example:\n%s", r.stderr)
	}
}

// TestSavePlanSparesFiles: what is there stays, and nothing runs.
func TestSavePlanSparesFiles(t *testing.T) {
	asked := make(chan struct{}, 100)
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked <- struct{}{} }))
	defer srv.Close()
	p := newProgram(t)
	mine := filepath.Join(t.TempDir(), "mine.txt")
	if err := os.WriteFile(mine, []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := p.must(exitUsage, "bench", srv.URL, "--save-plan", mine)
	if b, err := os.ReadFile(mine); err != nil || string(b) != "dear" || !strings.Contains(r.stderr, mine) || len(asked) > 0 {
		t.Errorf("%q, %v, %d requests: %s", b, err, len(asked), r.stderr)
	}
}

// endless lists two models and never ends the stream of any but the shortest answers.
func endless(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"first","object":"model"},{"id":"second","object":"model"}]}`)
		return
	}
	var body struct {
		Model     string `json:"model"`
		MaxTokens int    `json:"max_tokens"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Model != "first" {
		http.Error(w, "unknown model "+body.Model, http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for n := 0; body.MaxTokens > 4 || n < body.MaxTokens; n++ {
		fmt.Fprintf(w, "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" t\"},\"finish_reason\":null}]}\n\n")
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// TestBenchOfEndlessStreams: the time a server may take to end is bounded by flags, and of two models the first is asked.
func TestBenchOfEndlessStreams(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(endless))
	defer srv.CloseClientConnections()
	p := newProgram(t)
	begun := time.Now()
	drained := p.run("bench", srv.URL, "--concurrency", "2", "--duration", "1s", "--drain", "500ms", "--json").result(t)
	timed := p.run("bench", srv.URL, "--concurrency", "2", "--requests", "2", "--timeout", "1s", "--json").result(t)
	if took := time.Since(begun); took > 3*time.Minute {
		t.Errorf("it took %s", took)
	}
	if m := drained.Identity.Model; m.Served != "first" || strings.Join(m.Listed, " ") != "first second" {
		t.Errorf("identity: %+v", m)
	}
	// One of the two made the window open, or both did in the same microsecond; the figures from issue to drain hold both.
	if m, all := drained.Points[0].Metrics, drained.Points[0].MLPerf; m == nil || all == nil || m.Censored < 1 || all.Censored != 2 {
		t.Errorf("drained: %+v, of all requests %+v", m, all)
	}
	if m := timed.Points[0].Metrics; m == nil || m.Outcomes["timeout"] != 2 {
		t.Errorf("timed out: %+v", m)
	}
}
