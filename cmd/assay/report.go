package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"assay/agent/publish"
	"assay/cmd/assay/arg"
	"assay/cmd/assay/output"
	"assay/fault"
	"assay/report"
	"assay/store"
)

func (a *app) reportCommand() *cobra.Command {
	var format, out string
	c := &cobra.Command{
		Use: "report RUN", Short: "a run's report as " + strings.Join(formatNames(), ", "), Args: arg.One(arg.Run), ValidArgsFunction: a.completeRun,
		Example: "  assay report last\n  assay report last --format html --out report.html\n  assay report last --format csv",
		RunE: func(c *cobra.Command, args []string) error {
			f, err := report.FormatNamed(format)
			if err != nil {
				return err
			}
			return a.withRun(c.Context(), args[0], func(st *store.Store, run store.Run) error { return a.report(c.Context(), st, run, f, out) })
		},
	}
	c.Flags().StringVar(&format, "format", "text", strings.Join(formatNames(), ", "))
	offer(c, "format", formatNames())
	c.Flags().StringVar(&out, "out", "", "write to `FILE` instead of standard output")
	return c
}

func formatNames() []string {
	var names []string
	for _, f := range report.Formats() {
		names = append(names, f.Name)
	}
	return names
}

func (a *app) report(ctx context.Context, st *store.Store, run store.Run, f report.Format, out string) error {
	if err := a.hasEnded(run); err != nil {
		return err
	}
	in, err := publish.Input(ctx, st, run.ID)
	if err != nil {
		return err
	}
	if out == "" {
		if err := f.Write(a.stdout, in); !errors.Is(err, syscall.EPIPE) {
			return err
		}
		return errExit{exitInfra} // whoever read has enough
	}
	var b bytes.Buffer
	if err := f.Write(&b, in); err != nil {
		return err
	}
	return output.Write(fault.Store, out, output.Bytes(b.Bytes()))
}
