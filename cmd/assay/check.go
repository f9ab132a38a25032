package main

import (
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

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
			var wanted probes.Wanted
			if len(args) == 1 {
				p, _, err := readPlan(args[0], nil)
				if err != nil {
					return err
				}
				wanted = p.Checks
			}
			host, done, err := openHost(from)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, done()) }()
			checks := probes.Evaluate(probes.Read(c.Context(), host, program()), wanted)
			if asJSON {
				err = json.NewEncoder(a.stdout).Encode(checks)
			} else {
				report.ChecksText(a.stdout, checks)
			}
			for _, ch := range checks {
				if ch.State == probes.CheckFail {
					return errors.Join(err, errExit{exitPreflight})
				}
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	c.Flags().StringVar(&from, "from", "", "check the capture `DIR|FILE` instead of this machine")
	return c
}
