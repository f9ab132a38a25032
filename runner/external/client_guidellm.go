package external

import (
	"encoding/json"
	"fmt"
)

// guidellm is `guidellm run`. It is told everything in a file, since its command line has no quotes; a bearer token it would take from there
// alone, where it would be kept. To prompts that it makes itself it always asks for answers of full length. At the end of a time it cuts off what is running, so points end by requests.
func guidellm() Tool {
	return Tool{Kind: "guidellm", Format: "guidellm", Results: "benchmarks.json", Program: []string{"guidellm"}, Version: []string{"--version"}, row: guidellmRow, tell: guidellmCommand,
		Can: []Ability{Sweep, Serve, Chat, Completions, Poisson, Constant, MaxConcurrency, Generated, Filed, System, OwnLimits, FreshPrompts, SharedSalt,
			IgnoreEOS, Temperature, TopP, Seed, Headers, Insecure}}
}

func guidellmRow(q Prompt) any {
	return struct {
		Prompt string `json:"prompt"`
		System string `json:"system,omitempty"`
		Output int    `json:"output_tokens_count"`
	}{q.Text, q.System, q.MaxTokens}
}

// object is a part of its configuration.
type object map[string]any

func guidellmCommand(t Tool, k Task) (Command, error) {
	config := object{"spec": object{
		"backend":     k.guidellmBackend(),
		"profile":     k.guidellmProfile(),
		"constraints": []object{{"kind": "max_requests", "count": extentOf(k.Plan, k.Point).Requests}},
		"tokenizer":   object{"kind": "hf_auto", "model": k.tokenizer()},
		"data":        []object{k.guidellmData()},
		"seed":        object{"kind": "static", "value": k.Seed % (1 << 32)},
		"outputs":     []object{{"kind": "json", "path": k.path(t.Results)}},
	}}
	b, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return Command{}, fmt.Errorf("write the configuration of guidellm: %w", err)
	}
	c := k.command(t, "run", "--config", k.path("config.json"), "--disable-console-interactive")
	c.Files = []File{{"config.json", append(b, '\n')}}
	return c, nil
}

func (k Task) guidellmBackend() object {
	route := "/v1/completions"
	if k.chat() {
		route = "/v1/chat/completions"
	}
	b := object{"kind": "openai_http", "target": k.URLs[0], "model": k.Model, "request_format": route, "http2": false, "verify": !k.Plan.Client.InsecureTLS}
	extras := object{}
	if body := k.sampling(); len(body) > 0 {
		extras["body"] = body
	}
	if len(k.Headers) > 0 {
		extras["headers"] = k.Headers
	}
	if len(extras) > 0 {
		b["extras"] = extras
	}
	return b
}

// guidellmProfile says how requests are paced. Its warm-up is not used: it stands among the measured requests without a mark.
func (k Task) guidellmProfile() object {
	p := object{"kind": "concurrent", "streams": []int{k.Point.Concurrency}}
	if s := k.Plan.Protocol.Serve; s != nil {
		p = object{"kind": s.Arrival, "rate": []float64{k.Point.Rate}}
		if s.MaxConcurrency > 0 {
			p["max_concurrency"] = s.MaxConcurrency
		}
	}
	return p
}

func (k Task) guidellmData() object {
	if k.Prompts != "" {
		return object{"kind": "json_file", "path": k.Prompts}
	}
	w := k.Plan.Workload
	return object{"kind": "synthetic_text", "prompt_tokens": int(w.InputLen), "output_tokens": w.Sampling.MaxTokens}
}
