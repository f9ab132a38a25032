package external

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// vllmBench is `vllm bench serve`. Its random prompts always ignore the end of a text, and its warm-up is the first prompt again and again.
func vllmBench() Tool {
	return Tool{Kind: "vllm-bench", Format: "vllm", Results: "result.json", Program: []string{"vllm"}, Version: []string{"--version"}, Hides: true, row: vllmRow, tell: vllmCommand,
		Can: []Ability{Sweep, Serve, Chat, Completions, Poisson, Gamma, Constant, MaxConcurrency, WarmupRequests, Generated, Filed, OwnLimits, FreshPrompts, SharedSalt,
			IgnoreEOS, Temperature, TopP, Seed, Headers, Insecure, Token}}
}

func vllmRow(q Prompt) any {
	return struct {
		Prompt string `json:"prompt"`
		Output int    `json:"output_tokens"`
	}{q.Text, q.MaxTokens}
}

func vllmCommand(t Tool, k Task) (Command, error) {
	e := extentOf(k.Plan, k.Point)
	backend, endpoint := "openai", "/v1/completions"
	if k.chat() {
		backend, endpoint = "openai-chat", "/v1/chat/completions"
	}
	args := []string{"bench", "serve", "--backend", backend, "--base-url", k.URLs[0], "--endpoint", endpoint, "--model", k.Model, "--tokenizer", k.tokenizer()}
	args = append(args, k.vllmPrompts()...)
	args = append(args, "--num-prompts", strconv.Itoa(e.Requests), "--seed", fmt.Sprint(k.Seed%(1<<32)), "--ready-check-timeout-sec", "0")
	args = append(args, k.vllmPace()...)
	if e.WarmupRequests > 0 {
		args = append(args, "--num-warmups", strconv.Itoa(e.WarmupRequests))
	}
	sampling, err := k.vllmSampling()
	if err != nil {
		return Command{}, err
	}
	args = append(args, sampling...)
	for _, name := range slices.Sorted(maps.Keys(k.Headers)) {
		args = append(args, "--header", name+"="+k.Headers[name])
	}
	if k.Plan.Client.InsecureTLS {
		args = append(args, "--insecure")
	}
	args = append(args, "--percentile-metrics", "ttft,tpot,itl,e2el", "--metric-percentiles", "1,10,50,90,95,99", "--save-result", "--save-detailed",
		"--result-dir", k.Dir, "--result-filename", t.Results, "--disable-tqdm")
	c := k.command(t, args...)
	if e.WarmupRequests > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("the warm-up was the first prompt %d times, so that a prefix cache knew the first measured one; its requests are in no file of the tool", e.WarmupRequests))
	}
	return c, nil
}

func (k Task) vllmSampling() ([]string, error) {
	var args []string
	s := k.Plan.Workload.Sampling
	if s.IgnoreEOS {
		args = append(args, "--ignore-eos")
	}
	if s.Temperature != nil {
		args = append(args, "--temperature", fmt.Sprint(*s.Temperature))
	}
	if s.TopP != nil {
		args = append(args, "--top-p", fmt.Sprint(*s.TopP))
	}
	if s.Seed == nil {
		return args, nil
	}
	body, err := json.Marshal(map[string]int64{"seed": *s.Seed})
	return append(args, "--extra-body", string(body)), err
}

func (k Task) vllmPrompts() []string {
	w := k.Plan.Workload
	if k.Prompts == "" {
		return []string{"--dataset-name", "random", "--random-input-len", fmt.Sprint(int(w.InputLen)), "--random-output-len", strconv.Itoa(w.Sampling.MaxTokens), "--random-range-ratio", "0"}
	}
	return []string{"--dataset-name", "custom", "--dataset-path", k.Prompts, "--custom-output-len", "-1", "--skip-chat-template", "--disable-shuffle"}
}

func (k Task) vllmPace() []string {
	if k.Plan.Protocol.Sweep != nil {
		return []string{"--max-concurrency", strconv.Itoa(k.Point.Concurrency)}
	}
	s := k.Plan.Protocol.Serve
	args := []string{"--request-rate", fmt.Sprint(k.Point.Rate)}
	switch s.Arrival {
	case "gamma":
		args = append(args, "--burstiness", fmt.Sprint(s.Burstiness))
	case "constant":
		args = append(args, "--burstiness", "inf")
	}
	if s.MaxConcurrency > 0 {
		args = append(args, "--max-concurrency", strconv.Itoa(s.MaxConcurrency))
	}
	return args
}
