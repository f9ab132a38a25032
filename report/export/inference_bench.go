package export

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/fault"
	"assay/plan"
	"assay/report/point"
	"assay/result"
)

// benchVersion is the version of the client whose file this is.
const benchVersion = "0.4.18"

// skipped is the throughput of a cell that was not run, in that client's memory; its own file leaves such cells out.
const skipped = -1

// InferenceBench writes the JSON of llm-inference-bench from a matrix, by its formulas (methodology in the file says which).
func InferenceBench(w io.Writer, r result.Result, recordings Recordings) error {
	m := point.PlanOf(r).Protocol.Matrix
	if m == nil {
		return fault.New(fault.Plan, "no_matrix", "use another format; csv and json tell of every protocol", "the format llm-inference-bench tells of a matrix, and run %s is none", r.Run.ID)
	}
	f := benchFile{run: r, matrix: *m, recordings: recordings, cells: []object{}}
	if err := f.points(); err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(f.object()); err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return nil
}

// benchFile is the file as it is put together.
type benchFile struct {
	run        result.Result
	matrix     plan.Matrix
	recordings Recordings
	prefill    object
	cells      []object
	summary    object
}

func (f *benchFile) object() object {
	return object{
		{"metadata", f.metadata()},
		{"startup_diagnostics", object{}},
		{"nvidia_p2p_override", nil},
		{"p2pmark", nil},
		{"amd_fabric", nil},
		{"event_log", []string{}},
		{"prefill", f.prefill},
		{"results", f.cells},
		{"summary_table", f.summary},
		{"burst_results", []object{}},
		{"burst_summary_table", object{}},
		{"methodology", methodology()},
	}
}

func (f *benchFile) metadata() object {
	r, made := f.run, point.PlanOf(f.run)
	var server struct {
		KVTokens int64 `json:"kv_tokens"`
	}
	_ = json.Unmarshal(r.Identity.Server, &server) // what cannot be read stays unknown
	var contexts []int
	for _, n := range f.matrix.Contexts {
		contexts = append(contexts, int(n))
	}
	return object{
		{"version", benchVersion},
		{"engine", made.Server.Engine},
		{"model", r.Identity.Model.Served},
		{"server", made.Server.URL},
		{"timestamp", time.UnixMicro(r.Run.StartedUS).UTC().Format("2006-01-02T15:04:05")},
		{"decode_mode", "duration"},
		{"primary_decode_layer", "sustained_decode"},
		{"duration_per_test", f.matrix.Duration.Std().Seconds()},
		{"prefill_mode", "standalone_cold"},
		{"max_tokens", f.matrix.MaxTokens},
		{"ignore_eos", made.Workload.Sampling.IgnoreEOS},
		{"max_total_tokens", known(server.KVTokens)},
		{"metrics_available", slices.ContainsFunc(r.Points, func(p result.Point) bool { _, ok := p.Telemetry["engine.running"]; return ok })},
		{"concurrency_levels", f.matrix.Concurrency},
		{"context_lengths", contexts},
		{"assay_run", r.Run.ID},
		{"assay_version", r.Run.Program.Version},
		{"assay_plan_sha256", r.Run.PlanSHA256},
		{"assay_verdict", r.Run.Verdict},
		{"assay_allow_unpinned", made.Unpinned},
	}
}

// known is nil for 0, which stands for a number that was not told.
func known(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

// points reads the recordings of all measured points.
func (f *benchFile) points() error {
	for _, p := range f.run.Points {
		if p.Context == nil {
			continue
		}
		t := &cellTally{}
		if p.Recording != nil {
			var err error
			if t, err = cellOf(f.run, p, f.recordings); err != nil {
				return err
			}
		}
		if p.Phase == plan.PhasePrefill {
			f.addPrefill(p, t)
		} else if p.Concurrency != nil {
			f.addCell(p, t)
		}
	}
	return nil
}

func (f *benchFile) addPrefill(p result.Point, t *cellTally) {
	var prompt *float64
	if len(t.prompts) > 0 {
		prompt = samples(t.prompts).at(50)
	}
	f.prefill.add(strconv.Itoa(*p.Context), object{
		{"ttft_seconds", t.ttft.at(50)},
		{"prefill_seconds", t.ttft.at(50)},
		{"tok_per_sec", t.promptTPS.at(50)},
		{"prompt_tokens", prompt},
		{"samples", len(t.ttft)},
		{"method", "client_ttft"},
		{"server_validation", object{{"tok_per_sec", 0}, {"prefill_seconds", 0}, {"prompt_tokens", 0}, {"samples", 0}, {"invalid_reason", "not measured"}}},
		{"hardware_summary", hardware(p)},
		{"assay_point", p.ID},
		{"assay_state", string(p.State)},
	})
}

// addCell appends a decode cell and its place in the summary table.
func (f *benchFile) addCell(p result.Point, t *cellTally) {
	var o object
	total := t.aggregateTPS()
	if p.Recording == nil {
		total = new(float64)
		*total = skipped
	}
	o.add("concurrency", *p.Concurrency)
	o.add("context_tokens", *p.Context)
	o.add("benchmark_mode", "duration")
	o.add("aggregate_tps", total)
	if p.Recording != nil {
		measured(&o, p, t, total)
	}
	o.add("capacity_limited", capacityLimited(p))
	o.add("timeout_reason", reasonText(p))
	o.add("assay_point", p.ID)
	o.add("assay_state", string(p.State))
	f.cells = append(f.cells, o)

	context := strconv.Itoa(*p.Context)
	i := slices.IndexFunc(f.summary, func(m member) bool { return m.Key == context })
	if i < 0 {
		f.summary.add(context, object{})
		i = len(f.summary) - 1
	}
	row, _ := f.summary[i].Value.(object)
	row.add(strconv.Itoa(*p.Concurrency), total)
	f.summary[i].Value = row
}

// measured adds what a cell that was run has.
func measured(o *object, p result.Point, t *cellTally, total *float64) {
	o.add("measurement_seconds", seconds(t.lastUS-t.window.StartUS))
	o.add("measurement_wall_seconds", t.window.Seconds())
	o.add("client_output_tokens", t.tokens)
	o.add("aggregate_source", source(p))
	if total != nil {
		o.add("per_request_avg_tps", *total/float64(*p.Concurrency))
	}
	if counter, told := p.Telemetry["engine.generation_tokens"]; told {
		o.add("server_gen_throughput", per(counter.Max-counter.Min, counter.SpanS)) // its readings lie inside the window, not at its ends
	}
	for _, d := range []struct {
		name string
		of   samples
	}{{"ttft", t.ttft}, {"inter_token_latency", t.tokenGap}, {"output_tps_per_user", t.userTPS}, {"chunk_inter_token_latency", t.chunkGap},
		{"time_to_second_token", t.toSecond}, {"request_latency", t.latency}, {"e2e_output_tps_per_user", t.endTPS}} {
		o.add(d.name+"_avg", d.of.mean())
		for _, q := range []float64{50, 90, 99} {
			o.add(fmt.Sprintf("%s_p%.0f", d.name, q), d.of.at(q))
		}
	}
	o.add("completed_request_count", t.completed)
	o.add("errors", t.failed)
	load(o, p)
	o.add("warmup_duration", seconds(t.window.StartUS-p.Recording.IssueUS[0]))
	o.add("request_samples", t.requests)
	o.add("hardware_summary", hardware(p))
}

// load adds what the engine told of its own load.
func load(o *object, p result.Point) {
	running, told := p.Telemetry["engine.running"]
	if told {
		o.add("avg_running_reqs", running.Mean)
		o.add("max_running_reqs", running.Max)
		o.add("underfilled", *p.Concurrency > 1 && running.Mean < 0.98*float64(*p.Concurrency))
	}
	if waiting, told := p.Telemetry["engine.waiting"]; told {
		o.add("avg_queue_reqs", waiting.Mean)
	}
}

// capacityLimited is that client's one flag for four causes; assay_state tells them apart.
func capacityLimited(p result.Point) bool {
	running, told := p.Telemetry["engine.running"]
	few := told && *p.Concurrency > 1 && (running.Max < float64(*p.Concurrency) || running.Mean < 0.95*float64(*p.Concurrency))
	late := slices.ContainsFunc(p.Reasons, func(r result.Reason) bool { return r.Code == "warmup_timeout" })
	return few || late || p.Telemetry["engine.waiting"].Max > 0 || p.State == result.PointQueued || p.State == result.PointOver
}

func reasonText(p result.Point) string {
	var texts []string
	for _, r := range p.Reasons {
		texts = append(texts, strings.TrimSpace(r.Code+": "+r.Text+" "+r.Evidence))
	}
	return strings.Join(texts, "; ")
}

// source says where the token counts come from, in that client's words where it has one.
func source(p result.Point) string {
	if p.Client == nil {
		return ""
	}
	switch p.Client.TokenSource {
	case "usage":
		return "openai_continuous_usage"
	case "events":
		return "openai_stream_chunks_fallback"
	}
	return p.Client.TokenSource
}
