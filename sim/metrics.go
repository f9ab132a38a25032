package sim

import (
	"maps"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// observations are the engine's histograms, with the buckets of vLLM.
type observations struct {
	ttft, itl, e2e, queue prometheus.Histogram
}

func newObservations(labels prometheus.Labels) *observations {
	long := []float64{0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "vllm:" + name, Help: help, Buckets: buckets, ConstLabels: labels,
		})
	}
	return &observations{
		ttft: histogram("time_to_first_token_seconds", "Time from arrival to the first token.",
			[]float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}),
		itl: histogram("inter_token_latency_seconds", "Time between the tokens of a request.",
			[]float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}),
		e2e:   histogram("e2e_request_latency_seconds", "Time from arrival to the end of a request.", long),
		queue: histogram("request_queue_time_seconds", "Time a request waited for the batch.", long),
	}
}

func engineLabels(model string, rank int) prometheus.Labels {
	return prometheus.Labels{"engine": strconv.Itoa(rank), "model_name": model}
}

// figure is a gauge or a counter as it stands at scrape time.
type figure struct {
	name, help string
	kind       prometheus.ValueType
	labels     prometheus.Labels
	value      float64
}

// collector reads the engine when it is scraped.
type collector struct {
	engine *engine
	rank   int
}

// Describe sends nothing: the figures are made at each scrape (an unchecked collector).
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the engine's counters and gauges.
func (c collector) Collect(out chan<- prometheus.Metric) {
	for _, f := range c.engine.figures() {
		labels := engineLabels(c.engine.cfg.Model, c.rank)
		maps.Copy(labels, f.labels)
		desc := prometheus.NewDesc("vllm:"+f.name, f.help, nil, labels)
		out <- prometheus.MustNewConstMetric(desc, f.kind, f.value)
	}
}

func (e *engine) figures() []figure {
	e.mu.Lock()
	defer e.mu.Unlock()
	t := e.totals
	gauge, counter := prometheus.GaugeValue, prometheus.CounterValue
	list := []figure{
		{name: "num_requests_running", help: "Requests in the batch.", kind: gauge, value: float64(len(e.running))},
		{name: "num_requests_waiting", help: "Requests that wait for the batch.", kind: gauge, value: float64(len(e.waiting))},
		{name: "kv_cache_usage_perc", help: "KV cache in use; 1 is all of it.", kind: gauge, value: e.kv.Used()},
		{name: "prompt_tokens_total", help: "Prompt tokens, cached ones too.", kind: counter, value: float64(t.promptTokens)},
		{name: "prompt_tokens_cached_total", help: "Prompt tokens from the prefix cache.", kind: counter, value: float64(t.cachedTokens)},
		{name: "generation_tokens_total", help: "Tokens made.", kind: counter, value: float64(t.generated)},
		{name: "prefix_cache_queries_total", help: "Tokens looked up in the prefix cache.", kind: counter, value: float64(t.queried)},
		{name: "prefix_cache_hits_total", help: "Tokens found in the prefix cache.", kind: counter, value: float64(t.cachedTokens)},
		{name: "num_preemptions_total", help: "Requests put back into the queue.", kind: counter, value: float64(t.preempted)},
		{name: "spec_decode_num_drafts_total", help: "Steps of requests that had drafts.", kind: counter, value: float64(t.drafts)},
		{name: "spec_decode_num_draft_tokens_total", help: "Drafted tokens.", kind: counter, value: float64(t.drafted)},
		{name: "spec_decode_num_accepted_tokens_total", help: "Drafted tokens that were accepted.", kind: counter, value: float64(t.accepted)},
		{name: "cache_config_info", help: "Shape of the KV cache.", kind: gauge, value: 1, labels: prometheus.Labels{
			"block_size": strconv.Itoa(e.cfg.BlockTokens), "num_gpu_blocks": strconv.Itoa(e.kv.Total),
			"kv_cache_size_tokens":  strconv.Itoa(e.kv.Total * e.cfg.BlockTokens),
			"enable_prefix_caching": strconv.FormatBool(!e.cfg.NoCache),
		}},
	}
	const bySource = "prompt_tokens_by_source_total"
	list = append(list,
		figure{name: bySource, help: "Prompt tokens by source.", kind: counter, value: float64(t.promptTokens - t.cachedTokens), labels: prometheus.Labels{"source": "local_compute"}},
		figure{name: bySource, help: "Prompt tokens by source.", kind: counter, value: float64(t.cachedTokens), labels: prometheus.Labels{"source": "local_cache_hit"}},
		figure{name: "admission_rejections_total", help: "Requests refused for a full queue.", kind: counter, value: float64(t.rejected), labels: prometheus.Labels{"reason": "max_num_queued_reqs"}})
	for _, reason := range []string{"stop", "length", "abort", "error"} {
		list = append(list, figure{name: "request_success_total", help: "Requests ended, by reason.", kind: counter,
			value: float64(t.finished[reason]), labels: prometheus.Labels{"finished_reason": reason}})
	}
	return list
}

// registry holds what /metrics shows.
func (s *Server) registry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	for rank, e := range s.engines {
		r.MustRegister(collector{e, rank}, e.seen.ttft, e.seen.itl, e.seen.e2e, e.seen.queue)
	}
	return r
}
