package external

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"assay/plan"
)

// mlperfEndpoints is inference-endpoint, the client of MLPerf Endpoints. It is told everything in a YAML file, and takes ${NAME} in it for a
// variable. It sends neither ignore_eos nor headers, and at the end of a time it leaves what is running without an end, so points end by requests.
func mlperfEndpoints() Tool {
	return Tool{Kind: "mlperf-endpoints", Format: "mlperf", Results: "report", Program: []string{"inference-endpoint"}, Version: []string{"--version"}, row: mlperfRow, tell: mlperfCommand,
		Can: []Ability{Sweep, Serve, Chat, Completions, Poisson, WarmupRequests, Filed, System, Agentic, FreshPrompts, SharedSalt, Temperature, TopP, Seed, Servers, Insecure, Token}}
}

// mlperfStart is for how many seconds it waits for its own processes. Each of them imports all of it again, which on a busy machine or from a slow disk
// takes longer than the 30 s it would give them.
const mlperfStart = "300"

func mlperfRow(q Prompt) any {
	return struct {
		Prompt string `json:"prompt"`
		System string `json:"system,omitempty"`
	}{q.Text, q.System}
}

func mlperfCommand(t Tool, k Task) (Command, error) {
	text, err := k.mlperfYAML(t)
	if err != nil {
		return Command{}, err
	}
	c := k.command(t, "benchmark", "from-config", "--config", k.path("config.yaml"), "--report-dir", k.path(t.Results))
	c.Files = []File{{"config.yaml", []byte(text)}}
	c.Notes = k.mlperfNotes()
	return c, nil
}

func (k Task) mlperfNotes() []string {
	var notes []string
	if k.Plan.Workload.Kind == "agentic" {
		notes = append(notes, "the tool read the plan's own dataset, put its own marks around system prompts, and gave turns without a limit of their own the plan's max_tokens")
	}
	if e := extentOf(k.Plan, k.Point); e.WarmupRequests > 0 {
		notes = append(notes, "the warm-up took prompts of the measured data, each with a mark of the tool before it where prompts are salted")
	}
	return notes
}

// yaml is a text of YAML for a tool, a line for each call.
type yaml struct {
	strings.Builder
	tool Tool
	err  error
}

func (y *yaml) line(depth int, key, value string) {
	fmt.Fprintf(y, "%s%s: %s\n", strings.Repeat("  ", depth), key, value)
}

func (y *yaml) section(depth int, key string) {
	fmt.Fprintf(y, "%s%s:\n", strings.Repeat("  ", depth), key)
}

// quoted is a text as YAML has it between double quotes. The tool would take ${…} for a variable, and has no way to write one that is none.
func (y *yaml) quoted(text string) string {
	if strings.Contains(text, "${") && y.err == nil {
		y.err = refusal(y.tool, fmt.Sprintf("%q holds ${, which the tool takes for a variable", text), "choose another name")
	}
	return strconv.Quote(text)
}

// mlperfYAML is the configuration of a point.
func (k Task) mlperfYAML(t Tool) (string, error) {
	y := &yaml{tool: t}
	y.line(0, "name", y.quoted(k.Plan.Name+" "+k.Point.ID))
	y.line(0, "version", `"1.0"`)
	y.line(0, "type", "online")
	k.mlperfModel(y)
	k.mlperfData(y)
	y.section(0, "settings")
	k.mlperfRuntime(y)
	k.mlperfLoad(y)
	y.line(1, "service_ready_timeout_s", mlperfStart)
	y.section(1, "client")
	y.line(2, "num_workers", strconv.Itoa(k.mlperfWorkers()))
	y.line(2, "worker_initialization_timeout", mlperfStart)
	y.line(2, "warmup_connections", "0")
	y.line(2, "max_idle_time", "0.5")
	y.line(2, "stream_all_chunks", "true")
	y.line(2, "insecure", strconv.FormatBool(k.Plan.Client.InsecureTLS))
	y.section(1, "drain")
	y.line(2, "performance_timeout_s", fmt.Sprint(max(1, k.Plan.Client.Drain.Std().Seconds())))
	y.section(0, "endpoint_config")
	y.section(1, "endpoints")
	for _, url := range k.URLs {
		fmt.Fprintf(y, "    - %s\n", y.quoted(url))
	}
	api := "openai"
	if !k.chat() {
		api = "openai_completions"
	}
	y.line(1, "api_type", api)
	if k.Token {
		y.line(1, "api_key", `"${`+TokenVariable+`}"`)
	}
	return y.String(), y.err
}

func (k Task) mlperfModel(y *yaml) {
	s := k.Plan.Workload.Sampling
	y.section(0, "model_params")
	y.line(1, "name", y.quoted(k.Model))
	y.line(1, "max_new_tokens", strconv.Itoa(s.MaxTokens))
	y.line(1, "streaming", `"on"`)
	if s.Temperature != nil {
		y.line(1, "temperature", fmt.Sprint(*s.Temperature))
	}
	if s.TopP != nil {
		y.line(1, "top_p", fmt.Sprint(*s.TopP))
	}
	if s.Seed != nil {
		y.line(1, "seed", fmt.Sprint(*s.Seed))
	}
	if name := k.tokenizer(); filepath.IsAbs(name) || k.Plan.Client.Tokenizer != "" {
		y.line(1, "tokenizer_name", y.quoted(name))
	}
}

func (k Task) mlperfData(y *yaml) {
	w := k.Plan.Workload
	y.section(0, "datasets")
	if w.Kind != "agentic" {
		fmt.Fprintf(y, "  - name: prompts\n    type: performance\n    path: %s\n", y.quoted(k.Prompts))
		return
	}
	fmt.Fprintf(y, "  - name: agentic\n    type: performance\n    path: %s\n", y.quoted(k.Data))
	y.section(2, "agentic_inference")
	y.line(3, "enable_salt", strconv.FormatBool(w.Salt == "session"))
	y.line(3, "inject_tool_delay", strconv.FormatBool(w.ToolDelay))
	y.line(3, "turn_timeout_s", fmt.Sprint(k.Plan.Client.Timeout.Std().Seconds()))
	if n := k.Plan.Protocol.Sweep.Trajectories; n > 0 {
		y.line(3, "num_trajectories_to_issue", strconv.Itoa(n))
	}
}

func (k Task) mlperfRuntime(y *yaml) {
	e := extentOf(k.Plan, k.Point)
	y.section(1, "runtime")
	y.line(2, "min_duration_ms", "0")
	if k.Plan.Workload.Kind != "agentic" { // whose data is issued as a whole
		y.line(2, "n_samples_to_issue", strconv.Itoa(e.Requests))
	}
	y.line(2, "scheduler_random_seed", strconv.FormatUint(k.Seed, 10))
	y.line(2, "dataloader_random_seed", strconv.FormatUint(k.Seed, 10))
	if e.WarmupRequests == 0 {
		return
	}
	y.section(1, "warmup")
	y.line(2, "enabled", "true")
	y.line(2, "n_requests", strconv.Itoa(e.WarmupRequests))
	y.line(2, "salt", strconv.FormatBool(k.Plan.Workload.Kind != "agentic" && k.Plan.Workload.Salt != "none"))
	y.line(2, "drain", "true")
}

func (k Task) mlperfLoad(y *yaml) {
	y.section(1, "load_pattern")
	switch {
	case k.Point.Phase == plan.PhaseServe:
		y.line(2, "type", "poisson")
		y.line(2, "target_qps", fmt.Sprint(k.Point.Rate))
		y.line(2, "use_legacy_loadgen_qps_metrics", "false")
		return
	case k.Plan.Workload.Kind == "agentic":
		y.line(2, "type", "agentic_inference")
	default:
		y.line(2, "type", "concurrency")
	}
	y.line(2, "target_concurrency", strconv.Itoa(k.Point.Concurrency))
}

// mlperfWorkers leaves half of the processors to its main process, and gives each server as many workers.
func (k Task) mlperfWorkers() int {
	n := len(k.URLs)
	return n * max(1, min(10, k.CPUs/2)/n)
}
