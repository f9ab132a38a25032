package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"assay/fault"
)

// deleted marks the folder of a run on its way out: runs/.deleted-<id>.
const deleted = ".deleted-"

// DeleteRun removes a run whole: its rows, by cascade, and its folder. A queued or running run is ErrConflict. The folder is
// renamed before the rows go and removed after, so that a crash in between leaves nothing half: Sweep ends what was begun.
func (s *Store) DeleteRun(ctx context.Context, id string) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return s.explain(err, "delete run %s", id)
	}
	defer tx.Rollback()
	state, err := stateOf(ctx, tx, id)
	if err != nil {
		return s.explainRun(err, id, "delete run %s", id)
	}
	if !state.Ended() {
		return fault.New(fault.Store, "run_state", "cancel it first", "run %s is %s and cannot be deleted: %w", id, state, ErrConflict)
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM runs WHERE id = ?`, id); err != nil {
		return s.explain(err, "delete run %s", id)
	}
	doomed := filepath.Join(s.dir, "runs", deleted+id)
	if err := rename(s.RunDir(id), doomed); err != nil {
		return s.explain(err, "delete run %s", id)
	}
	if err := tx.Commit(); err != nil {
		return s.explain(errors.Join(err, rename(doomed, s.RunDir(id))), "delete run %s", id)
	}
	return s.explain(os.RemoveAll(doomed), "delete files of run %s", id)
}

// rename moves a folder; one that is not there is no error.
func rename(from, to string) error {
	if err := os.Rename(from, to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Sweep ends deletions that a crash cut short and gives the ids it worked on: the folder of a run whose rows are gone is
// removed, that of a run whose rows are still there is put back. Folders it does not know are left alone.
func (s *Store) Sweep(ctx context.Context) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "runs"))
	if err != nil {
		return nil, s.explain(err, "sweep %s", s.dir)
	}
	var ids []string
	for _, e := range entries {
		id, ok := strings.CutPrefix(e.Name(), deleted)
		if !ok {
			continue
		}
		if err := s.sweepRun(ctx, id); err != nil {
			return ids, s.explain(err, "sweep run %s", id)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// sweepRun holds the write lock, so that it meets no deletion under way.
func (s *Store) sweepRun(ctx context.Context, id string) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	doomed := filepath.Join(s.dir, "runs", deleted+id)
	var there bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM runs WHERE id = ?)`, id).Scan(&there); err != nil {
		return err
	}
	if there {
		return rename(doomed, s.RunDir(id))
	}
	return os.RemoveAll(doomed)
}
