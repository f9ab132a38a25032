package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"assay/agent/lock"
	"assay/cmd/assay/daemon"
	"assay/fault"
	"assay/result"
	"assay/store"
)

// findDaemon gives the daemon of the data directory, or a fault that says how to start one.
func (a *app) findDaemon() (daemon.Client, error) {
	_, holder, err := a.peekLock()
	if err != nil {
		return daemon.Client{}, err
	}
	if holder.Socket == "" {
		return daemon.Client{}, fault.New(fault.Store, "no_daemon", "start one with `assay serve`, or say with --data which directory it has",
			"no daemon holds the data directory %s", a.data)
	}
	return daemon.New(holder.Socket), nil
}

// peekLock says who holds the data directory; nobody gives an empty holder.
func (a *app) peekLock() (bool, lock.Holder, error) {
	if _, err := os.Stat(filepath.Join(a.data, "lock")); errors.Is(err, fs.ErrNotExist) {
		return false, lock.Holder{}, nil // asking makes no directory
	}
	return lock.HolderOf(a.data)
}

// runView is what this program reads of a run in the API.
type runView struct {
	ID      string       `json:"id"`
	Name    string       `json:"name"`
	State   result.State `json:"state"`
	Verdict string       `json:"verdict"`
}

// executeThere hands the order to the daemon that holds the data directory and follows it. Ctrl-C cancels the run there.
func (a *app) executeThere(ctx context.Context, o order) (outcome, error) {
	d, err := a.findDaemon()
	if err != nil {
		return outcome{}, err
	}
	run, err := a.handOver(ctx, d, o)
	if err != nil {
		return outcome{}, err
	}
	fmt.Fprintf(a.stderr, "handed to the daemon that holds %s as run %s\n", a.data, run.ID)
	if err := a.followThere(ctx, d, run.ID); err != nil {
		return outcome{}, err
	}
	var out outcome
	safe := context.WithoutCancel(ctx)
	if err := d.Call(safe, http.MethodGet, "/runs/"+run.ID+"/result", nil, &out.raw); err != nil {
		return out, err
	}
	out.result, err = result.Decode(out.raw)
	return out, err
}

// handOver queues the order's plan with the daemon, or the run it is to go on with.
func (a *app) handOver(ctx context.Context, d daemon.Client, o order) (run runView, err error) {
	if o.resume == "" {
		query := url.Values{"base_dir": {o.origin.BaseDir}, "archive": {strconv.FormatBool(!o.origin.NoArchive)}}
		err = d.Call(ctx, http.MethodPost, "/runs?"+query.Encode(), o.plan.YAML(), &run)
		return run, err
	}
	st, err := a.openStore(ctx)
	if err != nil {
		return run, err
	}
	found, err := findToResume(ctx, st, o.resume)
	if err := errors.Join(err, st.Close()); err != nil {
		return run, err
	}
	err = d.Call(ctx, http.MethodPost, "/runs/"+found.ID+"/resume", nil, &run)
	return run, err
}

// followThere shows the run's events until it ended. A broken stream is taken up again where it broke.
func (a *app) followThere(ctx context.Context, d daemon.Client, id string) error {
	safe, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() {
		if err := d.Call(safe, http.MethodPost, "/runs/"+id+"/cancel", nil, nil); err != nil {
			fmt.Fprintf(a.stderr, "assay: cancel run %s: %v\n", id, err)
			stop()
		}
	})()
	events := make(chan result.Event)
	shown := make(chan struct{})
	go func() { a.follow(events, id); close(shown) }()
	defer func() { close(events); <-shown }()
	last := ""
	for range 5 {
		ended, err := d.Stream(safe, id, &last, events)
		if err != nil {
			return a.leftThere(safe, id, err)
		}
		if ended {
			return nil
		}
	}
	return fault.New(fault.Store, "daemon_unreachable", "look at it later with `assay show "+id+"`", "the event stream of run %s broke five times", id)
}

// leftThere says how a run stands whose daemon has ended; err where that is not known.
func (a *app) leftThere(ctx context.Context, id string, err error) error {
	if fault.Of(err, fault.Store).Code != "store.daemon_unreachable" {
		return err
	}
	var queued error
	failed := a.withRun(ctx, id, func(_ *store.Store, run store.Run) error {
		if run.State == result.Queued {
			queued = fault.New(fault.Store, "daemon_ended", "`assay serve` executes it when it is started again; `assay run --resume "+id+"` executes it here",
				"the daemon has ended before run %s began: the run stays queued", id)
		}
		return nil
	})
	if failed != nil || queued == nil {
		return err
	}
	return queued
}
