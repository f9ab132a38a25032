package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"assay/fault"
	"assay/result"
)

// RunChange is what a move writes beside the state.
type RunChange struct {
	AtUS    int64           // when; becomes started_us at the first start, ended_us at an end
	Verdict string          // of an end
	Reasons []result.Reason // of an end
	Error   *fault.Fault    // of an end
	Resume  bool            // needed to run an ended run again
}

// moves are the allowed transitions. A run that ended begins again only as a resume.
func moves(from result.State, resume bool) []result.State {
	switch from {
	case result.Queued:
		return []result.State{result.Running, result.Canceled}
	case result.Running:
		return []result.State{result.Done, result.Failed, result.Interrupted, result.Canceled}
	case result.Interrupted, result.Failed, result.Canceled:
		if resume {
			return []result.State{result.Queued, result.Running}
		}
	}
	return nil
}

// MoveRun brings a run to another state. A transition that is not allowed is ErrConflict and changes nothing.
func (s *Store) MoveRun(ctx context.Context, id string, to result.State, change RunChange) error {
	reasons, failure, err := encodeEnd(change.Reasons, change.Error)
	if err != nil {
		return s.explain(err, "move run %s to %s", id, to)
	}
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return s.explain(err, "move run %s to %s", id, to)
	}
	defer tx.Rollback()
	from, err := stateOf(ctx, tx, id)
	if err != nil {
		return s.explainRun(err, id, "move run %s to %s", id, to)
	}
	if !slices.Contains(moves(from, change.Resume), to) {
		return &fault.Fault{Layer: fault.Store, Code: "store.run_state", Text: unmoved(id, from, to), Hint: "`assay runs` tells where the run stands", Cause: ErrConflict}
	}
	startedUS, endedUS := int64(0), int64(0)
	if to == result.Running {
		startedUS = change.AtUS
	}
	if to.Ended() {
		endedUS = change.AtUS
	}
	_, err = tx.ExecContext(ctx, `UPDATE runs SET state = ?, verdict = ?, reasons = ?, error = ?,
		started_us = iif(started_us = 0, ?, started_us), ended_us = ? WHERE id = ?`,
		to, change.Verdict, reasons, failure, startedUS, endedUS, id)
	if err != nil {
		return s.explain(err, "move run %s to %s", id, to)
	}
	return s.explain(tx.Commit(), "move run %s to %s", id, to)
}

// unmoved says in plain words why a run in state from does not get to another.
func unmoved(id string, from, to result.State) string {
	switch {
	case from == to && to == result.Queued:
		return "run " + id + " waits in the queue already"
	case from == result.Running && (to == result.Queued || to == result.Running):
		return "run " + id + " is under way already"
	case from == result.Done && !to.Ended():
		return "run " + id + " is done: there is nothing left to measure"
	}
	return fmt.Sprintf("run %s is %s and cannot become %s", id, from, to)
}

func stateOf(ctx context.Context, tx *sql.Tx, id string) (state result.State, err error) {
	err = tx.QueryRowContext(ctx, `SELECT state FROM runs WHERE id = ?`, id).Scan(&state)
	return state, err
}
