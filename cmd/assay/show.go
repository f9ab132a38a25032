package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"assay/result"
	"assay/store"
)

func (a *app) showCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "show RUN", Short: "one run: its table, its verdict, where its report is", Args: cobra.ExactArgs(1),
		Long:    "RUN is an id, an unambiguous prefix of one, or `last`.",
		Example: "  assay show last\n  assay show 20261130T2 --json",
		RunE: func(c *cobra.Command, args []string) error {
			out, err := a.findOutcome(c.Context(), args[0])
			if err != nil {
				return err
			}
			return a.show(out, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "the result document on stdout")
	return c
}

// findOutcome reads the result of an ended run.
func (a *app) findOutcome(ctx context.Context, ref string) (out outcome, err error) {
	st, err := a.openStore(ctx)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	run, err := st.FindRun(ctx, ref)
	if err != nil {
		return out, err
	}
	return readOutcome(ctx, st, run.ID)
}

func readOutcome(ctx context.Context, st *store.Store, id string) (out outcome, err error) {
	if out.raw, err = st.ResultBytes(ctx, id); err != nil {
		return out, err
	}
	out.result, err = result.Decode(out.raw)
	return out, err
}
