package external

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// aiperf is `aiperf profile`. A bearer token it takes on its command line, where everyone on the machine reads it, so it gets none.
func aiperf() Tool {
	return Tool{Kind: "aiperf", Format: "aiperf", Results: "artifacts", Program: []string{"aiperf"}, Version: []string{"--version"}, row: aiperfRow, tell: aiperfCommand,
		Can: []Ability{Sweep, Serve, ByDuration, Chat, Completions, Poisson, Gamma, Constant, MaxConcurrency, WarmupRequests, WarmupDuration, Generated, NaturalEOS, Filed, OwnLimits,
			FreshPrompts, SharedSalt, IgnoreEOS, Temperature, TopP, Seed, Servers, Headers, Insecure}}
}

func aiperfRow(q Prompt) any {
	return struct {
		Text   string `json:"text"`
		Output int    `json:"output_length"`
	}{q.Text, q.MaxTokens}
}

func aiperfCommand(t Tool, k Task) (Command, error) {
	endpoint := "completions"
	if k.chat() {
		endpoint = "chat"
	}
	args := []string{"profile", "--model", k.Model}
	for _, url := range k.URLs {
		args = append(args, "--url", url)
	}
	args = append(args, "--endpoint-type", endpoint, "--streaming", "--tokenizer", k.tokenizer(), "--use-server-token-count")
	args = append(args, k.aiperfPrompts()...)
	args = append(args, k.aiperfPace()...)
	args = append(args, k.aiperfExtent()...)
	extra, err := k.aiperfBody()
	if err != nil {
		return Command{}, err
	}
	args = append(args, extra...)
	for _, name := range slices.Sorted(maps.Keys(k.Headers)) {
		args = append(args, "--header", name+":"+k.Headers[name])
	}
	args = append(args, "--random-seed", fmt.Sprint(k.Seed%(1<<32)), "--ui", "none", "--no-gpu-telemetry", "--no-server-metrics", "--output-artifact-dir", k.path(t.Results))
	c := k.command(t, args...)
	if k.Plan.Client.InsecureTLS {
		c.Env["AIPERF_HTTP_SSL_VERIFY"] = "false"
	}
	delete(c.Env, "HF_HUB_OFFLINE") // with it a folder is refused for not being the name of a repository
	return c, nil
}

func (k Task) aiperfPrompts() []string {
	if k.Prompts != "" {
		return []string{"--input-file", k.Prompts, "--custom-dataset-type", "single_turn", "--dataset-sampling-strategy", "sequential"}
	}
	w, n := k.Plan.Workload, extentOf(k.Plan, k.Point).prompts(k.Point)
	return []string{"--isl", fmt.Sprint(int(w.InputLen)), "--isl-stddev", "0", "--osl", strconv.Itoa(w.Sampling.MaxTokens), "--osl-stddev", "0", "--num-dataset-entries", strconv.Itoa(n)}
}

func (k Task) aiperfPace() []string {
	if k.Plan.Protocol.Sweep != nil {
		return []string{"--concurrency", strconv.Itoa(k.Point.Concurrency)}
	}
	s := k.Plan.Protocol.Serve
	args := []string{"--request-rate", fmt.Sprint(k.Point.Rate), "--arrival-pattern", s.Arrival}
	if s.Arrival == "gamma" {
		args = append(args, "--arrival-smoothness", fmt.Sprint(s.Burstiness))
	}
	if s.MaxConcurrency > 0 {
		args = append(args, "--concurrency", strconv.Itoa(s.MaxConcurrency))
	}
	return args
}

func (k Task) aiperfExtent() []string {
	e := extentOf(k.Plan, k.Point)
	var args []string
	if e.Requests > 0 {
		args = append(args, "--request-count", strconv.Itoa(e.Requests))
	} else {
		args = append(args, "--benchmark-duration", fmt.Sprint(e.Duration.Seconds()), "--benchmark-grace-period", fmt.Sprint(k.Plan.Client.Drain.Std().Seconds()))
	}
	if e.WarmupRequests > 0 {
		args = append(args, "--warmup-request-count", strconv.Itoa(e.WarmupRequests))
	}
	if e.WarmupDuration > 0 {
		args = append(args, "--warmup-duration", fmt.Sprint(e.WarmupDuration.Seconds()))
	}
	return args
}

// aiperfBody is what each request carries beside its prompt.
func (k Task) aiperfBody() ([]string, error) {
	body := k.sampling()
	if len(body) == 0 {
		return nil, nil
	}
	b, err := json.Marshal(body)
	return []string{"--extra-inputs", string(b)}, err
}
