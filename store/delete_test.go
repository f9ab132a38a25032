package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"assay/result"
)

// fillRun gives a run a row in every table that belongs to runs, and files.
func fillRun(t *testing.T, s *Store, id string, state result.State) {
	t.Helper()
	addRun(t, s, id, state)
	for _, err := range []error{
		s.PutPoint(t.Context(), id, 0, point("c1", summary(1, 2))),
		s.PutPhase(t.Context(), id, result.Phase{Name: "pull", StartedUS: 1}),
		s.PutDocument(t.Context(), id, Checks, []byte(`[]`)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(s.RunDir(id), "recordings", "c1.rec"), "recording")
	if _, err := s.IndexFiles(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

// rowsOf counts what the database holds of a run, by table.
func rowsOf(t *testing.T, s *Store, id string) map[string]int {
	t.Helper()
	count := map[string]int{}
	for table, column := range map[string]string{"runs": "id", "points": "run_id", "phases": "run_id", "documents": "run_id", "artifacts": "run_id"} {
		var n int
		if err := s.read.QueryRow(`SELECT count(*) FROM `+table+` WHERE `+column+` = ?`, id).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			count[table] = n
		}
	}
	return count
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestDeleteRunWhole(t *testing.T) {
	s := openStore(t)
	for _, id := range []string{"gone", "stays"} {
		fillRun(t, s, id, result.Done)
		if n := len(rowsOf(t, s, id)); n != 5 {
			t.Fatalf("run %s stands in %d tables, want 5", id, n)
		}
	}
	if err := s.DeleteRun(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	if rows := rowsOf(t, s, "gone"); len(rows) != 0 || exists(s.RunDir("gone")) {
		t.Errorf("left: rows %v, folder %v", rows, exists(s.RunDir("gone")))
	}
	if rows := rowsOf(t, s, "stays"); len(rows) != 5 || !exists(filepath.Join(s.RunDir("stays"), "recordings", "c1.rec")) {
		t.Errorf("the other run lost something: %v", rows)
	}
	if entries, _ := os.ReadDir(filepath.Join(s.Dir(), "runs")); len(entries) != 1 {
		t.Errorf("runs holds %v", entries)
	}
	wantFault(t, s.DeleteRun(t.Context(), "gone"), "no_run")
}

func TestDeleteRunRefusesLiveRuns(t *testing.T) {
	s := openStore(t)
	for _, state := range []result.State{result.Queued, result.Running} {
		id := string(state)
		fillRun(t, s, id, state)
		if err := s.DeleteRun(t.Context(), id); !errors.Is(err, ErrConflict) {
			t.Errorf("%s: %v", state, err)
		}
		if len(rowsOf(t, s, id)) != 5 || !exists(s.RunDir(id)) {
			t.Errorf("a refused deletion of a %s run took something", state)
		}
	}
}

func TestDeleteRunWithoutFolder(t *testing.T) {
	s := openStore(t)
	addRun(t, s, "r1", result.Done)
	if err := os.RemoveAll(s.RunDir("r1")); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteRun(t.Context(), "r1"); err != nil {
		t.Error(err)
	}
}

// A deletion has two instants at which a crash leaves the folder renamed: before the rows are gone, and after.
func TestSweepEndsWhatACrashCutShort(t *testing.T) {
	s := openStore(t)
	fillRun(t, s, "before", result.Done)
	fillRun(t, s, "after", result.Done)
	writeFile(t, filepath.Join(s.Dir(), "runs", "foreign", "file"), "somebody's")
	for _, id := range []string{"before", "after"} {
		if err := os.Rename(s.RunDir(id), filepath.Join(s.Dir(), "runs", deleted+id)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.write.Exec(`DELETE FROM runs WHERE id = 'after'`); err != nil {
		t.Fatal(err)
	}
	ids, err := s.Sweep(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "swept", ids, []string{"after", "before"})
	if !exists(filepath.Join(s.RunDir("before"), "recordings", "c1.rec")) {
		t.Error("the run whose rows are there did not get its folder back")
	}
	if exists(filepath.Join(s.Dir(), "runs", deleted+"after")) || exists(s.RunDir("after")) {
		t.Error("the folder of the run whose rows are gone is still there")
	}
	if !exists(filepath.Join(s.Dir(), "runs", "foreign", "file")) {
		t.Error("a folder nobody deleted is gone")
	}
	if ids, err := s.Sweep(t.Context()); len(ids) != 0 || err != nil {
		t.Errorf("second sweep: %v, %v", ids, err)
	}
}
