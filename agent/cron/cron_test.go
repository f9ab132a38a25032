package cron

import (
	"errors"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/fault"
)

// reading gives expressions by id, as a store does.
func reading(specs map[string]string) func() (map[string]string, error) {
	return func() (map[string]string, error) { return specs, nil }
}

// calls counts what was called for.
type calls struct {
	mu sync.Mutex
	of map[string]int
}

func (c *calls) add(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[id]++
}

func (c *calls) seen() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.of)
}

func TestOnTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fired := &calls{of: map[string]int{}}
		s := New(time.UTC, fired.add)
		if err := s.Load(reading(map[string]string{"on": "@every 1h", "nightly": "30 2 * * *"})); err != nil {
			t.Fatal(err)
		}
		s.Start()
		time.Sleep(3*time.Hour + time.Minute) // of the bubble, which begins at midnight
		synctest.Wait()
		if diff := cmp.Diff(map[string]int{"on": 3, "nightly": 1}, fired.seen()); diff != "" {
			t.Errorf("fired in three hours:\n%s", diff)
		}
		if err := s.Load(reading(map[string]string{"nightly": "30 2 * * *"})); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if diff := cmp.Diff(map[string]int{"on": 3, "nightly": 2}, fired.seen()); diff != "" {
			t.Errorf("fired after it was removed:\n%s", diff)
		}
		s.Stop()
	})
}

// TestLoad: what was read last counts from then on, and what cannot be read leaves all as they are.
func TestLoad(t *testing.T) {
	s := New(time.UTC, func(string) {})
	entries := func() int { return len(s.clock.Entries()) }
	for n, specs := range map[int]map[string]string{1: {"one": "@daily"}, 2: {"one": "@daily", "two": "5 4 * * 1"}, 0: {}} {
		if err := s.Load(reading(specs)); err != nil || entries() != n {
			t.Errorf("%d schedules of %v, %v", entries(), specs, err)
		}
	}
	if err := s.Load(reading(map[string]string{"one": "@daily", "two": "5 4 * * 1"})); err != nil {
		t.Fatal(err)
	}
	err := s.Load(reading(map[string]string{"one": "@daily", "bad": "every day"}))
	if f := fault.Of(err, fault.Client); f == nil || f.Code != "plan.bad_cron" || f.Hint == "" || entries() != 2 {
		t.Errorf("%d schedules, %v", entries(), err)
	}
	full := errors.New("disk is full")
	if err := s.Load(func() (map[string]string, error) { return nil, full }); !errors.Is(err, full) || entries() != 2 {
		t.Errorf("%d schedules, %v", entries(), err)
	}
}

// TestOneAfterAnother: calls never meet.
func TestOneAfterAnother(t *testing.T) {
	n := 0 // without a lock: the race detector tells calls that meet
	s := New(time.UTC, func(string) { n++ })
	var calling sync.WaitGroup
	for range 8 {
		calling.Go(func() { s.call("one") })
	}
	calling.Wait()
	if n != 8 {
		t.Errorf("%d calls of 8", n)
	}
}

func TestParse(t *testing.T) {
	at := time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)
	for spec, want := range map[string]time.Duration{"0 3 * * *": 15 * time.Hour, "@every 6h": 6 * time.Hour, "@daily": 12 * time.Hour, "*/5 * * * *": 5 * time.Minute} {
		s, err := Parse(spec)
		if err != nil || s.Next(at).Sub(at) != want {
			t.Errorf("%s: %v", spec, err)
		}
	}
	for _, spec := range []string{"", "daily", "60 * * * *", "* * * *", "0 0 0 * * *", "@every", "@every x"} {
		_, err := Parse(spec)
		if f := fault.Of(err, fault.Client); f == nil || f.Code != "plan.bad_cron" {
			t.Errorf("%q: %v", spec, err)
		}
	}
}

// FuzzParse: a schedule that is taken has a next time, after now.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"0 3 * * *", "@daily", "@every 6h", "@every 1ms", "0 0 30 2 *", "* * * * * *", "CRON_TZ=Mars/X 0 3 * * *", "TZ=UTC 1 1 1 1 1", "TZ=0", "CRON_TZ="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		s, err := Parse(spec)
		if err != nil {
			return
		}
		if now := time.Now(); !s.Next(now).After(now) {
			t.Errorf("%q: after %v comes %v", spec, now, s.Next(now))
		}
	})
}
