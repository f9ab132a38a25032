package intake

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/result"
	"assay/runner/imported"
)

// TestIntake: the files of a client lie in the run's folder as they were listed; one that is gone is an error that names it.
func TestIntake(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(from, "b"), 0o700), os.WriteFile(filepath.Join(from, "b", "c.json"), []byte("abc"), 0o600)); err != nil {
		t.Fatal(err)
	}
	found := imported.Found{Source: imported.Source{Dir: from, Files: []string{"b/c.json"}}}
	files, err := Files(found)
	want := []result.Artifact{{Path: imported.Folder + "/b/c.json", SHA256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", Bytes: 3}}
	if diff := cmp.Diff(want, files); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if err := Copy(found, to); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(to, imported.Folder, "b", "c.json")); string(b) != "abc" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	found.Source.Files = []string{"gone"}
	_, listing := Files(found)
	for _, err := range []error{listing, Copy(found, to)} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v", err)
		}
	}
}
