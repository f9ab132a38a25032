package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"assay/fault"
	"assay/plan"
)

// Options are the flags of `assay bench`: a plan in one line.
type Options struct {
	model, endpoint, engine string
	access                  access
	concurrency             []int
	rate                    []float64
	contexts                []plan.Length
	duration, warmup        time.Duration
	ready, drain, timeout   time.Duration
	requests, outputLen     int
	inputLen                plan.Length
	dataset, kind           string
	seed                    uint64
	SavePlan                string // file to write the plan to; "" for none
}

// Bind makes the flags of b, with their defaults.
func (b *Options) Bind(f *pflag.FlagSet) {
	b.inputLen, b.outputLen = 256, 128
	f.StringVar(&b.model, "model", "", "model name in requests (default: the first one the server lists)")
	f.StringVar(&b.endpoint, "endpoint", "", "chat or completions (default: by URL, else chat)")
	f.StringVar(&b.engine, "engine", "openai", "dialect of the server: vllm, sglang, llamacpp, trtllm, tgi, ollama, sim, openai")
	b.access.bind(f)
	f.Var(count(mostLoad, "a whole number of at least 1 such as 8").list(&b.concurrency, "1,2,4"), "concurrency", "closed loop at these concurrencies, `1,2,4` (default 1,2,4,8)")
	f.Var(perSecond().list(&b.rate, "10,20"), "rate", "open loop at these rates in requests/s, `10,20`")
	f.Var(tokens().list(&b.contexts, "8k,16k"), "contexts", "matrix of these context lengths, `8k,16k`, with --concurrency")
	f.Var(count(math.MaxInt32, "a whole number of at least 1 such as 500").one(&b.requests, ""), "requests", "measured requests of a point, warm-up apart")
	f.Var(tokens().one(&b.inputLen, "256"), "input-len", "tokens of a synthetic prompt, words of a text's, 256 or 8k")
	f.Var(count(mostTokens, "a whole number of at least 1 such as 128").one(&b.outputLen, "128"), "output-len", "tokens of a reply at most")
	f.StringVar(&b.dataset, "dataset", "", "`FILE` of prompts, or builtin:agentic-small (default: synthetic)")
	f.StringVar(&b.kind, "dataset-kind", "", "sharegpt, text, jsonl or agentic (default: by the file's name; a folder needs it)")
	f.Uint64Var(&b.seed, "seed", 1, "seed of prompts and arrivals")
	f.StringVar(&b.SavePlan, "save-plan", "", "write the plan it makes to a new `FILE`")
	b.bindTimes(f)
}

func (b *Options) bindTimes(f *pflag.FlagSet) {
	b.ready, b.drain, b.timeout = 10*time.Second, time.Minute, time.Hour
	f.Var(span(1).one(&b.duration, ""), "duration", "length of the measuring window of a point (default 30s without --requests)")
	f.Var(span(0).one(&b.warmup, ""), "warmup", "time before the window opens, not measured")
	f.Var(span(1).one(&b.ready, "10s"), "ready-timeout", "longest wait for the server's first token")
	f.Var(span(1).one(&b.timeout, "1h"), "timeout", "time limit of a request")
	f.Var(span(0).one(&b.drain, "60s"), "drain", "how long requests in flight are awaited at the end of a point, then cut off")
}

// Plan makes the plan of these flags for one server or several. It goes through plan.Parse like any other, so that the same rules and defaults hold.
func (b *Options) Plan(rawURLs ...string) (plan.Plan, error) {
	bases, endpoint, err := splitEndpoints(rawURLs)
	if err != nil {
		return plan.Plan{}, err
	}
	server, err := b.server(bases, endpoint)
	if err != nil {
		return plan.Plan{}, err
	}
	protocol, err := b.protocol()
	if err != nil {
		return plan.Plan{}, err
	}
	workload, err := b.workload()
	if err != nil {
		return plan.Plan{}, err
	}
	client := map[string]any{"kind": "native", "drain": plan.Duration(b.drain), "timeout": plan.Duration(b.timeout)}
	b.access.client(client)
	doc, err := json.Marshal(map[string]any{
		"apiVersion": plan.APIVersion, "name": "bench-" + hostName(bases[0]), "model": map[string]any{"name": cmp.Or(b.model, plan.AnyModel)},
		"server": server, "client": client, "workload": workload, "protocol": protocol, "allow_unpinned": b.dataset != "",
	})
	if err != nil {
		return plan.Plan{}, fmt.Errorf("make the plan: %w", err)
	}
	p, err := plan.Parse(doc)
	return p, inFlags(err)
}

func (b *Options) server(bases []string, endpoint string) (map[string]any, error) {
	server := map[string]any{
		"engine": b.engine, "runtime": "endpoint", "endpoint": cmp.Or(b.endpoint, endpoint), "ready": map[string]any{"timeout": plan.Duration(b.ready)},
	}
	if len(bases) == 1 {
		server["url"] = bases[0]
	} else {
		server["urls"] = bases
	}
	return server, b.access.server(server)
}

func (b *Options) protocol() (map[string]any, error) {
	load := map[string]any{}
	if b.requests > 0 {
		load["requests"] = b.requests
	}
	if b.requests == 0 || b.duration > 0 {
		load["duration"] = plan.Duration(cmp.Or(b.duration, 30*time.Second))
	}
	switch {
	case b.rate != nil && (b.concurrency != nil || b.contexts != nil):
		return nil, usage("--rate is an open loop: it does not go with --concurrency or --contexts")
	case b.rate != nil:
		load["rate"] = b.rate
		if b.warmup > 0 {
			load["window"] = map[string]any{"warmup": plan.Duration(b.warmup)}
		}
		return map[string]any{"serve": load}, nil
	}
	load["concurrency"] = b.concurrency
	if b.concurrency == nil {
		load["concurrency"] = []int{1, 2, 4, 8}
	}
	if b.contexts != nil {
		return b.matrix(load)
	}
	if b.warmup > 0 {
		load["warmup"] = map[string]any{"duration": plan.Duration(b.warmup)}
	}
	return map[string]any{"sweep": load}, nil
}

func (b *Options) matrix(load map[string]any) (map[string]any, error) {
	if b.requests > 0 {
		return nil, usage("a matrix is measured by time: leave --requests out")
	}
	if b.warmup > 0 {
		return nil, usage("a matrix warms up by itself: leave --warmup out")
	}
	load["contexts"], load["max_tokens"] = b.contexts, b.outputLen
	return map[string]any{"matrix": load}, nil
}

func (b *Options) workload() (map[string]any, error) {
	w := map[string]any{"kind": "synthetic", "seed": strconv.FormatUint(b.seed, 10),
		"sampling": map[string]any{"max_tokens": b.outputLen, "temperature": 0, "ignore_eos": b.dataset == ""}}
	data, err := b.data()
	if err != nil {
		return nil, err
	}
	maps.Copy(w, data)
	if made := w["kind"] == "synthetic" || w["kind"] == "text"; made && b.contexts == nil { // else the contexts are the lengths
		w["input_len"] = b.inputLen
	}
	return w, nil
}

// data gives the keys of a workload that say which dataset is used; nil for none.
func (b *Options) data() (map[string]any, error) {
	if b.dataset == "" {
		if b.kind != "" {
			return nil, usage("--dataset-kind says how --dataset is read, which is missing")
		}
		return nil, nil
	}
	if name, ok := strings.CutPrefix(b.dataset, "builtin:"); ok {
		return map[string]any{"kind": "agentic", "dataset": map[string]any{"builtin": name}}, nil
	}
	path, err := filepath.Abs(b.dataset)
	if err != nil {
		return nil, fmt.Errorf("find the dataset: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fault.New(fault.Plan, "dataset_missing", "check the name", "the dataset cannot be read: %w", err)
	}
	kind, err := b.kindOf(path, info.IsDir())
	return map[string]any{"kind": kind, "dataset": map[string]any{"path": path}}, err
}

// kindOf guesses a dataset's kind from its name where the flag does not say it. What to send of a folder is not guessed.
func (b *Options) kindOf(path string, folder bool) (string, error) {
	ext := filepath.Ext(path)
	switch {
	case folder && b.kind != "text":
		return "", usage("--dataset %s is a folder: name a file of it, or say --dataset-kind text to send its *.txt files", b.dataset)
	case b.kind != "":
		return b.kind, nil
	case ext == ".txt":
		return "text", nil
	case ext == ".jsonl" && strings.Contains(filepath.Base(path), "agentic"):
		return "agentic", nil
	case ext == ".jsonl":
		return "jsonl", nil
	case ext == ".json":
		return "sharegpt", nil
	}
	return "", usage("--dataset %s: its name does not tell its kind; say --dataset-kind sharegpt, text, jsonl or agentic", b.dataset)
}

// usage is an error of the command line.
func usage(format string, args ...any) error {
	return fault.New(fault.Plan, "usage", "", format, args...)
}
