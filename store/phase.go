package store

import (
	"context"
	"database/sql"

	"assay/result"
)

// PutPhase stores a phase when it starts and again when it ends; a phase is known by its name, point and start.
func (s *Store) PutPhase(ctx context.Context, runID string, p result.Phase) error {
	failure, err := encodeFault(p.Error)
	if err != nil {
		return s.explain(err, "store phase %s of run %s", p.Name, runID)
	}
	_, err = s.write.ExecContext(ctx, `INSERT INTO phases (run_id, started_us, name, point, ended_us, error) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (run_id, started_us, name, point) DO UPDATE SET ended_us = excluded.ended_us, error = excluded.error`,
		runID, p.StartedUS, p.Name, p.Point, p.EndedUS, failure)
	return s.explainRun(err, runID, "store phase %s of run %s", p.Name, runID)
}

// Phases gives the run's phases in the order they started, those before a resume too.
func (s *Store) Phases(ctx context.Context, runID string) ([]result.Phase, error) {
	phases, err := queryAll(ctx, s.read, scanPhase,
		`SELECT name, point, started_us, ended_us, error FROM phases WHERE run_id = ? ORDER BY started_us, rowid`, runID)
	return phases, s.explain(err, "read phases of run %s", runID)
}

func scanPhase(row scanner) (result.Phase, error) {
	var p result.Phase
	var failure sql.NullString
	if err := row.Scan(&p.Name, &p.Point, &p.StartedUS, &p.EndedUS, &failure); err != nil {
		return result.Phase{}, err
	}
	return p, decodeText(failure, &p.Error)
}
