package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "version", Short: "the version, commit and Go version of this program", Example: "  assay version --json", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			p := program()
			if asJSON {
				return json.NewEncoder(a.stdout).Encode(p)
			}
			_, err := fmt.Fprintf(a.stdout, "assay %s, commit %s, %s, %s/%s\n", p.Version, p.Commit, p.Go, runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}
