package store

import (
	"fmt"
	"testing"

	"assay/result"
)

func TestOldestEnded(t *testing.T) {
	s := openStore(t)
	for i, state := range []result.State{result.Done, result.Failed, result.Queued, result.Canceled, result.Running, result.Interrupted} {
		addRun(t, s, fmt.Sprintf("r%d", i), state)
	}
	for keep, want := range map[int][]string{0: {"r0", "r1", "r3", "r5"}, 1: {"r0", "r1", "r3"}, 3: {"r0"}, 4: nil, 99: nil} {
		got, err := s.OldestEnded(t.Context(), keep)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, fmt.Sprint("beyond the newest ", keep), got, want)
	}
}
