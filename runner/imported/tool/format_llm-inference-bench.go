package tool

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay/fault"
	"assay/plan"
	"assay/runner/imported/files"
)

// inferenceBench is the JSON of llm-inference-bench: a matrix of contexts and concurrency, with figures and without single requests.
func inferenceBench() Format {
	return Format{Name: "llm-inference-bench", Tool: "llm-inference-bench", Read: readInferenceBench, Looks: func(head string) bool {
		return files.Holding(`"metadata"`, `"primary_decode_layer"`)(head) || files.Holding(`"metadata"`, `"decode_mode"`, `"concurrency_levels"`)(head)
	}}
}

// benchFile is the document.
type benchFile struct {
	Metadata struct {
		Version string `json:"version"`
		Model   string `json:"model"`
		Server  string `json:"server"`
	} `json:"metadata"`
	Prefill map[string]benchPrefill `json:"prefill"`
	Results []map[string]any        `json:"results"`
}

type benchPrefill struct {
	TTFT    *float64 `json:"ttft_seconds"`
	TPS     *float64 `json:"tok_per_sec"`
	Prompt  *float64 `json:"prompt_tokens"`
	Samples int      `json:"samples"`
	Checked struct {
		TPS     float64 `json:"tok_per_sec"`
		Samples int     `json:"samples"`
		Invalid string  `json:"invalid_reason"`
	} `json:"server_validation"`
}

func readInferenceBench(src files.Source, _ Emit) (Report, error) {
	var r Report
	for _, name := range src.Files {
		var f benchFile
		if err := src.Document(name, &f); err != nil {
			return r, err
		}
		r.Version, r.Model, r.URL = f.Metadata.Version, f.Metadata.Model, f.Metadata.Server
		for _, context := range slices.SortedFunc(maps.Keys(f.Prefill), byNumber) {
			n, err := strconv.Atoi(context)
			if err != nil {
				return r, fault.New(fault.Plan, "import_malformed", "give the file as the tool wrote it", "%s: the context %q is no number", name, context)
			}
			r.Points = append(r.Points, f.Prefill[context].point(name, n))
		}
		for _, cell := range f.Results {
			r.Points = append(r.Points, benchCell(cell).point(name))
		}
	}
	return r, nil
}

func byNumber(a, b string) int {
	x, _ := strconv.Atoi(a)
	y, _ := strconv.Atoi(b)
	return x - y
}

func (b benchPrefill) point(name string, context int) Point {
	p := Point{File: name, Setting: plan.Point{Phase: plan.PhasePrefill, Context: context}}
	const cold = "the requests of the pass, one after another"
	for _, f := range []struct {
		m meaning
		v *float64
	}{
		{meaning{"ttft_seconds", "ttft_ms", "ms", 1000, "median of first token − sending", cold}, b.TTFT},
		{meaning{"tok_per_sec", "", "tok/s", 1, "median over requests of prompt tokens / time to the first token", cold}, b.TPS},
		{meaning{"prompt_tokens", "", "tokens", 1, "of a prompt", cold}, b.Prompt},
	} {
		if f.v == nil {
			continue
		}
		stat := ""
		if f.m.metric != "" {
			stat = "p50"
		}
		p.Figures = append(p.Figures, f.m.of(f.m.key, stat, *f.v))
	}
	if b.Samples > 0 {
		p.Told.Issued, p.Told.Completed = count(b.Samples), count(b.Samples)
	}
	if b.Checked.Invalid != "" {
		p.Notes = append(p.Notes, "the tool could not check its prefill rate against the server: "+b.Checked.Invalid)
	}
	return p
}

// benchCell is an element of results. Times are seconds.
type benchCell map[string]any

func (c benchCell) number(key string) (float64, bool) {
	v, ok := c[key].(float64)
	return v, ok
}

func (c benchCell) whole(key string) *int {
	if v, ok := c.number(key); ok && v >= 0 && v < 1e12 {
		return count(int(v))
	}
	return nil
}

func (c benchCell) point(name string) Point {
	p := Point{File: name, Setting: plan.Point{Phase: plan.PhaseDecode}}
	if n := c.whole("concurrency"); n != nil {
		p.Setting.Concurrency = *n
	}
	if n := c.whole("context_tokens"); n != nil {
		p.Setting.Context = *n
	}
	reason, _ := c["timeout_reason"].(string)
	if tps, ok := c.number("aggregate_tps"); ok && tps < 0 {
		p.Over = "the tool did not run this cell: " + reason
		return p
	}
	p.Told.Completed, p.Told.Failed = c.whole("completed_request_count"), c.whole("errors")
	if active, ok := c.number("avg_running_reqs"); ok {
		p.Told.Active = &active
	}
	if limited, _ := c["capacity_limited"].(bool); limited {
		p.Notes = append(p.Notes, strings.TrimSpace(fmt.Sprintf("the tool marks the cell as limited by capacity: fewer requests ran than asked for, some waited, or it was not ready in time; %s", reason)))
	}
	p.Figures = c.figures()
	return p
}

func (c benchCell) figures() []Figure {
	const (
		window  = "tokens inside the cell's window"
		streams = "all streams of the cell"
	)
	var out []Figure
	for _, m := range []meaning{
		{"aggregate_tps", "", "tok/s", 1, "tokens inside the window / time from its start to the last of them", window},
		{"per_request_avg_tps", "", "tok/s", 1, "aggregate_tps / concurrency", window},
		{"client_output_tokens", "", "tokens", 1, "by usage, or one for a chunk", window},
		{"server_gen_throughput", "", "tok/s", 1, "growth of the engine's counter", "everything the engine made meanwhile"},
		{"avg_running_reqs", "", "requests", 1, "by the engine", "samples inside the window"},
		{"avg_queue_reqs", "", "requests", 1, "waiting, by the engine", "samples inside the window"},
		{"measurement_seconds", "", "s", 1, "from the window's start to the last token", window},
	} {
		if v, ok := c.number(m.key); ok {
			out = append(out, m.of(m.key, "", v))
		}
	}
	for _, m := range []meaning{
		{"ttft", "ttft_ms", "ms", 1000, "first token − sending", streams},
		{"inter_token_latency", "tpot_ms", "ms", 1000, "(last − first token) / (tokens − 1) of a request", streams},
		{"chunk_inter_token_latency", "", "ms", 1000, "(last − first chunk) / (chunks − 1) of a request", streams},
		{"output_tps_per_user", "", "tok/s", 1, "1 / inter_token_latency of a request", streams},
		{"request_latency", "e2e_ms", "ms", 1000, "last token − sending", "streams that ended by themselves"},
	} {
		for _, s := range []statistic{{"_avg", "mean"}, {"_p50", "p50"}, {"_p90", "p90"}, {"_p99", "p99"}} {
			if v, ok := c.number(m.key + s.key); ok {
				out = append(out, m.of(m.key+s.key, s.name, v))
			}
		}
	}
	return out
}
