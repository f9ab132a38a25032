package image

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"assay/containers/enginetest"
)

// tarOf packs documents.
func tarOf(t testing.TB, documents map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for name, body := range documents {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(body)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func fileOf(t testing.TB, b []byte) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "image.tar")
	if err := os.WriteFile(at, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return at
}

func encoded(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// savedDocuments are those of a tar as engines write it now: their own list and an OCI layout with an index in an index.
func savedDocuments(t testing.TB) (documents map[string]string, manifestDigest, configDigest string) {
	t.Helper()
	h := func(digest string) v1.Hash {
		hash, err := v1.NewHash(digest)
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	config := encoded(t, v1.ConfigFile{OS: "linux", Architecture: "amd64", RootFS: v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{h(digest)}}})
	configDigest = sha256Of([]byte(config))
	list := encoded(t, v1.Manifest{SchemaVersion: 2, Config: v1.Descriptor{Digest: h(configDigest), Size: int64(len(config))}})
	manifestDigest = sha256Of([]byte(list))
	absent := v1.Descriptor{MediaType: "application/vnd.oci.image.manifest.v1+json", Digest: h(digest), Platform: &v1.Platform{OS: "linux", Architecture: "arm64"}}
	inner := encoded(t, v1.IndexManifest{SchemaVersion: 2, Manifests: []v1.Descriptor{absent, {MediaType: "application/vnd.oci.image.manifest.v1+json", Digest: h(manifestDigest)}}})
	outer := encoded(t, v1.IndexManifest{SchemaVersion: 2, Manifests: []v1.Descriptor{{MediaType: "application/vnd.oci.image.index.v1+json", Digest: h(sha256Of([]byte(inner)))}}})
	blob := func(digest string) string { return blobPath(h(digest)) }
	return map[string]string{
		layoutName: outer, blob(sha256Of([]byte(inner))): inner, blob(manifestDigest): list, blob(configDigest): config,
		savedName: encoded(t, []savedImage{{Config: blob(configDigest), RepoTags: []string{"lab/engine:v1"}, Layers: []string{blob(digest)}}}),
	}, manifestDigest, configDigest
}

func TestSavedFileWithALayout(t *testing.T) {
	documents, manifestDigest, configDigest := savedDocuments(t)
	f, err := openFile(fileOf(t, tarOf(t, documents)))
	if err != nil {
		t.Fatal(err)
	}
	all, err := f.images()
	if err != nil || len(all) != 1 {
		t.Fatalf("images %+v, %v", all, err)
	}
	want := manifest{index: sha256Of([]byte(documents[findKey(documents, "arm64")])), digest: manifestDigest, config: configDigest, platform: v1.Platform{OS: "linux", Architecture: "amd64"}, layers: []string{digest}}
	if d := cmp.Diff(want, all[0], cmp.AllowUnexported(manifest{})); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	ref := func(digest string) name.Reference {
		r, err := name.ParseReference("lab/engine@" + digest)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, d := range []string{want.index, want.digest, want.config} {
		if m, err := f.find(ref(d), v1.Platform{OS: "linux", Architecture: "amd64"}); err != nil || m.config != configDigest {
			t.Errorf("%s: %+v, %v", d, m, err)
		}
	}
	_, err = f.find(ref(configDigest), v1.Platform{OS: "linux", Architecture: "arm64"})
	enginetest.WantFault(t, err, "image.platform_missing", "linux/amd64", "linux/arm64")
}

// findKey is the name of the document that holds a word.
func findKey(documents map[string]string, word string) string {
	for name, body := range documents {
		if bytes.Contains([]byte(body), []byte(word)) {
			return name
		}
	}
	return ""
}

func TestFilesThatAreNoImages(t *testing.T) {
	for name, b := range map[string][]byte{
		"nothing":     {},
		"text":        []byte("no tar at all, but long enough to be taken for one by somebody who does not look"),
		"other tar":   tarOf(t, map[string]string{"a.json": "{}"}),
		"cut gzip":    {0x1f, 0x8b, 8, 0},
		"cut zstd":    {0x28, 0xb5, 0x2f, 0xfd},
		"half a tar":  tarOf(t, map[string]string{savedName: "[]"})[:513],
		"empty lists": tarOf(t, map[string]string{savedName: "{}"}),
	} {
		t.Run(name, func(t *testing.T) {
			f, err := openFile(fileOf(t, b))
			if err == nil {
				r, perr := parsed("lab/engine@" + digest)
				if perr != nil {
					t.Fatal(perr)
				}
				_, err = f.find(r, v1.Platform{})
			}
			enginetest.WantFault(t, err, "image.file_invalid")
		})
	}
}

// TestAPipeIsNoImage: nobody may write into it, and then the run would wait for ever.
func TestAPipeIsNoImage(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := openFile(pipe)
	enginetest.WantFault(t, err, "image.file_invalid", pipe)
}

func parsed(ref string) (name.Reference, error) { return name.ParseReference(ref) }

func FuzzFile(f *testing.F) {
	documents, _, _ := savedDocuments(f)
	f.Add(tarOf(f, documents))
	delete(documents, savedName)
	f.Add(tarOf(f, documents))
	f.Add(tarOf(f, map[string]string{savedName: `[{"Config":"a.json"}]`, "a.json": `{"rootfs":{"diff_ids":["sha256:12"]}}`}))
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := openFile(fileOf(t, b))
		if err != nil {
			return
		}
		all, err := in.images()
		if err != nil {
			return
		}
		for _, m := range all {
			if m.config == "" {
				t.Errorf("an image without configuration: %+v", m)
			}
			if err := in.write(io.Discard, m); err != nil {
				t.Errorf("an image that cannot be sent: %v", err)
			}
		}
	})
}
