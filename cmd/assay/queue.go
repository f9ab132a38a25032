package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
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
		Use: "queue", Short: "what the daemon runs and what waits", Example: "  assay queue",
		RunE: func(c *cobra.Command, _ []string) error {
			waiting, err := a.waiting(c.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(a.stdout).Encode(runPage{waiting})
			}
			if len(waiting) == 0 {
				fmt.Fprintln(a.stderr, "nothing runs and nothing waits")
			}
			return printQueue(a.stdout, waiting)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

// printQueue writes a line for each run that runs or waits.
func printQueue(w io.Writer, waiting []runView) error {
	for _, r := range waiting {
		if _, err := fmt.Fprintf(w, "%s  %-8s %s\n", r.ID, r.State, fault.Printable(r.Name)); err != nil {
			return err
		}
	}
	return nil
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
