package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/fault"
	"assay/result"
	"assay/runner/metrics"
	"assay/runner/record"
)

func ptr[T any](v T) *T { return &v }

// asked is an ok request; events are pairs of instant in ms and tokens.
func asked(sentMS int64, events ...[2]int64) record.Request {
	r := record.Request{Outcome: record.OK, IntendedUS: sentMS * 1000, SentUS: sentMS * 1000, ConnectUS: record.Never, FirstAnswer: -1,
		InputTokens: 10, CachedTokens: record.Never, DoneUS: sentMS * 1000}
	for _, e := range events {
		r.Events = append(r.Events, record.Event{AtUS: e[0] * 1000, Tokens: e[1]})
		r.OutputTokens += e[1]
		r.DoneUS = e[0] * 1000
	}
	return r
}

// recordings are requests as a run's files give them: each visitor gets its own.
func recordings(byPath map[string][]record.Request) Recordings {
	return func(path string, visit func(*record.Request) error) (record.Whole, error) {
		requests, ok := byPath[path]
		if !ok {
			return record.Whole{}, fmt.Errorf("no recording %s", path)
		}
		for _, r := range requests {
			r.Events = slices.Clone(r.Events)
			if err := visit(&r); err != nil {
				return record.Whole{}, err
			}
		}
		return record.Whole{Requests: len(requests)}, nil
	}
}

// loadPoint is a point of an open loop whose window is the second from 1 s on.
func loadPoint() result.Point {
	return result.Point{ID: "r140", Phase: "serve", Rate: ptr(140.0), State: result.PointValid,
		Recording: &result.Recording{Path: "r140.rec", WindowUS: [2]int64{1_000_000, 2_000_000}, IssueUS: [2]int64{0, 3_000_000}},
		Window:    &result.Window{StartedUS: 1_764_543_685_000_000}}
}

func loadRun(points ...result.Point) result.Result {
	return result.Result{Run: result.Run{ID: "r1"}, Points: points,
		Plan: json.RawMessage(`{"server":{"endpoint":"completions"},"protocol":{"serve":{"rate":[140],"arrival":"poisson","max_concurrency":10800,"window":{"warmup":"120s","cooldown":"1m10s"}}}}`)}
}

// worked has one request wholly inside, one that begins before the window, one that ends after it, one of the warm-up, one that failed.
func worked() map[string][]record.Request {
	warm, failed := asked(1100, [2]int64{1200, 1}), asked(1500, [2]int64{1600, 1})
	warm.Warmup, failed.Outcome = true, record.Reset
	return map[string][]record.Request{"r140.rec": {
		asked(1100, [2]int64{1300, 1}, [2]int64{1330, 2}, [2]int64{1390, 2}, [2]int64{1450, 2}), // 200 ms, then 30 60 60
		asked(500, [2]int64{900, 1}, [2]int64{1100, 4}),                                         // of its gap of 200 the end is inside
		asked(1900, [2]int64{1990, 1}, [2]int64{2100, 1}),
		warm, failed,
	}}
}

func TestVLLMBlock(t *testing.T) {
	var b bytes.Buffer
	if err := VLLM(&b, loadRun(loadPoint()), recordings(worked())); err != nil {
		t.Fatal(err)
	}
	// Inside: 1 request, 10 tokens in, TTFT 200. In the window: 7 + 4 + 1 + 1 tokens; gaps 30 60 60 200, one a chunk.
	want := `# r140: 140/s, valid
=============Serving Benchmark Result=============
Number of worker processes:              1         
Successful requests:                     1         
Maximum request concurrency:             10800     
Request rate configured (RPS):           140.00    
Warm-up Time:                            120.0     
Cool-down Time:                          70.0      
Benchmark duration (s):                  1.00      
Total input tokens:                      10        
Total generated tokens:                  13        
Output token throughput (tok/s):         13.00     
Total Token throughput (tok/s):          23.00     
---------------Time to First Token----------------
Mean TTFT (ms):                          200.00    
Median TTFT (ms):                        200.00    
P1 TTFT (ms):                            200.00    
P10 TTFT (ms):                           200.00    
P25 TTFT (ms):                           200.00    
P50 TTFT (ms):                           200.00    
P75 TTFT (ms):                           200.00    
P90 TTFT (ms):                           200.00    
---------------Inter-token Latency----------------
Mean ITL (ms):                           87.50     
Median ITL (ms):                         60.00     
P1 ITL (ms):                             30.90     
P10 ITL (ms):                            39.00     
P25 ITL (ms):                            52.50     
P50 ITL (ms):                            60.00     
P75 ITL (ms):                            95.00     
P90 ITL (ms):                            158.00    
==================================================
# Successful requests, total input tokens and TTFT: of the requests sent and finished inside the window.
# Total generated tokens, output token throughput and ITL: of the token events inside the window, whichever request they belong to.
# Total Token throughput adds the two populations, so that its input part is low by what is not wholly inside.
# The whole window: 2 requests finished in it with 20 input tokens, 32.00 tok/s in and out; TTFT of the 2 sent in it: mean 145.00 ms, median 145.00 ms, P90 189.00 ms.
# Peak: 13.00 tok/s in one second of the window, 1 request in flight at once.

`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}

// TestVLLMJSON is the worked example of that client's formulas: chunks after 200, 230, 290 and 350 ms that hold 7 tokens.
func TestVLLMJSON(t *testing.T) {
	var b bytes.Buffer
	if err := VLLMJSON(&b, loadRun(loadPoint()), recordings(worked())); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || bytes.Count(b.Bytes(), []byte("\n")) != 1 {
		t.Fatalf("%v: %s", err, b.Bytes())
	}
	want := map[string]any{
		"date": "20251130-230125", "backend": "openai", "request_rate": 140.0, "burstiness": 1.0, "max_concurrency": 10800.0, "num_prompts": 3.0,
		"duration": 1.0, "completed": 2.0, "failed": 1.0, "total_input_tokens": 20.0, "total_output_tokens": 12.0, "request_throughput": 2.0,
		"output_throughput": 12.0, "total_token_throughput": 32.0, "max_output_tokens_per_s": 13.0, "max_concurrent_requests": 1.0,
		"mean_itl_ms": 87.5, "p50_itl_ms": 60.0, "inside_completed": 1.0, "inside_mean_ttft_ms": 200.0, "inside_std_ttft_ms": 0.0,
		"inside_mean_tpot_ms": 25.0, "inside_mean_itl_ms": 50.0, "inside_mean_e2el_ms": 350.0, "inside_total_output_tokens": 7.0,
		"assay_window_output_tokens": 13.0, "assay_window_output_throughput": 13.0, "assay_point": "r140", "assay_state": "valid", "assay_arrivals": "poisson",
		"label": nil,
	}
	for key, value := range want {
		if v, ok := got[key]; !ok || v != value {
			t.Errorf("%s = %v, want %v", key, v, value)
		}
	}
}

// TestUnpinnedIsMarked: a run whose plan allowed what is not pinned says so in each form that has room for it.
func TestUnpinnedIsMarked(t *testing.T) {
	for form, c := range map[string]struct {
		write    func(io.Writer, result.Result, Recordings) error
		yes, not string
	}{
		"csv":       {func(w io.Writer, r result.Result, _ Recordings) error { return CSV(w, r) }, "valid,true\n", "valid,false\n"},
		"vllm":      {VLLM, "# the plan allows images and data that are not pinned", "# r140"},
		"vllm-json": {VLLMJSON, `"assay_verdict":"valid","assay_allow_unpinned":true`, `"assay_allow_unpinned":false`},
	} {
		pinned := loadRun(loadPoint())
		pinned.Run.Verdict = result.Valid
		loose := pinned
		loose.Plan = bytes.Replace(loose.Plan, []byte("{"), []byte(`{"allow_unpinned":true,`), 1)
		for want, r := range map[string]result.Result{c.yes: loose, c.not: pinned} {
			var b bytes.Buffer
			if err := c.write(&b, r, recordings(worked())); err != nil || !strings.Contains(b.String(), want) {
				t.Errorf("%s lacks %q (%v):\n%s", form, want, err, b.String())
			}
			if told := strings.Contains(b.String(), c.yes); told != (want == c.yes) {
				t.Errorf("%s says %q: %v", form, c.yes, told)
			}
		}
	}
}

func TestPeakIsNeverBelowTheMean(t *testing.T) {
	for _, window := range []int64{300_000, 1_000_000, 1_490_000, 1_999_999, 2_000_000, 7_300_000} {
		for _, at := range [][]int64{{0}, {0, 1_480_000}, {window - 1}, {5, 900_000, 1_100_000, 1_200_000}} {
			b := buckets{window: metrics.Window{StartUS: 50, EndUS: 50 + window}}
			for _, us := range at {
				b.add(record.Event{AtUS: 50 + us, Tokens: 3})
			}
			if mean := float64(b.total) / (float64(window) / second); b.peak() < mean*(1-1e-12) {
				t.Errorf("window of %d µs, events at %v: the peak %v is below the mean %v", window, at, b.peak(), mean)
			}
		}
	}
}

func TestPeakFlight(t *testing.T) {
	f := flight{window: metrics.Window{StartUS: 1000, EndUS: 2000}}
	for _, span := range [][2]int64{{0, 1500}, {1500, 1600}, {1400, record.Never}, {2000, 3000}, {0, 1000}, {record.Never, 1500}} {
		f.add(&record.Request{SentUS: span[0], DoneUS: span[1]})
	}
	if n := f.peak(); n != 2 { // the first makes room for the second at 1500
		t.Errorf("%d at once, want 2", n)
	}
}

func matrixRun(points ...result.Point) result.Result {
	r := result.Result{Run: result.Run{ID: "r1", Verdict: result.Valid}, Points: points,
		Plan: json.RawMessage(`{"server":{"engine":"sim"},"workload":{"sampling":{"ignore_eos":true}},"protocol":{"matrix":{"contexts":[8192],"concurrency":[2,4],"duration":"30s","max_tokens":2048}}}`)}
	r.Identity.Server = json.RawMessage(`{"kv_tokens":480000}`)
	return r
}

func cells() []result.Point {
	rec := func(path string) *result.Recording {
		return &result.Recording{Path: path, WindowUS: [2]int64{1_000_000, 2_000_000}, IssueUS: [2]int64{250_000, 3_000_000}}
	}
	return []result.Point{
		{ID: "prefill-8192", Phase: "prefill", Context: ptr(8192), State: result.PointValid, Recording: rec("p.rec")},
		{ID: "decode-8192x2", Phase: "decode", Context: ptr(8192), Concurrency: ptr(2), State: result.PointValid, Recording: rec("d.rec"),
			Client: &metrics.Client{TokenSource: "usage"}, Telemetry: map[string]result.Telemetry{"engine.running": {Mean: 1.8, Max: 2}, "engine.waiting": {},
				"engine.generation_tokens": {Min: 100, Max: 111, SpanS: 0.5}, "gpu1.power_w": {Mean: 300, Max: 310}, "gpu0.power_w": {Mean: 290, Max: 320}}},
		{ID: "decode-8192x4", Phase: "decode", Context: ptr(8192), Concurrency: ptr(4), State: result.PointOver,
			Reasons: []result.Reason{{Code: "kv_precheck", Text: "too large", Evidence: "by 60672"}}},
	}
}

func TestInferenceBench(t *testing.T) {
	cutOff := asked(600, [2]int64{800, 1}, [2]int64{1400, 2}, [2]int64{1900, 3})
	cutOff.Outcome = record.Censored
	scout := asked(300, [2]int64{400, 1})
	scout.Warmup = true
	files := map[string][]record.Request{
		"p.rec": {asked(100, [2]int64{600, 1}), asked(700, [2]int64{950, 1}), asked(1000, [2]int64{1400, 1})},
		"d.rec": {scout, cutOff, asked(1000, [2]int64{1200, 2}, [2]int64{1300, 2}, [2]int64{1500, 2})},
	}
	for i, n := range []int64{10, 30, 20} { // in 500, 250, 400 ms
		files["p.rec"][i].InputTokens = n
	}
	var b bytes.Buffer
	if err := InferenceBench(&b, matrixRun(cells()...), recordings(files)); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Metadata map[string]any
		Prefill  map[string]map[string]any
		Results  []map[string]any
		Summary  map[string]map[string]float64 `json:"summary_table"`
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	near := func(name string, got any, want float64) {
		t.Helper()
		if v, ok := got.(float64); !ok || math.Abs(v-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	if got.Metadata["assay_allow_unpinned"] != false {
		t.Errorf("%v", got.Metadata)
	}
	p := got.Prefill["8192"]
	near("ttft_seconds", p["ttft_seconds"], 0.4)
	near("tok_per_sec", p["tok_per_sec"], 50)
	near("prompt_tokens", p["prompt_tokens"], 20)
	near("samples", p["samples"], 3)
	near("max_total_tokens", got.Metadata["max_total_tokens"], 480000)
	if len(got.Results) != 2 {
		t.Fatalf("%d cells", len(got.Results))
	}
	c := got.Results[0] // tokens inside: 2 + 3 and 2 + 2 + 2; the last at 1.9 s
	for name, want := range map[string]float64{"client_output_tokens": 11, "measurement_seconds": 0.9, "measurement_wall_seconds": 1, "aggregate_tps": 11 / 0.9,
		"per_request_avg_tps": 11 / 0.9 / 2, "server_gen_throughput": 22, "ttft_p50": 0.2, "inter_token_latency_p50": (1.1/5 + 0.3/5) / 2,
		"chunk_inter_token_latency_avg": (0.55 + 0.15) / 2, "time_to_second_token_p50": (0.6 + 0.1) / 2, "request_latency_avg": 0.5, "e2e_output_tps_per_user_avg": 12,
		"completed_request_count": 1, "errors": 0, "avg_running_reqs": 1.8, "max_running_reqs": 2, "warmup_duration": 0.75} {
		near(name, c[name], want)
	}
	if c["underfilled"] != true || c["capacity_limited"] != true || c["aggregate_source"] != "openai_continuous_usage" {
		t.Errorf("underfilled %v, capacity_limited %v, source %v", c["underfilled"], c["capacity_limited"], c["aggregate_source"])
	}
	near("power", c["hardware_summary"].(map[string]any)["power_total_avg_w"], 590)
	over := got.Results[1]
	near("aggregate_tps", over["aggregate_tps"], -1)
	if over["capacity_limited"] != true || over["timeout_reason"] != "kv_precheck: too large by 60672" || over["assay_state"] != "over_capacity" {
		t.Errorf("the cell that was not run: %v", over)
	}
	if d := cmp.Diff(map[string]map[string]float64{"8192": {"2": 11 / 0.9, "4": -1}}, got.Summary); d != "" {
		t.Error(d)
	}
}

// TestCapacityLimited: that client's flag is up for each of its causes, and down where there is none.
func TestCapacityLimited(t *testing.T) {
	for _, c := range []struct {
		name               string
		concurrency        int
		mean, max, waiting float64
		state              result.PointState
		reason             string
		want               bool
	}{
		{"full", 4, 4, 4, 0, result.PointValid, "underfilled", false},
		{"just full enough", 4, 3.8, 4, 0, result.PointValid, "", false},
		{"not full on average", 4, 3.79, 4, 0, result.PointValid, "", true},
		{"never full", 4, 3.9, 3.9, 0, result.PointValid, "", true},
		{"alone", 1, 0.9, 0.9, 0, result.PointValid, "", false},
		{"waiting", 4, 4, 4, 1, result.PointValid, "", true},
		{"not steady", 4, 4, 4, 0, result.PointNotValid, "warmup_timeout", true},
		{"queued", 4, 4, 4, 0, result.PointQueued, "", true},
		{"not run", 4, 4, 4, 0, result.PointOver, "", true},
	} {
		p := result.Point{Concurrency: &c.concurrency, State: c.state}
		p.Telemetry = map[string]result.Telemetry{"engine.running": {Mean: c.mean, Max: c.max}, "engine.waiting": {Max: c.waiting}}
		if c.reason != "" {
			p.Reasons = []result.Reason{{Code: c.reason}}
		}
		if got := capacityLimited(p); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestVLLMJSONSetting: what was asked for, where the plan has no limit and another process of arrivals.
func TestVLLMJSONSetting(t *testing.T) {
	r := loadRun(loadPoint())
	r.Run.PlanSHA256, r.Identity.Model = "ab12", result.ModelIdentity{Name: "m", Served: "org/m"}
	for serve, want := range map[string]map[string]any{
		`{"rate":[140],"arrival":"gamma","burstiness":0.5}`: {"burstiness": 0.5, "max_concurrency": nil, "model_id": "org/m", "assay_plan_sha256": "ab12"},
		`{"rate":[140],"arrival":"constant"}`:               {"burstiness": nil, "max_concurrency": nil},
	} {
		r.Plan = json.RawMessage(`{"protocol":{"serve":` + serve + `}}`)
		var b bytes.Buffer
		if err := VLLMJSON(&b, r, recordings(worked())); err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		for key, value := range want {
			if v, ok := got[key]; !ok || v != value {
				t.Errorf("%s: %s = %v, want %v", serve, key, v, value)
			}
		}
		if got["median_itl_ms"] != got["p50_itl_ms"] || got["median_itl_ms"] == nil {
			t.Errorf("medians %v and %v", got["median_itl_ms"], got["p50_itl_ms"])
		}
	}
}

// TestVLLMJSONWithoutUsage: tokens are those of the events where the server told no count, though its chunks are samples of ITL.
func TestVLLMJSONWithoutUsage(t *testing.T) {
	untold := asked(1100, [2]int64{1300, 1}, [2]int64{1400, 3})
	untold.OutputTokens = record.Never
	s, err := servingOf(loadRun(loadPoint()), loadPoint(), recordings(map[string][]record.Request{"r140.rec": {untold}}))
	if err != nil || s.window.OutputTokens == nil || *s.window.OutputTokens != 4 || s.window.ITLMS.N != 1 {
		t.Errorf("%v, %+v", err, s.window)
	}
}

// TestWithoutRecordings: what is made of single requests says so when they are not at hand.
func TestWithoutRecordings(t *testing.T) {
	r := loadRun(loadPoint())
	for name, err := range map[string]error{"vllm": VLLM(&bytes.Buffer{}, r, nil), "vllm-json": VLLMJSON(&bytes.Buffer{}, r, nil),
		"events": Events(&bytes.Buffer{}, r, nil), "llm-inference-bench": InferenceBench(&bytes.Buffer{}, matrixRun(cells()...), nil)} {
		if f := fault.Of(err, fault.Plan); f == nil || f.Code != "store.no_recording" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if f := fault.Of(InferenceBench(&bytes.Buffer{}, r, nil), fault.Store); f == nil || f.Code != "plan.no_matrix" {
		t.Errorf("a run that is no matrix: %v", f)
	}
	if err := VLLM(&bytes.Buffer{}, r, recordings(nil)); err == nil || !strings.Contains(err.Error(), "point r140") {
		t.Errorf("a recording that is lost: %v", err)
	}
	torn := func(string, func(*record.Request) error) (record.Whole, error) { return record.Whole{Torn: true}, nil }
	if f := fault.Of(VLLM(&bytes.Buffer{}, r, torn), fault.Plan); f == nil || f.Code != "store.recording_torn" {
		t.Errorf("a recording that is cut off: %v", f)
	}
}
