package weights

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestHash holds the manifest against sha256sum's own.
func TestHash(t *testing.T) {
	dir := folderOf(t, map[string]string{"b": "second", "a.json": "first", "sub/c": strings.Repeat("x", 3<<20), ".cache/lock": "of a tool", "d": "-> b"})
	var told []int64
	total := int64(0)
	m, err := Hash(t.Context(), dir, nil, func(done, all int64) { told, total = append(told, done), all })
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sha256sum", "a.json", "b", "d", "sub/c")
	cmd.Dir = dir
	want, err := cmd.Output()
	if err != nil {
		t.Skip(err)
	}
	if string(m.Lines) != string(want) || m.SHA256 != fmt.Sprintf("%x", sha256.Sum256(want)) {
		t.Errorf("%s\n%s", m.Lines, want)
	}
	if len(told) < 2 || told[len(told)-1] != total || total != 3<<20+6+5+6 {
		t.Errorf("told %v of %d", told, total)
	}
	one, err := Hash(t.Context(), filepath.Join(dir, "b"), nil, nil)
	if err != nil || one.SHA256 != strings.Fields(string(want))[2] {
		t.Errorf("%+v, %v", one, err)
	}
}

func TestHashEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Hash(ctx, folderOf(t, map[string]string{"a": "b"}), nil, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestHashOfAFileThatIsWritten: a digest of half the old and half the new bytes would be of neither, and is not remembered.
func TestHashOfAFileThatIsWritten(t *testing.T) {
	for name, write := range map[string]func(file string) error{
		"longer": func(file string) error { return os.Truncate(file, 4<<20) },
		"of the same length, at another time": func(file string) error {
			return os.Chtimes(file, time.Time{}, time.Now().Add(time.Hour))
		},
		"of another length, at the same time": func(file string) error {
			info, err := os.Stat(file)
			return errors.Join(err, os.Truncate(file, 5<<20), os.Chtimes(file, time.Time{}, info.ModTime()))
		},
	} {
		dir := folderOf(t, map[string]string{"a": strings.Repeat("x", 3<<20)})
		k, written := ReadKnown(filepath.Join(t.TempDir(), "digests.json")), false
		m, err := Hash(t.Context(), dir, k, func(int64, int64) {
			if !written {
				written = true
				if err := write(filepath.Join(dir, "a")); err != nil {
					t.Error(err)
				}
			}
		})
		if err == nil || !strings.Contains(err.Error(), "written to meanwhile") || m.SHA256 != "" || len(k.sums) != 0 {
			t.Errorf("%s: %+v, %v, %v remembered", name, m, err, k.sums)
		}
	}
}

// TestKnown: what was not changed is not read again, and what was is.
func TestKnown(t *testing.T) {
	dir, file := folderOf(t, map[string]string{"a": "one", "b": "two"}), filepath.Join(t.TempDir(), "new", "digests.json")
	k := ReadKnown(file)
	first, err := Hash(t.Context(), dir, k, nil)
	if err := errors.Join(err, k.Write()); err != nil {
		t.Fatal(err)
	}
	k = ReadKnown(file)
	for name, e := range k.sums { // a digest that no reading gives
		e.SHA256 = strings.Repeat("0", 64)
		k.sums[name] = e
	}
	again, err := Hash(t.Context(), dir, k, nil)
	if err != nil || strings.Count(string(again.Lines), strings.Repeat("0", 64)) != 2 {
		t.Errorf("%s, %v", again.Lines, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("eno"), 0o644); err != nil { // of the same size
		t.Fatal(err)
	}
	changed, err := Hash(t.Context(), dir, k, nil)
	if err != nil || strings.Count(string(changed.Lines), strings.Repeat("0", 64)) != 1 || changed.SHA256 == first.SHA256 {
		t.Errorf("%s, %v", changed.Lines, err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "b")), k.Write()); err != nil || len(ReadKnown(file).sums) != 1 {
		t.Errorf("%v, %v", ReadKnown(file).sums, err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o644); err != nil || len(ReadKnown(file).sums) != 0 {
		t.Error(err)
	}
}

func TestDigest(t *testing.T) {
	dir, run := folderOf(t, whole()), t.TempDir()
	known := filepath.Join(t.TempDir(), "digests.json")
	p := planOf("vllm", "process", dir)
	sum, err := Digest(t.Context(), p, run, known, nil)
	if err != nil || sum != "" {
		t.Errorf("a plan that wants no digest gets %q, %v", sum, err)
	}
	p.Model.Hash = true
	sum, err = Digest(t.Context(), p, run, known, nil)
	b, readErr := os.ReadFile(filepath.Join(run, ManifestFile))
	if err != nil || readErr != nil || len(sum) != 64 || fmt.Sprintf("%x", sha256.Sum256(b)) != sum || strings.Count(string(b), "\n") != 5 {
		t.Errorf("%q, %v, %v\n%s", sum, err, readErr, b)
	}
	p.Model.Hash, p.Model.SHA256 = false, sum
	if got, err := Digest(t.Context(), p, run, known, nil); err != nil || got != sum {
		t.Errorf("%q, %v", got, err)
	}
	p.Model.SHA256 = strings.Repeat("a", 64)
	_, err = Digest(t.Context(), p, run, known, nil)
	wantFault(t, "another model", err, "preflight.model_differs", sum)
}
