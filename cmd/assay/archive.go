package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"assay/archive"
	"assay/cmd/assay/arg"
	"assay/cmd/assay/output"
	"assay/fault"
	"assay/store"
)

func (a *app) archiveCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "archive RUN", Short: "pack and sign a run as one file", Args: arg.One(arg.Run), ValidArgsFunction: a.completeRun,
		Example: "  assay archive last --out run.tar.zst\n  assay verify run.tar.zst",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withRun(c.Context(), args[0], func(st *store.Store, run store.Run) error { return a.archive(c.Context(), st, run, out) })
		},
	}
	c.Flags().StringVar(&out, "out", "", "write to `FILE` (default: <run>.tar.zst here)")
	return c
}

func (a *app) archive(ctx context.Context, st *store.Store, run store.Run, out string) error {
	key, err := archive.LoadOrCreateKey(a.data)
	if err != nil {
		return err
	}
	if out == "" {
		out = run.ID + ".tar.zst"
	}
	err = output.Write(fault.Archive, out, func(w io.Writer) error { return archive.Pack(ctx, st.RunDir(run.ID), key, w) })
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, out)
	return err
}
