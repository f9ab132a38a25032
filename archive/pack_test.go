package archive

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/fault"
	"assay/result"
)

func TestPackIsDeterministic(t *testing.T) {
	dir, _ := makeRun(t)
	first := pack(t, dir)
	for _, path := range []string{"plan.yaml", "recordings/c1.rec", result.FileName} { // neither time nor mode matters
		name := filepath.Join(dir, path)
		if err := errors.Join(os.Chtimes(name, time.Unix(9, 9), time.Unix(9, 9)), os.Chmod(name, 0o640)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, dir, result.ReportName, "<html>") // nor what is made from the result
	put(t, dir, result.ArchiveName, "an archive made before")
	put(t, dir, ".plan.tmp", "a leftover")
	if again := pack(t, dir); !bytes.Equal(first, again) {
		t.Error("the same run gave other bytes")
	}
	other := t.TempDir()
	if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if again := pack(t, other); !bytes.Equal(first, again) {
		t.Error("a copy of the run gave other bytes")
	}
}

func TestPackOrderAndHeaders(t *testing.T) {
	dir, _ := makeRun(t)
	var names []string
	for _, e := range unpack(t, pack(t, dir)) {
		names = append(names, strings.TrimPrefix(e.header.Name, runID+"/"))
		h := e.header
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" || h.Mode != 0o644 || h.ModTime.Unix() != 0 {
			t.Errorf("%s: header %+v", h.Name, h)
		}
	}
	want := []string{manifestName, signatureName, result.FileName, "logs/server.log", "plan.yaml", "recordings/c1.rec", "recordings/c4.rec"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPackRefuses(t *testing.T) {
	tests := []struct {
		name, code string
		spoil      func(t *testing.T, dir string, r result.Result)
	}{
		{"no result", "archive.no_result", func(t *testing.T, dir string, _ result.Result) { os.Remove(filepath.Join(dir, result.FileName)) }},
		{"result of a newer program", "store.newer_result", func(t *testing.T, dir string, _ result.Result) {
			put(t, dir, result.FileName, `{"schema":"assay.result/v9"}`)
		}},
		{"missing file", "archive.changed", func(t *testing.T, dir string, _ result.Result) { os.Remove(filepath.Join(dir, "plan.yaml")) }},
		{"grown file", "archive.changed", func(t *testing.T, dir string, _ result.Result) { put(t, dir, "plan.yaml", planText+"\n") }},
		{"changed file", "archive.changed", func(t *testing.T, dir string, _ result.Result) { put(t, dir, "logs/server.log", "stopped\n") }},
		{"a folder in its place", "archive.changed", func(t *testing.T, dir string, _ result.Result) {
			os.Remove(filepath.Join(dir, "plan.yaml"))
			os.Mkdir(filepath.Join(dir, "plan.yaml"), 0o700)
		}},
		{"a way out of the folder", "", func(t *testing.T, dir string, r result.Result) {
			r.Artifacts = []result.Artifact{{Path: "../secret", SHA256: strings.Repeat("0", 64)}}
			save(t, dir, r)
		}},
		{"a link out of the folder", "archive.changed", func(t *testing.T, dir string, r result.Result) {
			secret := filepath.Join(t.TempDir(), "secret")
			put(t, filepath.Dir(secret), "secret", "secret")
			if err := os.Symlink(secret, filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			a := artifact(t, filepath.Dir(secret), "secret")
			a.Path = "link"
			r.Artifacts = []result.Artifact{a}
			save(t, dir, r)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, r := makeRun(t)
			tt.spoil(t, dir, r)
			err := Pack(t.Context(), dir, testKey(), io.Discard)
			if err == nil {
				t.Fatal("it was packed")
			}
			if f := fault.Of(err, fault.Archive); tt.code != "" && f.Code != tt.code {
				t.Errorf("%v, want %s", err, tt.code)
			}
		})
	}
	if err := Pack(t.Context(), filepath.Join(t.TempDir(), "nobody"), testKey(), io.Discard); fault.Of(err, fault.Store).Code != "archive.no_run" {
		t.Errorf("no folder: %v", err)
	}
	dir, _ := makeRun(t)
	if err := Pack(canceled(t), dir, testKey(), io.Discard); err == nil {
		t.Error("packed under a canceled context")
	}
	if err := Pack(t.Context(), dir, testKey(), full{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a full disk: %v", err)
	}
}

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestKeyIsMadeOnceAndKept(t *testing.T) {
	dir := t.TempDir()
	keys := make([]ed25519.PrivateKey, 8)
	var group sync.WaitGroup
	for i := range keys {
		group.Go(func() {
			var err error
			if keys[i], err = LoadOrCreateKey(dir); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, key := range keys {
		if !key.Equal(keys[0]) {
			t.Fatal("two programs made two keys")
		}
	}
	info, err := os.Stat(filepath.Join(dir, KeyName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left beside the key: %v", entries)
	}
	other, err := LoadOrCreateKey(t.TempDir())
	if err != nil || other.Equal(keys[0]) {
		t.Errorf("two directories have one key, %v", err)
	}
}

func TestKeyFaults(t *testing.T) {
	dir := t.TempDir()
	if _, err := LoadOrCreateKey(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, KeyName)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := LoadOrCreateKey(dir)
	wantFault(t, err, "archive.key_open")
	const rsa = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
	for _, text := range []string{"", "no key", rsa} {
		put(t, dir, KeyName, text)
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := LoadOrCreateKey(dir)
		wantFault(t, err, "archive.key_bad")
	}
	_, err = LoadOrCreateKey(filepath.Join(dir, "nowhere"))
	wantFault(t, err, "archive.key_not_made")
}

func wantFault(t *testing.T, err error, code string) {
	t.Helper()
	var f *fault.Fault
	if !errors.As(err, &f) || f.Code != code || f.Hint == "" {
		t.Errorf("error %v, want fault %s with a hint", err, code)
	}
}
