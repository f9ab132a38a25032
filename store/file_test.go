package store

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"assay/result"
)

func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b.json")
	for _, text := range []string{"first, long", "second"} {
		if err := WriteFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != text {
			t.Errorf("read %q, %v; want %q", b, err, text)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left beside the file: %v", entries)
	}
	if err := os.Mkdir(path+"d", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path+"d", nil); err == nil {
		t.Error("a file replaced a folder")
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 2 {
		t.Errorf("a failed write left %v", entries)
	}
}

func TestWriteStreamLeavesNothingHalf(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "report.html")
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk is full")
	err := WriteStream(name, func(w io.Writer) error {
		_, err := io.WriteString(w, "new")
		return errors.Join(err, full)
	})
	if b, rerr := os.ReadFile(name); !errors.Is(err, full) || string(b) != "old" || rerr != nil {
		t.Errorf("%v; the file holds %q", err, b)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestResultIsTheSameBytes(t *testing.T) {
	s := openStore(t)
	addRun(t, s, "r1", result.Done)
	_, err := s.ResultBytes(t.Context(), "r1")
	wantFault(t, err, "no_result")
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("no result yet: %v", err)
	}
	want, err := s.SaveResult(t.Context(), "r1", result.Result{Schema: result.Schema, Run: result.Run{ID: "r1"}, Plan: json.RawMessage(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.ResultBytes(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "bytes", string(got), string(want))
	if r, err := result.Decode(got); err != nil || r.Run.ID != "r1" {
		t.Errorf("decoded %+v, %v", r.Run, err)
	}
	_, err = s.SaveResult(t.Context(), "../../x", result.Result{})
	wantFault(t, err, "no_run")
	_, err = s.ResultBytes(t.Context(), "nobody")
	wantFault(t, err, "no_run")
}

func TestIndexFiles(t *testing.T) {
	s := openStore(t)
	addRun(t, s, "r1", result.Done)
	dir := s.RunDir("r1")
	for path, text := range map[string]string{
		"recordings/c1.rec": "hello", "logs/server.log": "", "plan.yaml": "x", result.FileName: "{}", "logs/" + result.FileName: "inner",
		result.ReportName: "<html>", result.ArchiveName: "tar",
		".plan.yaml.123.tmp": "torn", ".hidden/file": "x",
	} {
		writeFile(t, filepath.Join(dir, path), text)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	want := []result.Artifact{
		{Path: "logs/result.json", SHA256: "33bf6fbd7cd8379785a21e233d8e09f824e7bab459168a96312c1c882c1d7e1f", Bytes: 5},
		{Path: "logs/server.log", SHA256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{Path: "plan.yaml", SHA256: "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881", Bytes: 1},
		{Path: "recordings/c1.rec", SHA256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", Bytes: 5},
	}
	got, err := s.IndexFiles(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "files", got, want)
	if err := os.Remove(filepath.Join(dir, "plan.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.IndexFiles(t.Context(), "r1"); err != nil {
		t.Fatal(err)
	}
	stored, err := s.Artifacts(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "files after one was removed", stored, append(want[:2:2], want[3]))
	if err := os.Mkdir(s.RunDir("nobody"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = s.IndexFiles(t.Context(), "nobody")
	wantFault(t, err, "no_run")
}
