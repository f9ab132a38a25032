package main

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"assay/agent"
	"assay/agent/planfiles"
	"assay/cmd/assay/arg"
	"assay/plan"
	"assay/probes"
	"assay/report"
)

func (a *app) checkCommand() *cobra.Command {
	var asJSON bool
	var from string
	c := &cobra.Command{
		Use:     "check [PLAN]",
		Short:   "whether this machine is fit to measure, with evidence",
		Long:    "Run the readiness checks, with what a plan wants of them when one is given. Exit 3 when one fails.",
		Example: "  assay check\n  assay check plan.yaml --json",
		Args:    arg.Maybe(arg.Plan),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if err := arg.NoneEmpty(c, "from"); err != nil {
				return err
			}
			p, err := planToCheck(args)
			if err != nil {
				return err
			}
			host, done, err := a.openHost(c.Context(), from)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, done()) }()
			checks := probes.Evaluate(agent.CheckRequest(c.Context(), host, probes.ReadAtRest(c.Context(), host, program()), p))
			if err := c.Context().Err(); err != nil {
				return err // what was not looked at is no fact of the machine
			}
			if err := a.showChecks(checks, asJSON); err != nil {
				return err
			}
			for _, ch := range checks {
				if ch.State == probes.CheckFail {
					return errExit{exitPreflight}
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	c.Flags().StringVar(&from, "from", "", "check the capture `DIR|FILE` instead of this machine")
	return c
}

// planToCheck reads the plan of the command line, where there is one, with its files named from its folder, as its run finds them.
func planToCheck(args []string) (plan.Plan, error) {
	if len(args) == 0 {
		return plan.Plan{}, nil
	}
	p, dir, err := readPlan(args[0], nil)
	if err != nil {
		return p, err
	}
	return planfiles.Absolute(p, dir)
}

func (a *app) showChecks(checks []probes.Check, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(a.stdout).Encode(checks)
	}
	var b bytes.Buffer
	report.ChecksText(&b, checks)
	_, err := a.stdout.Write(b.Bytes())
	return err
}
