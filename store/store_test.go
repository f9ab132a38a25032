package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/fault"
	"assay/result"
)

func openStore(t *testing.T) *Store {
	t.Helper()
	return openStoreIn(t, filepath.Join(t.TempDir(), "data"))
}

func openStoreIn(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// addRun creates a run and brings it to a state by allowed moves.
func addRun(t *testing.T, s *Store, id string, state result.State) Run {
	t.Helper()
	r := Run{ID: id, Name: "n-" + id, Plan: []byte(`{"name":"x"}`), PlanSHA256: "aa", Source: "cli", CreatedUS: 1000, Points: 2}
	if err := s.CreateRun(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	path := []result.State{result.Running, state}
	switch state {
	case result.Queued:
		path = nil
	case result.Running:
		path = path[:1]
	}
	for _, to := range path {
		if err := s.MoveRun(t.Context(), id, to, RunChange{AtUS: 2000}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// wantFault checks the code of a fault of layer store, and that a person is told what to do.
func wantFault(t *testing.T, err error, code string) {
	t.Helper()
	var f *fault.Fault
	if !errors.As(err, &f) {
		t.Fatalf("error %v is no fault, want store.%s", err, code)
	}
	if f.Layer != fault.Store || f.Code != "store."+code {
		t.Fatalf("fault %s of layer %s, want store.%s: %v", f.Code, f.Layer, code, err)
	}
	if f.Hint == "" {
		t.Errorf("fault %s has no hint", f.Code)
	}
}

func TestOpenMakesAPrivateDirectory(t *testing.T) {
	s := openStore(t)
	for _, path := range []string{s.Dir(), filepath.Dir(s.RunDir("x"))} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %v, want 0700", path, info.Mode().Perm())
		}
	}
}

func TestPragmasHoldOnEveryConnection(t *testing.T) {
	s := openStore(t)
	want := map[string]string{"journal_mode": "wal", "foreign_keys": "1", "synchronous": "1", "busy_timeout": "30000"}
	for _, db := range []*sql.DB{s.write, s.read} {
		for range db.Stats().MaxOpenConnections {
			conn, err := db.Conn(t.Context()) // kept, so that the next one is another
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			for name, value := range want {
				var got string
				if err := conn.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(&got); err != nil || got != value {
					t.Errorf("%s = %q, %v; want %q", name, got, err, value)
				}
			}
		}
	}
}

func TestOpenInADirectoryWithAnOddName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?c=d&e%20#f")
	s := openStoreIn(t, dir)
	addRun(t, s, "r1", result.Queued)
	if _, err := os.Stat(filepath.Join(dir, DatabaseName)); err != nil {
		t.Error(err)
	}
}

func TestOwnerStaysAcrossOpens(t *testing.T) {
	dir := t.TempDir()
	first, err := openStoreIn(t, dir).Owner(t.Context())
	if err != nil || len(first) != 16 {
		t.Fatalf("owner %q, %v", first, err)
	}
	if again, _ := openStoreIn(t, dir).Owner(t.Context()); again != first {
		t.Errorf("owner became %q from %q", again, first)
	}
	if other, _ := openStore(t).Owner(t.Context()); other == first {
		t.Errorf("two directories have the owner %q", other)
	}
}

func TestOpenFaults(t *testing.T) {
	tests := []struct {
		name, code string
		prepare    func(t *testing.T, dir string)
	}{
		{"not a database", "corrupt", func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, DatabaseName), strings.Repeat("this is no database\n", 100))
		}},
		{"newer database", "newer", func(t *testing.T, dir string) {
			s, err := Open(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.write.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`); err != nil {
				t.Fatal(err)
			}
			s.Close()
		}},
		{"database is a directory", "read_only", func(t *testing.T, dir string) {
			if err := os.Mkdir(filepath.Join(dir, DatabaseName), 0o700); err != nil {
				t.Fatal(err)
			}
		}},
		{"runs is a file", "not_a_directory", func(t *testing.T, dir string) { writeFile(t, filepath.Join(dir, "runs"), "") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			tt.prepare(t, dir)
			s, err := Open(t.Context(), dir)
			if err == nil {
				s.Close()
			}
			wantFault(t, err, tt.code)
		})
	}
}

func TestOpenBelowAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, "")
	_, err := Open(t.Context(), filepath.Join(file, "data"))
	wantFault(t, err, "not_a_directory")
}

// mountTmpfs gives a small file system of its own; it needs the right to mount.
func mountTmpfs(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("mounting a tmpfs needs root: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

func TestReadOnlyDirectory(t *testing.T) {
	dir := mountTmpfs(t, "size=4m")
	if err := openAndClose(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skipf("remount read-only: %v", err)
	}
	wantFault(t, openAndClose(t.Context(), dir), "read_only")
	wantFault(t, openAndClose(t.Context(), filepath.Join(dir, "new")), "read_only")
}

func TestFullDisk(t *testing.T) {
	wantFault(t, openAndClose(t.Context(), mountTmpfs(t, "size=16k")), "disk_full")

	dir := mountTmpfs(t, "size=1m")
	s := openStoreIn(t, dir)
	addRun(t, s, "r1", result.Running)
	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 1<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	big := []byte(`"` + strings.Repeat("x", 1<<19) + `"`)
	wantFault(t, s.PutDocument(t.Context(), "r1", "big", big), "disk_full")
	_, err := s.SaveResult(t.Context(), "r1", result.Result{Plan: big})
	wantFault(t, err, "disk_full")
	if entries, _ := os.ReadDir(s.RunDir("r1")); len(entries) != 0 {
		t.Errorf("a failed write left %v", entries)
	}
	if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
		t.Fatal(err)
	}
	if err := s.PutDocument(t.Context(), "r1", "small", []byte(`1`)); err != nil {
		t.Errorf("after space was freed: %v", err)
	}
}

func TestFullDatabaseIsDiskFull(t *testing.T) {
	s := openStore(t)
	addRun(t, s, "r1", result.Running)
	if _, err := s.write.Exec(`PRAGMA max_page_count = 1`); err != nil { // never below what is there: no page may be added
		t.Fatal(err)
	}
	wantFault(t, s.PutDocument(t.Context(), "r1", "big", []byte(`"`+strings.Repeat("x", 1<<20)+`"`)), "disk_full")
}

func TestConcurrentFirstOpens(t *testing.T) {
	dir := t.TempDir()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if err := openAndClose(t.Context(), dir); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

func openAndClose(ctx context.Context, dir string) error {
	s, err := Open(ctx, dir)
	if err != nil {
		return err
	}
	return s.Close()
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
