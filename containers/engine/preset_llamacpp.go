package engine

import (
	"context"
	"strconv"
)

// llamacpp is llama.cpp's server. While it loads it answers 503 on every path. It serves any name it is asked for, so its
// list of models is the proof of what runs; the alias keeps a host path out of the results.
func llamacpp() Preset {
	return Preset{
		Name:    "llamacpp",
		Program: func(string) []string { return []string{"llama-server"} },
		Flags: Flags{
			Host: []string{"--host"}, Port: []string{"--port"}, Served: []string{"--alias", "-a"}, PathOnly: true,
			Model:    []string{"-m", "--model", "-hf", "-hfr", "--hf-repo", "-mu", "--model-url"},
			Switches: [][]string{{"--metrics"}, {"--no-webui", "--no-ui", "--webui", "--ui"}},
		},
		HealthPath: "/health", ModelsPath: "/v1/models", MetricsPath: "/metrics",
		// Its prompt counter leaves out what came from the cache. It has no figure for KV usage or preemption.
		Metrics: map[string][]Series{
			"running":           {{"llamacpp:requests_processing"}},
			"waiting":           {{"llamacpp:requests_deferred"}},
			"prompt_tokens":     {{"llamacpp:prompt_tokens_total", "llamacpp:prompt_tokens_cached_total"}},
			"generation_tokens": {{"llamacpp:tokens_predicted_total"}},
			"prefix_queries":    {{"llamacpp:prompt_tokens_total", "llamacpp:prompt_tokens_cached_total"}},
			"prefix_hits":       {{"llamacpp:prompt_tokens_cached_total"}},
		},
		Describe: describeLlamaCpp,
		Loading: []LoadLine{
			{LoadWeights, "loading model"}, {LoadWeights, "load_tensors:"}, {LoadMemory, "llama_kv_cache"}, {LoadMemory, "initializing, n_slots"}, {LoadMemory, "initializing slots"},
			{LoadWarmup, "warming up the model"}, {LoadUp, "model loaded"}, {LoadUp, "listening on http"},
		},
	}
}

func describeLlamaCpp(ctx context.Context, a Asker) Facts {
	var v struct {
		Build    string `json:"build_info"`
		Slots    int64  `json:"total_slots"`
		Defaults struct {
			Context int64 `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if !a.JSON(ctx, "/props", &v) {
		return Facts{}
	}
	return Facts{Version: v.Build, MaxModelLen: v.Defaults.Context, KVTokens: v.Defaults.Context * v.Slots, Settings: told("/props", Slots, strconv.FormatInt(v.Slots, 10))}
}
