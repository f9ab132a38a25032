package tool

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/fault"
	"assay/runner/imported/files"
	"assay/runner/record"
)

// vllm is the JSON that `vllm bench serve --save-result` writes, one flat object; with --save-detailed it holds every request.
// A file may hold several objects, one after another, as `assay report --format vllm-json` writes them.
func vllm() Format {
	return Format{Name: "vllm", Tool: "vllm bench serve", Looks: files.Holding(`"num_prompts"`, `"request_throughput"`, `"model_id"`), Read: readVLLM}
}

func readVLLM(src files.Source, emit Emit) (Report, error) {
	var r Report
	for _, name := range src.Files {
		err := src.Documents(name, func(dec *json.Decoder) error {
			var f vllmFile
			if err := f.read(dec); err != nil {
				return err
			}
			r.Model, r.Endpoint = f.Model, "completions"
			if f.chat() {
				r.Endpoint = "chat"
			}
			r.Points = append(r.Points, f.point(name))
			return f.requests(len(r.Points)-1, emit)
		})
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

// vllmFile is one object. Times of single requests are seconds on a clock without a date; of those that failed they are 0.
type vllmFile struct {
	Model, Backend string
	Rate           any // a number, or "inf"
	Concurrency    *int
	numbers        map[string]float64

	Inputs, Outputs               []int64
	TTFTs, Latencies, Start, Wait []float64
	Gaps                          [][]float64
	Errors                        []string
}

func (f *vllmFile) read(dec *json.Decoder) error {
	f.numbers = map[string]float64{}
	wanted := map[string]any{
		"model_id": &f.Model, "backend": &f.Backend, "request_rate": &f.Rate, "max_concurrency": &f.Concurrency, "input_lens": &f.Inputs, "output_lens": &f.Outputs,
		"ttfts": &f.TTFTs, "latencies": &f.Latencies, "start_times": &f.Start, "queue_times": &f.Wait, "itls": &f.Gaps, "errors": &f.Errors,
	}
	figures := vllmFigures(true)
	return files.Fields(dec, func(key string) (bool, error) {
		if v, ok := wanted[key]; ok {
			return true, dec.Decode(v)
		}
		if figures[key].key == "" && key != "num_prompts" {
			return false, nil
		}
		var v any
		err := dec.Decode(&v)
		if n, ok := v.(float64); ok {
			f.numbers[key] = n
		}
		return true, err
	})
}

// chat tells whether the tool's first chunk may be one that brings a role and no token.
func (f *vllmFile) chat() bool { return strings.Contains(f.Backend, "chat") }

func (f *vllmFile) point(name string) Point {
	p := Point{File: name, Unknown: Unknown{Queue: len(f.Wait) != len(f.Start)}}
	if f.Concurrency != nil {
		p.Setting.Concurrency = *f.Concurrency
	}
	if rate, ok := f.Rate.(float64); ok && !math.IsInf(rate, 0) {
		p.Setting.Rate = rate
	}
	p.Told = Told{Issued: f.whole("num_prompts"), Completed: f.whole("completed"), Failed: f.whole("failed"), Active: inFlight(f.numbers["request_throughput"], f.numbers["mean_e2el_ms"]/1000)}
	if t := &p.Told; t.Issued == nil && t.Completed != nil && t.Failed != nil {
		t.Issued = count(*t.Completed + *t.Failed)
	}
	for key, m := range vllmFigures(f.chat()) {
		v, ok := f.numbers[key]
		if !ok {
			continue
		}
		stat, _, _ := strings.Cut(key, "_")
		if m.unit != "ms" {
			stat = ""
		} else if stat == "median" {
			stat = "p50"
		}
		p.Figures = append(p.Figures, m.of(key, strings.ReplaceAll(stat, "p99.9", "p999"), v))
	}
	sortFigures(p.Figures)
	if len(f.TTFTs) > 0 && len(f.Start) == 0 {
		p.Notes = append(p.Notes, "the file has no start of each request, as older versions of the tool write it: nothing could be made of its single requests")
	}
	return p
}

func (f *vllmFile) whole(key string) *int {
	if v, ok := f.numbers[key]; ok && v >= 0 && v < 1e12 {
		return count(int(v))
	}
	return nil
}

// vllmFigures are the tool's figures by their keys. In a chat its TTFT and ITL begin with the first chunk, whatever it holds.
func vllmFigures(chat bool) map[string]meaning {
	const whole = "requests counted as completed, of the whole run with start and end"
	all := map[string]meaning{}
	add := func(key, metric, unit, formula string) { all[key] = meaning{key, metric, unit, 1, formula, whole} }
	add("duration", "duration_s", "s", "from the first submission to the end of the last request")
	add("completed", "requests_completed", "", "requests with status 200 and a chunk, however they ended")
	add("failed", "requests_failed", "", "all others")
	add("total_input_tokens", "input_tokens", "tokens", "the server's count where it told one")
	add("total_output_tokens", "output_tokens", "tokens", "the server's count where it told one, else the text through the tool's tokenizer")
	add("request_throughput", "qps", "1/s", "completed / duration")
	add("output_throughput", "system_tps_completed", "tok/s", "output tokens / duration")
	add("total_token_throughput", "total_tps", "tok/s", "(input + output tokens) / duration")
	ttft, itl := "ttft_ms", "itl_ms"
	if chat {
		ttft, itl = "", ""
	}
	for _, d := range []struct{ name, metric, formula string }{
		{"ttft", ttft, "first chunk − start; in a chat a chunk with a role and no token is one; opening the connection is part of it"},
		{"tpot", "tpot_ms", "(last − first chunk) / (output tokens − 1) of a request"},
		{"itl", itl, "gaps between chunks, whatever they hold, of all requests together; in a chat also the one from the role to the first token"},
		{"e2el", "e2e_ms", "last chunk − start"},
	} {
		metric := d.metric
		if chat && d.name == "tpot" {
			metric = "" // it begins at the role
		}
		for _, stat := range []string{"mean", "median", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9"} {
			add(stat+"_"+d.name+"_ms", metric, "ms", d.formula)
		}
	}
	return all
}

// requests hands over what --save-detailed keeps.
func (f *vllmFile) requests(point int, emit Emit) error {
	n := len(f.Start)
	if n == 0 || len(f.TTFTs) == 0 {
		return nil
	}
	for _, l := range []int{len(f.TTFTs), len(f.Outputs), len(f.Gaps)} {
		if l != n {
			return fault.New(fault.Plan, "import_malformed", "give the file as the tool wrote it", "the lists of single requests have different lengths: %d and %d", n, l)
		}
	}
	if i := slices.Index(f.Start, 0); i >= 0 {
		return fault.New(fault.Plan, "import_malformed", "give the file as the tool wrote it", "start_times has no time at place %d: when the request began is not known", i+1)
	}
	if err := f.inSeconds(); err != nil {
		return err
	}
	for i := range n {
		if err := emit(point, f.request(i)); err != nil {
			return err
		}
	}
	return nil
}

// longest is how long one request can take; what is longer is not seconds.
const longest = 7 * 24 * 3600

// inSeconds refuses lists that some program turned into other units.
func (f *vllmFile) inSeconds() error {
	sum, mean := 0.0, f.numbers["mean_ttft_ms"]/1000
	for _, v := range f.TTFTs {
		sum += v
	}
	got := sum / float64(len(f.TTFTs))
	if got > longest || mean > 0 && (got > 100*mean || got < mean/100) {
		return fault.New(fault.Plan, "import_unit", "give the file as the tool wrote it: its lists are seconds, its summary milliseconds",
			"the mean of ttfts is %s s, mean_ttft_ms says %s s: one of them has another unit", Short(got), Short(mean))
	}
	return nil
}

// Short writes a number in few digits.
func Short(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

func (f *vllmFile) request(i int) record.Request {
	q := request()
	q.Index, q.SentUS = i, micros(f.Start[i])
	q.IntendedUS = q.SentUS
	if len(f.Wait) == len(f.Start) {
		q.IntendedUS -= micros(max(0, f.Wait[i]))
	}
	q.OutputTokens = f.Outputs[i]
	if len(f.Inputs) == len(f.Start) {
		q.InputTokens = f.Inputs[i]
	}
	at := f.Start[i] + f.TTFTs[i]
	if f.TTFTs[i] > 0 {
		q.Events = append(q.Events, record.Event{AtUS: micros(at)})
	}
	for _, gap := range f.Gaps[i] {
		at += gap
		q.Events = append(q.Events, record.Event{AtUS: micros(at)})
	}
	q.DoneUS = micros(at)
	if len(f.Latencies) == len(f.Start) {
		q.DoneUS = max(q.DoneUS, micros(f.Start[i]+f.Latencies[i]))
	}
	q.Events = f.tokens(q.Events, q.OutputTokens)
	share(&q)
	if len(f.Errors) == len(f.Start) && f.Errors[i] != "" {
		fail(&q, lastLine(f.Errors[i]))
	}
	return q
}

// tokens leaves out the chunks that brought none: there is one more than tokens when a chat begins with a role, or when any reply ends with
// an empty chunk, and two when both is so.
func (f *vllmFile) tokens(events []record.Event, tokens int64) []record.Event {
	more := int64(len(events)) - tokens
	switch {
	case tokens <= 0:
		return nil
	case more == 1 && f.chat():
		return events[1:]
	case more == 1:
		return events[:tokens]
	case more == 2 && f.chat():
		return events[1 : len(events)-1]
	case more < 0 && f.chat() && len(events) > 1:
		return events[1:] // several tokens a chunk: the role is still the first
	}
	return events
}

// lastLine is where a traceback says what went wrong.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
