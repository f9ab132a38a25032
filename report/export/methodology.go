package export

// layer is one kind of figure and how it is made.
type layer struct {
	Name    string `json:"name"`
	Formula string `json:"formula"`
	Notes   string `json:"notes"`
}

// methodology says in words what the figures of an llm-inference-bench file made by assay are.
func methodology() []layer {
	return []layer{
		{"prefill", "prompt tokens by the server's usage / time from the request's sending to its first token; medians of the samples", "a pass of its own with prompts that no cache holds"},
		{"sustained_decode", "aggregate_tps = tokens inside the window / (last of them - start of the window)",
			"measurement_seconds is that denominator, measurement_wall_seconds the whole window; points[].metrics.system_tps of the result document divides by the window"},
		{"per_request_avg_tps", "aggregate_tps / concurrency", "the concurrency asked for"},
		{"server_gen_throughput", "growth of the engine's token counter / time between its first and its last reading inside the window", "beside aggregate_tps, which is the client's"},
		{"ttft", "first token - sending, per request", "all requests of the cell, also those begun before the window and those that its end cut off; seconds"},
		{"inter_token_latency", "(last token - first) / (tokens - 1), per request", "output_tps_per_user is its inverse"},
		{"chunk_inter_token_latency", "(last token event - first) / (events - 1), per request", ""},
		{"request_latency", "last token - sending", "completed requests only, as e2e_output_tps_per_user = tokens / that"},
		{"percentiles", "rank (n - 1) p / 100, linear between neighbours", "values that are not above 0 are left out"},
		{"capacity_limited", "the engine ran fewer requests than asked for, had some waiting, or was not ready in time, or the cell was not run",
			"assay_state and timeout_reason tell these apart"},
		{"skipped_cells", "aggregate_tps = -1", "a cell that was not run stands in results and summary_table all the same, with the reason in timeout_reason"},
	}
}
