package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"assay/archive"
	"assay/fault"
)

func (a *app) archiveCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "archive RUN", Short: "pack and sign a run as one file", Args: oneArg(aRun),
		Example: "  assay archive last --out run.tar.zst\n  assay verify run.tar.zst",
		RunE:    func(c *cobra.Command, args []string) error { return a.archive(c.Context(), args[0], out) },
	}
	c.Flags().StringVar(&out, "out", "", "write to `FILE` (default: <run>.tar.zst here)")
	return c
}

func (a *app) archive(ctx context.Context, ref, out string) (err error) {
	st, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	run, err := st.FindRun(ctx, ref)
	if err != nil {
		return err
	}
	key, err := archive.LoadOrCreateKey(a.data)
	if err != nil {
		return err
	}
	if out == "" {
		out = run.ID + ".tar.zst"
	}
	err = writeFile(fault.Archive, out, func(w io.Writer) error { return archive.Pack(ctx, st.RunDir(run.ID), key, w) })
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, out)
	return err
}
