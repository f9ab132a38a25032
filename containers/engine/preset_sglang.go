package engine

import (
	"context"
	"strconv"
)

// sglang is SGLang's server. It lists its model before it is warm, but its health answers 503 until then.
func sglang() Preset {
	launch := []string{"python3", "-m", "sglang.launch_server"}
	return Preset{
		Name:       "sglang",
		Program:    func(string) []string { return launch },
		Entrypoint: launch, // its images start a shell
		Flags: Flags{
			Host: []string{"--host"}, Port: []string{"--port"}, Model: []string{"--model-path", "--model"}, Served: []string{"--served-model-name"},
			Revision: []string{"--revision"}, Switches: [][]string{{"--enable-metrics"}},
		},
		OfflineEnv: map[string]string{"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"},
		ShmBytes:   16 << 30,
		GPUs:       "all",
		Ulimits:    ulimits(),
		HealthPath: "/health", ModelsPath: "/v1/models", MetricsPath: "/metrics",
		// It counts cached prompt tokens apart and keeps no counter of prefix queries: every prompt token is one.
		Metrics: map[string][]Series{
			"running":           {{"sglang:num_running_reqs"}},
			"waiting":           {{"sglang:num_queue_reqs"}},
			"kv_usage":          {{"sglang:token_usage"}},
			"prompt_tokens":     {{"sglang:prompt_tokens_total"}},
			"generation_tokens": {{"sglang:generation_tokens_total"}},
			"prefix_queries":    {{"sglang:prompt_tokens_total"}},
			"prefix_hits":       {{"sglang:cached_tokens_total"}},
			"preemptions":       {{"sglang:num_retractions_total"}},
		},
		Describe: describeSGLang,
		Loading: []LoadLine{
			{LoadWeights, "Load weight begin"}, {LoadWeights, "Load weight end"}, {LoadWeights, "Loading safetensors checkpoint shards"},
			{LoadMemory, "KV Cache is allocated"}, {LoadMemory, "Memory pool end"}, {LoadMemory, "max_total_num_tokens="},
			{LoadGraphs, "Capture cuda graph"}, {LoadGraphs, "CUDA graph begin"}, {LoadGraphs, "CUDA graph end"}, {LoadGraphs, "Capturing batches"},
			{LoadTune, "Autotuning process"}, {LoadCompile, "Compiling"}, {LoadWarmup, "Application startup complete"}, {LoadUp, "The server is fired up"},
		},
	}
}

func describeSGLang(ctx context.Context, a Asker) Facts {
	var v struct {
		Version        string `json:"version"`
		MaxTotalTokens int64  `json:"max_total_num_tokens"`
		DPSize         int64  `json:"dp_size"`
		DCPSize        int64  `json:"dcp_size"` // devices that share a context
		TPSize         int    `json:"tp_size"`
		PPSize         int    `json:"pp_size"`
		EPSize         int    `json:"ep_size"`
		PageSize       int    `json:"page_size"`
		KVDType        string `json:"kv_cache_dtype"`
		Context        int64  `json:"context_length"`
		Revision       string
		Quantization   string
		DType          string
	}
	if !a.JSON(ctx, "/server_info", &v) && !a.JSON(ctx, "/get_server_info", &v) {
		return Facts{}
	}
	f := Facts{Version: v.Version, KVTokens: v.MaxTotalTokens * max(v.DPSize, 1) * max(v.DCPSize, 1), Quantization: v.Quantization, DType: v.DType}
	f.Settings = told("/server_info", TensorParallel, strconv.Itoa(v.TPSize), PipelineParallel, strconv.Itoa(v.PPSize), DataParallel, strconv.FormatInt(v.DPSize, 10),
		ExpertParallel, strconv.Itoa(v.EPSize), KVBlockTokens, strconv.Itoa(v.PageSize), KVDType, v.KVDType, ContextTokens, strconv.FormatInt(v.Context, 10), Revision, v.Revision)
	return f
}
