package lock

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzHolder: a lock that somebody else wrote names no holder, and breaks nothing.
func FuzzHolder(f *testing.F) {
	f.Add([]byte(`{"pid":1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		name := filepath.Join(t.TempDir(), "lock")
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		readHolder(name)
	})
}
