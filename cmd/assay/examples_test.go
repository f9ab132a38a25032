package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/plan"
	"assay/result"
)

// TestPublishedProtocols: each published measurement has a plan, and the same shape on the simulated engine gives a report with every
// table of the published page.
func TestPublishedProtocols(t *testing.T) {
	for _, c := range []struct {
		published, scaled string
		sets              []string // shorter still
		points            int
		states            []result.PointState // that are among the points'
		want              []string            // of the report, in this order
	}{
		{"agentic-mi300x8.yaml", "sim-agentic.yaml", []string{"protocol.sweep.min_duration=1s", "protocol.sweep.concurrency=2,8,16"}, 3, []result.PointState{result.PointValid}, []string{
			"Concurrency", "System tokens/s", "Tokens/s per user", "TTFT P90", "Utilization", "QPS", "Total output tokens", "Average output tokens",
			"Run duration", "Total queries", "Total queries issued", "Total queries failed", "Time to first token", "Minimum", "Average", "P50", "P90", "P95", "P99", "P999", "Maximum",
			"Time per output token", "Query latency"}},
		{"serve-deepseek-r1.yaml", "sim-serve.yaml", []string{"protocol.serve.duration=3s", "protocol.serve.window={warmup: 500ms, cooldown: 500ms}"}, 2, nil, []string{
			"Output tok/s", "Output tok/s per decode node", "Total tok/s", "Mean TTFT", "Mean ITL", "Warm-up cut", "Cool-down cut", "The whole window",
			"P1 TTFT", "P10 TTFT", "P25 TTFT", "P50 TTFT", "P75 TTFT", "P90 TTFT", "P1 ITL", "P90 ITL", "Requests wholly inside"}},
		{"matrix-rtx6000x8.yaml", "sim-matrix.yaml", []string{"protocol.matrix.duration=1s", "protocol.matrix.stable=250ms", "protocol.matrix.warmup_timeout=2s",
			"protocol.matrix.contexts=1k,4k", "protocol.matrix.concurrency=1,16"}, 8, []result.PointState{result.PointQueued, result.PointOver}, []string{
			"Sustained decode", "Over capacity", "Prefill", "Prompt tok/s", "All measurements", "Phase", "Context", "Requests at once", "Status", "Total tok/s",
			"Per request tok/s", "TTFT P50", "Time between tokens", "Average active requests", "Completed requests", "Output tokens", "Measured for"}},
	} {
		t.Run(c.scaled, func(t *testing.T) {
			sameShape(t, c.published, c.scaled)
			p := newProgram(t)
			args := []string{"run", filepath.Join("..", "..", "examples", c.scaled), "--json"}
			for _, set := range c.sets {
				args = append(args, "--set", set)
			}
			doc := p.must(exitValid, args...).result(t)
			if len(doc.Points) != c.points {
				t.Errorf("%d points, want %d", len(doc.Points), c.points)
			}
			for _, state := range c.states {
				if !slices.ContainsFunc(doc.Points, func(pt result.Point) bool { return isState(pt, state) }) {
					t.Errorf("no point is %s", state)
				}
			}
			inOrder(t, words(p.must(exitValid, "report", "last", "--format", "html").stdout), c.want)
		})
	}
}

// isState tells a point of a state, or one that would have it had the machine not been busy: one whose requests queued says so all the same.
func isState(p result.Point, state result.PointState) bool {
	if p.State != result.PointNotValid || !onlyBusy(p.Reasons) {
		return p.State == state
	}
	queued := slices.ContainsFunc(p.Reasons, func(r result.Reason) bool { return r.Code == "queue_seen" })
	return state == result.PointValid && !queued || state == result.PointQueued && queued
}

// sameShape holds a published plan against the one that stands for it.
func sameShape(t *testing.T, published, scaled string) {
	t.Helper()
	a, b := examplePlan(t, published), examplePlan(t, scaled)
	if a.Workload.Kind != b.Workload.Kind || a.Server.Endpoint != b.Server.Endpoint || a.Points()[0].Phase != b.Points()[0].Phase {
		t.Errorf("%s and %s have other shapes", published, scaled)
	}
}

func examplePlan(t *testing.T, name string) plan.Plan {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "examples", name))
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Parse(b)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p
}

// words is the text of a page.
func words(page string) string {
	page = regexp.MustCompile(`(?s)<(style|script|svg).*?</(style|script|svg)>`).ReplaceAllString(page, " ")
	page = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")
	return strings.Join(strings.Fields(page), " ")
}

// inOrder finds labels one after another.
func inOrder(t *testing.T, text string, want []string) {
	t.Helper()
	rest := text
	for _, label := range want {
		_, after, found := strings.Cut(rest, label)
		if !found {
			t.Errorf("no %q after the labels before it", label)
			continue
		}
		rest = after
	}
}
