package field

// row is one known fault of the field: what holds here, and the test that says so, or why the fault cannot occur.
type row struct {
	no   string // in its list
	id   string // public id: owner's short name and number of an issue, PR or document
	here string // what holds here
	test string // names of tests: of this package, or package.Test with the package's path
	why  string // where there is no test
}

// peers are faults of benchmark clients and bench scripts in general.
func peers() []row {
	return []row{
		{no: "1", id: "vllm#39963", here: "prompts of any length; a stream is read whatever others hold", test: "TestField_vllm39963_LongPromptsAndNeverAStoppedRead"},
		{no: "1b", id: "TensorRT-LLM#13952, llama-benchy#12, sglang#6737", here: "lines of any length, split anywhere", test: "TestField_tensorrtllm13952_LongLines"},
		{no: "2", id: "vllm#27485", here: "a chunk weighs its tokens; where the count comes from is named", test: "TestField_vllm27485_ChunksAreWeighed"},
		{no: "3", id: "sglang#12064", here: "a gap that brought k tokens is k samples of a kth of it", test: "TestField_sglang12064_SpeculativeGapsAreDivided"},
		{no: "4", id: "vllm#3759, vllm#3768", here: "the first token is the first event with text", test: "TestField_vllm3759_RoleChunkIsNoFirstToken"},
		{no: "4b", id: "ATOM#1710", here: "a role sent before prefill is no token; the first byte is kept apart", test: "TestField_atom1710_RoleBeforePrefillIsNoToken"},
		{no: "5", id: "vllm#55508", here: "E2E latency ends with the last token", test: "TestField_vllm55508_UsageIsNotTheEnd"},
		{no: "6", id: "vllm#54101", here: "intended and sent are two instants; what the cap holds back counts from the first", test: "TestField_vllm54101_ClientQueueIsVisible"},
		{no: "7", id: "vllm#54227", here: "the salt of a run makes its prompts new; the hit rate is a metric", test: "TestField_vllm54227_SecondRunHitsNoCache"},
		{no: "8", id: "vllm#52884, vllm#53920", here: "warm-up and repeats of the data share no prompt with the measurement", test: "TestField_vllm52884_WarmupAndRepeatsHitNoCache"},
		{no: "9", id: "vllm#10847, vllm#17408, vllm#24937, vllm#24591", here: "no prompt is empty; the server's count of each is what counts", test: "TestField_vllm10847_PromptLengthIsTheServers"},
		{no: "10", id: "vllm#42532", here: "prompts of another length than asked for are told", test: "TestField_vllm42532_OtherLengthsThanAskedFor"},
		{no: "11", id: "sglang#24254", here: "usage is read from any chunk", test: "TestField_sglang24254_UsageBesideEmptyText"},
		{no: "12", id: "sglang#23949, sglang#23954", here: "reasoning_content is tokens", test: "TestField_sglang23949_ReasoningContentIsTokens"},
		{no: "13", id: "sglang#7747", here: "an error inside a 200 is outcome error_frame", test: "TestField_clientsMeasured/error-frame TestBrokenAnswers"},
		{no: "14", id: "sglang#14826", here: "choices may be empty", test: "TestField_sglang14826_EmptyChoices"},
		{no: "15", id: "sglang#39398", here: "the warm-up keeps to the concurrency", test: "TestField_sglang39398_WarmupObeysTheCap"},
		{no: "16", id: "guidellm#737", here: "reasoning is tokens", test: "TestField_guidellm737_ReasoningIsTokens"},
		{no: "17", id: "guidellm#487", here: "as many connections as streams", test: "TestField_guidellm487_vllm7241_PoolHoldsEveryStream"},
		{no: "18", id: "guidellm#1041", here: "one schedule for all connections", test: "TestField_guidellm1041_OneScheduleForAll"},
		{no: "19", id: "guidellm#70", here: "exactly as many requests as asked for", test: "TestField_guidellm70_ExactRequestCount"},
		{no: "20", id: "guidellm#93", here: "the drain is in no rate", test: "TestField_guidellm93_DrainIsInNoRate"},
		{no: "21", id: "aiperf#1279", here: "the first event's tokens are in no decode rate", test: "TestField_aiperf1279_FirstChunkIsTakenOff"},
		{no: "22", id: "FastDeploy#8113", here: "growing usage without text is a token, trailing usage is none", test: "TestField_fastdeploy8113_GrowingUsageIsAToken"},
		{no: "23", id: "aiperf#339", here: "the first request's body is kept as it was sent", test: "TestField_aiperf339_SentBodyIsKept"},
		{no: "24", id: "dynamo#14254", here: "a conversation's requests hold what was recorded before them; a row's output length is a limit", test: "TestField_dynamo14254_ContextsGrowAsRecorded TestField_dynamo14254_RowsOfATraceAreWhole"},
		{no: "25", id: "aiperf#1185", here: "instants are absolute, at any rate", test: "TestField_aiperf1185_AbsoluteSchedule"},
		{no: "26", id: "llm-d-benchmark#261", here: "receive times are the kernel's; how late the client was is in the result", test: "TestField_llmdbenchmark261_TimesOfTheRead"},
		{no: "27", id: "llmperf#99", here: "ITL is gaps between tokens alone", test: "TestField_llmperf99_ITLIsGapsAlone"},
		{no: "28", id: "llama-benchy#11", here: "the server's usage counts, chunks do not", test: "TestField_llamabenchy11_UsageNotChunks"},
		{no: "29", id: "genai-bench#81", here: "hidden reasoning is in no decode rate where the usage is continuous or tells it; else the counts are named as estimated", test: "TestField_genaibench81_HiddenReasoning runner/load/stream.TestReasoningOfTheUsage"},
		{no: "30", id: "dynamo#12883", here: "pooled gaps and means of requests are two metrics", test: "TestField_dynamo12883_PooledAndPerRequestAreTwoFigures"},
		{no: "31", id: "model-serving-minefield#37", here: "the plan's warm-up comes first, is kept, and is in no figure; how long ago the last load was is not looked at", test: "TestField_minefield37_dflash135_ColdStartIsInNoFigure"},
		{no: "32", id: "dflash#135", here: "as 31", test: "TestField_minefield37_dflash135_ColdStartIsInNoFigure"},
		{no: "33", id: "vllm#7241, vllm#14513", here: "as 17", test: "TestField_guidellm487_vllm7241_PoolHoldsEveryStream"},
		{no: "34", id: "vllm#2060", here: "connects are limited at once; nothing is sent twice once a byte of it went out", test: "runner/load/stream.TestDialsAtOnceAreLimited TestField_vllm2060_NothingIsSentTwice"},
		{no: "35", id: "vllm#13333", here: "answers shorter than asked for are told, with their finish reasons", test: "TestField_vllm13333_ShortOutputIsSeen"},
		{no: "36", id: "vllm#26943, sglang#30918", here: "the window takes neither warm-up nor drain", test: "TestField_vllm26943_sglang30918_SteadyWindow"},
		{no: "37", id: "tool-eval-bench#118", here: "a refused field is asked once, dropped and named; the server's words are kept", test: "TestField_toolevalbench118_RefusedFieldIsDropped"},
		{no: "38", id: "InferenceX: telemetry", why: "a sample is a row of instant, series and value: no column is fixed by the first scrape, and a series may begin at any"},
		{no: "39", id: "InferenceX: installation", why: "the client is one static program beside the server: it is installed into no image and writes as its own user"},
		{no: "40", id: "Moreh: cap per worker", here: "the cap is one number of one client", test: "TestField_moreh40_CapOfAnyNumber"},
		{no: "41", id: "Moreh: two populations", here: "one population a figure, named with it", test: "TestField_moreh41_OnePopulationPerFigure"},
		{no: "42", id: "llm-inference-bench: first series", here: "an engine's metrics are summed over its labels, by exact name", test: "containers/engine.TestScrapeOverEngines"},
		{no: "43", id: "llm-inference-bench: shrinking load", here: "a failed stream is counted and replaced", test: "TestField_llminferencebench43_FailedStreamsAreReplaced"},
		{no: "44", id: "llm-inference-bench: aggregate", here: "throughput is over the wall clock", test: "TestField_llminferencebench44_ThroughputIsOverTheWall"},
		{no: "45", id: "llm-inference-bench: captured key", here: "a token stands in no file, even when the server says it back", test: "TestField_llminferencebench45_NoSecretInFiles"},
		{no: "46", id: "vLLM: timed_trace", here: "a seed gives the same prompts in any process", test: "TestField_vllm46_SeedsAreStableAcrossProcesses"},
		{no: "47", id: "vLLM: sweep", here: "a run that goes on has the plan it began with; one that is done is never taken up", test: "agent.TestCancelAndResume"},
		{no: "48", id: "inference-perf: constant", here: "constant gaps are equal to the microsecond", test: "TestField_inferenceperf48_ConstantIsConstant"},
		{no: "49", id: "aiperf: plot", why: "reports read the result document, in which points have ids; no reader looks for files by their names"},
		{no: "50", id: "vLLM: peak concurrency", here: "what is in flight comes from exact spans", test: "TestField_vllmbench50_InFlightNeverExceedsTheCap"},
		{no: "51", id: "vllm#35471, vllm#50677", here: "throughput is of tokens, everywhere", test: "TestField_vllm35471_ThroughputIsOfTokens"},
		{no: "52", id: "llama-benchy#18", here: "answers are not tokenised; pieces of a token share what the usage says", test: "TestField_llamabenchy18_PiecesAreNoTokens"},
		{no: "53", id: "vllm#23752", why: "a slowness of the server, at fewer streams than data-parallel ranks: the plan says the concurrencies, and running requests are summed over ranks (42)"},
	}
}

// endpoints are faults of MLPerf Endpoints' client, its submission tools and its system probe. E is mlcommons/endpoints,
// C mlcommons/endpoints-submission-cli, A mlcommons/mlperf-automations, I mlcommons/inference.
func endpoints() []row {
	return []row{
		{no: "1", id: "E#373", here: "min_duration is a floor", test: "TestField_mlperfE373_MinDurationIsAFloor"},
		{no: "2", id: "E#197, E#143", here: "all that the schedule holds is issued, and stragglers are awaited", test: "TestField_mlperfE197_StragglersAreAwaited"},
		{no: "3", id: "E#409", here: "one drain limit; an interrupt ends any state at once", test: "TestField_mlperfPR409_InterruptInTheDrain TestInterruptDrains"},
		{no: "4", id: "E#202, E#276", here: "no TCP keep-alive probes", test: "TestField_mlperfE202_NoKeepAliveProbes"},
		{no: "5", id: "E#418, E#407, E#411", here: "connections are used again and opened a limited number at once; ports are checked before the start", test: "TestField_mlperfE418_ConnectionsAreUsedAgain runner/load/stream.TestDialsAtOnceAreLimited runner/load/process.TestLimits"},
		{no: "6", id: "E#386", here: "sockets of others do not count", test: "runner/load/process.TestSocketsOfOthersDoNotCount TestField_mlperfPR386_ForeignSocketsDoNotCount"},
		{no: "7", id: "E#370, E#371", here: "spellings of an address are one target; ports are counted by destination", test: "TestField_mlperfPR371_SpellingsOfOneAddress"},
		{no: "8", id: "E#34", here: "failures are no throughput", test: "TestField_mlperfE34_FailuresAreNoThroughput"},
		{no: "9", id: "E#144, E#169", here: "every end but ok is counted under its name", test: "TestField_mlperfE144_EveryErrorIsCounted"},
		{no: "10", id: "E#208", here: "a summary is one pass over a recording: its work grows with the requests", test: "TestField_mlperfE208_ManyRequests"},
		{no: "11", id: "E#350", here: "answers are never tokenised; while a load runs the server is asked for nothing but completions and its metrics. Prompts of so many tokens (workload.lengths: tokens, the default) are made before it, by /tokenize or by some requests", test: "TestField_mlperfPR350_NothingButCompletions TestField_mlperfPR350_LengthsAreMadeBeforeTheLoad"},
		{no: "12", id: "E#444, E#441, E#448", here: "as 11: no chat template is rendered by the client", test: "TestField_mlperfPR350_NothingButCompletions TestField_mlperfPR350_LengthsAreMadeBeforeTheLoad"},
		{no: "13", id: "E#441: specification", here: "lengths are the server's counts", test: "TestField_mlperfSpec_LengthsAreTheServers"},
		{no: "14", id: "E: specification 5.6", here: "without counts each event is one token, and the result says so", test: "TestField_mlperfSpec56_NoCountsIsSaid"},
		{no: "15", id: "E#314: names and nulls", here: "both names of reasoning; null is absent", test: "TestField_mlperfPR314_NullIsAbsent"},
		{no: "16", id: "E#361", here: "both names at once are one event", test: "TestField_mlperfPR361_BothReasoningNamesAreOneEvent"},
		{no: "17", id: "E#314: idle sockets", here: "an idle connection is looked at before use", test: "runner/load/stream.TestReuse TestField_mlperfPR314_IdleSocketsThatWereClosed"},
		{no: "18", id: "E#314: tools", here: "the tools go with every turn", test: "TestField_mlperfPR314_ToolsOnEveryTurn"},
		{no: "19", id: "E#312, E#314: salt", here: "a salt per trajectory and repeat", test: "TestField_mlperfE312_SaltPerTrajectory"},
		{no: "20", id: "E#232, E#226, E#285", here: "a failed turn ends its conversation, and the rest is told", test: "TestField_mlperfE232_FailedTurnEndsItsConversation"},
		{no: "21", id: "E#349", here: "as 11: the data is hashed before the run; it is tokenised then only where texts are cut to so many tokens, as many of them as the point needs", test: "TestField_mlperfPR350_NothingButCompletions TestField_mlperfPR350_LengthsAreMadeBeforeTheLoad"},
		{no: "22", id: "E#434, E#446", here: "each turn carries its session, in the headers the plan lists", test: "TestField_mlperfPR434_SessionHeaderOnEveryTurn"},
		{no: "23", id: "E#380", here: "a first token without text is one", test: "TestField_mlperfPR380_TextlessFirstToken"},
		{no: "24", id: "E#372", here: "window and issue to drain are both recorded, each with its figures", test: "TestField_mlperfPR372_BothWindows"},
		{no: "25", id: "E#406", here: "every shape of a request is salted at its front", test: "TestField_mlperfPR406_EveryShapeIsSalted"},
		{no: "26", id: "E#462", here: "a stall limit for each stream, set back by every byte", test: "TestField_mlperfPR462_SilentServer"},
		{no: "27", id: "E#430", here: "servers share requests evenly, whatever the concurrency", test: "TestField_mlperfPR430_PR458_ServersShareEvenly"},
		{no: "28", id: "E#453", here: "fewer slots than servers are no fault", test: "TestField_mlperfPR430_PR458_ServersShareEvenly"},
		{no: "29", id: "E#454", here: "without a number a point is not valid, after its recording was written", test: "TestField_mlperfPR454_NoNumberIsNoSuccess"},
		{no: "30", id: "E#456", why: "a client that starts no container of its own has no import to wait for; pull, start and readiness are phases with limits of their own"},
		{no: "31", id: "E#458", here: "as 27", test: "TestField_mlperfPR430_PR458_ServersShareEvenly"},
		{no: "32", id: "E#432", why: "answers are not judged here; a client that cannot measure is an error of its layer, never a figure of 0"},
		{no: "33", id: "E#399", here: "points of a run share no prompt", test: "TestField_mlperfE399_PointsShareNoPrompt"},
		{no: "34", id: "E#353, E#377", here: "the canonical plan in every result spells out seeds and arrivals", test: "TestField_mlperfPR353_SeedsStandInThePlan"},
		{no: "35", id: "E#398", why: "version and commit are linked in when the program is built; nothing is read from a working directory"},
		{no: "36", id: "E#447, E#514", here: "a decode cell opens when its streams get their tokens at an even rate, or says what was missing; drift is judged in decode cells only, before their window: in no sweep and no open loop", test: "runner/load.TestCellOpensWhenItIsSteady"},
		{no: "37", id: "E#327", here: "the probe is built in", test: "probes.TestGolden"},
		{no: "38", id: "E#502, C#78", why: "concerns the folder of a submission, which is no part of the client"},
		{no: "39", id: "E#8, E#9, E#76", here: "each point holds the client's own health, and past its limits is not valid; the client's ceiling is measured apart, by assay bench-client, and is stored with no run", test: "TestField_mlperfE8_ClientsOwnFigures"},
		{no: "40", id: "A#1017", here: "GPUs of ROCm are read from sysfs", test: "probes.TestGolden"},
		{no: "41", id: "A#1108", here: "a list that could not be read is unknown, never empty", test: "probes.TestGolden"},
		{no: "42", id: "A#846, A#984, A#804, A#990", why: "one static program without dependencies"},
		{no: "43", id: "cm4mlops#364", here: "a host is a root folder and a way to run commands", test: "probes/host.TestReadStaysInside probes/host.TestFromCapture"},
		{no: "44", id: "I#2603", here: "keys of a result are one schema, read back as written", test: "result.TestDecodeReadsBack"},
		{no: "45", id: "I#2630, I#2601, I#2609", why: "one set of types writes, reads and checks a result"},
		{no: "46", id: "E: open questions", here: "each figure has an id, a unit, a definition and a population", test: "runner/metrics.TestTableDefinesEachFieldInOrder"},
		{no: "47", id: "E: sweeps", here: "a curve is one plan, which can be taken up again; its points have a floor", test: "agent.TestCancelAndResume TestField_mlperfE373_MinDurationIsAFloor"},
	}
}

// measuredClients are the streams and the findings of a measurement of four clients against a server that logs the truth.
func measuredClients() []row {
	var rows []row
	for _, s := range scenarios() {
		here := "all good: counts are the server's, no time before its own"
		if s.failed != "" {
			here = "the broken ones are " + string(s.failed) + ", the others exact"
		}
		rows = append(rows, row{no: s.name, id: "stream " + s.name, here: here, test: "TestField_clientsMeasured/" + s.name})
	}
	return append(rows,
		row{no: "load", id: "225 to 388 streams held of 512", here: "every slot is refilled; what is in flight is a metric", test: "TestField_clients_LoadIsHeld"},
		row{no: "ttft", id: "TTFT off by 3 to 1,900 ms", here: "from the sending to the kernel's stamp: within 50 µs or 0.1 % of the server's at the median, at both ends", test: "runner.TestTruth TestField_llmdbenchmark261_TimesOfTheRead"},
		row{no: "gaps", id: "ITL p50 of 0.0 ms", here: "stamps are the kernel's and no read's; a gap that brought k tokens is k samples of a kth; what shares a read is counted, and more than 1 % of it by late reads makes the point not valid", test: "runner.TestTruth TestField_sglang12064_SpeculativeGapsAreDivided TestField_vllm27485_ChunksAreWeighed"},
		row{no: "counts", id: "2.3 times the tokens, by an own tokenizer", here: "counts are the server's, and where they come from is named; there is no other tokenizer", test: "TestField_vllm27485_ChunksAreWeighed TestField_mlperfSpec_LengthsAreTheServers TestField_mlperfSpec56_NoCountsIsSaid"},
		row{no: "saturation", id: "saturated without a word", here: "a client at its limit makes the point client_bound", test: "runner.TestSaturatedClientIsBound TestField_mlperfE8_ClientsOwnFigures"},
		row{no: "exit", id: "exit code 0 with failed requests", here: "failures are a reason, and too many make the point not valid", test: "TestField_mlperfPR454_NoNumberIsNoSuccess TestField_clientsMeasured"},
		row{no: "words", id: "ITL and TPOT of other meanings", here: "two metrics with two definitions", test: "TestField_dynamo12883_PooledAndPerRequestAreTwoFigures"},
		row{no: "calls", id: "calls beside the load", here: "while a load runs nothing is asked but completions and the engine's metrics; before it some probes are asked, and /tokenize where prompts have so many tokens", test: "TestField_mlperfPR350_NothingButCompletions TestField_mlperfPR350_LengthsAreMadeBeforeTheLoad"},
		row{no: "aborted", id: "llm-inference-bench 422414b", here: "the connection of a stream that was cut off is never used again", test: "TestField_llminferencebench422414b_CutStreamsGiveNoConnectionBack"},
	)
}
