package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
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
	prefill                 time.Duration // 0: as duration
	ready, drain, timeout   time.Duration
	requests, outputLen     int
	inputLen                plan.Length // 0: not asked for
	dataset, kind           string
	seed                    uint64
	unpinned                bool
	SavePlan                string // file to write the plan to; "" for none
}

// defaultInputLen is the length of made prompts in tokens.
const defaultInputLen = 256

// Bind makes the flags of b, with their defaults.
func (b *Options) Bind(f *pflag.FlagSet) {
	b.outputLen, b.seed = 128, 1
	f.StringVar(&b.model, "model", "", "model name in requests (default: the first one the server lists)")
	f.StringVar(&b.endpoint, "endpoint", "", "chat or completions (default: by URL, else chat)")
	f.StringVar(&b.engine, "engine", "openai", "dialect of the server: vllm, sglang, llamacpp, trtllm, tgi, ollama, sim, openai")
	b.access.bind(f)
	f.Var(count(mostLoad, "a whole number of at least 1 such as 8").list(&b.concurrency, "1,2,4"), "concurrency", "closed loop at these concurrencies, `1,2,4` (default 1,2,4,8)")
	f.Var(perSecond().list(&b.rate, "10,20"), "rate", "open loop at these rates in requests/s, `10,20`")
	f.Var(tokens().list(&b.contexts, "8k,16k"), "contexts", "matrix of these context lengths, `8k,16k`, with --concurrency")
	f.Var(count(math.MaxInt32, "a whole number of at least 1 such as 500").one(&b.requests, ""), "requests", "requests that are sent in a point's window, which opens once all of --concurrency are in flight; the up to concurrency - 1 before it come on top")
	f.Var(tokens().one(&b.inputLen, ""), "input-len", "tokens of a prompt, 256 or 8k, which is made, cut from a text, or put together of a sharegpt file's questions (default 256; sharegpt: its own)")
	f.Var(count(mostTokens, "a whole number of at least 1 such as 128").one(&b.outputLen, "128"), "output-len", "tokens of a reply at most")
	f.StringVar(&b.dataset, "dataset", "", "`FILE` of prompts, or builtin:agentic-small (default: synthetic)")
	f.StringVar(&b.kind, "dataset-kind", "", kinds+" (default: by the file's name and first record; a folder needs it)")
	f.Var(seed().one(&b.seed, "1"), "seed", "seed of prompts and arrivals")
	f.StringVar(&b.SavePlan, "save-plan", "", "write the plan it makes to a new `FILE`")
	b.bindTimes(f)
}

func (b *Options) bindTimes(f *pflag.FlagSet) {
	b.ready, b.drain, b.timeout = 10*time.Second, time.Minute, time.Hour
	f.Var(span(1).one(&b.duration, ""), "duration", "length of the measuring window of a point (default 30s without --requests; a trace is replayed to its end)")
	f.Var(span(1).one(&b.prefill, ""), "prefill-duration", "length of a context's prefill pass in a matrix (default: that of --duration)")
	f.BoolVar(&b.unpinned, "allow-unpinned", false, "accept what has no digest, as allow_unpinned of a plan does; the result says so")
	f.Var(span(0).one(&b.warmup, ""), "warmup", "time before the window opens, not measured")
	f.Var(span(1).one(&b.ready, "10s"), "ready-timeout", "longest wait for the server's first token")
	f.Var(span(1).one(&b.timeout, "1h"), "timeout", "time limit of a request")
	f.Var(span(0).one(&b.drain, "60s"), "drain", "how long requests in flight are awaited at the end of a point, then cut off")
}

// Plan makes the plan of these flags for one server or several. It goes through plan.Parse like any other, so that the same rules and defaults hold.
func (b *Options) Plan(ctx context.Context, rawURLs ...string) (plan.Plan, error) {
	bases, endpoint, err := splitEndpoints(rawURLs)
	if err != nil {
		return plan.Plan{}, err
	}
	server, err := b.server(bases, endpoint)
	if err != nil {
		return plan.Plan{}, err
	}
	d, err := b.data(ctx)
	if err != nil {
		return plan.Plan{}, err
	}
	protocol, err := b.protocol(d.kind == "trace")
	if err != nil {
		return plan.Plan{}, err
	}
	client := map[string]any{"kind": "native", "drain": plan.Duration(b.drain), "timeout": plan.Duration(b.timeout)}
	b.access.client(client)
	doc, err := json.Marshal(map[string]any{
		"apiVersion": plan.APIVersion, "name": "bench-" + hostName(bases[0]), "model": map[string]any{"name": cmp.Or(b.model, plan.AnyModel)},
		"server": server, "client": client, "workload": b.workload(d), "protocol": protocol, "allow_unpinned": b.unpinned,
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
	return server, b.access.server(server, len(bases))
}

// protocol adds up how the load is shaped. A trace is replayed at its instants, up to its end, unless another pace is asked for.
func (b *Options) protocol(traced bool) (map[string]any, error) {
	load, replay := map[string]any{}, traced && b.rate == nil && b.concurrency == nil && b.contexts == nil
	if b.requests > 0 {
		load["requests"] = b.requests
	}
	if b.requests == 0 && !replay || b.duration > 0 {
		load["duration"] = plan.Duration(cmp.Or(b.duration, 30*time.Second))
	}
	switch {
	case b.prefill > 0 && b.contexts == nil:
		return nil, usage("--prefill-duration has a meaning with --contexts only")
	case b.rate != nil && (b.concurrency != nil || b.contexts != nil):
		return nil, usage("--rate is an open loop: it does not go with --concurrency or --contexts")
	case replay:
		load["arrival"] = "trace"
		return b.serve(load), nil
	case b.rate != nil:
		load["rate"] = b.rate
		return b.serve(load), nil
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

func (b *Options) serve(load map[string]any) map[string]any {
	if b.warmup > 0 {
		load["window"] = map[string]any{"warmup": plan.Duration(b.warmup)}
	}
	return map[string]any{"serve": load}
}

func (b *Options) matrix(load map[string]any) (map[string]any, error) {
	if b.requests > 0 {
		return nil, usage("a matrix is measured by time: leave --requests out")
	}
	if b.warmup > 0 {
		return nil, usage("a matrix warms up by itself: leave --warmup out")
	}
	load["contexts"], load["max_tokens"] = b.contexts, b.outputLen
	load["prefill_duration"] = plan.Duration(cmp.Or(b.prefill, b.duration, 30*time.Second))
	return map[string]any{"matrix": load}, nil
}

func (b *Options) workload(d data) map[string]any {
	recorded := d.kind == "trace" // its lengths are those of the replies too
	w := map[string]any{"seed": strconv.FormatUint(b.seed, 10),
		"sampling": map[string]any{"max_tokens": b.outputLen, "temperature": 0, "ignore_eos": b.dataset == "" || recorded}}
	d.workload(w)
	if n := b.inputLenOf(d); n > 0 {
		w["input_len"] = n
	}
	return w
}

// usage is an error of the command line.
func usage(format string, args ...any) error {
	return fault.New(fault.Plan, "usage", "", format, args...)
}
