package main

import (
	_ "embed"

	"github.com/spf13/cobra"

	"assay/agent"
	"assay/plan"
)

// demoPlan sweeps the simulated engine over the agentic workload that ships with the program.
//
//go:embed demo.yaml
var demoPlan []byte

func (a *app) demoCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "demo",
		Short:   "a whole run on the built-in simulated engine, in less than a minute",
		Long:    "A real run: probe this machine, start the simulated engine as a process, sweep concurrency 1 to 64 over a small\nagentic workload, record telemetry beside it, store all, stop the engine, and write a report.",
		Example: "  assay demo\n  assay demo --data /tmp/try --json > result.json",
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := plan.Parse(demoPlan)
			if err != nil {
				return err
			}
			return a.perform(c.Context(), order{plan: p, json: asJSON, origin: agent.Origin{Source: agent.FromCLI}})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "the result document on stdout")
	return c
}
