package main

import (
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
		Use: "verify FILE", Short: "check an archive: hashes, signature, every number recomputed from raw", Args: oneArg("an archive"),
		Long:    "Exit 0 when all was recomputed and is equal, 1 when something differs or the signature is bad.",
		Example: "  assay verify run.tar.zst",
		RunE: func(c *cobra.Command, args []string) error {
			if err := readable(args[0]); err != nil {
				return usage("%s is no archive that can be read: %w", args[0], err)
			}
			r, err := archive.Verify(c.Context(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				err = json.NewEncoder(a.stdout).Encode(r)
			} else {
				for _, l := range r.Lines {
					fmt.Fprintf(a.stdout, "%-8s %-24s %s\n", l.State, fault.Printable(l.What), fault.Printable(l.Text))
				}
			}
			if err == nil && !r.OK {
				return errExit{exitNotValid}
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
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
