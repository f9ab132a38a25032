package agent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"assay/agent/events"
	"assay/fault"
	"assay/plan"
	"assay/result"
	"assay/store"
)

func TestSubmitTwiceWithOneKey(t *testing.T) {
	a := newAgent(t)
	p := sweepOf(t, atURL("http://127.0.0.1:1"))
	ids := make([]string, 8)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			run, err := a.Submit(t.Context(), p, "key", Origin{Source: FromAPI})
			if err != nil {
				t.Error(err)
			}
			ids[i] = run.ID
		})
	}
	wg.Wait()
	if runs, _, err := a.Store.Runs(t.Context(), store.Filter{}); len(runs) != 1 || err != nil || len(slices.Compact(ids)) != 1 || ids[0] != runs[0].ID {
		t.Errorf("ids %v, runs %v: %v", ids, runs, err)
	}
	other := sweepOf(t, atURL("http://127.0.0.1:1"), "name=other")
	if _, err := a.Submit(t.Context(), other, "key", Origin{Source: FromAPI}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("the same key with another plan: %v", err)
	}
}

func TestSubmitRefusesNamesWithoutAFolder(t *testing.T) {
	a := newAgent(t)
	_, err := a.Submit(t.Context(), sweepOf(t, atURL("http://127.0.0.1:1"), "model.path=m.gguf"), "", Origin{Source: FromAPI})
	if f := fault.Of(err, fault.Client); f == nil || f.Code != "plan.relative_path" {
		t.Errorf("%v", err)
	}
	if runs, _, _ := a.Store.Runs(t.Context(), store.Filter{}); len(runs) != 0 {
		t.Errorf("queued all the same: %v", runs)
	}
}

// move brings a run to a state past the agent.
func move(t *testing.T, a *Agent, id string, to ...result.State) {
	t.Helper()
	for _, s := range to {
		if err := a.Store.MoveRun(t.Context(), id, s, store.RunChange{AtUS: a.nowUS(), Resume: true}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRecoverMarksWhatWasInterrupted(t *testing.T) {
	a := newAgent(t)
	p := sweepOf(t, atURL("http://127.0.0.1:1"))
	running, queuedRun := submit(t, a, p), submit(t, a, p)
	move(t, a, running, result.Running)
	if err := a.Store.PutPoint(t.Context(), running, 0, result.Point{ID: "c1", State: result.PointValid, Reasons: []result.Reason{}}); err != nil {
		t.Fatal(err)
	}
	if err := a.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := a.mustRun(t, running)
	if r.State != result.Interrupted || r.Verdict != result.NotValid || r.Error == nil || r.Error.Code != "client.interrupted" || r.EndedUS == 0 {
		t.Errorf("%+v", r)
	}
	raw, err := a.Store.ResultBytes(t.Context(), running)
	if err != nil {
		t.Fatal(err)
	}
	if doc, err := result.Decode(raw); err != nil || doc.Run.State != result.Interrupted || doc.Points[0].State != result.PointValid || len(doc.Points) != len(p.Points()) {
		t.Errorf("document %+v, %v", doc.Run, err)
	}
	if q := a.mustRun(t, queuedRun); q.State != result.Queued {
		t.Errorf("the queued run is %s", q.State)
	}
}

// TestRecoverRemovesWhatWasLeft: the server of a killed program is ended.
func TestRecoverRemovesWhatWasLeft(t *testing.T) {
	a := newAgent(t)
	p := sweepOf(t, asProcess)
	id := submit(t, a, p)
	move(t, a, id, result.Running)
	x := &execution{Config: a.Config, run: a.mustRun(t, id), dir: a.Store.RunDir(id), bus: a.bus, log: &events.Log{}, plan: p}
	for _, do := range []func(context.Context) error{x.pull, x.startServer} {
		if err := do(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-x.server.Exited():
	case <-time.After(2 * time.Minute):
		t.Error("the server still runs")
	}
	nothingLeft(t, a)
}

// serve runs the daemon's loop until the test ends.
func serve(t *testing.T, a *Agent) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// awaitEnd reads events until so many runs have ended.
func awaitEnd(t *testing.T, events <-chan result.Event, n int) (ended []string) {
	t.Helper()
	for len(ended) < n {
		select {
		case e, ok := <-events:
			if !ok {
				t.Fatal("the events ended")
			}
			if e.Kind == result.RunEnded {
				ended = append(ended, e.Run+" "+string(e.State))
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("only %v ended", ended)
		}
	}
	return ended
}

// TestDaemon executes what was queued before and after its start, in order and one at a time, goes on after a run that failed, and
// skips what was canceled in the queue.
func TestDaemon(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	_, url := startSim(t, quickSim("sim"))
	events, err := a.Events(t.Context(), 0, "")
	if err != nil {
		t.Fatal(err)
	}
	good := sweepOf(t, atURL(url), "protocol.sweep.concurrency=1")
	bad := sweepOf(t, atURL(url), "model.path=/absent")
	first, failed, canceled := submit(t, a, good), submit(t, a, bad), submit(t, a, good)
	if err := a.Cancel(t.Context(), canceled); err != nil {
		t.Fatal(err)
	}
	serve(t, a)
	last := submit(t, a, good)
	want := []string{canceled + " canceled", first + " done", failed + " failed", last + " done"}
	if got := awaitEnd(t, events, 4); !slices.Equal(got, want) {
		t.Errorf("ended %v, want %v", got, want)
	}
	if err := a.Cancel(t.Context(), first); fault.Of(err, fault.Client) == nil || fault.Of(err, fault.Client).Code != "store.run_ended" {
		t.Errorf("cancel of a run that is done: %v", err)
	}
	if err := a.Cancel(t.Context(), "20260101T000000-absent"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("cancel of no run: %v", err)
	}
	if err := a.Resume(t.Context(), canceled); err != nil {
		t.Fatal(err)
	}
	if got := awaitEnd(t, events, 1); got[0] != canceled+" done" {
		t.Errorf("resumed: %v", got)
	}
}

// TestACanceledRunDoesNotBegin: a run that is canceled after the daemon found it in the queue stays canceled.
func TestACanceledRunDoesNotBegin(t *testing.T) {
	a := newAgent(t)
	id := submit(t, a, sweepOf(t, atURL("http://127.0.0.1:1")))
	if err := a.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := a.execute(t.Context(), id, false); !errors.Is(err, errNotQueued) {
		t.Errorf("%v", err)
	}
	if r := a.mustRun(t, id); r.State != result.Canceled {
		t.Errorf("the run is %s", r.State)
	}
}

func TestRetention(t *testing.T) {
	a := newAgent(t)
	var ids []string
	for i := range 4 {
		a.Now = func() time.Time { return time.Unix(int64(1_800_000_000+i), 0) }
		ids = append(ids, submit(t, a, sweepOf(t, atURL("http://127.0.0.1:1"))))
		if i != 1 {
			move(t, a, ids[i], result.Running, result.Failed)
		}
	}
	for _, step := range []struct{ keep, left int }{{0, 4}, {2, 3}} {
		a.KeepRuns = step.keep
		if err := a.retain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if runs, _, _ := a.Store.Runs(t.Context(), store.Filter{}); len(runs) != step.left {
			t.Errorf("keep %d leaves %d runs", step.keep, len(runs))
		}
	}
	if _, err := a.Store.Run(t.Context(), ids[0]); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the oldest ended run: %v", err)
	}
	a.mustRun(t, ids[1]) // the queued one stays
}

func addSchedule(t *testing.T, a *Agent, id, when string, p plan.Plan, enabled bool) {
	t.Helper()
	s := store.Schedule{ID: id, Name: id, Cron: when, Plan: p.Canonical(), Enabled: enabled, CreatedUS: a.nowUS()}
	if err := a.Store.CreateSchedule(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

func TestScheduleFires(t *testing.T) {
	a := newAgent(t)
	addSchedule(t, a, "nightly", "@daily", sweepOf(t, atURL("http://127.0.0.1:1")), true)
	a.fire(t.Context(), "nightly")
	s, err := a.Store.Schedule(t.Context(), "nightly")
	if err != nil || s.LastRun == "" || s.LastUS == 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	if r := a.mustRun(t, s.LastRun); r.State != result.Queued || r.Source != "schedule:nightly" {
		t.Errorf("%+v", r)
	}
	first := s.LastRun
	for _, state := range []result.State{result.Queued, result.Running} { // the last run has not ended: it is enough
		if state == result.Running {
			move(t, a, first, state)
		}
		a.fire(t.Context(), "nightly")
		if s, _ = a.Store.Schedule(t.Context(), "nightly"); s.LastRun != first {
			t.Errorf("fired while its last run was %s", state)
		}
	}
	move(t, a, first, result.Failed)
	a.fire(t.Context(), "nightly")
	if s, _ = a.Store.Schedule(t.Context(), "nightly"); s.LastRun == first {
		t.Error("did not fire though its last run has ended")
	}
	a.fire(t.Context(), "deleted meanwhile") // is logged
}

// TestReschedule: what the store holds counts from then on, and a schedule that cannot be read is told.
func TestReschedule(t *testing.T) {
	a := newAgent(t)
	if err := a.Reschedule(t.Context()); err != nil {
		t.Fatalf("without a daemon: %v", err)
	}
	events, err := a.Events(t.Context(), 0, "")
	if err != nil {
		t.Fatal(err)
	}
	awaitRunOf := func(schedule string) {
		t.Helper()
		for e := range events {
			if e.Kind == result.RunQueued && a.mustRun(t, e.Run).Source == "schedule:"+schedule {
				return
			}
		}
		t.Errorf("no run of schedule %s", schedule)
	}
	p := sweepOf(t, atURL("http://127.0.0.1:1"))
	addSchedule(t, a, "one", "@every 1s", p, true)
	addSchedule(t, a, "off", "@every 1s", p, false)
	schedules, err := a.startSchedules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer schedules.Stop()
	awaitRunOf("one")
	addSchedule(t, a, "two", "@every 1s", p, true)
	if err := a.Reschedule(t.Context()); err != nil {
		t.Error(err)
	}
	awaitRunOf("two")
	if s, err := a.Store.Schedule(t.Context(), "off"); err != nil || s.LastRun != "" {
		t.Errorf("a schedule that is off ran: %+v, %v", s, err)
	}
	addSchedule(t, a, "bad", "every day", p, true)
	err = a.Reschedule(t.Context())
	if f := fault.Of(err, fault.Client); f == nil || f.Code != "plan.bad_cron" || f.Hint == "" {
		t.Errorf("%v", err)
	}
}
