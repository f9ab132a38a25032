package image

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"

	"assay/containers/enginetest"
	"assay/containers/imagetest"
	"assay/fault"
)

// testRegistry is a registry on the loopback that can be made to fail.
type testRegistry struct {
	host  string
	blobs atomic.Int64                                                  // layers and configurations that were asked for
	fail  atomic.Pointer[func(http.ResponseWriter, *http.Request) bool] // answers in the registry's place when it gives true
}

func newRegistry(t *testing.T) *testRegistry {
	t.Helper()
	r := &testRegistry{}
	h := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodGet && strings.Contains(req.URL.Path, "/blobs/") && byEngine(req) {
			r.blobs.Add(1)
		}
		if fail := r.fail.Load(); fail != nil && (*fail)(w, req) {
			return
		}
		h.ServeHTTP(w, req)
	}))
	t.Cleanup(s.Close)
	r.host = strings.TrimPrefix(s.URL, "http://")
	return r
}

// failing makes the registry answer by a function where that gives true.
func (r *testRegistry) failing(f func(http.ResponseWriter, *http.Request) bool) { r.fail.Store(&f) }

// byEngine tells the engine's requests from our own.
func byEngine(r *http.Request) bool { return strings.HasPrefix(r.UserAgent(), "docker/") }

func (r *testRegistry) push(t *testing.T, repository string, img remote.Taggable) (ref string) {
	t.Helper()
	tag, err := name.NewTag(r.host + "/" + repository + ":latest")
	if err != nil {
		t.Fatal(err)
	}
	if idx, is := img.(v1.ImageIndex); is {
		err = remote.WriteIndex(tag, idx)
	} else {
		err = remote.Write(tag, img.(v1.Image))
	}
	if err != nil {
		t.Fatal(err)
	}
	return r.host + "/" + repository + "@" + digestOf(t, img.(interface{ Digest() (v1.Hash, error) }))
}

func digestOf(t *testing.T, of interface{ Digest() (v1.Hash, error) }) string {
	t.Helper()
	d, err := of.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d.String()
}

func configOf(t *testing.T, img v1.Image) string {
	t.Helper()
	h, err := img.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	return h.String()
}

// onTop puts random layers of some size on an image.
func onTop(t *testing.T, base v1.Image, layers int, size int64) v1.Image {
	t.Helper()
	for range layers {
		l, err := random.Layer(size, types.DockerLayer)
		if err != nil {
			t.Fatal(err)
		}
		if base, err = mutate.AppendLayers(base, l); err != nil {
			t.Fatal(err)
		}
	}
	return base
}

// made is an image of random layers for an architecture.
func made(t *testing.T, arch string, layers int, size int64) v1.Image {
	t.Helper()
	img := onTop(t, empty.Image, layers, size)
	cfg, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	cfg = cfg.DeepCopy()
	cfg.OS, cfg.Architecture, cfg.Created = "linux", arch, v1.Time{Time: time.Unix(1.7e9, 0).UTC()}
	cfg.Config = v1.Config{Entrypoint: []string{"/none"}, Labels: map[string]string{"org.opencontainers.image.title": "made", "build.token": "verysecret", "source": "https://me:verysecret@git.test/x"}}
	if img, err = mutate.ConfigFile(img, cfg); err != nil {
		t.Fatal(err)
	}
	return img
}

func indexOf(t *testing.T, images map[string]v1.Image) v1.ImageIndex {
	t.Helper()
	idx := v1.ImageIndex(empty.Index)
	for arch, img := range images {
		idx = mutate.AppendManifests(idx, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}})
	}
	return idx
}

// ready is Prepare at an engine, with everything that it told.
func ready(t *testing.T, socket string, w Wanted) (Identity, []Progress, error) {
	t.Helper()
	var told []Progress
	w.Role = "server"
	i, err := prepare(t.Context(), connected(t, socket), w, quick(), func(p Progress) { told = append(told, p) })
	return i, told, err
}

func mustBeReady(t *testing.T, socket string, w Wanted) (Identity, []Progress) {
	t.Helper()
	i, told, err := ready(t, socket, w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = docker(socket, "image", "rm", "--force", i.ID).Run() })
	return i, told
}

func docker(socket string, args ...string) *exec.Cmd {
	return exec.Command("docker", append([]string{"--host", "unix://" + socket}, args...)...)
}

func mustRun(t *testing.T, socket string, args ...string) {
	t.Helper()
	if b, err := docker(socket, args...).CombinedOutput(); err != nil {
		t.Fatalf("docker %v: %v\n%s", args, err, b)
	}
}

// An image is known by the digests of its index, its manifest and its configuration, whichever of the first two the plan pins.
func TestField_moby48401_ImageIsKnownByAllItsDigests(t *testing.T) {
	imagetest.NeedDocker(t)
	r, socket := newRegistry(t), imagetest.Socket()
	img := made(t, runtime.GOARCH, 3, 100_000)
	idx := indexOf(t, map[string]v1.Image{runtime.GOARCH: img, "s390x": made(t, "s390x", 1, 1000)})
	ref := r.push(t, "lab/engine", idx)
	i, told := mustBeReady(t, socket, Wanted{Image: ref})
	want := Identity{Requested: ref, Pinned: ref, IndexDigest: digestOf(t, idx), ManifestDigest: digestOf(t, img), ConfigDigest: configOf(t, img), ID: i.ID, Store: i.Store,
		OS: "linux", Architecture: runtime.GOARCH, Layers: layersOf(t, img), SizeBytes: i.SizeBytes, Created: "2023-11-14T22:13:20Z",
		Labels: map[string]string{"org.opencontainers.image.title": "made", "build.token": fault.Hidden, "source": "https://git.test/x"}}
	if d := cmp.Diff(want, i); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if r.blobs.Load() < 4 || i.SizeBytes < 300_000 || i.Store == "overlay2" && i.ID != i.ConfigDigest {
		t.Errorf("%+v", i)
	}
	last := told[len(told)-1]
	if last.Total < 300_000 || last.Done != last.Total || last.Status != "unpacking, 3 of 3 layers" {
		t.Errorf("progress ended with %+v", last)
	}
	again, told := mustBeReady(t, socket, Wanted{Image: r.host + "/lab/engine@" + digestOf(t, img)})
	if told[0].Status != "already present" || again.ManifestDigest != want.ManifestDigest || again.IndexDigest != "" {
		t.Errorf("by its manifest: %+v, %v", again, told)
	}
	tagged, _ := mustBeReady(t, socket, Wanted{Image: r.host + "/lab/engine:latest", Unpinned: true})
	if remarks := tagged.Remarks("server"); len(remarks) != 1 || !strings.Contains(remarks[0], "latest was "+ref) || len(i.Remarks("server")) > 0 {
		t.Errorf("remarks %q", remarks)
	}
	if !tagged.Unpinned || tagged.Pinned != ref {
		t.Errorf("by its tag: %+v", tagged)
	}
}

func layersOf(t *testing.T, img v1.Image) []string {
	t.Helper()
	cfg, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	return manifest{}.configured(cfg).layers
}

// A plan with a tag is refused, and the refusal names the digest to write.
func TestField_InferenceX3241_TagIsRefusedWithItsDigest(t *testing.T) {
	host := imagetest.Registry(t)
	ref := imagetest.Push(t, host, "lab/engine", imagetest.ForeignImage(t))
	w := Wanted{Role: "server", Image: host + "/lab/engine:latest"}
	_, err := w.parse(t.Context())
	enginetest.WantFault(t, err, "image.unpinned", host+"/lab/engine:latest", "now it is "+ref)
	w.Unpinned = true
	if _, err := w.parse(t.Context()); err != nil {
		t.Errorf("allowed: %v", err)
	}
}

// A registry that deleted a nightly image gives no other one for it, and the hint says what remains.
func TestField_vllmrecipes241_DeletedNightly(t *testing.T) {
	imagetest.NeedDocker(t)
	r := newRegistry(t)
	r.push(t, "lab/engine", made(t, runtime.GOARCH, 1, 1000))
	_, _, err := ready(t, imagetest.Socket(), Wanted{Image: r.host + "/lab/engine@" + digest})
	enginetest.WantFault(t, err, "image.not_found", digest)
	if hint := fault.Of(err, fault.Image).Hint; !strings.Contains(hint, "nightly") || !strings.Contains(hint, "image_file") {
		t.Errorf("hint %q", hint)
	}
}

// An image that is the same bit by bit is accepted by whichever digest it is pinned, though the engine knows it by another.
func TestField_agenccore1725_SameImageByAnotherDigest(t *testing.T) {
	imagetest.NeedDocker(t)
	r, socket := newRegistry(t), imagetest.Socket()
	img := made(t, runtime.GOARCH, 1, 1000)
	first, _ := mustBeReady(t, socket, Wanted{Image: r.push(t, "lab/engine", img)})
	index := r.push(t, "mirror/engine", indexOf(t, map[string]v1.Image{runtime.GOARCH: img}))
	before := r.blobs.Load()
	for _, ref := range []string{"registry.invalid/lab/engine@" + configOf(t, img), index} {
		if i, told := mustBeReady(t, socket, Wanted{Image: ref}); i.ID != first.ID || told[0].Status != "already present" {
			t.Errorf("%s: %+v, %v", ref, i, told)
		}
	}
	if r.blobs.Load() != before {
		t.Error("it was pulled again")
	}
}

func TestRefusedImages(t *testing.T) {
	imagetest.NeedDocker(t)
	r, socket := newRegistry(t), imagetest.Socket()
	ref := r.push(t, "lab/engine", made(t, runtime.GOARCH, 1, 1000))
	_, sum, _ := strings.Cut(ref, "@")
	foreign := r.push(t, "lab/foreign", indexOf(t, map[string]v1.Image{"s390x": made(t, "s390x", 1, 1000), "ppc64le": made(t, "ppc64le", 1, 1000)}))
	alone := r.push(t, "lab/alone", made(t, "s390x", 1, 1000))
	for _, c := range []struct {
		name, image, code string
		words             []string
	}{
		{"no tag", r.host + "/lab/engine", "image.unpinned", []string{"now it is " + ref}},
		{"a tag of no registry", "127.0.0.1:1/lab/engine:latest", "image.unpinned", []string{"can change"}},
		{"nothing", "", "image.missing", nil},
		{"half a digest", r.host + "/lab/engine@sha256:12", "image.invalid", nil},
		{"an unknown digest", r.host + "/lab/engine@sha256:" + strings.Repeat("ab", 32), "image.not_found", nil},
		{"an unknown repository", r.host + "/lab/none@" + sum, "image.not_found", nil},
		{"no registry", "127.0.0.1:1/lab/engine@sha256:" + strings.Repeat("ab", 32), "image.registry_unreachable", nil},
		{"an index for others", foreign, "image.platform_missing", []string{"linux/s390x", "linux/ppc64le", runtime.GOARCH}},
		{"a manifest for others", alone, "image.wrong_platform", []string{"s390x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := r.blobs.Load()
			_, _, err := ready(t, socket, Wanted{Image: c.image})
			enginetest.WantFault(t, err, c.code, append(c.words, c.image)...)
			if r.blobs.Load() != before && c.name != "a manifest for others" {
				t.Error("something was pulled")
			}
		})
	}
}

// An image that is said to be built from another has all of its layers, in their order.
func TestBaseIsProvedByLayers(t *testing.T) {
	imagetest.NeedDocker(t)
	r, socket := newRegistry(t), imagetest.Socket()
	base := made(t, runtime.GOARCH, 3, 1000)
	from := r.push(t, "lab/base", base)
	ref := r.push(t, "lab/derived", onTop(t, base, 2, 1000))
	i, _ := mustBeReady(t, socket, Wanted{Image: ref, Base: from})
	if want := (&Base{Image: from, Proved: true, Layers: layersOf(t, base), Shared: 3, Source: "registry"}); cmp.Diff(want, i.Base) != "" {
		t.Errorf("by the registry: %+v", i.Base)
	}
	mustBeReady(t, socket, Wanted{Image: from})
	if i, _ := mustBeReady(t, socket, Wanted{Image: ref, Base: from}); !i.Base.Proved || i.Base.Source != "engine" {
		t.Errorf("by the engine: %+v", i.Base)
	}

	lower, err := base.Layers()
	if err != nil {
		t.Fatal(err)
	}
	other, err := mutate.AppendLayers(empty.Image, lower[0])
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := base.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	other = onTop(t, other, 1, 1000)
	ocfg, err := other.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	ocfg = ocfg.DeepCopy()
	ocfg.OS, ocfg.Architecture = cfg.OS, cfg.Architecture
	if other, err = mutate.ConfigFile(other, ocfg); err != nil {
		t.Fatal(err)
	}
	stranger := r.push(t, "lab/other", other)
	_, _, err = ready(t, socket, Wanted{Image: ref, Base: stranger})
	enginetest.WantFault(t, err, "image.base_differs", "layer 2 of 2", layersOf(t, other)[1], layersOf(t, base)[1])
	if i, _ := mustBeReady(t, socket, Wanted{Image: ref, Base: stranger, Unpinned: true}); i.Base.Proved || i.Base.Shared != 1 || i.Base.Want != layersOf(t, other)[1] || !strings.Contains(strings.Join(i.Remarks("server"), ""), "not proved") {
		t.Errorf("allowed and marked: %+v", i.Base)
	}
	_, _, err = ready(t, socket, Wanted{Image: from, Base: ref})
	enginetest.WantFault(t, err, "image.base_differs", "the image ends before it")
	_, _, err = ready(t, socket, Wanted{Image: ref, Base: "127.0.0.1:1/lab/base@" + digest})
	enginetest.WantFault(t, err, "image.base_unknown", "127.0.0.1:1")
}

// writeLayout writes an OCI layout of an index or an image.
func writeLayout(t *testing.T, idx v1.ImageIndex) string {
	t.Helper()
	dir := t.TempDir()
	p, err := layout.Write(dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.AppendIndex(idx); err != nil {
		t.Fatal(err)
	}
	return dir
}

// packed is a folder as a tar, and as ones that are compressed.
func packed(t *testing.T, dir string) (plain, small, smaller string) {
	t.Helper()
	plain = filepath.Join(t.TempDir(), "image.tar")
	if b, err := exec.Command("tar", "-cf", plain, "-C", dir, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	b, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	compressed := func(ending string, into func(io.Writer) (io.WriteCloser, error)) string {
		var out bytes.Buffer
		w, err := into(&out)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Close(), os.WriteFile(plain+ending, out.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		return plain + ending
	}
	small = compressed(".gz", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
	smaller = compressed(".zst", func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
	return plain, small, smaller
}

// Without a registry an image comes from a file, and is held against the pinned digest all the same.
func TestImageFromAFile(t *testing.T) {
	imagetest.NeedDocker(t)
	socket := imagetest.Socket()
	img := made(t, runtime.GOARCH, 2, 50_000)
	idx := indexOf(t, map[string]v1.Image{runtime.GOARCH: img, "s390x": made(t, "s390x", 1, 1000)})
	dir := writeLayout(t, idx)
	plain, small, smaller := packed(t, dir)
	repository := "registry.invalid/lab/engine@"
	for name, w := range map[string]Wanted{
		"layout by its index":         {File: dir, Image: repository + digestOf(t, idx)},
		"layout by its manifest":      {File: dir, Image: repository + digestOf(t, img)},
		"layout by its configuration": {File: dir, Image: repository + configOf(t, img)},
		"tar":                         {File: plain, Image: repository + digestOf(t, idx)},
		"gzip":                        {File: small, Image: repository + digestOf(t, idx)},
		"zstd":                        {File: smaller, Image: repository + digestOf(t, idx)},
		"whatever is in it":           {File: dir, Image: "lab/engine:local", Unpinned: true},
	} {
		t.Run(name, func(t *testing.T) {
			i, told, err := ready(t, socket, w)
			if err != nil {
				t.Fatal(err)
			}
			defer mustRun(t, socket, "image", "rm", "--force", i.ID)
			if i.ManifestDigest != digestOf(t, img) || i.IndexDigest != digestOf(t, idx) || i.ConfigDigest != configOf(t, img) || i.File != w.File || told[0].Status != "loading" {
				t.Errorf("%+v, %v", i, told)
			}
			if _, told, err := ready(t, socket, w); err != nil || told[0].Status != "already present" {
				t.Errorf("again: %v, %v", told, err)
			}
		})
	}
	_, _, err := ready(t, socket, Wanted{File: dir, Image: repository + digest})
	enginetest.WantFault(t, err, "image.file_differs", configOf(t, img))
	_, _, err = ready(t, socket, Wanted{File: filepath.Join(dir, "none"), Image: repository + digest})
	enginetest.WantFault(t, err, "image.file_missing")
	damage(t, dir, digestOf(t, img))
	_, _, err = ready(t, socket, Wanted{File: dir, Image: repository + digestOf(t, idx)})
	enginetest.WantFault(t, err, "image.file_invalid", digestOf(t, img))
}

// damage changes a blob of a layout.
func damage(t *testing.T, dir, digest string) {
	t.Helper()
	at := filepath.Join(dir, "blobs", "sha256", strings.TrimPrefix(digest, "sha256:"))
	b, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, append(b, ' '), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A layer that is not what the layout says, is cut or is missing is found by the engine, and the file is blamed for it.
func TestDamagedLayerOfAFile(t *testing.T) {
	imagetest.NeedDocker(t)
	_, other := layerOf(t, made(t, runtime.GOARCH, 1, 1000))
	for name, damage := range map[string]func(path string, body []byte) error{
		"other contents": func(path string, _ []byte) error { return os.WriteFile(path, other, 0o600) },
		"cut":            func(path string, body []byte) error { return os.WriteFile(path, body[:len(body)/2], 0o600) },
		"no archive": func(path string, body []byte) error {
			return os.WriteFile(path, bytes.Repeat([]byte("x"), len(body)), 0o600)
		},
		"missing": func(path string, _ []byte) error { return os.Remove(path) },
	} {
		t.Run(name, func(t *testing.T) {
			img := made(t, runtime.GOARCH, 1, 1000)
			dir := writeLayout(t, indexOf(t, map[string]v1.Image{runtime.GOARCH: img}))
			at, body := layerOf(t, img)
			if err := damage(filepath.Join(dir, "blobs", "sha256", at), body); err != nil {
				t.Fatal(err)
			}
			_, _, err := ready(t, imagetest.Socket(), Wanted{File: dir, Image: "lab/engine@" + digestOf(t, img)})
			enginetest.WantFault(t, err, "image.file_invalid")
		})
	}
}

// layerOf gives the lowest layer of an image: the hex of its digest, and its bytes.
func layerOf(t *testing.T, img v1.Image) (string, []byte) {
	t.Helper()
	ls, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(digestOf(t, ls[0]), "sha256:"), bytesOf(t, ls[0])
}

// What `docker save` wrote lost the image's name and digest: its configuration alone says what it is.
func TestField_moby22011_SavedImageIsKnownByItsConfiguration(t *testing.T) {
	imagetest.NeedDocker(t)
	r, socket := newRegistry(t), imagetest.Socket()
	img := made(t, runtime.GOARCH, 2, 1000)
	ref := r.push(t, "lab/engine", img)
	repository, _, _ := strings.Cut(ref, "@")
	if _, _, err := ready(t, socket, Wanted{Image: ref}); err != nil {
		t.Fatal(err)
	}
	saved := filepath.Join(t.TempDir(), "saved.tar")
	mustRun(t, socket, "save", "--output", saved, ref)
	mustRun(t, socket, "image", "rm", "--force", ref)

	_, _, err := ready(t, socket, Wanted{File: saved, Image: ref})
	if f := fault.Of(err, fault.Image); err != nil && (f.Code != "image.file_differs" || !strings.Contains(f.Text, configOf(t, img))) {
		t.Errorf("pinned by its manifest: %v", err)
	}
	byConfig := repository + "@" + configOf(t, img)
	if i, told, err := ready(t, socket, Wanted{File: saved, Image: byConfig}); err != nil || i.ConfigDigest != configOf(t, img) || told[0].Status != "loading" {
		t.Fatalf("pinned by its configuration: %+v, %v, %v", i, told, err)
	}
	before := r.blobs.Load()
	for _, pinned := range []string{byConfig, ref} { // it is there without a name; the registry links the second to it
		i, told := mustBeReady(t, socket, Wanted{Image: pinned})
		if told[0].Status != "already present" || i.ConfigDigest != configOf(t, img) || i.Pinned != pinned {
			t.Errorf("%s: %+v, %v", pinned, i, told)
		}
	}
	if r.blobs.Load() != before {
		t.Error("it was pulled again")
	}
}
