package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/spf13/cobra"

	"assay/agent/lock"
	"assay/cmd/assay/daemon"
	"assay/cmd/assay/standing"
	"assay/fault"
	"assay/result"
	"assay/store"
)

func (a *app) nodeCommand() *cobra.Command {
	return standing.Command(standing.Source{Known: a.knownNode, Look: a.lookAtNode, Out: a.stdout, NotReady: errExit{exitPreflight}})
}

// knownNode reads what is known of the machine. A data directory without runs knows nothing against it.
func (a *app) knownNode(ctx context.Context) (n result.Node, err error) {
	n = result.Node{State: result.NodeReady, Marks: []result.Mark{}, Devices: []result.Device{}}
	err = a.withStore(ctx, func(st *store.Store) error {
		n, err = st.Node(ctx)
		return err
	})
	return n, err
}

// lookAtNode looks at the machine here, or has the daemon do it that holds the data directory.
func (a *app) lookAtNode(ctx context.Context, accept bool) (n result.Node, err error) {
	s, holder, err := a.openSession(ctx, "", a.quiet())
	if errors.Is(err, lock.ErrHeld) && holder.Socket != "" {
		path := "/node/check"
		if accept {
			path = "/node/accept"
		}
		err = daemon.New(holder.Socket).Call(ctx, http.MethodPost, path, nil, &n)
		return n, err
	}
	if errors.Is(err, lock.ErrHeld) {
		return n, fault.New(fault.Store, "busy", "wait until it has ended", "the data directory %s is in use by process %d", a.data, holder.PID)
	}
	if err != nil {
		return n, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return s.agent.CheckNode(ctx, accept)
}
