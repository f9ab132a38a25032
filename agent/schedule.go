package agent

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/robfig/cron/v3"

	"assay/fault"
	"assay/plan"
)

// scheduler turns the store's schedules into queued runs. Its jobs only enqueue, so that a long run delays none.
type scheduler struct {
	mu      sync.Mutex
	cron    *cron.Cron
	entries []cron.EntryID
}

// ParseCron reads five cron fields or a descriptor such as @daily or @every 6h.
func ParseCron(spec string) (cron.Schedule, error) {
	const hint = `write five fields such as "0 3 * * *", or @daily, @every 6h`
	if strings.Contains(spec, "TZ=") && !strings.Contains(spec, " ") { // the library panics at a time zone without fields
		return nil, fault.New(fault.Plan, "bad_cron", hint, "%q is not a schedule: it names a time zone alone", spec)
	}
	s, err := cron.ParseStandard(spec)
	if err != nil {
		return nil, fault.New(fault.Plan, "bad_cron", hint, "%q is not a schedule: %w", spec, err)
	}
	if every, ok := strings.CutPrefix(spec, "@every "); ok {
		if d, err := time.ParseDuration(strings.TrimSpace(every)); err != nil || d < time.Second {
			return nil, fault.New(fault.Plan, "bad_cron", hint, "%q is not a schedule: the shortest time is a second", spec)
		}
	}
	if s.Next(time.Now()).IsZero() {
		return nil, fault.New(fault.Plan, "bad_cron", hint, "%q is not a schedule: that time never comes", spec)
	}
	return s, nil
}

func (a *Agent) startSchedules(ctx context.Context) error {
	a.mu.Lock()
	a.cron = &scheduler{cron: cron.New()}
	a.mu.Unlock()
	if err := a.Reschedule(ctx); err != nil {
		return err
	}
	a.cron.cron.Start()
	return nil
}

// stopSchedules waits for jobs on their way: they only enqueue.
func (a *Agent) stopSchedules() { <-a.cron.cron.Stop().Done() }

// Reschedule reads the schedules from the store anew.
func (a *Agent) Reschedule(ctx context.Context) error {
	a.mu.Lock()
	s := a.cron
	a.mu.Unlock()
	if s == nil {
		return nil // a single run has no schedules
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	jobs, err := a.jobs(ctx)
	if err != nil {
		return err
	}
	s.replace(jobs, func(id string) { a.fire(context.WithoutCancel(ctx), id) })
	return nil
}

// jobs are the enabled schedules by id.
func (a *Agent) jobs(ctx context.Context) (map[string]cron.Schedule, error) {
	all, err := a.Store.Schedules(ctx)
	if err != nil {
		return nil, err
	}
	jobs := map[string]cron.Schedule{}
	for _, sched := range all {
		if !sched.Enabled {
			continue
		}
		if jobs[sched.ID], err = ParseCron(sched.Cron); err != nil {
			return nil, fmt.Errorf("schedule %s: %w", sched.ID, err)
		}
	}
	return jobs, nil
}

// replace puts jobs in the place of those there were. The caller holds mu.
func (s *scheduler) replace(jobs map[string]cron.Schedule, fire func(id string)) {
	for _, id := range s.entries {
		s.cron.Remove(id)
	}
	s.entries = nil
	for id, when := range jobs {
		s.entries = append(s.entries, s.cron.Schedule(when, cron.FuncJob(func() { fire(id) })))
	}
}

// fire queues a schedule's plan. A run of the same schedule that still waits or runs is enough.
func (a *Agent) fire(ctx context.Context, id string) {
	a.firing.Lock() // two ticks of one schedule must see each other's run
	defer a.firing.Unlock()
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
	run, err := a.Submit(ctx, p, "", Origin{Source: "schedule:" + s.ID})
	if err == nil {
		err = a.Store.RanSchedule(ctx, s.ID, run.ID, a.nowUS())
	}
	if err != nil {
		a.Log.Error("schedule could not queue its run", "schedule", s.ID, "error", err)
	}
}
