package agent

import (
	"context"
	"time"

	"assay/agent/cron"
	"assay/plan"
)

// startSchedules queues the plans of the store's schedules at their times, until the scheduler is stopped.
func (a *Agent) startSchedules(ctx context.Context) (*cron.Scheduler, error) {
	s := cron.New(time.Local, func(id string) { a.fire(context.WithoutCancel(ctx), id) })
	a.schedules.Store(s)
	if err := a.Reschedule(ctx); err != nil {
		return nil, err
	}
	s.Start()
	return s, nil
}

// Reschedule reads the schedules from the store anew.
func (a *Agent) Reschedule(ctx context.Context) error {
	s := a.schedules.Load()
	if s == nil {
		return nil // a single run has no schedules
	}
	return s.Load(func() (map[string]string, error) { return a.enabledSchedules(ctx) })
}

// enabledSchedules are the cron expressions of the schedules that are on, by id.
func (a *Agent) enabledSchedules(ctx context.Context) (map[string]string, error) {
	all, err := a.Store.Schedules(ctx)
	if err != nil {
		return nil, err
	}
	specs := map[string]string{}
	for _, s := range all {
		if s.Enabled {
			specs[s.ID] = s.Cron
		}
	}
	return specs, nil
}

// fire queues a schedule's plan. A run of the same schedule that still waits or runs is enough.
func (a *Agent) fire(ctx context.Context, id string) {
	s, err := a.Store.Schedule(ctx, id)
	if err != nil {
		a.Log.Error("schedule cannot be read", "schedule", id, "error", err)
		return
	}
	if last, err := a.Store.Run(ctx, s.LastRun); err == nil && !last.State.Ended() {
		a.Log.Warn("schedule skipped: its last run has not ended", "schedule", s.ID, "run", last.ID)
		return
	}
	p, err := plan.Parse(s.Plan)
	if err != nil {
		a.Log.Error("schedule has a plan that cannot be read", "schedule", s.ID, "error", err)
		return
	}
	run, err := a.Submit(ctx, p, "", Origin{Source: "schedule:" + s.ID, Guest: s.Guest})
	if err == nil {
		err = a.Store.RanSchedule(ctx, s.ID, run.ID, a.nowUS())
	}
	if err != nil {
		a.Log.Error("schedule could not queue its run", "schedule", s.ID, "error", err)
	}
}
