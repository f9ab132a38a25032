package tool

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"assay/runner/imported/files"
	"assay/runner/record"
)

// inferencePerf is the report folder of inference-perf: a document for each stage, one of the whole, and one of every request. All its times
// are seconds.
func inferencePerf() Format {
	return Format{Name: "inference-perf", Tool: "inference-perf", Read: readInferencePerf, Looks: func(head string) bool {
		return perfSummary(head) || perfRequests(head)
	}}
}

func perfSummary(head string) bool {
	return files.Holding(`"load_summary"`, `"schedule_delay"`)(head) || files.Holding(`"load_summary"`, `"successes"`)(head)
}

func perfRequests(head string) bool {
	return strings.HasPrefix(strings.TrimSpace(head), "[") && files.Holding(`"start_time"`, `"end_time"`, `"request"`)(head)
}

func readInferencePerf(src files.Source, emit Emit) (Report, error) {
	var r Report
	summaries, err := src.Looking(perfSummary)
	if err != nil {
		return r, err
	}
	requests, err := src.Looking(perfRequests)
	if err != nil {
		return r, err
	}
	for _, dir := range folders(src.Files) {
		from := len(r.Points)
		if err := perfPoints(src, inFolder(summaries.Files, dir), &r); err != nil {
			return r, err
		}
		for _, name := range inFolder(requests.Files, dir) {
			if len(r.Points) == from {
				r.Points = append(r.Points, Point{File: name, Unknown: Unknown{Queue: true}})
			}
			if err := readPerfRequests(src, name, &r, from, emit); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// perfPoints makes a point of each stage; where there are none, of the whole.
func perfPoints(src files.Source, files []string, r *Report) error {
	stages := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return !strings.Contains(f, "stage_") })
	if len(stages) == 0 {
		stages = files
	}
	for _, name := range stages {
		var f perfFile
		if err := src.Document(name, &f); err != nil {
			return err
		}
		r.Points = append(r.Points, f.point(name))
	}
	return nil
}

// perfFile is a summary.
type perfFile struct {
	Seconds *float64 `json:"benchmark_time_seconds"`
	Load    struct {
		Count       int      `json:"count"`
		Rate        *float64 `json:"requested_rate"`
		Concurrency int      `json:"concurrency"`
	} `json:"load_summary"`
	Successes struct {
		Count      int                            `json:"count"`
		Latency    map[string]map[string]*float64 `json:"latency"`
		Throughput map[string]*float64            `json:"throughput"`
	} `json:"successes"`
	Failures struct {
		Count int `json:"count"`
	} `json:"failures"`
}

const perfGood = "requests without an error, of the whole stage with start and end"

func perfFigures() []meaning {
	return []meaning{
		{"time_to_first_token", "ttft_ms", "ms", 1000, "first content, no reasoning − start", perfGood},
		{"time_per_output_token", "tpot_ms", "ms", 1000, "(last − first token) / (output tokens − 1) of a request", perfGood},
		{"inter_token_latency", "itl_ms", "ms", 1000, "gaps between tokens of all requests together; of a chunk with k tokens the second to the last have gaps of 0", perfGood},
		{"request_latency", "", "ms", 1000, "end of the request − start, beyond the last token", perfGood},
		{"normalized_time_per_output_token", "", "ms", 1000, "whole latency / output tokens of a request: the TTFT is in it", perfGood},
	}
}

func (f perfFile) point(name string) Point {
	p := Point{File: name, Unknown: Unknown{Queue: true}}
	p.Setting.Concurrency = f.Load.Concurrency
	if f.Load.Rate != nil && f.Load.Concurrency == 0 {
		p.Setting.Rate = *f.Load.Rate
	}
	issued := f.Successes.Count + f.Failures.Count
	p.Told = Told{Issued: &issued, Completed: &f.Successes.Count, Failed: &f.Failures.Count}
	rates := known(f.Successes.Throughput)
	p.Told.Active = inFlight(rates["requests_per_sec"], known(f.Successes.Latency["request_latency"])["mean"])
	stats := percentileNames("mean", "median", "min", "max", "p1", "p5", "p10", "p25", "p75", "p90", "p95", "p99")
	stats = append(stats, statistic{"p99.9", "p999"})
	for _, m := range perfFigures() {
		p.Figures = append(p.Figures, m.spread(known(f.Successes.Latency[m.key]), stats)...)
	}
	for _, m := range []meaning{
		{"requests_per_sec", "qps", "1/s", 1, "successes / time of the benchmark", perfGood},
		{"output_tokens_per_sec", "system_tps_completed", "tok/s", 1, "output tokens / time of the benchmark", perfGood},
		{"total_tokens_per_sec", "total_tps", "tok/s", 1, "(input + output tokens) / time of the benchmark", perfGood},
	} {
		if v, ok := rates[m.key]; ok {
			p.Figures = append(p.Figures, m.of("throughput."+m.key, "", v))
		}
	}
	p.Figures = append(p.Figures,
		meaning{"", "requests_completed", "", 1, "requests without an error, also those without a token", perfGood}.of("successes.count", "", float64(f.Successes.Count)),
		meaning{"", "requests_failed", "", 1, "requests with an error", perfGood}.of("failures.count", "", float64(f.Failures.Count)))
	if f.Seconds != nil {
		p.Figures = append(p.Figures, meaning{"", "duration_s", "s", 1, "time of the benchmark", perfGood}.of("benchmark_time_seconds", "", *f.Seconds))
	}
	return p
}

// perfRequest is an element of the file of single requests.
type perfRequest struct {
	Start    *float64 `json:"start_time"`
	End      *float64 `json:"end_time"`
	Request  string   `json:"request"`
	Response *string  `json:"response"`
	Info     struct {
		Input   *int64 `json:"input_tokens"`
		Metrics *struct {
			Output *int64    `json:"output_tokens"`
			Times  []float64 `json:"output_token_times"`
			Usage  *struct {
				Prompt     *int64 `json:"prompt_tokens"`
				Completion *int64 `json:"completion_tokens"`
			} `json:"server_usage"`
		} `json:"response_metrics"`
	} `json:"info"`
	Error *struct {
		Type    string `json:"error_type"`
		Message string `json:"error_msg"`
	} `json:"error"`
}

// readPerfRequests hands over the requests of a folder. Stages come one after another, so that each takes as many as it counts, in the order
// in which they began.
func readPerfRequests(src files.Source, name string, r *Report, from int, emit Emit) error {
	var all []record.Request
	err := src.Documents(name, func(dec *json.Decoder) error {
		return files.Elements(dec, func() error {
			var q perfRequest
			if err := dec.Decode(&q); err != nil {
				return err
			}
			if r.Model == "" {
				r.Model = modelOf(q.Request)
			}
			if q.Start != nil && q.End != nil {
				all = append(all, q.request())
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b record.Request) int { return cmp.Compare(a.SentUS, b.SentUS) })
	point, left := from, 0
	for i, q := range all {
		q.Index = i
		for left == 0 && point < len(r.Points) {
			left = len(all) // the last point takes what is left
			if point < len(r.Points)-1 && r.Points[point].Told.Issued != nil {
				left = *r.Points[point].Told.Issued
			}
			point++
		}
		left--
		if err := emit(point-1, q); err != nil {
			return err
		}
	}
	return nil
}

// modelOf is the model a request's body names.
func modelOf(body string) string {
	var b struct{ Model string }
	_ = json.Unmarshal([]byte(body), &b) // a body that is no JSON names none
	return b.Model
}

func (p perfRequest) request() record.Request {
	q := request()
	q.SentUS, q.DoneUS = micros(*p.Start), micros(max(*p.Start, *p.End))
	q.IntendedUS = q.SentUS
	if p.Info.Input != nil {
		q.InputTokens = *p.Info.Input
	}
	if m := p.Info.Metrics; m != nil {
		if m.Output != nil {
			q.OutputTokens = *m.Output
		}
		if u := m.Usage; u != nil && u.Completion != nil && u.Prompt != nil {
			q.InputTokens, q.OutputTokens = *u.Prompt, *u.Completion
		}
		q.Events = merged(m.Times)
		share(&q)
	}
	if p.Error != nil {
		fail(&q, strings.TrimSpace(p.Error.Type+" "+p.Error.Message))
	} else if p.Response != nil {
		endOf(*p.Response, &q)
	}
	return q
}

// merged makes one event of the tokens that came at one instant.
func merged(times []float64) []record.Event {
	var events []record.Event
	for _, t := range times {
		at := micros(t)
		if n := len(events); at <= 0 || n > 0 && events[n-1].AtUS >= at {
			continue
		}
		events = append(events, record.Event{AtUS: at})
	}
	return events
}

// endOf judges a stream by its raw text, which the tool keeps and does not look at: an error inside it, or an end without a finish reason.
func endOf(stream string, q *record.Request) {
	finished, frames := false, false
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:")
		if !ok {
			continue
		}
		frames = true
		data = strings.TrimSpace(data)
		if data == "[DONE]" {
			finished = true
			continue
		}
		var f struct {
			Object  string
			Error   json.RawMessage
			Choices []struct {
				Finish *string `json:"finish_reason"`
			}
		}
		if json.Unmarshal([]byte(data), &f) != nil {
			continue
		}
		if len(f.Error) > 0 && string(f.Error) != "null" || f.Object == "error" {
			fail(q, data)
			q.Outcome = record.ErrorFrame
			return
		}
		for _, c := range f.Choices {
			if c.Finish != nil && *c.Finish != "" {
				finished, q.FinishReason = true, *c.Finish
			}
		}
	}
	switch {
	case q.FinishReason == "abort":
		q.Outcome = record.Aborted
	case frames && !finished:
		q.Outcome, q.Error = record.Truncated, "the stream ended without finish reason and without [DONE]"
	}
}
