package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/agent/secrets"
	"assay/fault"
	"assay/result"
	"assay/store"
)

// queueRetry is when the queue is looked at again after an error, such as a full disk.
const queueRetry = 30 * time.Second

// debtRetry is how often an idle daemon looks again for what could not be removed.
const debtRetry = time.Minute

// Run is the daemon after Recover: it executes what is queued, one run at a time, until ctx ends.
func (a *Agent) Run(ctx context.Context) error {
	schedules, err := a.startSchedules(ctx)
	if err != nil {
		return err
	}
	defer schedules.Stop()
	tick, first := time.NewTicker(debtRetry), true
	defer tick.Stop()
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
		case <-tick.C:
			if err := a.settleDebt(ctx, first); err != nil {
				a.Log.Error("what an earlier program left", "error", err)
			}
			first = false
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
// be resumed at the next point. The caller holds the lock, so nothing that is found still has an owner. What cannot be removed, or looked for
// because the container engine is away, does not keep the program from starting: it is tried again, and a run that would start something
// beside it is refused.
func (a *Agent) Recover(ctx context.Context) error {
	if err := a.settle(ctx); err != nil {
		return err
	}
	if err := a.remember(ctx); err != nil {
		return err
	}
	if err := a.keeper(a.tellOfNode).Recover(ctx); err != nil {
		return err
	}
	if err := a.repair(ctx); err != nil {
		return err
	}
	if err := secrets.Release(ctx, a.Store, a.known, a.reissue); err != nil {
		return err
	}
	_, err := a.Store.Sweep(ctx)
	return err
}

// runEnd is how a run ended.
type runEnd struct {
	run   string
	state result.State
	fault *fault.Fault
}

// endingOf is how a run ended that the store holds as running: this program knows, or it was another, which was killed.
func (a *Agent) endingOf(run string) runEnd {
	if a.unsealed.run == run {
		return a.unsealed
	}
	return runEnd{run, result.Interrupted, fault.New(fault.Client, "interrupted", "go on with `assay run --resume "+run+"`", "the program ended in the middle of the run")}
}

// repair marks runs interrupted that the store holds as running though nobody executes them: the program was killed, or the disk was
// full when they ended.
func (a *Agent) repair(ctx context.Context) error {
	running, err := a.Store.Running(ctx)
	if err != nil {
		return err
	}
	for _, run := range running {
		e := a.endingOf(run.ID)
		r, err := a.seal(ctx, run.ID, e.state, e.fault)
		if err != nil {
			return fmt.Errorf("mark run %s %s: %w", run.ID, e.state, err)
		}
		a.Log.Warn("run had ended early", "run", run.ID, "state", e.state, "error", e.fault)
		a.ended(run.ID, e.state, r.Run.Verdict, e.fault)
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
