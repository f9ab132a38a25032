package tool

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"assay/runner/imported/files"
)

// mlperf is the report_dir of MLPerf's inference-endpoint: events.jsonl with every chunk, performance/result_summary.json with its figures.
func mlperf() Format {
	return Format{Name: "mlperf", Tool: "inference-endpoint", Read: readMLPerf, Looks: func(head string) bool {
		return mlperfSummary(head) || mlperfEvents(head) || mlperfConfig(head)
	}}
}

func mlperfSummary(head string) bool {
	return strings.HasPrefix(strings.TrimSpace(head), "{") && files.Holding(`"n_samples_issued"`, `"duration_ns"`)(head)
}
func mlperfEvents(head string) bool {
	return strings.HasPrefix(head, "{") && files.Holding(`"event_type"`, `"timestamp_ns"`, `"sample_uuid"`)(head)
}
func mlperfConfig(head string) bool {
	return files.Holding("model_params:", "load_pattern:", "endpoint_config:")(head)
}

func readMLPerf(src files.Source, emit Emit) (Report, error) {
	var r Report
	for _, dir := range reportDirs(src.Files) {
		index := len(r.Points)
		r.Points = append(r.Points, Point{Unknown: Unknown{Queue: true}})
		if err := readReportDir(src, dir, &r, index, emit); err != nil {
			return r, err
		}
	}
	return r, nil
}

// reportDirs are the folders of the tool's files; what stands in performance/ belongs to the folder above it.
func reportDirs(files []string) []string {
	var dirs []string
	for _, f := range files {
		dir := path.Dir(f)
		if path.Base(dir) == "performance" {
			dir = path.Dir(dir)
		}
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

func readReportDir(src files.Source, dir string, r *Report, index int, emit Emit) error {
	own := src
	own.Files = slices.DeleteFunc(slices.Clone(src.Files), func(f string) bool {
		return path.Dir(f) != dir && path.Dir(f) != path.Join(dir, "performance")
	})
	p := &r.Points[index]
	configs, err := own.Looking(mlperfConfig)
	if err != nil {
		return err
	}
	chunks := true
	for _, name := range configs.Files {
		p.File = name
		head, err := own.Head(name)
		if err != nil {
			return err
		}
		chunks = readMLPerfConfig(head, r, p)
	}
	summaries, err := own.Looking(mlperfSummary)
	if err != nil {
		return err
	}
	judged := true
	for _, name := range summaries.Files {
		if judged, err = readMLPerfSummary(own, name, r, p); err != nil {
			return err
		}
	}
	events, err := own.Looking(mlperfEvents)
	if err != nil {
		return err
	}
	if len(events.Files) == 0 && len(summaries.Files) == 0 {
		p.Stopped = "the tool was killed before it wrote its results: the folder holds its configuration alone"
	}
	for _, name := range events.Files {
		p.File = name
		l := eventLog{point: index, emit: emit, judged: judged, samples: map[string]*sample{}}
		if err := own.Lines(name, l.line); err != nil {
			return err
		}
		if err := l.end(); err != nil {
			return err
		}
		p.Unknown.Tokens = !chunks
		p.Notes = append(p.Notes, l.notes(chunks)...)
	}
	return nil
}

// readMLPerfConfig reads what is needed of the YAML that the tool wrote with all its defaults, and tells whether it kept every chunk.
func readMLPerfConfig(text string, r *Report, p *Point) (chunks bool) {
	section := ""
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.Trim(strings.TrimSpace(value), `'"`)
		switch {
		case value == "" && !strings.HasPrefix(key, "-"):
			section = key
		case key == "name" && section == "model_params":
			r.Model = value
		case key == "target_concurrency":
			p.Setting.Concurrency, _ = strconv.Atoi(value)
		case key == "target_qps":
			p.Setting.Rate, _ = strconv.ParseFloat(value, 64)
		case key == "type" && value == "agentic_inference":
			p.Unknown.Waits = true
		case key == "stream_all_chunks":
			chunks = value == "true"
		case section == "endpoints" && strings.HasPrefix(key, "- http"):
			r.URL = strings.Trim(strings.TrimPrefix(strings.TrimSpace(line), "- "), `'"`)
		case key == "api_type":
			r.Endpoint = "chat"
			if strings.Contains(value, "completions") {
				r.Endpoint = "completions"
			}
		}
	}
	if p.Setting.Concurrency > 0 {
		p.Setting.Rate = 0
	}
	return chunks
}

// mlperfResult is result_summary.json.
type mlperfResult struct {
	Version   string         `json:"version"`
	Issued    *int           `json:"n_samples_issued"`
	Completed *int           `json:"n_samples_completed"`
	Failed    *int           `json:"n_samples_failed"`
	Duration  *float64       `json:"duration_ns"`
	State     string         `json:"state"`
	QPS       *float64       `json:"qps"`
	TPS       *float64       `json:"tps"`
	Finish    map[string]int `json:"finish_reason_counts"`
	TTFT      mlperfSeries   `json:"ttft"`
	TPOT      mlperfSeries   `json:"tpot"`
	Latency   mlperfSeries   `json:"latency"`
	OSL       mlperfSeries   `json:"output_sequence_lengths"`
	ISL       mlperfSeries   `json:"input_sequence_lengths"`
}

type mlperfSeries struct {
	Total       *float64            `json:"total"`
	Min         *float64            `json:"min"`
	Max         *float64            `json:"max"`
	Avg         *float64            `json:"avg"`
	Percentiles map[string]*float64 `json:"percentiles"`
}

const (
	mlperfGood = "samples issued while performance was tracked, from its start to the last end of them"
	mlperfAll  = "the same, failed samples too"
)

// readMLPerfSummary takes the tool's figures; it tells whether this version writes how samples ended.
func readMLPerfSummary(src files.Source, name string, r *Report, p *Point) (judged bool, err error) {
	var s mlperfResult
	if err := src.Document(name, &s); err != nil {
		return true, err
	}
	r.Version, p.File = s.Version, name
	p.Told = Told{Issued: s.Issued, Completed: s.Completed, Failed: s.Failed}
	switch {
	case s.State != "" && s.State != "complete":
		p.Stopped = "the tool's state is " + s.State
	case s.Issued != nil && s.Completed != nil && *s.Completed < *s.Issued:
		p.Stopped = fmt.Sprintf("%d of %d samples that were issued never ended, though the tool's state is %s", *s.Issued-*s.Completed, *s.Issued, s.State)
	}
	p.Figures = s.figures()
	return s.Finish != nil, nil
}

func (s mlperfResult) figures() []Figure {
	var out []Figure
	plain := func(name, metric, unit, formula, of string, scale float64, v *float64) {
		if v != nil {
			out = append(out, meaning{name, metric, unit, scale, formula, of}.of(name, "", *v))
		}
	}
	plain("duration_ns", "duration_s", "s", "from the start of tracking to the end of the last sample", mlperfGood, 1e-9, s.Duration)
	plain("qps", "qps", "1/s", "completed samples, failed ones too / duration", mlperfAll, 1, s.QPS)
	plain("tps", "", "tok/s", "output tokens by the tool's tokenizer / duration", mlperfAll, 1, s.TPS)
	plain("output_sequence_lengths.total", "", "tokens", "by the tool's tokenizer and chat template", mlperfGood, 1, s.OSL.Total)
	plain("input_sequence_lengths.total", "", "tokens", "by the tool's tokenizer and chat template", mlperfGood, 1, s.ISL.Total)
	if s.Completed != nil {
		n := float64(*s.Completed)
		plain("n_samples_completed", "requests_completed", "", "samples that ended, failed and cut off ones too", mlperfAll, 1, &n)
	}
	if s.Failed != nil {
		n := float64(*s.Failed)
		plain("n_samples_failed", "requests_failed", "", "samples with an HTTP or connection error", mlperfAll, 1, &n)
	}
	for _, d := range []struct {
		m  meaning
		of mlperfSeries
	}{
		{meaning{"ttft", "ttft_ms", "ms", 1e-6, "first token − issue, both stamped by the tool's main process", mlperfGood}, s.TTFT},
		{meaning{"tpot", "", "ms", 1e-6, "(end − first token) / tokens after the first chunk, by the tool's tokenizer", mlperfGood}, s.TPOT},
		{meaning{"latency", "", "ms", 1e-6, "end of the stream, after its last token − issue", mlperfAll}, s.Latency},
	} {
		out = append(out, d.of.figures(d.m)...)
	}
	return out
}

// figures of a series; its percentiles are samples at rank ⌊(n − 1) · p / 100⌋, without interpolation.
func (s mlperfSeries) figures(m meaning) []Figure {
	var out []Figure
	add := func(key, stat string, v *float64) {
		if v != nil {
			out = append(out, m.of(m.key+"."+key, stat, *v))
		}
	}
	add("avg", "mean", s.Avg)
	add("min", "min", s.Min)
	add("max", "max", s.Max)
	for _, p := range []statistic{{"1.0", "p1"}, {"5.0", "p5"}, {"10.0", "p10"}, {"25.0", "p25"}, {"50.0", "p50"}, {"75.0", "p75"}, {"90.0", "p90"}, {"95.0", "p95"}, {"99.0", "p99"}, {"99.9", "p999"}} {
		add("percentiles."+p.key, p.name, s.Percentiles[p.key])
	}
	return out
}
