package tool

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"assay/fault"
	"assay/runner/imported/files"
	"assay/runner/record"
)

// aiperf is the folder of `aiperf profile`: profile_export_aiperf.json with its figures and profile_export.jsonl with its requests.
func aiperf() Format {
	return Format{Name: "aiperf", Tool: "aiperf", Read: readAIPerf, Looks: func(head string) bool {
		return aiperfSummary(head) || aiperfRequests(head)
	}}
}

func aiperfSummary(head string) bool { return files.Holding(`"aiperf_version"`)(head) }
func aiperfRequests(head string) bool {
	return files.Holding(`"x_request_id"`, `"request_start_ns"`)(head) && strings.HasPrefix(head, "{")
}

func readAIPerf(src files.Source, emit Emit) (Report, error) {
	r := Report{Wall: true}
	summaries, err := src.Looking(aiperfSummary)
	if err != nil {
		return r, err
	}
	requests, err := src.Looking(aiperfRequests)
	if err != nil {
		return r, err
	}
	for _, dir := range folders(src.Files) {
		if path.Base(path.Dir(dir)) == "phases" { // of a run with a warm-up: the same figures again, by phase
			continue
		}
		p := Point{Unknown: Unknown{}, File: first(inFolder(requests.Files, dir))}
		for _, name := range inFolder(summaries.Files, dir) {
			if err := readAIPerfSummary(src, name, &r, &p); err != nil {
				return r, err
			}
		}
		r.Points = append(r.Points, p)
		for _, name := range inFolder(requests.Files, dir) {
			if err := readAIPerfRequests(src, name, len(r.Points)-1, emit); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// folders are the folders of files, in order.
func folders(files []string) []string {
	var dirs []string
	for _, f := range files {
		dirs = append(dirs, path.Dir(f))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// inFolder keeps the files that lie in dir itself.
func inFolder(files []string, dir string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(f string) bool { return path.Dir(f) != dir })
}

func first(files []string) string {
	if len(files) == 0 {
		return ""
	}
	return files[0]
}

// aiperfMetric is a metric of the summary: a distribution, or a plain number in avg.
type aiperfMetric struct {
	Unit   string
	values map[string]float64
}

func (m *aiperfMetric) UnmarshalJSON(b []byte) error {
	var all map[string]any
	if err := json.Unmarshal(b, &all); err != nil {
		return nil // another member of the document
	}
	m.Unit, _ = all["unit"].(string)
	m.values = map[string]float64{}
	for key, v := range all {
		if n, ok := v.(float64); ok {
			m.values[key] = n
		}
	}
	return nil
}

func readAIPerfSummary(src files.Source, name string, r *Report, p *Point) error {
	var raw map[string]json.RawMessage
	if err := src.Document(name, &raw); err != nil {
		return err
	}
	var about struct {
		Config    aiperfConfig `json:"input_config"`
		Version   string       `json:"aiperf_version"`
		Cancelled bool         `json:"was_cancelled"`
		Complete  *bool        `json:"is_complete"`
	}
	whole := map[string]any{"input_config": &about.Config, "aiperf_version": &about.Version, "was_cancelled": &about.Cancelled, "is_complete": &about.Complete}
	for key, v := range whole {
		if b, ok := raw[key]; ok {
			_ = json.Unmarshal(b, v) // of another version: what cannot be read stays unknown
		}
	}
	p.File, r.Version = name, about.Version
	about.Config.tell(r, p)
	if about.Cancelled || about.Complete != nil && !*about.Complete {
		p.Stopped = "the tool was cancelled before it was done"
	}
	figures := map[string]aiperfMetric{}
	for key, b := range raw {
		var m aiperfMetric
		if json.Unmarshal(b, &m) == nil && m.Unit != "" && m.values != nil {
			figures[key] = m
		}
	}
	return aiperfTold(name, figures, p)
}

// aiperfConfig is the configuration the tool writes into its summary, of versions with phases and of those before.
type aiperfConfig struct {
	Models struct {
		Items []struct{ Name string } `json:"items"`
	} `json:"models"`
	Endpoint struct {
		URLs        []string `json:"urls"`
		Type        string   `json:"type"`
		ServerCount bool     `json:"use_server_token_count"`
	} `json:"endpoint"`
	Phases []struct {
		Kind        string  `json:"kind"`
		Concurrency int     `json:"concurrency"`
		Rate        float64 `json:"rate"`
		RequestRate float64 `json:"request_rate"`
	} `json:"phases"`
	Loadgen struct {
		Concurrency int     `json:"concurrency"`
		RequestRate float64 `json:"request_rate"`
	} `json:"loadgen"`
}

func (c aiperfConfig) tell(r *Report, p *Point) {
	r.Endpoint = c.Endpoint.Type
	if len(c.Models.Items) > 0 {
		r.Model = c.Models.Items[0].Name
	}
	if len(c.Endpoint.URLs) > 0 {
		r.URL = c.Endpoint.URLs[0]
	}
	p.Setting.Concurrency, p.Setting.Rate = c.Loadgen.Concurrency, c.Loadgen.RequestRate
	for _, phase := range c.Phases {
		if phase.Kind == "profiling" {
			p.Setting.Concurrency, p.Setting.Rate = phase.Concurrency, max(phase.Rate, phase.RequestRate)
		}
	}
	if !c.Endpoint.ServerCount && len(c.Models.Items) > 0 {
		p.Notes = append(p.Notes, "tokens are counted by the tool's own tokenizer, where a request has no usage of the server")
	}
}

// aiperfFigures are the tool's metrics. What it calls inter_token_latency is a TPOT, what it calls inter_chunk_latency an ITL.
func aiperfFigures() []meaning {
	const good = "requests without an error, warm-up apart, of the whole run with start and end"
	return []meaning{
		{"time_to_first_token", "ttft_ms", "ms", 1, "first text, reasoning too − start; opening the connection is part of it", good},
		{"time_to_first_output_token", "ttfat_ms", "ms", 1, "first text that is not reasoning − start", good},
		{"inter_token_latency", "tpot_ms", "ms", 1, "(latency − TTFT) / (output tokens − 1) of a request", good},
		{"inter_chunk_latency", "itl_ms", "ms", 1, "gaps between chunks of all requests together; chunks of one read have gaps of 0", good},
		{"request_latency", "e2e_ms", "ms", 1, "last chunk − start", good},
		{"time_to_second_token", "", "ms", 1, "gap between the first two chunks", good},
		{"request_throughput", "qps", "1/s", 1, "requests / duration", good},
		{"output_token_throughput", "system_tps_completed", "tok/s", 1, "output tokens / duration", good},
		{"total_token_throughput", "total_tps", "tok/s", 1, "(input + output tokens) / duration", good},
		{"output_token_throughput_per_user", "", "tok/s", 1, "1 / inter_token_latency of a request", good},
		{"benchmark_duration", "duration_s", "s", 1, "from the first start to the last end", good},
		{"request_count", "requests_completed", "", 1, "requests without an error", good},
		{"error_request_count", "requests_failed", "", 1, "requests with an error", good},
		{"total_usage_prompt_tokens", "input_tokens", "tokens", 1, "the server's count", good},
		{"total_usage_completion_tokens", "output_tokens", "tokens", 1, "the server's count", good},
		{"total_output_tokens", "", "tokens", 1, "of the text that is not reasoning, by the tool's count", good},
		{"effective_concurrency", "active_mean", "requests", 1, "requests in flight, mean over time", good},
	}
}

func aiperfTold(name string, figures map[string]aiperfMetric, p *Point) error {
	stats := percentileNames("avg", "p50", "min", "max", "p1", "p5", "p10", "p25", "p75", "p90", "p95", "p99")
	for _, m := range aiperfFigures() {
		f, ok := figures[m.key]
		if !ok {
			continue
		}
		if m.unit == "ms" || m.unit == "s" {
			scale, err := scaleOf(f.Unit, m.unit)
			if err != nil {
				return fault.New(fault.Plan, "import_unit", "give the file as the tool wrote it", "%s: %s is in %q, which is no unit of time", name, m.key, f.Unit)
			}
			m.scale = scale
		}
		if _, spread := f.values["p50"]; spread && m.metric != "active_mean" {
			p.Figures = append(p.Figures, m.spread(f.values, stats)...)
		} else if v, ok := f.values["avg"]; ok {
			p.Figures = append(p.Figures, m.of(m.key, "", v))
		}
	}
	completed, failed := int(figures["request_count"].values["avg"]), int(figures["error_request_count"].values["avg"])
	if figures["request_count"].values != nil || figures["error_request_count"].values != nil {
		p.Told = Told{Issued: count(completed + failed), Completed: &completed, Failed: &failed}
	}
	if active, ok := figures["effective_concurrency"].values["avg"]; ok {
		p.Told.Active = &active
	}
	return nil
}

// scaleOf is the factor from a unit of time to another.
func scaleOf(from, to string) (float64, error) {
	seconds := map[string]float64{"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "sec": 1, "seconds": 1, "milliseconds": 1e-3, "nanoseconds": 1e-9}
	if from == to {
		return 1, nil
	}
	if seconds[from] == 0 || seconds[to] == 0 {
		return 0, errUnit
	}
	return seconds[from] / seconds[to], nil
}

// aiperfRequest is a line of profile_export.jsonl.
type aiperfRequest struct {
	Metadata struct {
		RequestID    string `json:"x_request_id"`
		Conversation string `json:"conversation_id"`
		Turn         int    `json:"turn_index"`
		CreditNS     int64  `json:"credit_issued_ns"`
		StartNS      int64  `json:"request_start_ns"`
		AckNS        int64  `json:"request_ack_ns"`
		EndNS        int64  `json:"request_end_ns"`
		Phase        string `json:"benchmark_phase"`
		Cancelled    bool   `json:"was_cancelled"`
	} `json:"metadata"`
	Metrics map[string]struct {
		Value any    `json:"value"`
		Unit  string `json:"unit"`
	} `json:"metrics"`
	Error *struct {
		Type    string `json:"type"`
		Message string `json:"message"`
		Code    int    `json:"code"`
	} `json:"error"`
}

func readAIPerfRequests(src files.Source, name string, point int, emit Emit) error {
	index := 0
	return src.Lines(name, func(line []byte) error {
		var l aiperfRequest
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		q, err := l.request(index)
		if err != nil {
			return err
		}
		index++
		return emit(point, q)
	})
}

func (l aiperfRequest) request(index int) (record.Request, error) {
	m := l.Metadata
	q := request()
	q.Index, q.Session, q.Turn, q.Warmup = index, m.Conversation, m.Turn, m.Phase == "warmup"
	q.SentUS, q.DoneUS, q.IntendedUS = m.StartNS/1000, max(m.EndNS, m.StartNS)/1000, m.StartNS/1000
	if m.CreditNS > 0 {
		q.IntendedUS = min(m.CreditNS/1000, q.SentUS)
	}
	if m.AckNS > 0 {
		q.FirstByteUS = m.AckNS / 1000
	}
	q.InputTokens = l.whole("usage_prompt_tokens", "input_sequence_length")
	q.OutputTokens = l.whole("usage_completion_tokens", "output_sequence_length")
	if err := l.events(&q); err != nil {
		return q, err
	}
	switch {
	case l.Error != nil:
		fail(&q, strings.TrimSpace(l.Error.Type+" "+l.Error.Message))
		if q.Status = l.Error.Code; q.Status >= 300 && q.Status < 600 {
			q.Outcome = record.HTTPStatus
		}
	case m.Cancelled:
		q.Outcome, q.Error = record.Aborted, "cancelled by the tool"
	}
	return q, nil
}

// whole is the first of these metrics that the request has.
func (l aiperfRequest) whole(keys ...string) int64 {
	for _, key := range keys {
		if v, ok := l.Metrics[key].Value.(float64); ok && v >= 0 && v < 1e15 {
			return int64(v)
		}
	}
	return record.Never
}

// micros is a metric in microseconds.
func (l aiperfRequest) micros(key string) (us float64, ok bool, err error) {
	m := l.Metrics[key]
	v, ok := m.Value.(float64)
	if !ok {
		return 0, false, nil
	}
	scale, err := scaleOf(m.Unit, "us")
	if err != nil {
		return 0, false, fault.New(fault.Plan, "import_unit", "give the file as the tool wrote it", "%s of a request is in %q, which is no unit of time", key, m.Unit)
	}
	return v * scale, true, nil
}

// events adds up the gaps from the first token on. A gap of 0 is a chunk that came in the same read as the one before.
func (l aiperfRequest) events(q *record.Request) error {
	ttft, ok, err := l.micros("time_to_first_token")
	if err != nil || !ok {
		return err
	}
	start := float64(l.Metadata.StartNS) / 1000
	at := ttft
	q.Events = append(q.Events, record.Event{AtUS: int64(start + at + 0.5)})
	gaps, _ := l.Metrics["inter_chunk_latency"].Value.([]any)
	scale, err := scaleOf(l.Metrics["inter_chunk_latency"].Unit, "us")
	if err != nil && len(gaps) > 0 {
		return fault.New(fault.Plan, "import_unit", "give the file as the tool wrote it", "inter_chunk_latency of a request has no unit of time")
	}
	for _, g := range gaps {
		gap, _ := g.(float64)
		if gap == 0 {
			q.SharedReads++
		}
		at += gap * scale
		q.Events = append(q.Events, record.Event{AtUS: int64(start + at + 0.5)})
	}
	share(q)
	answer, ok, err := l.micros("time_to_first_output_token")
	if err != nil || !ok {
		return err
	}
	q.FirstAnswer = slices.IndexFunc(q.Events, func(e record.Event) bool { return e.AtUS >= int64(start+answer) })
	return nil
}
