package engine

import (
	"context"
	"encoding/json"
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
		GPUs:       "all",
		Ulimits:    ulimits(),
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
		Loading: []LoadLine{
			{LoadWeights, "Starting to load model"}, {LoadWeights, "Loading weights took"}, {LoadWeights, "Model loading took"}, {LoadWeights, "Loading safetensors checkpoint shards"},
			{LoadCompile, "Dynamo bytecode transform time"}, {LoadCompile, "Compiling a graph"}, {LoadCompile, "torch.compile takes"}, {LoadCompile, "torch.compile took"},
			{LoadTune, "Autotuning process"}, {LoadTune, "Tuning "},
			{LoadMemory, "Memory profiling takes"}, {LoadMemory, "Available KV cache memory"}, {LoadMemory, "KV cache size:"},
			{LoadGraphs, "Capturing CUDA graph"}, {LoadGraphs, "Capturing cudagraphs"}, {LoadGraphs, "Graph capturing finished in"},
			{LoadWarmup, "init engine ("}, {LoadUp, "Starting vLLM"}, {LoadUp, "Application startup complete"},
		},
	}
}

func describeVLLM(ctx context.Context, a Asker) (f Facts) {
	var v struct{ Version string }
	if a.JSON(ctx, "/version", &v) {
		f.Version = v.Version
	}
	blocks, engines := int64(0), a.Labels(ctx, "/metrics", "vllm:cache_config_info")
	for _, m := range engines {
		f.KVTokens += kvTokens(m)
		n, _ := strconv.ParseInt(m["num_gpu_blocks"], 10, 64) // what is no number adds nothing
		blocks += n
	}
	if len(engines) > 0 {
		m := engines[0]
		f.Settings = told("/metrics", Engines, strconv.Itoa(len(engines)), KVBlocks, strconv.FormatInt(blocks, 10), KVBlockTokens, m["block_size"],
			KVDType, m["cache_dtype"], PrefixCaching, m["enable_prefix_caching"], MemoryShare, m["gpu_memory_utilization"])
	}
	f.Settings = append(f.Settings, devMode(ctx, a)...)
	return f
}

// devMode asks for a path that is there only when the server's development mode is on. With it come paths by which anybody may change the
// server during a run.
func devMode(ctx context.Context, a Asker) []Setting {
	const path = "/server_info?config_format=json"
	var v struct {
		Config json.RawMessage `json:"vllm_config"`
	}
	if !a.JSON(ctx, path, &v) || len(v.Config) == 0 {
		return nil
	}
	out := told("/server_info", DevMode, "True")
	var config struct {
		Parallel struct {
			Tensor   int `json:"tensor_parallel_size"`
			Pipeline int `json:"pipeline_parallel_size"`
			Data     int `json:"data_parallel_size"`
		} `json:"parallel_config"`
	}
	if json.Unmarshal(v.Config, &config) != nil { // older versions answer a text here
		return out
	}
	p := config.Parallel
	return append(out, told("/server_info", TensorParallel, strconv.Itoa(p.Tensor), PipelineParallel, strconv.Itoa(p.Pipeline), DataParallel, strconv.Itoa(p.Data))...)
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
