package runner

import (
	"strings"
	"testing"

	"assay/plan"
	"assay/runner/metrics"
	"assay/runner/record"
)

// TestErrorsTellWhatWasSaid: the reason has the first text of each outcome, on one line, and no more than fits.
func TestErrorsTellWhatWasSaid(t *testing.T) {
	var r Reading
	for _, q := range []record.Request{
		{Warmup: true, Outcome: record.HTTPStatus, Error: "HTTP 503: still loading"},
		{Outcome: record.OK},
		{Outcome: record.HTTPStatus, Error: "HTTP 400: maximum context length\nis 32768 tokens"},
		{Outcome: record.HTTPStatus, Error: "HTTP 429: slow down"},
		{Outcome: record.Reset},
		{Outcome: record.Stalled, Error: strings.Repeat("é", 500)},
		{Outcome: record.Censored, Error: "the drain limit passed"},
	} {
		r.count(&q)
	}
	sum := metrics.Summary{RequestsIssued: 6, RequestsFailed: 4, Censored: 1, Outcomes: map[string]int{"ok": 1, "http_status": 2, "reset": 1, "stalled": 1, "censored": 1, "timeout": 0}}
	got := failedRequests(plan.Point{}, sum, Measurement{Said: r.Said})
	want := "4 of 6: http_status 2 (HTTP 400: maximum context length is 32768 tokens), reset 1, stalled 1 (" + strings.Repeat("é", mostSaid) + "…)"
	if got == nil || got.Evidence != want {
		t.Errorf("%+v\nwant %s", got, want)
	}
	if r.Said["censored"] != "" {
		t.Error("a request that was cut off is among the failed ones")
	}
}
