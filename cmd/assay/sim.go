package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"assay/cmd/assay/ceiling"
	"assay/fault"
	"assay/sim"
)

type simOptions struct {
	sim.Config
	host     string
	port     int
	truth    string
	faults   []string
	exitAt   time.Duration
	exitCode int
}

func (a *app) simCommand() *cobra.Command {
	o := simOptions{Config: sim.Default()}
	c := &cobra.Command{
		Use: "sim", Short: "the simulated inference engine alone, for trying things out", Args: cobra.NoArgs,
		Long:    "An OpenAI-compatible server whose latency follows a model and which knows what it sent and when.",
		Example: "  assay sim --port 8000\n  assay sim --step-base 20ms --max-running 8 --truth truth.jsonl",
		RunE:    func(c *cobra.Command, _ []string) error { return a.simulate(c.Context(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.host, "host", "127.0.0.1", "address to listen on")
	f.IntVar(&o.port, "port", 8000, "port to listen on; 0 picks one")
	f.StringVar(&o.Model, "model", o.Model, "served model name")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "seed of texts and natural reply lengths")
	f.IntVar(&o.ContextLen, "max-model-len", o.ContextLen, "tokens of prompt and reply together")
	f.IntVar(&o.OutputMean, "output-mean", o.OutputMean, "mean natural length of a reply in tokens")
	f.IntVar(&o.MaxRunning, "max-running", o.MaxRunning, "requests decoded together; the others wait")
	f.IntVar(&o.MaxQueued, "max-queued", o.MaxQueued, "waiting requests beyond which 503 is answered; 0 has no limit")
	f.IntVar(&o.KVTokens, "kv-tokens", o.KVTokens, "size of the KV cache in tokens")
	f.DurationVar(&o.StepBase, "step-base", o.StepBase, "time of a decode step")
	f.DurationVar(&o.StepPerSeq, "step-per-seq", o.StepPerSeq, "added to a step by each running request")
	f.DurationVar(&o.Prefill, "prefill", o.Prefill, "added by each uncached prompt token")
	f.DurationVar(&o.ReadyAfter, "ready-after", 0, "answer 503 until then")
	f.IntVar(&o.ChunkTokens, "chunk-tokens", o.ChunkTokens, "tokens of an event after the first")
	f.StringVar(&o.truth, "truth", "", "write what was sent and when to `FILE`, a JSON line per request")
	f.StringArrayVar(&o.faults, "fault", nil, fmt.Sprintf("go wrong on purpose: `kind[@token][:delay][/every][#first]`, such as stall@3:2s/10 (repeatable); kinds: %v", sim.FaultKinds()))
	f.DurationVar(&o.exitAt, "exit-after", 0, "exit by itself after this time, to try failures")
	f.IntVar(&o.exitCode, "exit-code", 1, "exit code of --exit-after")
	c.AddCommand(ceiling.ServerCommand(a.ceilingOutside()))
	return c
}

func (a *app) simulate(ctx context.Context, o simOptions) (err error) {
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
		return fault.New(fault.Server, "port_in_use", "choose another --port", "cannot listen: %w", err)
	}
	var early <-chan time.Time
	if o.exitAt > 0 {
		early = time.After(o.exitAt)
	}
	srv := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	broken := make(chan error, 1)
	go func() { broken <- srv.Serve(l) }()
	fmt.Fprintf(a.stderr, "simulated engine listening on http://%s\n", l.Addr())
	select {
	case <-ctx.Done():
	case err = <-broken:
	case <-early:
		err = errExit{o.exitCode}
	}
	return errors.Join(err, srv.Close(), s.TruthError())
}
