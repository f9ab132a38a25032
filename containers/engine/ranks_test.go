package engine

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"assay/sim"
)

// TestScrapeSumsRanks: what the data-parallel ranks of a server run, hold and count adds up.
func TestScrapeSumsRanks(t *testing.T) {
	server := httptest.NewServer(sim.New(sim.Config{Ranks: 3, MaxRunning: 2, StepBase: 10 * time.Millisecond}).Handler())
	defer server.Close()
	defer server.CloseClientConnections() // the replies are longer than the test
	now := func() map[string]float64 {
		m, err := Scrape(t.Context(), []string{server.URL}, simulated(), Access{})
		if err != nil {
			t.Fatal(err)
		}
		return m.Values
	}
	got := map[string]float64{}
	for i := range 8 {
		go func() {
			body := fmt.Sprintf(`{"stream":true,"ignore_eos":true,"max_tokens":30000,"prompt":"one two three %d"}`, i)
			if resp, err := http.Post(server.URL+"/v1/completions", "application/json", strings.NewReader(body)); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body) // until the connection closes
				resp.Body.Close()
			}
		}()
		for runs := min(i+1, 6); got["running"] != float64(runs) || got["waiting"] != float64(i+1-runs); {
			if t.Context().Err() != nil {
				t.Fatalf("%d requests: %v", i+1, got)
			}
			got = now()
		}
	}
	if got["prompt_tokens"] != 6*4 || got["generation_tokens"] < 6 {
		t.Errorf("%v", got)
	}
}
