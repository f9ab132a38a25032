package proof

import (
	"fmt"
	"slices"

	"assay/probes"
)

// rules are the checks of a server, in the order they are shown. What the plan expects outright and the server does not say fails; what the
// plan's arguments asked for, and what its load needs, warns: the requests themselves tell what the server says to them.
func rules() []probes.CheckRule[Request] {
	return []probes.CheckRule[Request]{
		{ID: "server_version", Run: probes.FixedCheck(ofEach(version)), Hint: "start the version that the plan wants, or write the one that runs into server.expect.version"},
		{ID: "server_context", Run: probes.FixedCheck(ofEach(context)), Hint: "give the server a longer context, or the plan shorter prompts and answers; server.expect.max_model_len says what it must have"},
		{ID: "server_kv", Run: probes.FixedCheck(cache), Hint: "leave more of the GPU's memory to the KV cache, or write what is there into server.expect.kv_tokens"},
		{ID: "server_parallel", Run: probes.FixedCheck(ofEach(parallel)), Hint: "correct server.args, or write what is there into server.expect"},
		{ID: "server_model", Run: probes.FixedCheck(ofEach(model)), Hint: "load the model that the plan names, or write what is there into the plan"},
		{ID: "server_dev_mode", Run: probes.FixedCheck(ofEach(devMode)), Hint: "start it without VLLM_SERVER_DEV_MODE for a result that others are to trust"},
		{ID: "server_launch", Run: probes.FixedCheck(ofEach(launched)), Hint: "see identity.server.launch, and the file that it names in the run's folder; correct the plan or the container engine"},
		{ID: "server_threads", Run: probes.FixedCheck(threads), Hint: "give it fewer threads than there are CPUs: server.args: [-t, N]"},
	}
}

// IDs names every check of a server, in the order they are shown.
func IDs() []string {
	var ids []string
	for _, r := range rules() {
		ids = append(ids, r.ID)
	}
	return ids
}

// Others is what a plan wants of checks that are none of its server's.
func Others(wanted map[string]any) probes.Wanted {
	others := probes.Wanted{}
	for id, want := range wanted {
		if !slices.Contains(IDs(), id) {
			others[id] = want
		}
	}
	return others
}

// Checks holds the server against the plan, with the weight that the plan lays on each check. Of several servers each is held against it;
// their KV caches and their threads count together.
func Checks(r Request) []probes.Check { return probes.ApplyChecks(rules(), r, r.Plan.Checks) }

// found is what a rule says.
func found(state probes.CheckState, evidence []string, format string, args ...any) (probes.Check, bool) {
	return probes.Check{State: state, Text: fmt.Sprintf(format, args...), Evidence: evidence}, true
}

// untold is what a rule says that has nothing to hold against each other: it counts only where the plan asks for the check.
func untold(text string) (probes.Check, bool) {
	return probes.Check{State: probes.CheckUnknown, Text: text}, false
}
