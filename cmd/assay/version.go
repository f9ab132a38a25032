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
		Use: "version", Short: "the version, commit and Go version of this program", Example: "  assay version --json",
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return json.NewEncoder(a.stdout).Encode(program())
			}
			_, err := fmt.Fprintln(a.stdout, versionText())
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

// versionText is what people are told of this program.
func versionText() string {
	p := program()
	return fmt.Sprintf("assay %s, commit %s, %s, %s/%s", p.Version, p.Commit, p.Go, runtime.GOOS, runtime.GOARCH)
}
