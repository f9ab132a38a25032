package archive

import (
	"io/fs"
	"testing"

	"assay/result"
)

// FuzzManifest: a manifest that is taken names only files below its archive, each once, the result first.
func FuzzManifest(f *testing.F) {
	f.Add(mustFuzz(Manifest{Schema: Schema, Run: "r", Files: []result.Artifact{{Path: result.FileName, SHA256: "00"}}}))
	f.Add([]byte(`{"schema":"assay.archive/v1"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := decodeManifest(raw)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, file := range m.Files {
			if !fs.ValidPath(file.Path) || seen[file.Path] || file.Bytes < 0 {
				t.Errorf("%q is taken: %+v", raw, file)
			}
			seen[file.Path] = true
		}
	})
}

// FuzzKey: a file that is no Ed25519 key is an error and no panic.
func FuzzKey(f *testing.F) {
	text, err := newKey()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(text))
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if key, err := parseKey(raw); err == nil && len(key) != 64 {
			t.Errorf("a key of %d bytes", len(key))
		}
	})
}
