package main

import (
	"github.com/spf13/cobra"

	"assay/agent"
	"assay/cmd/assay/arg"
)

// dockerHostUsage tells of --docker-host.
const dockerHostUsage = "`ADDRESS` of the container engine: unix:///path or tcp://host:port (default DOCKER_HOST when it is on this machine, else the sockets of docker and podman)"

func (a *app) runCommand() *cobra.Command {
	var o order
	var sets []string
	var unpinned bool
	c := &cobra.Command{
		Use:   "run PLAN",
		Short: "execute a plan",
		Long: `Execute a plan: probe the machine, pull and start the server, measure every point, store and report.
When a daemon holds the data directory the plan is handed to it and followed.`,
		Example: "  assay run plan.yaml\n  assay run plan.yaml --set protocol.sweep.concurrency=1,2,4 --json\n  assay run --resume last",
		Args:    arg.Maybe(arg.Plan),
		RunE: func(c *cobra.Command, args []string) error {
			if (len(args) == 1) == (o.resume != "") {
				return usage("say either a plan or --resume RUN; see `assay run -h`")
			}
			if err := arg.Apart(c, "resume", "set", "allow-unpinned", "no-archive"); err != nil {
				return err // a run goes on by the plan and the way that it began with
			}
			if o.resume != "" {
				return a.perform(c.Context(), o)
			}
			if unpinned {
				sets = append(sets, "allow_unpinned=true")
			}
			p, dir, err := a.explainedPlan(c.Context(), args[0], sets)
			if err != nil {
				return err
			}
			o.plan, o.origin.Source, o.origin.BaseDir = p, agent.FromCLI, dir
			return a.perform(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&sets, "set", nil, "set a key of the plan, `path=value` (repeatable)")
	f.StringVar(&o.resume, "resume", "", "go on with an interrupted `RUN` at its next point")
	_ = c.RegisterFlagCompletionFunc("resume", a.completeRun) // the flag was made just now
	f.BoolVar(&unpinned, "allow-unpinned", false, "accept images without digest, as allow_unpinned of the plan does; the result says so")
	f.StringVar(&a.docker, "docker-host", "", dockerHostUsage)
	f.BoolVar(&o.json, "json", false, "the result document on stdout")
	f.BoolVar(&o.origin.NoArchive, "no-archive", false, "do not pack the signed archive")
	return c
}
