package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"assay/fault"
	"assay/result"
)

// Run is one row of the list of runs.
type Run struct {
	ID         string
	Name       string
	State      result.State
	Verdict    string
	Reasons    []result.Reason // why the run is not valid
	Error      *fault.Fault
	Plan       []byte // canonical JSON
	PlanSHA256 string
	Source     string // cli | api | import | schedule:<id>
	Key        string // idempotency key of the submission, "" when none
	CreatedUS  int64
	StartedUS  int64
	EndedUS    int64
	Points     int      // points of the plan
	PointsDone int      // points that were measured, well or not; those that failed or were skipped are none
	BestTPS    *float64 // highest System TPS of its points
	BestPoint  string
}

// runColumns are the columns scanRun reads, from runs AS r.
const runColumns = `r.id, r.name, r.state, r.verdict, r.reasons, r.error, r.plan, r.plan_sha256, r.source, coalesce(r.key, ''),
	r.created_us, r.started_us, r.ended_us, r.points,
	(SELECT count(*) FROM points p WHERE p.run_id = r.id AND p.state NOT IN ('skipped', 'failed')),
	(SELECT max(p.system_tps) FROM points p WHERE p.run_id = r.id),
	coalesce((SELECT p.id FROM points p WHERE p.run_id = r.id AND p.system_tps IS NOT NULL ORDER BY p.system_tps DESC, p.idx LIMIT 1), '')`

// CreateRun adds a run, queued where r has no state, and makes its folder. A key that was used before is ErrExists with the same
// plan (RunByKey gives that run) and ErrConflict with another; a used id is ErrConflict.
func (s *Store) CreateRun(ctx context.Context, r Run) error {
	if !isID(r.ID) {
		return fmt.Errorf("create run: %q is no id for a run", r.ID)
	}
	if r.State == "" {
		r.State = result.Queued
	}
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return s.explain(err, "create run %s", r.ID)
	}
	defer tx.Rollback()
	if err := checkKey(ctx, tx, r); err != nil {
		return s.explain(err, "create run %s", r.ID)
	}
	if err := insertRun(ctx, tx, r); err != nil {
		return s.explain(err, "create run %s", r.ID)
	}
	if err := os.MkdirAll(s.RunDir(r.ID), 0o700); err != nil {
		return s.explain(err, "create run %s", r.ID)
	}
	return s.explain(tx.Commit(), "create run %s", r.ID)
}

// checkKey finds out whether r's key was used before.
func checkKey(ctx context.Context, tx *sql.Tx, r Run) error {
	if r.Key == "" {
		return nil
	}
	var id, plan string
	err := tx.QueryRowContext(ctx, `SELECT id, plan_sha256 FROM runs WHERE key = ?`, r.Key).Scan(&id, &plan)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	case plan == r.PlanSHA256:
		return fmt.Errorf("run %s of key %q: %w", id, r.Key, ErrExists)
	}
	return fault.New(fault.Store, "key_used", "use a new key for a new plan", "key %q was used for another plan by run %s: %w", r.Key, id, ErrConflict)
}

func insertRun(ctx context.Context, tx *sql.Tx, r Run) error {
	reasons, failure, err := encodeEnd(r.Reasons, r.Error)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO runs (id, name, state, verdict, reasons, error, plan, plan_sha256, source, key, points,
		created_us, started_us, ended_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''), ?, ?, ?, ?)`,
		r.ID, r.Name, r.State, r.Verdict, reasons, failure, string(r.Plan), r.PlanSHA256, r.Source, r.Key, r.Points,
		r.CreatedUS, r.StartedUS, r.EndedUS)
	if isUnique(err) {
		return fault.New(fault.Store, "run_exists", "", "run %s is there already: %w", r.ID, ErrConflict)
	}
	return err
}

// Run gives the run of an id, or ErrNotFound.
func (s *Store) Run(ctx context.Context, id string) (Run, error) {
	r, err := scanRun(s.read.QueryRowContext(ctx, `SELECT `+runColumns+` FROM runs r WHERE r.id = ?`, id))
	return r, s.explainRun(err, id, "read run %s", id)
}

// RunByKey gives the run of an idempotency key, or ErrNotFound.
func (s *Store) RunByKey(ctx context.Context, key string) (Run, error) {
	r, err := scanRun(s.read.QueryRowContext(ctx, `SELECT `+runColumns+` FROM runs r WHERE r.key = ?`, key))
	if errors.Is(err, sql.ErrNoRows) {
		return Run{}, fault.New(fault.Store, "no_run", "", "run of key %q: %w", key, ErrNotFound)
	}
	return r, s.explain(err, "read run of key %q", key)
}

// NextQueued gives the run that waits longest; false when none waits.
func (s *Store) NextQueued(ctx context.Context) (Run, bool, error) {
	r, err := scanRun(s.read.QueryRowContext(ctx,
		`SELECT `+runColumns+` FROM runs r WHERE r.state = ? ORDER BY r.created_us, r.id LIMIT 1`, result.Queued))
	if errors.Is(err, sql.ErrNoRows) {
		return Run{}, false, nil
	}
	return r, err == nil, s.explain(err, "read the queue")
}

// Running gives the runs in state running, oldest first. Of a data directory nobody works in, they are what a killed program left.
func (s *Store) Running(ctx context.Context) ([]Run, error) {
	runs, err := s.queryRuns(ctx, `SELECT `+runColumns+` FROM runs r WHERE r.state = ? ORDER BY r.created_us, r.id`, result.Running)
	return runs, s.explain(err, "read running runs")
}

func (s *Store) queryRuns(ctx context.Context, query string, args ...any) ([]Run, error) {
	return queryAll(ctx, s.read, scanRun, query, args...)
}

// scanner is a row of database/sql, alone or of many.
type scanner interface{ Scan(dest ...any) error }

func scanRun(row scanner) (Run, error) {
	var r Run
	var reasons, failure sql.NullString
	var best sql.NullFloat64
	err := row.Scan(&r.ID, &r.Name, &r.State, &r.Verdict, &reasons, &failure, &r.Plan, &r.PlanSHA256, &r.Source, &r.Key,
		&r.CreatedUS, &r.StartedUS, &r.EndedUS, &r.Points, &r.PointsDone, &best, &r.BestPoint)
	if err != nil {
		return Run{}, err
	}
	if best.Valid {
		r.BestTPS = &best.Float64
	}
	if err := decodeText(reasons, &r.Reasons); err != nil {
		return Run{}, err
	}
	return r, decodeText(failure, &r.Error)
}

// encodeEnd gives the columns reasons and error.
func encodeEnd(reasons []result.Reason, failure *fault.Fault) (string, sql.NullString, error) {
	if reasons == nil {
		reasons = []result.Reason{}
	}
	b, err := json.Marshal(reasons)
	if err != nil {
		return "", sql.NullString{}, err
	}
	text, err := encodeFault(failure)
	return string(b), text, err
}

func encodeFault(f *fault.Fault) (sql.NullString, error) {
	if f == nil {
		return sql.NullString{}, nil
	}
	b, err := json.Marshal(f)
	return sql.NullString{String: string(b), Valid: true}, err
}

func decodeText(text sql.NullString, v any) error {
	if !text.Valid {
		return nil
	}
	return json.Unmarshal([]byte(text.String), v)
}

// queryAll reads every row of a query.
func queryAll[T any](ctx context.Context, db *sql.DB, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
