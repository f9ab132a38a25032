package agent

import (
	"context"
	"errors"
	"slices"

	"assay/agent/journal"
	"assay/containers"
	"assay/plan"
	"assay/store"
)

// journal is where what is started is written down before it is.
func (c Config) journal() journal.Journal {
	return journal.Journal{Store: c.Store, Owner: c.Owner, Docker: c.Docker, Log: c.Log}
}

// settle removes what a killed program left, in some runtimes or in all, and notes in its run what that was.
func (a *Agent) settle(ctx context.Context, runtimes ...string) error {
	found, err := a.journal().Settle(ctx, runtimes...)
	if err != nil {
		return err
	}
	if err := a.noteLeft(ctx, found.Removed); err != nil {
		return err
	}
	for _, l := range found.Stuck {
		switch {
		case !slices.Contains(runtimes, l.Runtime):
		case l.State == "": // nobody can tell
			return found.Failed
		default:
			return l.Fault()
		}
	}
	return nil
}

// settleDebt looks again for what the journal still holds, or in any case. It is called while no run is executed.
func (a *Agent) settleDebt(ctx context.Context, anyway bool) error {
	open, err := journal.Open(ctx, a.Store)
	if err != nil || len(open) == 0 && !anyway {
		return err
	}
	return a.settle(ctx)
}

// clear makes sure that nothing of an earlier run is left where the plan starts something.
func (a *Agent) clear(ctx context.Context, p plan.Plan) error {
	return a.settle(ctx, journal.Runtimes(p)...)
}

// noteLeft writes into the runs what was left of them and how it was found. A run that has ended already, because the container engine
// was away when it was marked, gets a new result with the rest of its logs.
func (a *Agent) noteLeft(ctx context.Context, left []containers.Left) error {
	runs, err := a.journal().Note(ctx, left)
	for _, run := range runs {
		err = errors.Join(err, a.reissue(ctx, run))
	}
	return err
}

// reissue writes the result of a run that ended early once more. What was saved of its logs since is swept as all of it was.
func (a *Agent) reissue(ctx context.Context, run store.Run) error {
	if !run.State.Ended() {
		return nil // its result is still to come
	}
	if err := a.sweep(ctx, run.ID); err != nil {
		return err
	}
	points, err := a.Store.Points(ctx, run.ID)
	if err != nil {
		return err
	}
	r, err := a.document(ctx, run, points, run.Reasons)
	if err != nil {
		return err
	}
	if _, err := a.Store.SaveResult(ctx, run.ID, r); err != nil {
		return err
	}
	return a.publish(ctx, run.ID)
}
