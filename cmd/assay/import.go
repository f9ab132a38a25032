package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"assay/cmd/assay/arg"
	"assay/cmd/assay/importing"
	"assay/fault"
)

func (a *app) importCommand() *cobra.Command {
	var o importing.Options
	var asJSON bool
	c := &cobra.Command{
		Use: "import FILE|DIR", Short: "keep the results of another benchmark client as a run", Args: arg.One("the file or folder that a tool wrote"),
		Long:    importing.Long(),
		Example: "  assay import result.json\n  assay import artifacts/ --as aiperf --sut sut.json",
		RunE: func(c *cobra.Command, args []string) error {
			if err := arg.NoneEmpty(c, "as", "sut"); err != nil {
				return err
			}
			return a.importResults(c.Context(), args[0], o, asJSON)
		},
	}
	c.Flags().StringVar(&o.As, "as", "", "`FORMAT` of the files, instead of what their content says")
	c.Flags().StringVar(&o.SUT, "sut", "", "`FILE` with the machine that was measured, as `assay probe --json --out` writes it")
	c.Flags().BoolVar(&asJSON, "json", false, "the result document on stdout")
	return c
}

// importResults starts nothing, so it works beside a daemon that holds the data directory.
func (a *app) importResults(ctx context.Context, path string, o importing.Options, asJSON bool) (err error) {
	found, err := importing.Read(path, o)
	if err != nil {
		return err
	}
	a.warn(found.Warnings)
	if err := makeDir(a.data); err != nil {
		return err
	}
	s, err := a.fill(ctx, nil, a.quiet())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.store.Close()) }()
	r, err := s.agent.Import(ctx, found.Found, found.SUT)
	if err != nil {
		return err
	}
	out, err := readOutcome(ctx, s.store, r.Run.ID)
	if err != nil {
		return err
	}
	if err := a.show(out, asJSON); err != nil {
		return err
	}
	a.warn(importing.Contradictions(out.result))
	if code := exitOfRun(r.Run); code != exitValid {
		return errExit{code}
	}
	return nil
}

func (a *app) warn(of []string) {
	for _, text := range of {
		fmt.Fprintln(a.stderr, "warning: "+fault.Printable(text))
	}
}
