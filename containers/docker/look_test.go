package docker_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assay/containers"
	"assay/containers/docker"
	"assay/containers/imagetest"
	"assay/containers/instancetest"
	"assay/plan"
)

// pythonImage is the tiny server with this machine's Python, its standard library, a package and a ROCm that it was made with, by digest.
func pythonImage(t *testing.T) (ref string) {
	t.Helper()
	const ask = "import sys, sysconfig, os; print(os.path.realpath(sys.executable)); print(sysconfig.get_path('stdlib')); print(sys.prefix)"
	out, err := exec.Command("python3", "-c", ask).Output()
	if err != nil {
		t.Skipf("there is no Python here: %v", err)
	}
	said := strings.Fields(string(out))
	files := imagetest.Files{"/hello": imagetest.Build(t, "assay/containers/imagetest/testdata/hello"), said[0]: said[0], "/usr/local/bin/python3": said[0]}
	linked := []string{said[0]}
	err = filepath.WalkDir(said[1], func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (strings.HasSuffix(name, "-packages") || d.Name() == "test" || d.Name() == "__pycache__" || strings.HasPrefix(d.Name(), "config-")) {
			return fs.SkipDir
		}
		if err == nil && d.Type().IsRegular() && (filepath.Ext(name) == ".py" || filepath.Ext(name) == ".so") {
			files[name] = name
			if filepath.Ext(name) == ".so" {
				linked = append(linked, name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	libraries(t, files, linked)
	for name, text := range map[string]string{
		"/etc/os-release": "PRETTY_NAME=\"Tiny 1\"\n", "/opt/rocm/.info/version": "7.0.0-38\n",
		said[1] + "/vllm-0.11.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: vllm\nVersion: 0.11.0\n", said[1] + "/vllm/_version.py": "__commit_id__ = commit_id = 'g38f225c2a'\n",
	} {
		file := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		files[name] = file
	}
	return imagetest.Push(t, imagetest.Registry(t), "assay/python", imagetest.Image(t, files, "/hello"))
}

// libraries adds the shared libraries of programs.
func libraries(t *testing.T, files imagetest.Files, programs []string) {
	t.Helper()
	out, err := exec.Command("ldd", programs...).Output()
	if err != nil {
		t.Skipf("the Python here cannot be put into an image: %v", err)
	}
	for word := range strings.FieldsSeq(string(out)) {
		if filepath.IsAbs(word) && !strings.HasSuffix(word, ":") {
			files[word] = word
		}
	}
}

// TestInsideContainer reads a real container: files without any program of the image, and its packages by its own Python.
func TestInsideContainer(t *testing.T) {
	imagetest.NeedDocker(t)
	for name, image := range map[string]func(*testing.T) string{"with Python": pythonImage, "without": func(t *testing.T) string { return imagetest.HelloImage(t) }} {
		t.Run(name, func(t *testing.T) {
			s := helloSpec(t, image(t), func(p *plan.Plan) { p.Server.Env = map[string]string{"LANG": "C"} })
			s, _ = instancetest.Prepare(t, docker.Here(), s)
			inst := instancetest.Start(t, docker.Here(), s)
			got := containers.Inside(t.Context(), inst)
			if got == nil || got.Where != "container "+inst.Identity().Name {
				t.Fatalf("%+v", got)
			}
			if name == "without" {
				if len(got.Unread) != 1 || !strings.Contains(got.Unread[0], "python3 is not there") || len(got.Parts) != 0 {
					t.Errorf("%+v", got)
				}
				return
			}
			found := map[string]string{}
			for _, p := range got.Parts {
				found[p.Name] = p.Version + " " + p.Commit
			}
			if found["os"] != "Tiny 1 " || found["rocm"] != "7.0.0-38 " || found["vllm"] != "0.11.0 38f225c2a" || found["python"] == "" || len(got.Unread) != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}
