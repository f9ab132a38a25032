package engine

import (
	"context"
	"strconv"
)

// trtllm is TensorRT-LLM's trtllm-serve. It refuses every field of a request that it does not know. Its metrics need
// return_perf_metrics in its options file; what it serves under /metrics is no Prometheus format.
func trtllm() Preset {
	return Preset{
		Name:       "trtllm",
		Program:    func(string) []string { return []string{"trtllm-serve"} },
		Entrypoint: []string{"trtllm-serve"}, // its images start a shell
		Flags: Flags{
			Host: []string{"--host"}, Port: []string{"--port"}, Served: []string{"--served_model_name"}, Positional: []string{"trtllm-serve", "serve"},
		},
		OfflineEnv: map[string]string{"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"},
		ShmBytes:   16 << 30,
		GPUs:       "all",
		Ulimits:    ulimits(),
		HealthPath: "/health", ModelsPath: "/v1/models", MetricsPath: "/prometheus/metrics",
		Metrics: map[string][]Series{
			"running":           {{"trtllm_num_requests_running"}},
			"waiting":           {{"trtllm_num_requests_waiting"}},
			"kv_usage":          {{"trtllm_kv_cache_utilization"}},
			"prompt_tokens":     {{"trtllm_prompt_tokens_total"}},
			"generation_tokens": {{"trtllm_generation_tokens_total"}},
			"prefix_queries":    {{"trtllm_prompt_tokens_total"}},
			"prefix_hits":       {{"trtllm_prompt_cached_tokens_total"}},
		},
		Describe: describeTRTLLM,
		Loading: []LoadLine{
			{LoadWeights, "for model weights"}, {LoadWeights, "Loading safetensors weights"}, {LoadWeights, "Loading weights"}, {LoadWeights, "Model init total"},
			{LoadMemory, "paged KV cache"}, {LoadMemory, "Max KV cache"}, {LoadTune, "Autotuning process"}, {LoadGraphs, "CUDA graph"}, {LoadWarmup, "Run warmup"},
			{LoadUp, "Application startup complete"},
		},
	}
}

func describeTRTLLM(ctx context.Context, a Asker) (f Facts) {
	var v struct{ Version string }
	if a.JSON(ctx, "/version", &v) {
		f.Version = v.Version
	}
	kv := a.Sums(ctx, "/prometheus/metrics", "trtllm_kv_cache_max_blocks", "trtllm_kv_cache_tokens_per_block")
	f.KVTokens = int64(kv[0] * kv[1])
	f.Settings = told("/prometheus/metrics", KVBlocks, strconv.FormatInt(int64(kv[0]), 10), KVBlockTokens, strconv.FormatInt(int64(kv[1]), 10))
	return f
}
