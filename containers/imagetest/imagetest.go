// Package imagetest assembles container images for tests, without docker build and without network: a static program and
// files in one layer, served by a registry in the test's own process and named by digest. Only tests import it.
package imagetest

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Socket is where the tests look for an engine: where DOCKER_HOST says, as the command line does, else at its usual place.
func Socket() string {
	if path, unix := strings.CutPrefix(os.Getenv("DOCKER_HOST"), "unix://"); unix {
		return path
	}
	return "/var/run/docker.sock"
}

// NeedDocker skips the test when no engine listens; under CI=true that is a failure.
func NeedDocker(t testing.TB) {
	t.Helper()
	c, err := net.Dial("unix", Socket())
	if err != nil {
		Missing(t, "a Docker engine at %s (%v)", Socket(), err)
		return
	}
	c.Close()
}

// Docker runs the engine's own command line and gives what it prints: the tests see what an operator would.
func Docker(t testing.TB, args ...string) string {
	t.Helper()
	b, err := exec.Command("docker", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("docker %v: %v\n%s", args, err, b)
	}
	return strings.TrimSpace(string(b))
}

// ContainersOf lists the containers of a data directory by its mark.
func ContainersOf(t testing.TB, owner string) string {
	t.Helper()
	return Docker(t, "ps", "--all", "--quiet", "--filter", "label=assay.owner="+owner)
}

// Missing skips the test for want of a part of the machine; under CI=true it fails.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("needs "+format, args...)
	}
	t.Skipf("needs "+format, args...)
}

// Registry serves an empty registry on the loopback until the test ends and gives its host:port.
func Registry(t testing.TB) string {
	t.Helper()
	s := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// Push stores an image and gives its reference by digest. The engine's copy is removed when the test ends.
func Push(t testing.TB, host, repository string, img v1.Image) string {
	t.Helper()
	tag, err := name.ParseReference(host + "/" + repository + ":latest")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(tag, img); err != nil {
		t.Fatal(err)
	}
	d, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	ref := host + "/" + repository + "@" + d.String()
	t.Cleanup(func() { _ = exec.Command("docker", "image", "rm", "--force", ref).Run() })
	return ref
}

// Files are an image's contents: path in the image → file on this machine.
type Files map[string]string

// Image makes a one-layer image whose entry point is a program of it.
func Image(t testing.TB, files Files, entrypoint ...string) v1.Image {
	t.Helper()
	return assemble(t, files, runtime.GOARCH, entrypoint)
}

// ForeignImage is an empty image for a machine that the tests do not run on.
func ForeignImage(t testing.TB) v1.Image {
	t.Helper()
	return assemble(t, nil, "s390x", []string{"/none"})
}

func assemble(t testing.TB, files Files, arch string, entrypoint []string) v1.Image {
	t.Helper()
	b := layer(t, files)
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil })
	if err != nil {
		t.Fatal(err)
	}
	img, err := mutate.AppendLayers(empty.Image, l)
	if err != nil {
		t.Fatal(err)
	}
	cf, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	cf = cf.DeepCopy()
	cf.OS, cf.Architecture, cf.Config = "linux", arch, v1.Config{Entrypoint: entrypoint}
	cf.Created = v1.Time{Time: time.Now()} // so that the engine takes no two for one, of which another test's end would remove both
	if img, err = mutate.ConfigFile(img, cf); err != nil {
		t.Fatal(err)
	}
	return img
}

// layer packs files, with a /tmp.
func layer(t testing.TB, files Files) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	add := func(h tar.Header, body []byte) {
		h.Size, h.ModTime = int64(len(body)), time.Unix(0, 0)
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(body); err != nil {
			t.Fatal(err)
		}
	}
	add(tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}, nil)
	for _, to := range slices.Sorted(maps.Keys(files)) {
		body, err := os.ReadFile(files[to])
		if err != nil {
			t.Fatal(err)
		}
		add(tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(to, "/"), Mode: 0o755}, body)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// Build compiles a Go main package of this module to a static program.
func Build(t testing.TB, pkg string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, b)
	}
	return out
}

// HelloImage is a tiny server that behaves like an engine named hello, by digest, in a registry of the test's own. Its layer is like no other,
// so that no engine has it already.
func HelloImage(t testing.TB) (ref string) {
	t.Helper()
	own := filepath.Join(t.TempDir(), "own")
	if err := os.WriteFile(own, fmt.Appendln(nil, t.Name(), os.Getpid(), time.Now().UnixNano()), 0o600); err != nil {
		t.Fatal(err)
	}
	img := Image(t, Files{"/hello": Build(t, "assay/containers/imagetest/testdata/hello"), "/own": own}, "/hello")
	return Push(t, Registry(t), "assay/hello", img)
}

// ProgramImage is a program of this machine with the libraries that it needs, and this machine's users, by digest.
func ProgramImage(t testing.TB, program string) (ref string) {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		Missing(t, "%s: %v", program, err)
	}
	files := Files{path: path, "/etc/passwd": "/etc/passwd", "/etc/group": "/etc/group"}
	out, err := exec.Command("ldd", path).Output()
	if err != nil {
		t.Fatalf("libraries of %s: %v", path, err)
	}
	for word := range strings.FieldsSeq(string(out)) {
		if filepath.IsAbs(word) {
			files[word] = word
		}
	}
	return Push(t, Registry(t), "assay/"+program, Image(t, files, path))
}

// LlamaServer is the static llama.cpp server of the cache; ASSAY_LLAMA_SERVER names another.
func LlamaServer(t testing.TB) string {
	t.Helper()
	return cached(t, "ASSAY_LLAMA_SERVER", ".cache/engines/llama-server")
}

// LlamaModel is the small model of the cache; ASSAY_LLAMA_MODEL names another.
func LlamaModel(t testing.TB) string {
	t.Helper()
	return cached(t, "ASSAY_LLAMA_MODEL", ".cache/models/SmolLM2-135M-Instruct.Q4_1.gguf")
}

// LlamaImage is llama.cpp's server as an image in a registry of the test's own, by digest. The model is not in it.
func LlamaImage(t testing.TB) (ref string) {
	t.Helper()
	img := Image(t, Files{"/app/llama-server": LlamaServer(t)}, "/app/llama-server")
	return Push(t, Registry(t), "assay/llama-server", img)
}

// cached finds a file by an environment variable, or below the module's root.
func cached(t testing.TB, variable, path string) string {
	t.Helper()
	if named := os.Getenv(variable); named != "" {
		path = named
	} else {
		path = filepath.Join(moduleRoot(t), path)
	}
	if _, err := os.Stat(path); err != nil {
		Missing(t, "%s (or %s)", path, variable)
	}
	return path
}

func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Fatal("the module's root was not found")
	return ""
}
