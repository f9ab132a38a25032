package field

// runRows are of runs and their results.
func runRows() []row {
	return []row{
		{id: "gpustack#4807", fault: "a benchmark shows zeros everywhere", here: "no completed request is no result", test: "runner.TestVerdict"},
		{id: "gpustack#4468, #4434", fault: "a failed benchmark can neither be repeated nor looked into", here: "a run is resumed; logs are kept for every end", test: "agent.TestCancelAndResume"},
		{id: "gpustack#5903", fault: "the exact command is wanted for copying", here: "`assay show --command` prints it", test: "cmd/assay.TestShowCommand"},
		{id: "gpustack#6229", fault: "a list shows another point than the one that was chosen", here: "every point is shown", why: "no point is chosen for the reader"},
		{id: "dstack#2531", fault: "an instance is ended when its controller cannot be reached", here: "the daemon on the node needs no controller", why: "there is none"},
		{id: "llm-d-benchmark#157", fault: "a second run gives the data of the first", here: "each run has a folder of its own, which no later one writes into", test: "agent.TestField_llmdbenchmark_157"},
		{id: "llm-d-benchmark#78", fault: "an old log from the image is copied into every result", here: "a log begins with its start", test: "containers/logs.TestEachStartHasItsOwnLog"},
		{id: "llm-d-benchmark#506", fault: "a report lacks the host", here: "the machine is always described; what is not known says why", test: "agent.TestField_llmdbenchmark_506"},
		{id: "llm-d-benchmark#1615", fault: "an OOM kill shows as \"some errors\"", here: "host_oom, with the exit code", test: "containers.TestExitFaultReadsTheLog"},
		{id: "mlperf-automations#314", fault: "a second run returns the cached result of the first", here: "every run is measured", why: "no result is looked up: a run has an id and a folder of its own"},
		{id: "vast-cli#409, #407", fault: "failures are vague, and an ignored requirement looks like a pass", here: "each check has its evidence and what to do", test: "agent/fit.TestRefuseNamesEveryFailedCheck"},
		{id: "madengine: its changelog", fault: "a cancelled job is watched for ever; a log that cannot be fetched makes a success a failure", here: "every end is an end; a log that is lost is told in its file and changes nothing else", test: "store.TestMoves containers/docker.TestLogThatCannotBeFetched"},
		{id: "skypilot#4306, #3095", fault: "figures of one's own are wanted in its benchmark", here: "measured by this program", why: "it is a request to another program"},
		{id: "mlcommons/inference#2599", fault: "where to upload a submission is not said", here: "the exported folder is the one that its checker wants", why: "uploads are not this program's"},
		{id: "Rustchain#6532, #6560", fault: "a description of a GPU can be overwritten by anybody", here: "archives are signed", why: "there is no shared store"},
	}
}

// practiceRows are what people met without an issue of their own.
func practiceRows() []row {
	return []row{
		{id: "exited", fault: "readiness goes on for 40 minutes although the container has exited", here: "the exit ends the wait", test: "containers.TestField_issue_exited"},
		{id: "killed client", fault: "the engine's command line tool is killed and the container stays", here: "no such tool is used; what this program left, killed at any instant, is removed at its next start", test: "cmd/assay.TestKilledAnywhere"},
		{id: "same name", fault: "a container of the same name from a crashed run makes the next start fail or hang", here: "it is removed when it is the same owner's, else named", test: "containers/docker.TestDocker containers/docker.TestReapAtARealEngine"},
		{id: "held memory", fault: "GPU memory stays held after the engine died", here: "the node is marked, with the holder", test: "agent.TestField_issue_held_memory agent/node.TestKeeper"},
		{id: "code 0", fault: "an engine exits with 0 after its core crashed", here: "a fault all the same", test: "containers.TestField_realengines_01"},
		{id: "orphans", fault: "workers are orphaned when their parent is killed", here: "they end with it", test: "containers/process.TestField_realengines_04"},
		{id: "loopback", fault: "a published port leads to a server that listens on the loopback inside", here: "it is named as that, by its sockets or its log", test: "containers.TestField_issue_loopback"},
		{id: "lost GPU", fault: "a GPU falls off the bus between two runs", here: "the node is unfit until a check passes", test: "agent/node.TestField_issue_lost_gpu agent.TestALostGPURefusesRuns"},
		{id: "silence", fault: "a server hangs while it loads, within its time limit", here: "a log that says nothing new for 15 minutes ends the wait", test: "containers/ready.TestNoProgress containers/ready.TestEchoIsNoProgress"},
		{id: "first error", fault: "the last error of a log is taken for the cause, or one that was got over", here: "the first cause counts, wrappers and harmless lines do not", test: "containers/engine.TestClassifyTakesTheFirstCause"},
		{id: "revision", fault: "a result names a revision that nobody checked", here: "it stands there only when it is proved", test: "agent/proof.TestRevisionIsProved agent/proof.TestConfirm"},
	}
}
