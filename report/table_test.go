package report

import (
	"strings"
	"testing"

	"assay/result"
	"assay/runner/metrics"
)

// TestPrefillHasNoUtilization: the terminal's table compares output throughputs, and a prefill pass has none, whatever its one token a request gives.
func TestPrefillHasNoUtilization(t *testing.T) {
	tokens, alone := new(1024), new(1)
	var b strings.Builder
	Table(&b, result.Result{Points: []result.Point{
		{ID: "prefill-1024", Phase: "prefill", Context: tokens, State: result.PointValid,
			Metrics: &metrics.Summary{PromptTPS: new(30_000.0), SystemTPS: new(25.0), Utilization: new(12.5)}},
		{ID: "decode-1024x1", Phase: "decode", Context: tokens, Concurrency: alone, State: result.PointValid, Metrics: &metrics.Summary{SystemTPS: new(200.0), Utilization: new(100.0)}},
	}})
	lines := strings.Split(b.String(), "\n")
	if strings.Contains(lines[1], "12.5") || !strings.Contains(lines[2], "100.0") {
		t.Error(b.String())
	}
}
