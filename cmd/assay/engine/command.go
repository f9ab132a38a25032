package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"assay/fault"
	"assay/sim"
)

type options struct {
	sim.Config
	host     string
	port     int
	truth    string
	faults   []string
	exitAt   time.Duration
	exitCode int
}

// Command is `assay sim`. What it says goes to stderr; exit makes the error that ends the program with a code.
func Command(stderr io.Writer, exit func(code int) error) *cobra.Command {
	o := options{Config: sim.Default()}
	c := &cobra.Command{
		Use: "sim", Short: "the simulated inference engine alone, for trying things out",
		Long: "An OpenAI-compatible server whose latency follows a model and which knows what it sent and when (docs/sim.md).\n\n" +
			"A request for the model NAME+FAULT+FAULT… meets those faults, whatever --fault says; NAME is that of --model. A client that\n" +
			"looks for its model in /v1/models first, such as assay bench, does not find that name: for it start the server with --fault.\n\n" +
			"Faults, as kind[@token][=amount][:delay][/every][#first]:\n" + faultList(),
		Example: "  assay sim --port 8000\n" +
			"  assay sim --step-base 20ms --max-running 8 --truth truth.jsonl\n" +
			"  assay sim --drafts 4 --acceptance 0.7 --ranks 2\n" +
			"  assay sim --fault stall@3:2s/10 --fault die:5s/100#100",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := atLeastOne(c.Flags(), "max-model-len", "output-mean", "max-running", "kv-tokens", "block-tokens", "batch-tokens", "ranks", "chunk-tokens"); err != nil {
				return err
			}
			return o.simulate(c.Context(), stderr, exit)
		},
	}
	f := c.Flags()
	f.StringVar(&o.host, "host", "127.0.0.1", "address to listen on")
	f.IntVar(&o.port, "port", 8000, "port to listen on; 0 picks one")
	f.StringVar(&o.truth, "truth", "", "write what was sent and when to `FILE`, a JSON line per request")
	f.StringArrayVar(&o.faults, "fault", nil, "go wrong on purpose: `kind[@token][=amount][:delay][/every][#first]`, such as stall@3:2s/10 (repeatable); the kinds are listed above")
	f.DurationVar(&o.ReadyAfter, "ready-after", 0, "answer 503 until then")
	f.DurationVar(&o.exitAt, "exit-after", 0, "exit by itself after this time, to try failures")
	f.IntVar(&o.exitCode, "exit-code", 1, "exit code of --exit-after")
	o.modelFlags(f)
	return c
}

// atLeastOne refuses a 0 that was written, which the engine would take for "as by default".
func atLeastOne(f *pflag.FlagSet, names ...string) error {
	for _, name := range names {
		if n, err := f.GetInt(name); err != nil || n == 0 && f.Changed(name) {
			return usage("--%s must be at least 1", name)
		}
	}
	return nil
}

// modelFlags are those of the engine's shape and of its latency.
func (o *options) modelFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Model, "model", o.Model, "served model name")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "seed of texts, natural reply lengths and accepted drafts")
	f.IntVar(&o.ContextLen, "max-model-len", o.ContextLen, "tokens of prompt and reply together")
	f.IntVar(&o.OutputMean, "output-mean", o.OutputMean, "mean natural length of a reply in tokens")
	f.IntVar(&o.TokenBytes, "token-bytes", 0, "a word is a token for so many of its bytes; 0: one token")
	f.IntVar(&o.TemplateTokens, "template-tokens", 0, "prompt tokens that the chat template adds for each message and for the reply's opening")

	f.IntVar(&o.Ranks, "ranks", o.Ranks, "data-parallel engines, each with batch, queue and KV cache of its own")
	f.IntVar(&o.MaxRunning, "max-running", o.MaxRunning, "requests decoded together; the others wait")
	f.IntVar(&o.MaxQueued, "max-queued", o.MaxQueued, "waiting requests beyond which 503 is answered; 0 has no limit")
	f.IntVar(&o.KVTokens, "kv-tokens", o.KVTokens, "size of the KV cache in tokens")
	f.IntVar(&o.BlockTokens, "block-tokens", o.BlockTokens, "tokens of a block of the KV cache")
	f.IntVar(&o.BatchTokens, "batch-tokens", o.BatchTokens, "tokens computed in one step at most")
	f.BoolVar(&o.NoCache, "no-prefix-cache", false, "compute every prompt anew")

	f.DurationVar(&o.StepBase, "step-base", o.StepBase, "time of a decode step")
	f.DurationVar(&o.StepPerSeq, "step-per-seq", o.StepPerSeq, "added to a step by each running request")
	f.DurationVar(&o.Prefill, "prefill", o.Prefill, "added by each uncached prompt token")
	f.IntVar(&o.Drafts, "drafts", 0, "tokens that speculative decoding drafts in a step; 0: none")
	f.Float64Var(&o.Acceptance, "acceptance", 0.7, "how likely a draft is accepted when those before it were")

	f.IntVar(&o.ChunkTokens, "chunk-tokens", o.ChunkTokens, "tokens of an event after the first")
	f.IntVar(&o.Reasoning, "reasoning", 0, "leading tokens of a chat reply that are reasoning")
	f.StringVar(&o.ReasoningField, "reasoning-field", o.ReasoningField, "field of a chunk that holds them")
	f.StringSliceVar(&o.Refuse, "refuse", nil, "body `fields` answered with 400, as strict servers do")
}

// faultList is the help's list of what can go wrong.
func faultList() string {
	var b strings.Builder
	for _, f := range sim.Faults() {
		fmt.Fprintf(&b, "  %-14s %s\n", f.Kind, f.Text)
	}
	return strings.TrimRight(b.String(), "\n")
}

func notListening(err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fault.New(fault.Server, "port_in_use", "choose another --port", "cannot listen: %w", err)
	case errors.Is(err, fs.ErrPermission):
		return fault.New(fault.Server, "port_denied", "choose a --port above 1023", "cannot listen: %w", err)
	}
	return fault.New(fault.Server, "no_address", "write an address of this machine for --host, such as 127.0.0.1 or 0.0.0.0", "cannot listen: %w", err)
}

func (o options) simulate(ctx context.Context, stderr io.Writer, exit func(code int) error) (err error) {
	for _, text := range o.faults {
		f, err := sim.ParseFault(text)
		if err != nil {
			return usage("--fault: %w", err)
		}
		o.Faults = append(o.Faults, f)
	}
	if err := o.Validate(); err != nil {
		return usage("%w", err)
	}
	if o.port < 0 || o.port > 65535 {
		return usage("--port %d is no port; write one from 1 to 65535, or 0 for a free one", o.port)
	}
	s := sim.New(o.Config)
	if o.truth != "" {
		f, err := os.Create(o.truth)
		if err != nil {
			return fault.New(fault.Server, "not_writable", "choose another file", "write the truth: %w", err)
		}
		defer f.Close()
		s.LogTruth(f)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(o.host, strconv.Itoa(o.port)))
	if err != nil {
		return notListening(err)
	}
	early := exit(o.exitCode)
	if o.exitAt > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, o.exitAt, early)
		defer stop()
	}
	fmt.Fprintf(stderr, "simulated engine listening on http://%s\n", l.Addr())
	err = s.Serve(ctx, l)
	if errors.Is(context.Cause(ctx), early) {
		err = errors.Join(err, early)
	}
	return errors.Join(err, s.TruthError())
}

// usage is an error of the command line.
func usage(format string, args ...any) error {
	return fault.New(fault.Plan, "usage", "", format, args...)
}
