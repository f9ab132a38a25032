package main

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"assay/agent"
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
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if err := noneEmpty(c, "from"); err != nil {
				return err
			}
			var p plan.Plan
			if len(args) == 1 {
				if p, _, err = readPlan(args[0], nil); err != nil {
					return err
				}
			}
			host, done, err := a.openHost(c.Context(), from)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, done()) }()
			checks := probes.Evaluate(agent.CheckRequest(c.Context(), host, probes.ReadAtRest(c.Context(), host, program()), p))
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

func (a *app) showChecks(checks []probes.Check, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(a.stdout).Encode(checks)
	}
	var b bytes.Buffer
	report.ChecksText(&b, checks)
	_, err := a.stdout.Write(b.Bytes())
	return err
}
