package field

// engineRows are facts that were measured with vLLM, llama.cpp and routers.
func engineRows() []row {
	return []row{
		{id: "1", fault: "vLLM exits with code 0 after its engine crashed, and after SIGTERM", here: "an exit that nobody asked for is a fault whatever its code; its log says why", test: "containers.TestField_realengines_01"},
		{id: "2", fault: "an engine answers 200, then an error event, then [DONE]", here: "no token has come, in readiness and in the load", test: "containers.TestField_realengines_02 runner/load/stream.TestOutcomes"},
		{id: "3", fault: "SIGTERM with a stream under way ends in three different ways, one of them silence for minutes", here: "the load ends before the server is asked to; after the grace it is killed; a stream has a limit without bytes", test: "containers/process.TestField_realengines_03 runner/load/stream.TestLimits"},
		{id: "4", fault: "SIGKILL of the API server orphans core and workers", here: "they end with it", test: "containers/process.TestField_realengines_04"},
		{id: "5", fault: "vLLM in a container ends after a minute for want of shared memory", here: "16 GiB by preset; the fault names the key", test: "containers.TestField_realengines_05"},
		{id: "6", fault: "llama.cpp answers to any model's name", here: "its list of models decides", test: "containers.TestField_realengines_06"},
		{id: "7", fault: "usage stands in a last event without choices, or in the one that finishes, asked or not", here: "it is read from any event", test: "runner/field.TestField_sglang24254_UsageBesideEmptyText runner/field.TestField_llamabenchy11_UsageNotChunks"},
		{id: "8", fault: "events are not tokens", here: "tokens are counted by usage or ids", test: "runner/field.TestField_vllm27485_ChunksAreWeighed runner/field.TestField_mlperfPR380_TextlessFirstToken"},
		{id: "9", fault: "headers come long before the first token", here: "TTFT ends at the first token event", test: "runner/field.TestField_vllm3759_RoleChunkIsNoFirstToken"},
		{id: "10", fault: "llama.cpp's counters move only when a request ends", here: "counters are compared once nothing runs any more", test: "runner/real.TestLlamaCpp agent/count.TestCompare"},
		{id: "11", fault: "health answers seconds late under load", here: "a late answer is no death: only an exit or a limit is", test: "containers.TestField_realengines_11"},
		{id: "12", fault: "engines close idle connections after 5 s", here: "no connection is reused for longer; vLLM keeps those of routers", test: "containers.TestField_realengines_12 runner/field.TestField_mlperfPR314_IdleSocketsThatWereClosed"},
		{id: "13", fault: "llama.cpp with as many threads as there are CPUs is up to ten times slower beside other work", here: "a check warns of it", test: "agent/proof.TestField_realengines_13"},
		{id: "14", fault: "greedy answers of llama.cpp differ where the prompt cache hits", here: "`workload.sampling.cache_prompt: false`", test: "runner/real.TestField_realengines_14"},
		{id: "15", fault: "sglang-router sends serial traffic to one worker, and sticks by a header of its own", here: "its own header is sent, and sessions and spread are verified at every point", test: "agent/routing.TestField_realengines_15"},
	}
}
