package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"assay/plan"
	"assay/result"
	"assay/sim"
)

// TestMatrixStates: a cell beyond the KV cache is not run, one with waiting requests is a result, and neither makes the run bad.
func TestMatrixStates(t *testing.T) {
	a := newAgent(t)
	engine, url := startSim(t, sim.Config{Model: "sim", StepBase: 12 * time.Millisecond, Prefill: 300 * time.Microsecond, MaxRunning: 2, ContextLen: 2048, KVTokens: 2100})
	p, err := plan.Parse([]byte(`
apiVersion: assay/v1
name: cells
model: {name: sim}
server: ` + atURL(url) + `
workload: {kind: synthetic}
protocol: {matrix: {contexts: [256, 1k], concurrency: [1, 3], duration: 500ms, prefill_duration: 500ms, max_tokens: 20, stable: 200ms, warmup_timeout: 3s}}
telemetry: {interval: 20ms}
`))
	if err != nil {
		t.Fatal(err)
	}
	r := execute(t, a, submit(t, a, p))
	busy := checkStates(t, r, "prefill-256 valid", "prefill-1024 valid", "decode-256x1 valid", "decode-256x3 requests_queued",
		"decode-1024x1 valid", "decode-1024x3 over_capacity")
	if r.Run.State != result.Done || (r.Run.Verdict == result.Valid) == busy || len(r.Run.Reasons) > 0 && !busy {
		t.Errorf("run %s, %s: %v", r.Run.State, r.Run.Verdict, r.Run.Reasons)
	}
	over := r.Points[5]
	if over.Metrics != nil || over.Recording != nil || over.Reasons[0].Code != "kv_precheck" || *over.Context != 1024 || *over.Concurrency != 3 {
		t.Errorf("over capacity: %+v", over)
	}
	q := r.Points[3]
	codes := map[string]bool{}
	for _, r := range q.Reasons {
		codes[r.Code] = true
	}
	if q.Metrics == nil || q.Metrics.SystemTPS == nil || q.State == result.PointQueued && !(codes["queue_seen"] && codes["underfilled_by_server"] && codes["warmup_timeout"]) {
		t.Errorf("queued: %+v", q.Reasons)
	}
	if got := q.Telemetry["engine.running"]; got.Max > 2 || got.N == 0 && !onlyBusy(q) { // a busy machine may come to no look in half a second
		t.Errorf("running %+v", got)
	}
	for _, p := range r.Points[:5] {
		body, err := os.ReadFile(filepath.Join(a.Store.RunDir(r.Run.ID), p.Request.Path))
		if err != nil || !json.Valid(body) || p.PromptTokens == nil {
			t.Errorf("%s: the first request's body: %q, %v; prompts of %v tokens", p.ID, body, err, p.PromptTokens)
		}
		late := slices.ContainsFunc(p.Reasons, func(r result.Reason) bool { return r.Code == "warmup_timeout" })
		switch w := p.Warmup; {
		case w == nil || w.DurationS <= 0:
			t.Errorf("%s: warm-up %+v", p.ID, w)
		case p.Phase == "prefill" && (w.Requests != 1 || w.Stable != nil), p.Phase == "decode" && (w.Requests <= *p.Concurrency || w.Stable == nil || *w.Stable == late):
			t.Errorf("%s: warm-up %+v, late: %t", p.ID, w, late)
		}
	}
	if n := len(engine.Truth()); n == 0 {
		t.Error("the engine saw nothing")
	}
}
