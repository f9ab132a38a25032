package imported

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/result"
	"assay/runner/record"
)

func testdata(name string) string { return filepath.Join("testdata", filepath.FromSlash(name)) }

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6*math.Max(1, math.Abs(b)) }

// TestVLLMFailure: a request that failed has no times there but its start, and the last line of its traceback.
func TestVLLMFailure(t *testing.T) {
	b := bring(t, testdata("vllm.json"), "")
	all := b.requests(t, 0)
	if len(all) != 4 {
		t.Fatalf("%d requests", len(all))
	}
	bad := all[2]
	if bad.Outcome != record.Reset || bad.Error != "aiohttp.client_exceptions.ClientPayloadError: Response payload is not completed" || len(bad.Events) != 0 {
		t.Errorf("failed: %+v", bad)
	}
	if q := all[0]; len(q.Events) != 4 || q.Events[0].AtUS-q.SentUS != 300_000 {
		t.Errorf("a chat: %+v", q)
	}
	if q := all[3]; len(q.Events) != 3 || q.Events[0].Tokens != 2 || q.Output() != 6 || q.IntendedUS != q.SentUS-660_000 {
		t.Errorf("several tokens a chunk: %+v", q)
	}
	p := b.points[0]
	if p.State != result.PointNotValid || !strings.HasPrefix(evidence(p, "errors"), "1 of ") {
		t.Errorf("%s: %v", p.State, p.Reasons)
	}
}

// TestVLLMLog: a printed block gives figures and no requests.
func TestVLLMLog(t *testing.T) {
	b := bring(t, testdata("vllm-log.txt"), "")
	p := b.points[0]
	if b.found.Format.Name != "vllm-log" || p.ID != "c4" || p.Recording != nil || p.Metrics != nil || evidence(p, "requests_missing") != "none of 12" {
		t.Errorf("%+v", p)
	}
	if f := figure(t, p, "p99_ttft_ms"); f.Value != 92.43 || f.Statistic != "p99" || f.Metric != "ttft_ms" {
		t.Errorf("%+v", f)
	}
	chat := bring(t, write(t, "x.log", strings.ReplaceAll(read(t, "vllm-log.txt"), "/v1/completions", "/v1/chat")), "").points[0]
	if f := figure(t, chat, "p99_ttft_ms"); f.Metric != "" {
		t.Errorf("what may begin with a role has a metric: %+v", f)
	}
}

// TestBetterFile: a log beside the saved file tells nothing more.
func TestBetterFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"vllm.json", "vllm-log.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(read(t, name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if b := bring(t, dir, ""); b.found.Format.Name != "vllm" || len(b.points) != 1 {
		t.Errorf("%s, %d points", b.found.Format.Name, len(b.points))
	}
	if b := bring(t, dir, "vllm-log"); b.found.Format.Name != "vllm-log" {
		t.Errorf("--as vllm-log reads %s", b.found.Format.Name)
	}
}

// TestAIPerf: warm-up stays apart, chunks of one read are told, a metric in seconds is read as such, and what the tool calls
// inter_token_latency is a TPOT.
func TestAIPerf(t *testing.T) {
	b := bring(t, testdata("aiperf"), "")
	p, all := b.points[0], b.requests(t, 0)
	if len(all) != 4 || !all[0].Warmup || all[1].SharedReads != 1 || all[1].FirstAnswer != 1 {
		t.Fatalf("%+v", all)
	}
	if q := all[2]; q.Events[2].AtUS-q.SentUS != 70_000 || q.SentUS-q.IntendedUS != 1000 {
		t.Errorf("seconds: %+v", q)
	}
	if q := all[3]; q.Outcome != record.HTTPStatus || q.Status != 503 {
		t.Errorf("failed: %+v", q)
	}
	if f := figure(t, p, "inter_token_latency.avg"); f.Metric != "tpot_ms" {
		t.Errorf("%+v", f)
	}
	if f := figure(t, p, "time_to_first_token.avg"); f.Value != 50 || f.Unit != "ms" || f.Assay == nil || *f.Assay != 50 {
		t.Errorf("%+v", f)
	}
	if p.MLPerf.RequestsIssued != 3 || evidence(p, "warmup_included") != "1 requests of 4" || evidence(p, "failures_hidden") != "" {
		t.Errorf("%d issued, %v", p.MLPerf.RequestsIssued, p.Reasons) // the tool says 3 completed and 1 failed, and 2 and 1 were measured
	}
}

// TestInferencePerf: the raw streams in the file tell what the tool does not: an error inside HTTP 200, an end without finish reason, a
// success without a token. Tokens of one chunk are one event.
func TestInferencePerf(t *testing.T) {
	b := bring(t, testdata("inference-perf"), "")
	p, all := b.points[0], b.requests(t, 0)
	var ends []record.Outcome
	for _, q := range all {
		ends = append(ends, q.Outcome)
	}
	want := []record.Outcome{record.OK, record.ErrorFrame, record.OK, record.Truncated}
	if len(ends) != 4 || ends[0] != want[0] || ends[1] != want[1] || ends[2] != want[2] || ends[3] != want[3] {
		t.Fatalf("ended %v, want %v", ends, want)
	}
	if q := all[0]; len(q.Events) != 2 || q.Output() != 3 || q.FinishReason != "stop" {
		t.Errorf("%+v", q)
	}
	if got := evidence(p, "failures_hidden"); !strings.HasPrefix(got, "2 that failed and 1 without a token, of 4") || p.State != result.PointNotValid {
		t.Errorf("%q, %s", got, p.State)
	}
	if f := figure(t, p, "request_latency.mean"); f.Metric != "" || !near(f.Value, 175) {
		t.Errorf("%+v", f)
	}
	if p.MLPerf.QueueMS != nil {
		t.Error("a queue was made up")
	}
}

// TestGuideLLM: two benchmarks are two points; a failed request and one that was cut off; no gaps, and no ITL made of two events.
func TestGuideLLM(t *testing.T) {
	b := bring(t, testdata("guidellm.json"), "")
	if len(b.points) != 2 || b.points[0].ID != "c2" || b.points[1].ID != "r10" || b.found.Report.Endpoint != "completions" {
		t.Fatalf("%+v", b.points)
	}
	all := b.requests(t, 0)
	if len(all) != 4 || all[2].Outcome != record.Reset || all[3].Outcome != record.Censored {
		t.Errorf("%+v", all)
	}
	closed, open := b.points[0], b.points[1]
	if closed.MLPerf.ITLMS != nil || closed.MLPerf.QueueMS != nil || closed.MLPerf.TPOTMS == nil || !near(closed.MLPerf.TPOTMS.Mean, 50) {
		t.Errorf("%+v", closed.MLPerf)
	}
	if open.Metrics.QueueMS == nil || !near(open.Metrics.QueueMS.P50, 10) || open.Window == nil {
		t.Errorf("%+v", open.Metrics)
	}
	for name, metric := range map[string]string{"inter_token_latency_ms.median": "tpot_ms", "time_per_output_token_ms.mean": "", "inter_token_latency_ms.mean": ""} {
		if f := figure(t, closed, name); f.Metric != metric {
			t.Errorf("%+v", f)
		}
	}
	if f := figure(t, closed, "request_latency.mean"); !near(f.Value, 200) {
		t.Errorf("%+v", f)
	}
}

// TestInferenceBench: a matrix without requests; a cell that was not run is over capacity and has no throughput of −1.
func TestInferenceBench(t *testing.T) {
	b := bring(t, testdata("llm-inference-bench.json"), "")
	var ids []string
	for _, p := range b.points {
		ids = append(ids, p.ID+" "+string(p.State))
	}
	if got := strings.Join(ids, ", "); got != "prefill-16384 not_valid, decode-16384x4 not_valid, decode-16384x8 over_capacity" {
		t.Fatal(got)
	}
	cell, over := b.points[1], b.points[2]
	if f := figure(t, cell, "ttft_p50"); !near(f.Value, 190) || f.Metric != "ttft_ms" || f.Assay != nil {
		t.Errorf("%+v", f)
	}
	if got := evidence(cell, "underfilled"); !strings.HasPrefix(got, "3.20 on average") {
		t.Errorf("%v", cell.Reasons)
	}
	if len(over.Imported.Figures) != 0 || !strings.Contains(evidence(over, "kv_precheck"), "540,672") {
		t.Errorf("%+v", over)
	}
}

// TestMLPerfIsExact: recomputed from the event log of real runs, as the tool counts.
func TestMLPerfIsExact(t *testing.T) {
	dir := reports(t)
	tests := []struct {
		name              string
		issued, completed int
		outside           int
		state             result.PointState
		codes             string
	}{
		{"report-single", 120, 120, 8, result.PointValid, ""},
		{"report-agentic", 88, 88, 8, result.PointValid, ""},
		{"report-faults", 40, 36, 0, result.PointNotValid, "errors failures_hidden figures_differ"},
		{"report-int", 64, 60, 8, result.PointNotValid, "stopped_early errors errors_outside figures_differ"},
	}
	for _, tt := range tests {
		b := bring(t, filepath.Join(dir, tt.name), "")
		p := b.points[0]
		if p.MLPerf.RequestsIssued != tt.issued || p.MLPerf.RequestsCompleted != tt.completed || p.Recording.Requests != tt.issued+tt.outside {
			t.Errorf("%s: %d issued, %d completed, %d in all", tt.name, p.MLPerf.RequestsIssued, p.MLPerf.RequestsCompleted, p.Recording.Requests)
		}
		if p.State != tt.state || strings.Join(codes(p), " ") != tt.codes {
			t.Errorf("%s: %s, %v", tt.name, p.State, p.Reasons)
		}
		if tt.state != result.PointValid {
			continue
		}
		for _, name := range []string{"duration_ns", "qps", "ttft.avg", "ttft.min", "ttft.max"} {
			if f := figure(t, p, name); f.Assay == nil || off(f) > 0.001 {
				t.Errorf("%s: %+v", tt.name, f)
			}
		}
	}
}

// TestMLPerfFaults: of the five requests that a server broke on purpose the tool counts one as failed.
func TestMLPerfFaults(t *testing.T) {
	b := bring(t, filepath.Join(reports(t), "report-faults"), "")
	ends := map[record.Outcome]int{}
	for _, q := range b.requests(t, 0) {
		ends[q.Outcome]++
	}
	if ends[record.HTTPStatus] != 1 || ends[record.Truncated] != 2 || ends[record.BadResponse] != 1 || ends[record.OK] != 36 {
		t.Errorf("%v", ends)
	}
	if got := evidence(b.points[0], "failures_hidden"); !strings.HasPrefix(got, "4 that failed and 0 without a token, of 40") {
		t.Errorf("%q", got)
	}
}

// TestMLPerfDead: a server that is down gives a good rate and exit 0 there.
func TestMLPerfDead(t *testing.T) {
	b := bring(t, testdata("mlperf/dead"), "")
	p := b.points[0]
	if p.State != result.PointNotValid || evidence(p, "no_requests") == "" || !strings.HasPrefix(evidence(p, "failures_hidden"), "4 that failed") {
		t.Errorf("%s: %v", p.State, p.Reasons)
	}
	if q := b.requests(t, 0)[0]; q.Outcome != record.Refused {
		t.Errorf("%+v", q)
	}
}

// TestMLPerfKilled: a folder with nothing but the configuration is of a run that was killed.
func TestMLPerfKilled(t *testing.T) {
	p := bring(t, testdata("mlperf/killed"), "").points[0]
	if p.ID != "c2" || p.State != result.PointNotValid || !strings.Contains(evidence(p, "stopped_early"), "killed") {
		t.Errorf("%+v", p)
	}
}

// TestMLPerfWarmup: a count that holds the warm-up is told; without chunks nothing is known of tokens.
func TestMLPerfWarmup(t *testing.T) {
	p := bring(t, testdata("mlperf/warm"), "").points[0]
	if p.State != result.PointNotValid || evidence(p, "warmup_included") != "2 requests of 6" {
		t.Errorf("%s: %v", p.State, p.Reasons)
	}
	if m := p.MLPerf; m.OutputTokens != nil || m.SystemTPS != nil || m.TPOTMS != nil || m.ITLMS != nil || m.TTFTMS == nil || m.E2EMS == nil || !near(m.E2EMS.Mean, 9) {
		t.Errorf("%+v", m)
	}
}
