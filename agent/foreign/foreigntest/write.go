package foreigntest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// counted are the requests that ended well, and their tokens.
func counted(all []request) (good, in, out int) {
	for _, r := range all {
		if r.err == "" {
			good, in, out = good+1, in+r.in, out+r.out
		}
	}
	return good, in, out
}

func vllmLoad(a args) (load, error) {
	if err := a.want("--backend", "--base-url", "--endpoint", "--model", "--tokenizer", "--dataset-name", "--num-prompts", "--result-dir", "--result-filename"); err != nil {
		return load{}, err
	}
	if a.one("--backend") != "openai-chat" || a.one("--endpoint") != "/v1/chat/completions" {
		return load{}, errors.New("ValueError: backend and endpoint do not fit")
	}
	l := load{url: a.one("--base-url"), model: a.one("--model"), requests: number(a.one("--num-prompts")), concurrency: number(a.one("--max-concurrency")), body: map[string]any{}}
	if rate := a.one("--request-rate"); rate != "" {
		l.rate, _ = strconv.ParseFloat(rate, 64)
	}
	var err error
	switch a.one("--dataset-name") {
	case "random":
		l.prompts, l.body["max_tokens"] = made(l.requests, number(a.one("--random-input-len"))), number(a.one("--random-output-len"))
	case "custom":
		if l.prompts, err = rows(a.one("--dataset-path"), "prompt"); err != nil {
			return l, err
		}
		l.body["max_tokens"] = 16
	}
	if _, ok := a["--ignore-eos"]; ok {
		l.body["ignore_eos"] = true
	}
	return l, nil
}

func vllmWrite(a args, all []request, took time.Duration) error {
	good, in, out := counted(all)
	var concurrency any
	if n := number(a.one("--max-concurrency")); n > 0 {
		concurrency = n
	}
	var rate any = "inf"
	if v := a.one("--request-rate"); v != "" {
		rate, _ = strconv.ParseFloat(v, 64)
	}
	var ins, outs []int
	var ttfts, starts, latencies []float64
	var gaps [][]float64
	var errs []string
	for _, r := range all {
		ins, outs, errs, starts = append(ins, r.in), append(outs, r.out), append(errs, r.err), append(starts, seconds(r.start))
		own := []float64{}
		ttft, latency := 0.0, 0.0
		if len(r.chunks) > 0 {
			ttft, latency = seconds(r.chunks[0]-r.start), seconds(r.chunks[len(r.chunks)-1]-r.start)
			for i := 1; i < len(r.chunks); i++ {
				own = append(own, seconds(r.chunks[i]-r.chunks[i-1]))
			}
		}
		ttfts, latencies, gaps = append(ttfts, ttft), append(latencies, latency), append(gaps, own)
	}
	return writeOrdered(filepath.Join(a.one("--result-dir"), a.one("--result-filename")), []field{
		{"date", "20260301-100000"}, {"backend", a.one("--backend")}, {"model_id", a.one("--model")}, {"num_prompts", len(all)}, {"request_rate", rate},
		{"max_concurrency", concurrency}, {"duration", took.Seconds()}, {"completed", good}, {"failed", len(all) - good}, {"total_input_tokens", in},
		{"total_output_tokens", out}, {"request_throughput", float64(good) / took.Seconds()}, {"output_throughput", float64(out) / took.Seconds()},
		{"input_lens", ins}, {"output_lens", outs}, {"ttfts", ttfts}, {"itls", gaps}, {"latencies", latencies}, {"start_times", starts}, {"errors", errs},
	})
}

// field is a member of an object whose members have an order.
type field struct {
	name  string
	value any
}

func writeOrdered(name string, fields []field) error {
	var b bytes.Buffer
	b.WriteString("{")
	for i, f := range fields {
		v, err := json.Marshal(f.value)
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q: %s", f.name, v)
	}
	b.WriteString("}")
	return os.WriteFile(name, b.Bytes(), 0o644)
}

func aiperfLoad(a args) (load, error) {
	if err := a.want("--model", "--url", "--endpoint-type", "--tokenizer", "--output-artifact-dir", "--request-count"); err != nil {
		return load{}, err
	}
	l := load{url: a.one("--url"), model: a.one("--model"), requests: number(a.one("--request-count")), concurrency: number(a.one("--concurrency")), body: map[string]any{"max_completion_tokens": number(a.one("--osl"))}}
	if rate := a.one("--request-rate"); rate != "" {
		l.rate, _ = strconv.ParseFloat(rate, 64)
	}
	if extra := a.one("--extra-inputs"); extra != "" {
		if err := json.Unmarshal([]byte(extra), &l.body); err != nil {
			return l, err
		}
	}
	if l.prompts = made(l.requests, number(a.one("--isl"))); a.one("--input-file") != "" {
		var err error
		l.body["max_completion_tokens"] = 16
		l.prompts, err = rows(a.one("--input-file"), "text")
		return l, err
	}
	return l, nil
}

func aiperfWrite(a args, all []request, took time.Duration) error {
	dir, good, ahead := a.one("--output-artifact-dir"), 0, wall()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var lines bytes.Buffer
	for i, r := range all {
		metrics := map[string]any{}
		var failed any
		if r.err != "" || len(r.chunks) == 0 {
			failed = map[string]string{"type": "ClientError", "message": r.err}
		} else {
			good++
			gaps := []float64{}
			for i := 1; i < len(r.chunks); i++ {
				gaps = append(gaps, float64(r.chunks[i]-r.chunks[i-1])/1e6)
			}
			metrics = map[string]any{"time_to_first_token": value(float64(r.chunks[0]-r.start)/1e6, "ms"), "inter_chunk_latency": value(gaps, "ms"),
				"usage_prompt_tokens": value(r.in, "tokens"), "usage_completion_tokens": value(r.out, "tokens")}
		}
		line, err := json.Marshal(map[string]any{"metadata": map[string]any{"x_request_id": strconv.Itoa(i), "request_start_ns": r.start + ahead, "request_end_ns": r.end + ahead,
			"benchmark_phase": "profiling"}, "metrics": metrics, "error": failed})
		if err != nil {
			return err
		}
		lines.Write(append(line, '\n'))
	}
	rate, _ := strconv.ParseFloat(a.one("--request-rate"), 64)
	err := writeOrdered(filepath.Join(dir, "profile_export_aiperf.json"), []field{{"aiperf_version", "0.13.0"}, {"input_config", map[string]any{
		"models": map[string]any{"items": []map[string]string{{"name": a.one("--model")}}}, "endpoint": map[string]any{"urls": []string{a.one("--url")}, "type": "chat", "use_server_token_count": true},
		"phases": []map[string]any{{"kind": "profiling", "concurrency": number(a.one("--concurrency")), "rate": rate}}}},
		{"request_count", map[string]any{"unit": "requests", "avg": good}}, {"error_request_count", map[string]any{"unit": "requests", "avg": len(all) - good}},
		{"benchmark_duration", map[string]any{"unit": "sec", "avg": took.Seconds()}}, {"is_complete", true}})
	return errors.Join(err, os.WriteFile(filepath.Join(dir, "profile_export.jsonl"), lines.Bytes(), 0o644))
}

func value(v any, unit string) map[string]any { return map[string]any{"value": v, "unit": unit} }

func inferenceBenchLoad(a args) (load, error) {
	if err := a.want("--host", "--model", "--concurrency", "--contexts", "--output"); err != nil {
		return load{}, err
	}
	c := number(a.one("--concurrency"))
	return load{url: a.one("--host"), model: a.one("--model"), concurrency: c, requests: 3 * c, prompts: made(1, number(a.one("--contexts"))),
		body: map[string]any{"max_tokens": max(1, number(a.one("--max-tokens")))}}, nil
}

func inferenceBenchWrite(a args, all []request, took time.Duration) error {
	_, in, out := counted(all)
	context := number(a.one("--contexts"))
	doc := []field{{"metadata", map[string]any{"version": "0.4.18", "model": a.one("--model"), "server": a.one("--host"), "decode_mode": "duration", "primary_decode_layer": "sustained_decode",
		"concurrency_levels": []int{number(a.one("--concurrency"))}}}}
	if _, prefill := a["--prefill-only"]; prefill {
		ttft := seconds(all[0].end - all[0].start)
		doc = append(doc, field{"prefill", map[string]any{strconv.Itoa(context): map[string]any{"ttft_seconds": ttft, "tok_per_sec": float64(in) / ttft, "prompt_tokens": all[0].in, "samples": len(all)}}})
	} else {
		doc = append(doc, field{"results", []map[string]any{{"concurrency": number(a.one("--concurrency")), "context_tokens": context, "aggregate_tps": float64(out) / took.Seconds(), "avg_running_reqs": 1.9}}})
	}
	return writeOrdered(a.one("--output"), doc)
}

// guideSpec is what GuideLLM is told in its file.
type guideSpec struct {
	Spec struct {
		Backend struct {
			Kind, Target, Model string
			Format              string `json:"request_format"`
			HTTP2               bool   `json:"http2"`
			Verify              bool
			Extras              struct {
				Body    map[string]any
				Headers map[string]string
			}
		}
		Profile struct {
			Kind           string
			Streams        []int
			Rate           []float64
			MaxConcurrency int `json:"max_concurrency"`
			Warmup         map[string]any
		}
		Constraints []struct {
			Kind    string
			Count   int
			Seconds float64
		}
		Tokenizer struct{ Kind, Model string }
		Data      []struct {
			Kind, Path string
			Prompt     int `json:"prompt_tokens"`
			Output     int `json:"output_tokens"`
		}
		Seed struct {
			Kind  string
			Value uint64
		}
		Outputs []struct{ Kind, Path string }
	}
}

// guideConfig reads it; keys that the tool does not have are errors, as there.
func guideConfig(a args) (guideSpec, error) {
	var c guideSpec
	b, err := os.ReadFile(a.one("--config"))
	if err != nil {
		return c, err
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	return c, dec.Decode(&c)
}

func guidellmLoad(a args) (load, error) {
	c, err := guideConfig(a)
	if err != nil {
		return load{}, err
	}
	s := c.Spec
	l := load{url: s.Backend.Target, model: s.Backend.Model, requests: s.Constraints[0].Count, body: s.Backend.Extras.Body, concurrency: s.Profile.MaxConcurrency}
	if len(s.Profile.Streams) > 0 {
		l.concurrency = s.Profile.Streams[0]
	}
	if len(s.Profile.Rate) > 0 {
		l.rate = s.Profile.Rate[0]
	}
	if l.body == nil {
		l.body = map[string]any{}
	}
	l.body["max_tokens"] = max(16, s.Data[0].Output)
	if l.prompts = made(l.requests, s.Data[0].Prompt); s.Data[0].Kind == "json_file" {
		l.prompts, err = rows(s.Data[0].Path, "prompt")
	}
	return l, err
}

func guidellmWrite(a args, all []request, took time.Duration) error {
	c, err := guideConfig(a)
	if err != nil {
		return err
	}
	good, _, _ := counted(all)
	ahead := wall()
	lists := map[string][]any{"successful": {}, "errored": {}, "incomplete": {}}
	for _, r := range all {
		at := func(ns int64) float64 { return seconds(ns + ahead) }
		timings := map[string]any{"targeted_start": at(r.start), "request_start": at(r.start), "request_end": at(r.end)}
		kind := "errored"
		var failed any = r.err
		if n := len(r.chunks); r.err == "" && n > 0 {
			kind, failed = "successful", nil
			timings["first_token_iteration"], timings["last_token_iteration"] = at(r.chunks[0]), at(r.chunks[n-1])
		}
		lists[kind] = append(lists[kind], map[string]any{"info": map[string]any{"error": failed, "timings": timings}, "prompt_tokens": r.in, "output_tokens": r.out})
	}
	strategy := map[string]any{"type_": c.Spec.Profile.Kind}
	if len(c.Spec.Profile.Streams) > 0 {
		strategy["streams"] = c.Spec.Profile.Streams[0]
	}
	if len(c.Spec.Profile.Rate) > 0 {
		strategy["rate"] = c.Spec.Profile.Rate[0]
	}
	return writeOrdered(c.Spec.Outputs[0].Path, []field{{"metadata", map[string]any{"version": 2, "guidellm_version": "0.8.1"}}, {"config", map[string]any{}}, {"benchmarks", []any{ordered{
		{"type_", "generative_benchmark"}, {"config", map[string]any{"strategy": strategy, "backend": map[string]string{"target": c.Spec.Backend.Target, "model": c.Spec.Backend.Model, "request_format": c.Spec.Backend.Format}}},
		{"metrics", map[string]any{"request_totals": map[string]int{"successful": good, "errored": len(all) - good, "incomplete": 0, "total": len(all)}}},
		{"requests", lists}, {"duration", took.Seconds()}}}}})
}

// ordered is an object whose members have an order.
type ordered []field

// MarshalJSON writes them in it.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, f := range o {
		v, err := json.Marshal(f.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s%q:%s", map[bool]string{true: "{", false: ","}[i == 0], f.name, v)
	}
	b.WriteString("}")
	return b.Bytes(), nil
}

// mlperfKeys are the keys of its configuration that a plan has; any other is an error, as there.
const mlperfKeys = ` name version type model_params max_new_tokens streaming temperature top_p seed tokenizer_name datasets path agentic_inference enable_salt inject_tool_delay
 turn_timeout_s num_trajectories_to_issue settings runtime min_duration_ms max_duration_ms n_samples_to_issue scheduler_random_seed dataloader_random_seed warmup enabled n_requests salt
 drain load_pattern target_concurrency target_qps use_legacy_loadgen_qps_metrics client num_workers warmup_connections max_idle_time stream_all_chunks insecure performance_timeout_s
 endpoint_config endpoints api_type api_key service_ready_timeout_s worker_initialization_timeout `

// mlperfConfig reads the YAML by its lines: key: value, and the first item of a list of texts.
func mlperfConfig(a args) (map[string]string, error) {
	b, err := os.ReadFile(a.one("--config"))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for line := range strings.Lines(string(b)) {
		text := strings.TrimSpace(line)
		if item, is := strings.CutPrefix(text, `- "`); is {
			out["endpoint"] = strings.TrimSuffix(item, `"`)
			continue
		}
		key, v, _ := strings.Cut(strings.TrimPrefix(text, "- "), ":")
		if !strings.Contains(strings.Join(strings.Fields(" "+mlperfKeys+" "), " ")+" ", " "+key+" ") && key != "name" {
			return nil, fmt.Errorf("settings.%s: Extra inputs are not permitted", key)
		}
		if _, have := out[key]; !have || key != "name" && key != "type" {
			out[key] = strings.Trim(strings.TrimSpace(v), `"`)
		}
		if key == "name" && strings.HasPrefix(line, "  name") {
			out["model"] = out["name"]
			out["model"] = strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return out, nil
}

func mlperfLoad(a args) (load, error) {
	c, err := mlperfConfig(a)
	if err != nil {
		return load{}, err
	}
	l := load{url: c["endpoint"], model: c["model"], requests: number(c["n_samples_to_issue"]), concurrency: number(c["target_concurrency"]), body: map[string]any{"max_completion_tokens": number(c["max_new_tokens"])}}
	l.rate, _ = strconv.ParseFloat(c["target_qps"], 64) // "" is 0
	l.prompts, err = rows(c["path"], "prompt")
	return l, err
}

func mlperfWrite(a args, all []request, took time.Duration) error {
	c, err := mlperfConfig(a)
	if err != nil {
		return err
	}
	dir := a.one("--report-dir")
	if err := os.MkdirAll(filepath.Join(dir, "performance"), 0o755); err != nil {
		return err
	}
	config := fmt.Sprintf("name: x\nversion: '1.0'\nmodel_params:\n  name: %s\nsettings:\n  load_pattern:\n    type: x\n", c["model"])
	for _, key := range []string{"target_concurrency", "target_qps"} {
		if c[key] != "" {
			config += "    " + key + ": " + c[key] + "\n"
		}
	}
	config += fmt.Sprintf("  client:\n    stream_all_chunks: true\nendpoint_config:\n  endpoints:\n  - %s\n  api_type: openai\n", c["endpoint"])
	var lines strings.Builder
	line := func(kind string, ns int64, id, rest string) {
		fmt.Fprintf(&lines, `{"event_type": %q, "timestamp_ns": %d, "sample_uuid": %q, "conversation_id": "", "turn": null%s}`+"\n", kind, ns, id, rest)
	}
	line("session.start_performance_tracking", all[0].start, "", "")
	for i, r := range all {
		id := strconv.Itoa(i)
		line("sample.issued", r.start, id, "")
		for j, at := range r.chunks {
			line(map[bool]string{true: "sample.recv_first", false: "sample.recv_non_first"}[j == 0], at, id, "")
		}
		line("sample.complete", r.end, id, `, "finish_reason": "stop"`)
	}
	summary := map[string]any{"version": "0.1.0", "n_samples_issued": len(all), "n_samples_completed": len(all), "n_samples_failed": 0, "duration_ns": took.Nanoseconds(), "state": "complete",
		"qps": float64(len(all)) / took.Seconds(), "finish_reason_counts": map[string]int{"stop": len(all)}, "ttft": map[string]any{}, "latency": map[string]any{}, "tpot": map[string]any{}}
	return errors.Join(os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o644), os.WriteFile(filepath.Join(dir, "events.jsonl"), []byte(lines.String()), 0o644),
		writeJSON(filepath.Join(dir, "performance", "result_summary.json"), summary))
}
