package tool

import (
	"encoding/json"

	"assay/runner/imported/files"
	"assay/runner/record"
)

// guidellm is the benchmarks.json of `guidellm run` (`guidellm benchmark` before 0.8): one document with a benchmark for each rate.
func guidellm() Format {
	return Format{Name: "guidellm", Tool: "guidellm", Looks: files.Holding(`"guidellm_version"`), Read: readGuideLLM}
}

func readGuideLLM(src files.Source, emit Emit) (Report, error) {
	r := Report{Wall: true, Endpoint: "chat"}
	for _, name := range src.Files {
		err := src.Documents(name, func(dec *json.Decoder) error {
			return files.Fields(dec, func(key string) (bool, error) {
				switch key {
				case "metadata":
					var m struct {
						Version string `json:"guidellm_version"`
					}
					err := dec.Decode(&m)
					r.Version = m.Version
					return true, err
				case "benchmarks":
					return true, files.Elements(dec, func() error { return readGuideBenchmark(dec, name, &r, emit) })
				}
				return false, nil
			})
		})
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

// guideConfig is the configuration of a benchmark.
type guideConfig struct {
	Strategy struct {
		Kind           string  `json:"type_"`
		Streams        int     `json:"streams"`
		MaxConcurrency int     `json:"max_concurrency"`
		Rate           float64 `json:"rate"`
	} `json:"strategy"`
	Backend struct {
		Target string `json:"target"`
		Model  string `json:"model"`
		Format string `json:"request_format"`
	} `json:"backend"`
}

func readGuideBenchmark(dec *json.Decoder, name string, r *Report, emit Emit) error {
	index := len(r.Points)
	r.Points = append(r.Points, Point{File: name, Unknown: Unknown{Gaps: true}})
	p := &r.Points[index]
	issued := 0
	err := files.Fields(dec, func(key string) (bool, error) {
		switch key {
		case "config":
			var c guideConfig
			err := dec.Decode(&c)
			c.tell(r, p)
			return true, err
		case "duration":
			var v float64
			err := dec.Decode(&v)
			p.Figures = append(p.Figures, meaning{key, "duration_s", "s", 1, "from the first start to the last end inside the measured part", guideGood}.of(key, "", v))
			return true, err
		case "metrics":
			var m guideMetrics
			err := dec.Decode(&m.all)
			m.tell(p)
			return true, err
		case "requests":
			return true, files.Fields(dec, func(kind string) (bool, error) {
				if kind != "successful" && kind != "errored" && kind != "incomplete" {
					return false, nil
				}
				return true, files.Elements(dec, func() error {
					var q guideRequest
					if err := dec.Decode(&q); err != nil {
						return err
					}
					issued++
					return q.emit(issued-1, kind, index, *p, emit)
				})
			})
		}
		return false, nil
	})
	return err
}

func (c guideConfig) tell(r *Report, p *Point) {
	r.Model, r.URL = c.Backend.Model, c.Backend.Target
	if c.Backend.Format == "/v1/completions" || c.Backend.Format == "text_completions" {
		r.Endpoint = "completions"
	}
	s := c.Strategy
	switch s.Kind {
	case "synchronous":
		p.Setting.Concurrency = 1
	case "concurrent":
		p.Setting.Concurrency = s.Streams
	case "throughput":
		p.Setting.Concurrency = s.MaxConcurrency
	default:
		p.Setting.Rate = s.Rate
	}
	p.Unknown.Queue = p.Setting.Rate == 0
}

const guideGood = "requests the tool counts as successful, inside its measured part"

// guideFigures are the tool's metrics. What it calls inter_token_latency is a TPOT; what it calls time_per_output_token holds the TTFT.
func guideFigures() []meaning {
	return []meaning{
		{"time_to_first_token_ms", "ttft_ms", "ms", 1, "first token, reasoning too − start", guideGood},
		{"time_to_first_output_token_ms", "ttfat_ms", "ms", 1, "first token that is not reasoning − start", guideGood},
		{"inter_token_latency_ms", "tpot_ms", "ms", 1, "(last − first token) / (output tokens − 1) of a request; the tool's mean is weighted by tokens", guideGood},
		{"time_per_output_token_ms", "", "ms", 1, "whole latency / output tokens of a request: the TTFT is in it", guideGood},
		{"request_latency", "", "ms", 1000, "end of the request − start, beyond the last token", guideGood},
		{"request_concurrency", "", "requests", 1, "requests in flight, weighted by time", guideGood},
		{"requests_per_second", "", "1/s", 1, "ends of requests per second, weighted by time", guideGood},
		{"output_tokens_per_second", "", "tok/s", 1, "tokens per second, spread evenly between a request's first and last", guideGood},
		{"tokens_per_second", "", "tok/s", 1, "input and output tokens per second", guideGood},
		{"prompt_token_count", "", "tokens", 1, "of a request", guideGood},
		{"output_token_count", "", "tokens", 1, "of a request", guideGood},
	}
}

// guideMetrics is the object of that name.
type guideMetrics struct {
	all map[string]json.RawMessage
}

// tell takes the figures of the successful requests. A percentile p001 is of 0.1 %, p999 of 99.9 %; they are values of samples.
func (m guideMetrics) tell(p *Point) {
	var totals struct{ Successful, Errored, Incomplete, Total *int }
	if json.Unmarshal(m.all["request_totals"], &totals) == nil && totals.Total != nil && totals.Successful != nil {
		p.Told = Told{Issued: totals.Total, Completed: totals.Successful, Failed: totals.Errored}
		p.Figures = append(p.Figures, meaning{"request_totals.successful", "requests_completed", "", 1, "streams that ended without an error in them", guideGood}.of("request_totals.successful", "", float64(*totals.Successful)))
	}
	for _, f := range guideFigures() {
		var d struct {
			Successful struct {
				Count       int
				Mean        *float64
				Median      *float64
				Min         *float64
				Max         *float64
				Percentiles map[string]*float64
			}
		}
		if json.Unmarshal(m.all[f.key], &d) != nil || d.Successful.Mean == nil || d.Successful.Count == 0 {
			continue
		}
		s := d.Successful
		add := func(key, stat string, v *float64) {
			if v != nil {
				p.Figures = append(p.Figures, f.of(f.key+"."+key, stat, *v))
			}
		}
		mean := f
		if f.metric == "tpot_ms" {
			mean.metric = "" // weighted by tokens
		}
		p.Figures = append(p.Figures, mean.of(f.key+".mean", "mean", *s.Mean))
		if f.key == "request_concurrency" {
			p.Told.Active = s.Mean
		}
		add("median", "p50", s.Median)
		add("min", "min", s.Min)
		add("max", "max", s.Max)
		for _, q := range []statistic{{"p01", "p1"}, {"p05", "p5"}, {"p10", "p10"}, {"p25", "p25"}, {"p75", "p75"}, {"p90", "p90"}, {"p95", "p95"}, {"p99", "p99"}, {"p999", "p999"}} {
			add("percentiles."+q.key, q.name, s.Percentiles[q.key])
		}
	}
}

// guideRequest is a request; times are seconds since 1970.
type guideRequest struct {
	ResponseID string `json:"response_id"`
	Info       struct {
		Conversation string  `json:"conversation_id"`
		Turn         int     `json:"turn_index"`
		Error        *string `json:"error"`
		Timings      struct {
			Targeted   *float64 `json:"targeted_start"`
			Start      *float64 `json:"request_start"`
			FirstByte  *float64 `json:"first_request_iteration"`
			FirstToken *float64 `json:"first_token_iteration"`
			LastToken  *float64 `json:"last_token_iteration"`
			End        *float64 `json:"request_end"`
		} `json:"timings"`
	} `json:"info"`
	Prompt *int64 `json:"prompt_tokens"`
	Output *int64 `json:"output_tokens"`
	Cached *int64 `json:"cached_tokens"`
}

// emit hands the request over, unless the tool never began it. Only at a rate the tool's aim is when the request was due.
func (g guideRequest) emit(index int, kind string, point int, p Point, emit Emit) error {
	q := g.request(index, kind)
	if q.SentUS == record.Never {
		return nil
	}
	if p.Setting.Rate == 0 || q.IntendedUS == record.Never {
		q.IntendedUS = q.SentUS
	}
	return emit(point, q)
}

func (g guideRequest) request(index int, kind string) record.Request {
	q := request()
	t := g.Info.Timings
	q.Index, q.ID, q.Session, q.Turn = index, g.ResponseID, g.Info.Conversation, g.Info.Turn
	for _, v := range []struct {
		to   *int64
		from *float64
	}{{&q.IntendedUS, t.Targeted}, {&q.SentUS, t.Start}, {&q.FirstByteUS, t.FirstByte}, {&q.DoneUS, t.End}} {
		if v.from != nil {
			*v.to = micros(*v.from)
		}
	}
	for _, v := range []struct {
		to   *int64
		from *int64
	}{{&q.InputTokens, g.Prompt}, {&q.OutputTokens, g.Output}, {&q.CachedTokens, g.Cached}} {
		if v.from != nil {
			*v.to = *v.from
		}
	}
	if t.FirstToken != nil && t.LastToken != nil {
		firstAndLast(&q, micros(*t.FirstToken), micros(*t.LastToken))
	}
	switch {
	case kind == "incomplete":
		q.Outcome = record.Censored
	case g.Info.Error != nil:
		fail(&q, *g.Info.Error)
	case kind == "errored":
		fail(&q, "the tool tells no reason")
	}
	return q
}
