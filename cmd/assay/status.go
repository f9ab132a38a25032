package main

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"assay/fault"
	"assay/probes"
)

// statusView is what `assay status --json` prints.
type statusView struct {
	Daemon  bool            `json:"daemon"`
	PID     int             `json:"pid,omitempty"`
	Socket  string          `json:"socket,omitempty"`
	Program *probes.Program `json:"program,omitempty"`
	Queue   []runView       `json:"queue"`
}

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "status", Short: "whether a daemon holds the data directory, and what it does", Args: cobra.NoArgs, Example: "  assay status --json",
		RunE: func(c *cobra.Command, _ []string) error {
			held, holder, err := a.peekLock()
			if err != nil {
				return err
			}
			v := statusView{Daemon: holder.Socket != "", PID: holder.PID, Socket: holder.Socket, Queue: []runView{}}
			if v.Daemon {
				if err := newDaemon(holder.Socket).call(c.Context(), http.MethodGet, "/version", nil, &v.Program); err != nil {
					return err
				}
				if v.Queue, err = a.waiting(c.Context()); err != nil {
					return err
				}
			}
			if asJSON {
				return json.NewEncoder(a.stdout).Encode(v)
			}
			a.printStatus(v, held)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

func (a *app) printStatus(v statusView, held bool) {
	switch {
	case v.Daemon:
		fmt.Fprintf(a.stdout, "daemon %s, process %d, holds %s\n", v.Program.Version, v.PID, a.data)
	case held:
		fmt.Fprintf(a.stdout, "no daemon; process %d holds %s for a run\n", v.PID, a.data)
	default:
		fmt.Fprintf(a.stdout, "no daemon, and nobody holds %s\n", a.data)
	}
	for _, r := range v.Queue {
		fmt.Fprintf(a.stdout, "%s  %-8s %s\n", r.ID, r.State, fault.Printable(r.Name))
	}
}
