package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"assay/result"
)

// Two handles on one directory stand for two programs: `assay run` writes while `assay runs` and the daemon's API read.
func TestConcurrentWritersAndReaders(t *testing.T) {
	dir := t.TempDir()
	stores := []*Store{openStoreIn(t, dir), openStoreIn(t, dir)}
	addRun(t, stores[0], "r1", result.Running)
	const writers, points = 4, 25
	var group sync.WaitGroup
	for w := range writers {
		s := stores[w%len(stores)]
		group.Go(func() {
			for i := range points {
				n := w*points + i
				if err := s.PutPoint(t.Context(), "r1", n, point(fmt.Sprint("c", n), summary(float64(n), 1))); err != nil {
					t.Error(err)
				}
			}
		})
		group.Go(func() { readUntil(t, s, writers*points) })
	}
	group.Wait()
	got, err := stores[1].Points(t.Context(), "r1")
	if err != nil || len(got) != writers*points {
		t.Errorf("%d points, %v; want %d", len(got), err, writers*points)
	}
}

// readUntil reads the run until it has n points; what it sees never shrinks.
func readUntil(t *testing.T, s *Store, n int) {
	for seen := 0; seen < n && !t.Failed(); {
		r, err := s.Run(t.Context(), "r1")
		if err != nil {
			t.Error(err)
			return
		}
		if r.PointsDone < seen {
			t.Errorf("%d points after %d", r.PointsDone, seen)
		}
		seen = r.PointsDone
	}
}

// Of many that start one queued run, and of many that use one key, exactly one wins.
func TestOneWins(t *testing.T) {
	dir := t.TempDir()
	stores := []*Store{openStoreIn(t, dir), openStoreIn(t, dir)}
	addRun(t, stores[0], "r1", result.Queued)
	var started, created atomic.Int32
	var group sync.WaitGroup
	for i := range 8 {
		s := stores[i%len(stores)]
		group.Go(func() {
			count(t, &started, ErrConflict, s.MoveRun(t.Context(), "r1", result.Running, RunChange{AtUS: 1}))
			count(t, &created, ErrExists, s.CreateRun(t.Context(), Run{ID: fmt.Sprint("k", i), PlanSHA256: "aa", Key: "key"}))
		})
	}
	group.Wait()
	if started.Load() != 1 || created.Load() != 1 {
		t.Errorf("%d started the run, %d created one with the key; want 1 and 1", started.Load(), created.Load())
	}
}

func count(t *testing.T, wins *atomic.Int32, loss, err error) {
	switch {
	case err == nil:
		wins.Add(1)
	case !errors.Is(err, loss):
		t.Error(err)
	}
}

func TestCanceledContextWritesNothing(t *testing.T) {
	s := openStore(t)
	addRun(t, s, "r1", result.Running)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.PutDocument(ctx, "r1", Checks, []byte("[]")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := s.Document(t.Context(), "r1", Checks); !errors.Is(err, ErrNotFound) {
		t.Errorf("the document is there: %v", err)
	}
}
