package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"assay/agent/journal"
	"assay/cmd/assay/daemon"
	"assay/cmd/assay/standing"
	"assay/containers"
	"assay/fault"
	"assay/probes"
	"assay/result"
	"assay/store"
)

// statusView is what `assay status --json` prints.
type statusView struct {
	Daemon  bool                `json:"daemon"`
	PID     int                 `json:"pid,omitempty"`
	Socket  string              `json:"socket,omitempty"`
	Program *probes.Program     `json:"program,omitempty"`
	Queue   []runView           `json:"queue"`
	Started []containers.Intent `json:"started,omitempty"`
	Node    result.Node         `json:"node"`
}

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "status", Short: "whether a daemon holds the data directory, and what it does", Example: "  assay status --json",
		RunE: func(c *cobra.Command, _ []string) error {
			held, holder, err := a.peekLock()
			if err != nil {
				return err
			}
			v := statusView{Daemon: holder.Socket != "", PID: holder.PID, Socket: holder.Socket, Queue: []runView{}}
			if v.Daemon {
				if err := daemon.New(holder.Socket).Call(c.Context(), http.MethodGet, "/version", nil, &v.Program); err != nil {
					return err
				}
				if v.Queue, err = a.waiting(c.Context()); err != nil {
					return err
				}
			}
			if v.Node, err = a.knownNode(c.Context()); err != nil {
				return err
			}
			if v.Started, err = a.started(c.Context()); err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(a.stdout).Encode(v)
			}
			var b bytes.Buffer
			a.printStatus(&b, v, held)
			_, err = b.WriteTo(a.stdout)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON document")
	return c
}

// started reads what runs now, or may have been left.
func (a *app) started(ctx context.Context) (open []containers.Intent, err error) {
	err = a.withStore(ctx, func(st *store.Store) error {
		open, err = journal.Open(ctx, st)
		return err
	})
	return open, err
}

func (a *app) printStatus(w *bytes.Buffer, v statusView, held bool) {
	switch {
	case v.Daemon:
		fmt.Fprintf(w, "daemon %s, process %d, holds %s\n", v.Program.Version, v.PID, a.data)
	case held:
		fmt.Fprintf(w, "no daemon; process %d holds %s for a run\n", v.PID, a.data)
	default:
		fmt.Fprintf(w, "no daemon, and nobody holds %s\n", a.data)
	}
	standing.Text(w, v.Node, false)
	for _, i := range v.Started {
		text := "started for run " + i.Run + ": " + i.Name
		if i.Trouble != "" {
			text = "left of run " + i.Run + " and not removed: " + i.Name + ": " + i.Trouble
		}
		fmt.Fprintln(w, fault.Printable(text))
	}
	_ = printQueue(w, v.Queue) // a buffer takes all
}
