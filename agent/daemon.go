package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/containers"
	"assay/fault"
	"assay/result"
	"assay/store"
)

// queueRetry is when the queue is looked at again after an error, such as a full disk.
const queueRetry = 30 * time.Second

// Run is the daemon after Recover: it executes what is queued, one run at a time, until ctx ends.
func (a *Agent) Run(ctx context.Context) error {
	if err := a.startSchedules(ctx); err != nil {
		return err
	}
	defer a.stopSchedules()
	for {
		var again <-chan time.Time
		if err := a.drainQueue(ctx); err != nil {
			a.Log.Error("queue", "error", err)
			again = time.After(queueRetry)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-a.wake:
		case <-again:
		}
	}
}

func (a *Agent) drainQueue(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := a.repair(ctx); err != nil {
			return err
		}
		run, ok, err := a.nextQueued(ctx)
		if err != nil || !ok {
			return err
		}
		a.Log.Info("run started", "run", run.ID, "name", run.Name)
		r, err := a.execute(ctx, run.ID, false)
		if errors.Is(err, errNotQueued) {
			continue // canceled since it was found
		}
		if err != nil {
			return err
		}
		a.Log.Info("run ended", "run", run.ID, "state", r.Run.State, "verdict", r.Run.Verdict)
		if err := a.retain(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (a *Agent) nextQueued(ctx context.Context) (store.Run, bool, error) {
	a.entry.Lock()
	defer a.entry.Unlock()
	return a.Store.NextQueued(ctx)
}

// Recover repairs what a killed program left: its processes and containers are removed, and its run is marked interrupted, so that it can
// be resumed at the next point. The caller holds the lock, so nothing that is found still has an owner.
func (a *Agent) Recover(ctx context.Context) error {
	reaped, err := containers.ReapAll(ctx, a.Owner)
	for _, name := range reaped {
		a.Log.Warn("removed what an earlier program left", "name", name)
	}
	if err != nil {
		return fault.New(fault.Server, "reap_failed", "stop them by hand and start again", "could not remove what an earlier program left: %w", err)
	}
	if err := a.remember(ctx); err != nil {
		return err
	}
	if err := a.repair(ctx); err != nil {
		return err
	}
	_, err = a.Store.Sweep(ctx)
	return err
}

// repair marks runs interrupted that the store holds as running though nobody executes them: the program was killed, or the disk was
// full when they ended.
func (a *Agent) repair(ctx context.Context) error {
	running, err := a.Store.Running(ctx)
	if err != nil {
		return err
	}
	for _, run := range running {
		f := fault.New(fault.Client, "interrupted", "go on with `assay run --resume "+run.ID+"`", "the program ended in the middle of the run")
		r, err := a.seal(ctx, run.ID, result.Interrupted, f)
		if err != nil {
			return fmt.Errorf("mark run %s interrupted: %w", run.ID, err)
		}
		a.Log.Warn("run was interrupted by the end of the program", "run", run.ID)
		a.ended(run.ID, result.Interrupted, r.Run.Verdict, f)
		if err := a.publish(ctx, run.ID); err != nil {
			a.Log.Warn("no report of the interrupted run", "run", run.ID, "error", err)
		}
	}
	return nil
}

// retain deletes the oldest ended runs beyond KeepRuns.
func (a *Agent) retain(ctx context.Context) error {
	if a.KeepRuns <= 0 {
		return nil
	}
	old, err := a.Store.OldestEnded(ctx, a.KeepRuns)
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range old {
		errs = append(errs, a.Store.DeleteRun(ctx, id))
	}
	return errors.Join(errs...)
}
