package external

import (
	"fmt"
	"strconv"
	"strings"

	"assay/plan"
)

// inferenceBench is llm-inference-bench, one file of Python. It measures matrices with prompts of its own, says its version in its results
// alone, and takes a bearer token on its command line alone, where everyone on the machine reads it.
func inferenceBench() Tool {
	return Tool{Kind: "llm-inference-bench", Format: "llm-inference-bench", Results: "results.json", Program: []string{"llm_decode_bench.py"}, tell: inferenceBenchCommand,
		Can: []Ability{Matrix, Chat, FreshPrompts, IgnoreEOS}}
}

func inferenceBenchCommand(t Tool, k Task) (Command, error) {
	m := k.Plan.Protocol.Matrix
	args := []string{"--host", k.URLs[0], "--model", k.Model, "--concurrency", strconv.Itoa(max(1, k.Point.Concurrency)), "--contexts", strconv.Itoa(k.Point.Context)}
	if k.Point.Phase == plan.PhasePrefill {
		args = append(args, "--prefill-only", "--prefill-contexts", strconv.Itoa(k.Point.Context), "--prefill-duration", fmt.Sprint(m.PrefillDuration.Std().Seconds()))
	} else {
		args = append(args, "--skip-prefill", "--duration", fmt.Sprint(m.Duration.Std().Seconds()), "--max-tokens", strconv.Itoa(m.MaxTokens))
	}
	if m.WarmupTimeout > 0 {
		args = append(args, "--cell-warmup-timeout-seconds", fmt.Sprint(m.WarmupTimeout.Std().Seconds()))
	}
	if !k.Plan.Workload.Sampling.IgnoreEOS {
		args = append(args, "--respect-eos")
	}
	args = append(args, "--no-calibration-cache", "--no-hw-monitor", "--display-mode", "plain", "--output", k.path(t.Results))
	c := k.command(t, args...)
	if strings.HasPrefix(k.URLs[0], "http:") {
		c.Env["HTTPS_PROXY"] = "http://127.0.0.1:9" // at its start it looks for a newer version of itself on the network
	}
	c.Notes = []string{"prompts are the tool's own: one text that it repeats up to the context, which all streams of a cell share"}
	return c, nil
}
