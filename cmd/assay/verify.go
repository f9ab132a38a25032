package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"assay/archive"
	"assay/fault"
)

func (a *app) verifyCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "verify FILE...", Short: "check archives: hashes, signature, every number recomputed from raw", Args: someArgs("an archive"),
		Long:    "Exit 0 when all was recomputed and is equal, 1 when something differs or a signature is bad, in any of the archives.",
		Example: "  assay verify run.tar.zst\n  assay verify runs/*/archive.tar.zst",
		RunE: func(c *cobra.Command, args []string) error {
			for _, name := range args {
				if err := readable(name); err != nil {
					return usage("%s is no archive that can be read: %w", name, err)
				}
			}
			same := true
			for _, name := range args {
				if len(args) > 1 && !asJSON {
					fmt.Fprintln(a.stdout, fault.Printable(name))
				}
				ok, err := a.verify(c.Context(), name, asJSON)
				if err != nil {
					return err
				}
				same = same && ok
			}
			if !same {
				return errExit{exitNotValid}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document for each archive, a line each")
	return c
}

// verify checks one archive and shows what was found.
func (a *app) verify(ctx context.Context, name string, asJSON bool) (bool, error) {
	r, err := archive.Verify(ctx, name)
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	if asJSON {
		return r.OK, json.NewEncoder(a.stdout).Encode(r)
	}
	for _, l := range r.Lines {
		fmt.Fprintf(a.stdout, "%-8s %-24s %s\n", l.State, fault.Printable(l.What), fault.Printable(l.Text))
	}
	return r.OK, nil
}

// readable says why a file cannot be read; what is in it is for archive.Verify to judge.
func readable(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	_, err = f.Read(make([]byte, 1))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
