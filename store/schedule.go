package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"assay/fault"
)

// Schedule reruns a plan on cron.
type Schedule struct {
	ID        string
	Name      string
	Cron      string // five fields or @every 1h; local time
	Plan      []byte // canonical JSON
	Enabled   bool
	Guest     bool // the plan came over the network
	CreatedUS int64
	LastRun   string // id of the run it queued last; "" when none, or when that run was deleted
	LastUS    int64
}

const scheduleColumns = `id, name, cron, plan, enabled, guest, created_us, coalesce(last_run, ''), last_us`

// CreateSchedule adds a schedule; a used id is ErrConflict.
func (s *Store) CreateSchedule(ctx context.Context, c Schedule) error {
	if !isID(c.ID) {
		return fmt.Errorf("create schedule: %q is no id for a schedule", c.ID)
	}
	_, err := s.write.ExecContext(ctx, `INSERT INTO schedules (id, name, cron, plan, enabled, guest, created_us, last_run, last_us)
		VALUES (?, ?, ?, ?, ?, ?, ?, nullif(?, ''), ?)`, c.ID, c.Name, c.Cron, string(c.Plan), c.Enabled, c.Guest, c.CreatedUS, c.LastRun, c.LastUS)
	if isUnique(err) {
		return fault.New(fault.Store, "schedule_exists", "", "schedule %s is there already: %w", c.ID, ErrConflict)
	}
	return s.explain(err, "create schedule %s", c.ID)
}

// Schedule gives the schedule of an id, or ErrNotFound.
func (s *Store) Schedule(ctx context.Context, id string) (Schedule, error) {
	c, err := scanSchedule(s.read.QueryRowContext(ctx, `SELECT `+scheduleColumns+` FROM schedules WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return Schedule{}, noSchedule(id)
	}
	return c, s.explain(err, "read schedule %s", id)
}

// Schedules gives all schedules, oldest first.
func (s *Store) Schedules(ctx context.Context) ([]Schedule, error) {
	all, err := queryAll(ctx, s.read, scanSchedule, `SELECT `+scheduleColumns+` FROM schedules ORDER BY created_us, id`)
	return all, s.explain(err, "list schedules")
}

// UpdateSchedule writes name, cron, plan, enabled and guest of c; what the schedule did stays.
func (s *Store) UpdateSchedule(ctx context.Context, c Schedule) error {
	return s.changeSchedule(ctx, c.ID, `UPDATE schedules SET name = ?, cron = ?, plan = ?, enabled = ?, guest = ? WHERE id = ?`,
		c.Name, c.Cron, string(c.Plan), c.Enabled, c.Guest, c.ID)
}

// RanSchedule notes the run a schedule queued.
func (s *Store) RanSchedule(ctx context.Context, id, runID string, atUS int64) error {
	return s.changeSchedule(ctx, id, `UPDATE schedules SET last_run = ?, last_us = ? WHERE id = ?`, runID, atUS, id)
}

// DeleteSchedule removes a schedule; its runs stay.
func (s *Store) DeleteSchedule(ctx context.Context, id string) error {
	return s.changeSchedule(ctx, id, `DELETE FROM schedules WHERE id = ?`, id)
}

func (s *Store) changeSchedule(ctx context.Context, id, query string, args ...any) error {
	res, err := s.write.ExecContext(ctx, query, args...)
	if err != nil {
		return s.explain(err, "change schedule %s", id)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, noSchedule(id))
	}
	return nil
}

func scanSchedule(row scanner) (c Schedule, err error) {
	err = row.Scan(&c.ID, &c.Name, &c.Cron, &c.Plan, &c.Enabled, &c.Guest, &c.CreatedUS, &c.LastRun, &c.LastUS)
	return c, err
}

func noSchedule(id string) error {
	return fault.New(fault.Store, "no_schedule", "`assay schedule list` lists them", "schedule %q: %w", id, ErrNotFound)
}
