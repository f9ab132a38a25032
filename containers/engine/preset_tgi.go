package engine

import (
	"cmp"
	"context"
)

// tgi is Hugging Face's text-generation-inference. It lists its model by the name it was loaded from and serves any name it is asked
// for. Its counts of tokens are sums of histograms, which grow when a request ends.
func tgi() Preset {
	return Preset{
		Name:    "tgi",
		Program: func(string) []string { return []string{"text-generation-launcher"} },
		Flags: Flags{
			Host: []string{"--hostname"}, Port: []string{"--port", "-p"}, Model: []string{"--model-id"}, Revision: []string{"--revision"},
		},
		OfflineEnv: map[string]string{"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"},
		ShmBytes:   1 << 30,
		GPUs:       "all",
		Ulimits:    ulimits(),
		HealthPath: "/health", ModelsPath: "/v1/models", MetricsPath: "/metrics", AnyModel: true,
		Metrics: map[string][]Series{
			"running":           {{"tgi_batch_current_size"}},
			"waiting":           {{"tgi_queue_size"}},
			"prompt_tokens":     {{"tgi_request_input_length"}},
			"generation_tokens": {{"tgi_request_generated_tokens"}},
		},
		Describe: describeTGI,
		Loading: []LoadLine{
			{LoadWeights, "Starting download"}, {LoadWeights, "Starting shard"}, {LoadWeights, "Shard ready in"}, {LoadGraphs, "Cuda Graphs are enabled"},
			{LoadWarmup, "Warming up model"}, {LoadUp, "Connected"},
		},
	}
}

func describeTGI(ctx context.Context, a Asker) Facts {
	var v struct {
		Version    string `json:"version"`
		MaxTotal   int64  `json:"max_total_tokens"`
		BatchTotal int64  `json:"max_batch_total_tokens"`
		MaxInput   int64  `json:"max_input_tokens"`
		DType      string `json:"model_dtype"`
	}
	if !a.JSON(ctx, "/info", &v) {
		return Facts{}
	}
	return Facts{Version: v.Version, MaxModelLen: cmp.Or(v.MaxTotal, v.MaxInput), KVTokens: v.BatchTotal, DType: v.DType}
}
