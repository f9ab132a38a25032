package cron

import (
	"fmt"
	"sync"
	"time"

	robfig "github.com/robfig/cron/v3"
)

// Scheduler calls for each schedule at its times, one call after another: a call should be short, so that it delays no other.
type Scheduler struct {
	clock   *robfig.Cron
	fire    func(id string)
	loading sync.Mutex
	entries []robfig.EntryID
	firing  sync.Mutex
}

// New makes a scheduler without schedules, on the clock of a place.
func New(place *time.Location, fire func(id string)) *Scheduler {
	return &Scheduler{clock: robfig.New(robfig.WithLocation(place)), fire: fire}
}

// Load puts schedules in the place of those there were: read gives their expressions by id. One that cannot be read leaves all as they are.
func (s *Scheduler) Load(read func() (map[string]string, error)) error {
	s.loading.Lock() // what is read last must be what stays
	defer s.loading.Unlock()
	specs, err := read()
	if err != nil {
		return err
	}
	due := map[string]Schedule{}
	for id, spec := range specs {
		if due[id], err = Parse(spec); err != nil {
			return fmt.Errorf("schedule %s: %w", id, err)
		}
	}
	for _, id := range s.entries {
		s.clock.Remove(id)
	}
	s.entries = nil
	for id, when := range due {
		s.entries = append(s.entries, s.clock.Schedule(when, robfig.FuncJob(func() { s.call(id) })))
	}
	return nil
}

func (s *Scheduler) call(id string) {
	s.firing.Lock() // two calls for one schedule must see what each other did
	defer s.firing.Unlock()
	s.fire(id)
}

// Start begins to call.
func (s *Scheduler) Start() { s.clock.Start() }

// Stop ends calling, and waits for calls on their way.
func (s *Scheduler) Stop() { <-s.clock.Stop().Done() }
