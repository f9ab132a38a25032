package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"assay/fault"
	"assay/result"
)

// runPage is what this program reads of a list of runs in the API.
type runPage struct {
	Items []runView `json:"items"`
}

func (a *app) queueCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "queue", Short: "what the daemon runs and what waits", Args: cobra.NoArgs, Example: "  assay queue",
		RunE: func(c *cobra.Command, _ []string) error {
			waiting, err := a.waiting(c.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(a.stdout).Encode(runPage{waiting})
			}
			for _, r := range waiting {
				fmt.Fprintf(a.stdout, "%s  %-8s %s\n", r.ID, r.State, fault.Printable(r.Name))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

// waiting asks the daemon for the running run and the queued ones, in that order.
func (a *app) waiting(ctx context.Context) ([]runView, error) {
	d, err := a.findDaemon()
	if err != nil {
		return nil, err
	}
	all := []runView{}
	for _, state := range []result.State{result.Running, result.Queued} {
		var page runPage
		if err := d.Call(ctx, http.MethodGet, "/runs?state="+string(state), nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
	}
	return all, nil
}
