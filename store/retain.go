package store

import (
	"context"
	"database/sql"
)

// OldestEnded gives the ids of the ended runs beyond the newest keep, oldest first.
func (s *Store) OldestEnded(ctx context.Context, keep int) ([]string, error) {
	scan := func(row scanner) (id string, err error) { return id, row.Scan(&id) }
	ids, err := queryAll(ctx, s.read, scan, `SELECT id FROM (
		SELECT id, created_us FROM runs WHERE state NOT IN ('queued', 'running') ORDER BY created_us DESC, id DESC LIMIT -1 OFFSET @keep)
		ORDER BY created_us, id`, sql.Named("keep", keep))
	return ids, s.explain(err, "list the oldest runs")
}
