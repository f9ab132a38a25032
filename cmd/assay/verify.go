package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"assay/archive"
	"assay/cmd/assay/arg"
	"assay/fault"
)

func (a *app) verifyCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "verify FILE...", Short: "check archives: hashes, signature, every number recomputed from raw", Args: arg.Some("an archive"),
		Long:    "Exit 0 when all was recomputed and is equal, 1 when something differs or a signature is bad, in any of the archives.",
		Example: "  assay verify run.tar.zst\n  assay verify runs/*/archive.tar.zst",
		RunE: func(c *cobra.Command, args []string) error {
			for _, name := range args {
				if err := readable(name); err != nil {
					return fault.New(fault.Plan, "usage", "give the archive.tar.zst of a run, which lies in its folder, or what `assay archive RUN` writes",
						"%s is no archive that can be read: %w", name, err)
				}
			}
			same := true
			for _, name := range args {
				ok, err := a.verify(c.Context(), name, len(args) > 1, asJSON)
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

// verify checks one archive and shows what was found, under its name where it is one of several.
func (a *app) verify(ctx context.Context, name string, named, asJSON bool) (bool, error) {
	r, err := archive.Verify(ctx, name)
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	if asJSON {
		return r.OK, json.NewEncoder(a.stdout).Encode(r)
	}
	var b bytes.Buffer
	if named {
		fmt.Fprintln(&b, fault.Printable(name))
	}
	for _, l := range r.Lines {
		fmt.Fprintf(&b, "%-8s %-24s %s\n", l.State, fault.Printable(l.What), fault.Printable(l.Text))
	}
	_, err = b.WriteTo(a.stdout)
	return r.OK, err
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
