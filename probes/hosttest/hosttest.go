// Package hosttest makes hosts of files, for tests of what reads a host.
package hosttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/probes/host"
)

// Tree writes files below a new folder, "-> target" as links, and gives a host of it.
func Tree(t testing.TB, files map[string]string) host.Host {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, isLink := strings.CutPrefix(text, "-> "); isLink {
			err = os.Symlink(target, full)
		} else {
			err = os.WriteFile(full, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return host.Host{Root: dir}
}
