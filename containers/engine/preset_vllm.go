package engine

import (
	"context"
	"strconv"
)

// vllm is vLLM's OpenAI server. Its port opens only after the engine is up, so health is refused, then 200.
func vllm() Preset {
	return Preset{
		Name:    "vllm",
		Program: func(string) []string { return []string{"vllm", "serve"} },
		Flags: Flags{
			Host: []string{"--host"}, Port: []string{"--port"}, Model: []string{"--model"}, Served: []string{"--served-model-name"},
			Revision: []string{"--revision"}, TokenizerRevision: []string{"--tokenizer-revision"}, Positional: []string{"serve"},
		},
		// Idle connections are closed after 5 s by default, and a router that keeps them longer meets resets between turns.
		Env:        map[string]string{"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "VLLM_HTTP_TIMEOUT_KEEP_ALIVE": "600"},
		OfflineEnv: map[string]string{"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"},
		// Ranks share memory through /dev/shm; the engine's default of 64 MiB ends the server after a minute.
		ShmBytes:   16 << 30,
		HealthPath: "/health", ModelsPath: "/v1/models", MetricsPath: "/metrics",
		Metrics: map[string][]Series{
			"running":           {{"vllm:num_requests_running"}},
			"waiting":           {{"vllm:num_requests_waiting"}},
			"kv_usage":          {{"vllm:kv_cache_usage_perc"}, {"vllm:gpu_cache_usage_perc"}},
			"prompt_tokens":     {{"vllm:prompt_tokens_total"}},
			"generation_tokens": {{"vllm:generation_tokens_total"}},
			"prefix_queries":    {{"vllm:prefix_cache_queries_total"}, {"vllm:gpu_prefix_cache_queries_total"}},
			"prefix_hits":       {{"vllm:prefix_cache_hits_total"}, {"vllm:gpu_prefix_cache_hits_total"}},
			"preemptions":       {{"vllm:num_preemptions_total"}},
		},
		Describe: describeVLLM,
	}
}

func describeVLLM(ctx context.Context, a Asker) (f Facts) {
	var v struct{ Version string }
	if a.JSON(ctx, "/version", &v) {
		f.Version = v.Version
	}
	for _, m := range a.Labels(ctx, "/metrics", "vllm:cache_config_info") {
		f.KVTokens += kvTokens(m)
	}
	return f
}

// kvTokens is the KV cache of one engine: stated outright by newer versions, blocks × block size by older ones, whose blocks are shared
// out where a context lies on several devices.
func kvTokens(labels map[string]string) int64 {
	if n, err := strconv.ParseInt(labels["kv_cache_size_tokens"], 10, 64); err == nil {
		return n
	}
	blocks, err1 := strconv.ParseInt(labels["num_gpu_blocks"], 10, 64)
	size, err2 := strconv.ParseInt(labels["block_size"], 10, 64)
	if err1 != nil || err2 != nil {
		return 0
	}
	shared := int64(1)
	for _, name := range []string{"decode_context_parallel_size", "prefill_context_parallel_size"} {
		if n, err := strconv.ParseInt(labels[name], 10, 64); err == nil {
			shared *= max(n, 1)
		}
	}
	return blocks * size * shared
}
