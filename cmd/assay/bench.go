package main

import (
	"github.com/spf13/cobra"

	"assay/agent"
	"assay/cmd/assay/arg"
	"assay/cmd/assay/bench"
)

func (a *app) benchCommand() *cobra.Command {
	var b bench.Options
	var o order
	c := &cobra.Command{
		Use:   "bench URL…",
		Short: "measure a server that is already running",
		Long: `Measure a running OpenAI-compatible server without a plan file. A closed loop at each --concurrency, an open loop at each
--rate, or a matrix of --contexts × --concurrency. Chat, unless the URL ends in /v1/completions or --endpoint completions.
Several URLs are servers of the same model, which share the requests. unix:///PATH reaches a Unix socket. The load never goes through a proxy.
The plan it makes is kept with the run; --save-plan writes it to a new file.
Made prompts have exactly --input-len tokens by the server's own count. With --dataset-kind text each file is cut into prompts of that length;
of a folder the *.txt files in and below it are read. Other prompts keep their own length. A trace is replayed at its own instants, up to its
end or to --requests or --duration; with --rate or --concurrency it only gives the prompts.`,
		Example: "  assay bench http://127.0.0.1:8000 --concurrency 1,2,4,8 --duration 30s\n" +
			"  assay bench http://127.0.0.1:8000/v1/completions --rate 10 --input-len 1k --output-len 128\n" +
			"  assay bench http://127.0.0.1:8000 --dataset sharegpt.json --concurrency 16 --requests 500\n" +
			"  assay bench http://127.0.0.1:8000 --dataset azure.csv --duration 5m",
		Args: arg.Some("the URL of the server"),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := b.Plan(c.Context(), args...)
			if err != nil {
				return err
			}
			if b.SavePlan != "" {
				if err := a.writeNew(b.SavePlan, p.YAML()); err != nil {
					return err
				}
			}
			o.plan, o.origin.Source = p, agent.FromCLI
			return a.perform(c.Context(), o)
		},
	}
	b.Bind(c.Flags())
	c.Flags().BoolVar(&o.json, "json", false, "the result document on stdout")
	c.Flags().BoolVar(&o.origin.NoArchive, "no-archive", false, "do not pack the signed archive")
	return c
}
