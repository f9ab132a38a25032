package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"assay/agent"
	"assay/fault"
	"assay/plan"
)

// benchOptions are the flags of `assay bench`: a plan in one line.
type benchOptions struct {
	model, endpoint, tokenEnv, engine string
	concurrency, rate, contexts       string
	duration, warmup                  time.Duration
	requests                          int
	inputLen                          string
	outputLen                         int
	dataset, kind                     string
	seed                              uint64
	savePlan                          string
}

func (a *app) benchCommand() *cobra.Command {
	var b benchOptions
	var o order
	c := &cobra.Command{
		Use:   "bench URL",
		Short: "measure a server that is already running",
		Long: `Measure a running OpenAI-compatible server without a plan file. A closed loop at each --concurrency, an open loop at each
--rate, or a matrix of --contexts × --concurrency. Chat, unless the URL ends in /v1/completions or --endpoint completions.
The plan it makes is kept with the run; --save-plan writes it to a file.`,
		Example: "  assay bench http://127.0.0.1:8000 --concurrency 1,2,4,8 --duration 30s\n" +
			"  assay bench http://127.0.0.1:8000/v1/completions --rate 10 --input-len 1k --output-len 128\n" +
			"  assay bench http://127.0.0.1:8000 --dataset sharegpt.json --concurrency 16 --requests 500",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := b.plan(args[0])
			if err != nil {
				return err
			}
			if err := b.save(p); err != nil {
				return err
			}
			o.plan, o.origin.Source = p, agent.FromCLI
			return a.perform(c.Context(), o)
		},
	}
	b.flags(c)
	c.Flags().BoolVar(&o.json, "json", false, "the result document on stdout")
	c.Flags().BoolVar(&o.origin.NoArchive, "no-archive", false, "do not pack the signed archive")
	return c
}

func (b *benchOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&b.model, "model", "", "model name in requests (default: the one the server lists)")
	f.StringVar(&b.endpoint, "endpoint", "", "chat or completions (default: by URL, else chat)")
	f.StringVar(&b.engine, "engine", "openai", "dialect of the server: vllm, sglang, llamacpp, sim, openai")
	f.StringVar(&b.tokenEnv, "token-env", "", "`NAME` of the environment variable that holds the bearer token")
	f.StringVar(&b.concurrency, "concurrency", "", "closed loop at these concurrencies, `1,2,4`")
	f.StringVar(&b.rate, "rate", "", "open loop at these rates in requests/s, `10,20`")
	f.StringVar(&b.contexts, "contexts", "", "matrix of these context lengths, `8k,16k`, with --concurrency")
	f.DurationVar(&b.duration, "duration", 0, "length of the measuring window of a point (default 30s without --requests)")
	f.DurationVar(&b.warmup, "warmup", 0, "time before the window opens, not measured")
	f.IntVar(&b.requests, "requests", 0, "measured requests of a point, warm-up apart")
	f.StringVar(&b.inputLen, "input-len", "256", "tokens of a synthetic prompt, 256 or 8k")
	f.IntVar(&b.outputLen, "output-len", 128, "tokens of a reply at most")
	f.StringVar(&b.dataset, "dataset", "", "`FILE` of prompts, or builtin:agentic-small (default: synthetic)")
	f.StringVar(&b.kind, "dataset-kind", "", "sharegpt, text, jsonl or agentic (default: by the file's name)")
	f.Uint64Var(&b.seed, "seed", 1, "seed of prompts and arrivals")
	f.StringVar(&b.savePlan, "save-plan", "", "write the plan it makes to `FILE`")
}

// plan makes the plan of these flags. It goes through plan.Parse like any other, so that the same rules and defaults hold.
func (b *benchOptions) plan(rawURL string) (plan.Plan, error) {
	base, endpoint, err := splitEndpoint(rawURL)
	if err != nil {
		return plan.Plan{}, err
	}
	if b.endpoint != "" {
		endpoint = b.endpoint
	}
	protocol, err := b.protocol()
	if err != nil {
		return plan.Plan{}, err
	}
	workload, err := b.workload()
	if err != nil {
		return plan.Plan{}, err
	}
	server := map[string]any{"engine": b.engine, "runtime": "endpoint", "url": base, "endpoint": endpoint, "ready": map[string]any{"timeout": "20s"}}
	if b.tokenEnv != "" {
		server["token_env"] = b.tokenEnv
	}
	model := b.model
	if model == "" {
		model = plan.AnyModel
	}
	doc, err := json.Marshal(map[string]any{
		"apiVersion": plan.APIVersion, "name": "bench-" + hostName(base), "model": map[string]any{"name": model},
		"server": server, "client": map[string]any{"kind": "native"}, "workload": workload, "protocol": protocol, "allow_unpinned": b.dataset != "",
	})
	if err != nil {
		return plan.Plan{}, fmt.Errorf("make the plan: %w", err)
	}
	return plan.Parse(doc)
}

// splitEndpoint takes the API path off a URL: what stays is the base URL, what went says chat or completions.
func splitEndpoint(raw string) (base, endpoint string, err error) {
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", "", usage("%q is not a server's URL; write http://HOST:PORT", raw)
	}
	endpoint = "chat"
	path := strings.TrimSuffix(u.Path, "/")
	for _, tail := range []string{"/chat/completions", "/completions", "/v1"} {
		cut, found := strings.CutSuffix(path, tail)
		if found && tail == "/completions" {
			endpoint = "completions"
		}
		path = cut
	}
	u.Path, u.RawQuery, u.Fragment = path, "", ""
	return u.String(), endpoint, nil
}

func hostName(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return "server"
	}
	return strings.NewReplacer(":", "-", "[", "", "]", "").Replace(u.Host)
}

func (b *benchOptions) protocol() (map[string]any, error) {
	if b.requests == 0 && b.duration == 0 {
		b.duration = 30 * time.Second
	}
	load := map[string]any{}
	if b.requests > 0 {
		load["requests"] = b.requests
	}
	if b.duration > 0 {
		load["duration"] = plan.Duration(b.duration).String()
	}
	switch {
	case b.rate != "" && (b.concurrency != "" || b.contexts != ""):
		return nil, usage("--rate is an open loop: it does not go with --concurrency or --contexts")
	case b.rate != "":
		rates, err := numbers(b.rate, "--rate")
		load["rate"] = rates
		if b.warmup > 0 {
			load["window"] = map[string]any{"warmup": plan.Duration(b.warmup).String()}
		}
		return map[string]any{"serve": load}, err
	}
	if b.concurrency == "" {
		b.concurrency = "1,2,4,8"
	}
	levels, err := integers(b.concurrency, "--concurrency")
	if err != nil {
		return nil, err
	}
	load["concurrency"] = levels
	if b.contexts != "" {
		return b.matrix(load)
	}
	if b.warmup > 0 {
		load["warmup"] = map[string]any{"duration": plan.Duration(b.warmup).String()}
	}
	return map[string]any{"sweep": load}, nil
}

func (b *benchOptions) matrix(load map[string]any) (map[string]any, error) {
	if b.requests > 0 {
		return nil, usage("a matrix is measured by time: leave --requests out")
	}
	load["contexts"], load["max_tokens"] = strings.Split(b.contexts, ","), b.outputLen
	return map[string]any{"matrix": load}, nil
}

func (b *benchOptions) workload() (map[string]any, error) {
	w := map[string]any{"kind": "synthetic", "input_len": b.inputLen, "seed": strconv.FormatUint(b.seed, 10),
		"sampling": map[string]any{"max_tokens": b.outputLen, "temperature": 0, "ignore_eos": b.dataset == ""}}
	if b.contexts != "" {
		delete(w, "input_len") // the contexts are the lengths
	}
	if b.dataset == "" {
		return w, nil
	}
	delete(w, "input_len")
	if name, ok := strings.CutPrefix(b.dataset, "builtin:"); ok {
		w["kind"], w["dataset"] = "agentic", map[string]any{"builtin": name}
		return w, nil
	}
	path, err := filepath.Abs(b.dataset)
	if err != nil {
		return nil, fmt.Errorf("find the dataset: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fault.New(fault.Plan, "dataset_missing", "check the name", "the dataset cannot be read: %w", err)
	}
	w["kind"], w["dataset"] = b.kindOf(path, info.IsDir()), map[string]any{"path": path}
	if w["kind"] == "text" {
		w["input_len"] = b.inputLen
	}
	return w, nil
}

// kindOf guesses a dataset's kind from its name where the flag does not say it.
func (b *benchOptions) kindOf(path string, folder bool) string {
	switch ext := filepath.Ext(path); {
	case b.kind != "":
		return b.kind
	case folder || ext == ".txt":
		return "text"
	case ext == ".jsonl" && strings.Contains(filepath.Base(path), "agentic"):
		return "agentic"
	case ext == ".jsonl":
		return "jsonl"
	}
	return "sharegpt"
}

func numbers(list, flag string) ([]float64, error) {
	var out []float64
	for _, s := range strings.Split(list, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil {
			return nil, usage("%s takes numbers such as 10 or 5,10,20, not %q", flag, s)
		}
		out = append(out, v)
	}
	return out, nil
}

func integers(list, flag string) ([]int, error) {
	var out []int
	for _, s := range strings.Split(list, ",") {
		v, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil {
			return nil, usage("%s takes whole numbers such as 8 or 1,2,4, not %q", flag, s)
		}
		out = append(out, v)
	}
	return out, nil
}

// save writes the plan where --save-plan says.
func (b *benchOptions) save(p plan.Plan) error {
	if b.savePlan == "" {
		return nil
	}
	return writeFile(fault.Plan, b.savePlan, bytesTo(p.YAML()))
}
