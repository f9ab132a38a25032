package store

import (
	"errors"
	"testing"

	"assay/result"
)

func TestSchedules(t *testing.T) {
	s := openStore(t)
	addRun(t, s, "r1", result.Done)
	nightly := Schedule{ID: "s1", Name: "nightly", Cron: "0 3 * * *", Plan: []byte(`{"name":"x"}`), Enabled: true, CreatedUS: 5}
	hourly := Schedule{ID: "s2", Name: "hourly", Cron: "@every 1h", Plan: []byte(`{}`), CreatedUS: 6}
	for _, c := range []Schedule{hourly, nightly} {
		if err := s.CreateSchedule(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.CreateSchedule(t.Context(), nightly); !errors.Is(err, ErrConflict) {
		t.Errorf("same id again: %v", err)
	}
	if err := s.RanSchedule(t.Context(), "s1", "r1", 77); err != nil {
		t.Fatal(err)
	}
	nightly.Name, nightly.Cron, nightly.Enabled = "night", "0 4 * * *", false
	if err := s.UpdateSchedule(t.Context(), nightly); err != nil {
		t.Fatal(err)
	}
	nightly.LastRun, nightly.LastUS = "r1", 77 // an update keeps what the schedule did
	all, err := s.Schedules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "schedules", all, []Schedule{nightly, hourly})

	if err := s.DeleteRun(t.Context(), "r1"); err != nil {
		t.Fatal(err)
	}
	nightly.LastRun = ""
	one, err := s.Schedule(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "schedule of a deleted run", one, nightly)

	if err := s.DeleteSchedule(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"update": s.UpdateSchedule(t.Context(), nightly), "ran": s.RanSchedule(t.Context(), "s1", "", 1), "delete": s.DeleteSchedule(t.Context(), "s1"),
	} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s of a schedule that is gone: %v", name, err)
		}
	}
	if _, err := s.Schedule(t.Context(), "s1"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a deleted schedule is there: %v", err)
	}
}
