package store

import (
	"context"
	"encoding/json"

	"assay/result"
)

// PutPoint stores the point at an index of the run's plan; a point stored there before is replaced.
func (s *Store) PutPoint(ctx context.Context, runID string, index int, p result.Point) error {
	document, err := json.Marshal(p)
	if err != nil {
		return s.explain(err, "store point %s of run %s", p.ID, runID)
	}
	systemTPS, perUser, ttftP90MS := keyFigures(p)
	_, err = s.write.ExecContext(ctx, `INSERT INTO points (run_id, idx, id, state, system_tps, tps_per_user, ttft_p90_ms, schema, document)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run_id, idx) DO UPDATE SET id = excluded.id, state = excluded.state,
		system_tps = excluded.system_tps, tps_per_user = excluded.tps_per_user, ttft_p90_ms = excluded.ttft_p90_ms,
		schema = excluded.schema, document = excluded.document`,
		runID, index, p.ID, p.State, systemTPS, perUser, ttftP90MS, result.Schema, string(document))
	return s.explainRun(err, runID, "store point %s of run %s", p.ID, runID)
}

func keyFigures(p result.Point) (systemTPS, perUser, ttftP90MS *float64) {
	if p.Metrics == nil {
		return nil, nil, nil
	}
	if p.Metrics.TTFTMS != nil {
		ttftP90MS = &p.Metrics.TTFTMS.P90
	}
	return p.Metrics.SystemTPS, p.Metrics.TPSPerUser, ttftP90MS
}

// Points gives the run's points stored so far, in the order of its plan.
func (s *Store) Points(ctx context.Context, runID string) ([]result.Point, error) {
	points, err := queryAll(ctx, s.read, scanPoint, `SELECT document FROM points WHERE run_id = ? ORDER BY idx`, runID)
	return points, s.explain(err, "read points of run %s", runID)
}

func scanPoint(row scanner) (p result.Point, err error) {
	var document []byte
	if err := row.Scan(&document); err != nil {
		return result.Point{}, err
	}
	return p, json.Unmarshal(document, &p)
}
