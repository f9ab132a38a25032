package inside

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// told is a world of texts: files by path, and the answer of Python.
type told struct {
	files  map[string]string
	python string
	err    error
}

func (w told) File(_ context.Context, name string) ([]byte, error) {
	if text, ok := w.files[name]; ok {
		return []byte(text), nil
	}
	return nil, fs.ErrNotExist
}

func (w told) Run(context.Context, ...string) (out, complaint []byte, err error) {
	return []byte(w.python), nil, w.err
}

func (told) Pythons(context.Context) []string { return []string{"python3", "python"} }

const rocmPython = `sitecustomize: hello
@assay@{"python":"3.12.3","executable":"/opt/venv/bin/python3","packages":{
 "torch":{"version":"2.9.0+rocm7.0.0","direct_url":"","files":"__version__ = '2.9.0+rocm7.0.0'\ncuda: Optional[str] = None\ngit_version = '1c57644d0f7a1cb4b5c8e7e1a9f0d3a3b1f5c1aa'\nhip: Optional[str] = '7.0.51831-7c9236b16'\n"},
 "triton":{"version":"3.5.0+git889b538fc","files":""},
 "amd-aiter":{"version":"0.1.6.dev15+g4f02b5b8d","direct_url":"","files":"","git":""},
 "flash-attn":{"version":"2.8.3"},
 "vllm":{"version":"0.11.1rc2.dev141+g38f225c2a.rocm700","direct_url":"{\"url\":\"file:///app/vllm\",\"dir_info\":{}}","files":"__commit_id__ = commit_id = 'g38f225c2a'\n"},
 "sglang":{"version":"0.5.4","direct_url":"{\"url\":\"https://github.com/sgl-project/sglang\",\"vcs_info\":{\"vcs\":\"git\",\"commit_id\":\"0a1b2c3d4e5f60718293a4b5c6d7e8f901234567\"}}"}}}`

// TestROCmImage: a server's image as AMD makes it.
func TestROCmImage(t *testing.T) {
	got := Read(t.Context(), "container x", told{python: rocmPython, files: map[string]string{
		"/etc/os-release": "NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 22.04.5 LTS\"\n", "/opt/rocm/.info/version": "7.0.0-38\n",
		"/opt/rocm/share/hip/version":                     "HIP_VERSION_MAJOR=7\nHIP_VERSION_MINOR=0\nHIP_VERSION_PATCH=51831\nHIP_VERSION_GITHASH=7c9236b16\nHIP_PACKAGING_VERSION_PATCH=x\n",
		"/opt/rocm/include/hipblaslt/hipblaslt-version.h": "// clang-format off\n#define HIPBLASLT_VERSION_MAJOR       1\n#define HIPBLASLT_VERSION_MINOR       0\n#define HIPBLASLT_VERSION_PATCH       0\n#define HIPBLASLT_VERSION_TWEAK       8ac7bb1f\n",
		"/opt/rocm/include/rccl/rccl.h":                   "#define NCCL_MAJOR 2\n#define NCCL_MINOR 26\n#define NCCL_PATCH 6\n#define NCCL_SUFFIX \"\"\n",
		"/var/lib/dpkg/status":                            "Package: hipblaslt\nStatus: install ok installed\nVersion: 1.0.0.70000-38~22.04\nDescription: x\n Version: 9\n\nPackage: rccl\nStatus: deinstall ok config-files\nVersion: 1\n",
	}})
	want := &Software{Where: "container x", Parts: []Part{
		{Name: "os", Version: "Ubuntu 22.04.5 LTS", Source: "/etc/os-release"},
		{Name: "rocm", Version: "7.0.0-38", Source: "/opt/rocm/.info/version"},
		{Name: "hip", Version: "7.0.51831", Commit: "7c9236b16", Source: "/opt/rocm/share/hip/version"},
		{Name: "hipblaslt", Version: "1.0.0", Commit: "8ac7bb1f", Source: "/opt/rocm/include/hipblaslt/hipblaslt-version.h"},
		{Name: "rccl", Version: "2.26.6", Source: "/opt/rocm/include/rccl/rccl.h"},
		{Name: "python", Version: "3.12.3", Source: "/opt/venv/bin/python3"},
		{Name: "pytorch", Version: "2.9.0+rocm7.0.0", Commit: "1c57644d0f7a1cb4b5c8e7e1a9f0d3a3b1f5c1aa", Source: "package torch"},
		{Name: "triton", Version: "3.5.0+git889b538fc", Commit: "889b538fc", Source: "package triton"},
		{Name: "aiter", Version: "0.1.6.dev15+g4f02b5b8d", Commit: "4f02b5b8d", Source: "package amd-aiter"},
		{Name: "flash_attn", Version: "2.8.3", Source: "package flash-attn"},
		{Name: "vllm", Version: "0.11.1rc2.dev141+g38f225c2a.rocm700", Commit: "38f225c2a", Source: "package vllm"},
		{Name: "sglang", Version: "0.5.4", Commit: "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567", Source: "package sglang"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestCUDAImage: what PyTorch loads goes before what lies in the image, and what differs stands beside it.
func TestCUDAImage(t *testing.T) {
	got := Read(t.Context(), "container y", told{
		python: `@assay@{"python":"3.12.11","executable":"/usr/bin/python3","packages":{"torch":{"version":"2.8.0+cu128","files":"cuda: Optional[str] = '12.8'\n"},"nvidia-cuda-runtime-cu12":{"version":"12.8.90"},"nvidia-nccl-cu12":{"version":"2.27.3"},"nvidia-cudnn-cu12":{"version":"9.10.2.21"}}}`,
		files: map[string]string{
			"/usr/local/cuda/version.json": `{"cuda":{"name":"CUDA SDK","version":"12.9.1"}}`,
			"/var/lib/dpkg/status":         "Package: libnccl2\nStatus: hold ok installed\nVersion: 2.25.1-1+cuda12.8\n\n",
		}})
	want := []Part{
		{Name: "cuda", Version: "12.8.90", Source: "package nvidia-cuda-runtime-cu12", Other: "12.9.1 (/usr/local/cuda/version.json)"},
		{Name: "cudnn", Version: "9.10.2.21", Source: "package nvidia-cudnn-cu12"},
		{Name: "nccl", Version: "2.27.3", Source: "package nvidia-nccl-cu12", Other: "2.25.1-1+cuda12.8 (package libnccl2)"},
		{Name: "python", Version: "3.12.11", Source: "/usr/bin/python3"},
		{Name: "pytorch", Version: "2.8.0+cu128", Source: "package torch"},
	}
	if diff := cmp.Diff(want, got.Parts); diff != "" {
		t.Error(diff)
	}
}

// TestWithoutPython: an image of one static program, with the ROCm it was linked with.
func TestWithoutPython(t *testing.T) {
	got := Read(t.Context(), "container z", told{err: errors.New("python3 is not there"), files: map[string]string{"/opt/rocm/.info/version": "6.4.1-83", "/usr/local/cuda/version.json": "<html>"}})
	want := &Software{Where: "container z", Parts: []Part{{Name: "rocm", Version: "6.4.1-83", Source: "/opt/rocm/.info/version"}}, Unread: []string{"packages of Python: no Python answers (python3 is not there; python3 is not there)"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if none := Read(t.Context(), "", Process{}); len(none.Unread) != 0 {
		t.Errorf("a server that is no Python: %+v", none)
	}
	if broken := Read(t.Context(), "", told{python: mark + `{"python":`}); len(broken.Parts) != 0 || len(broken.Unread) != 1 {
		t.Errorf("%+v", broken)
	}
}

// hung is a world whose Python never answers, and whose files do until there is no time left.
type hung struct{ told }

func (hung) Run(ctx context.Context, _ ...string) (out, complaint []byte, err error) {
	<-ctx.Done()
	return nil, nil, ctx.Err()
}

// TestHungPython: a Python that hangs costs its own answer, not that of the files.
func TestHungPython(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := Read(t.Context(), "", hung{told{files: map[string]string{"/opt/rocm/.info/version": "6.4.1-83"}}})
		want := &Software{Parts: []Part{{Name: "rocm", Version: "6.4.1-83", Source: "/opt/rocm/.info/version"}}, Unread: []string{"packages of Python: it did not answer within 20s"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// deaf is a world in which nothing answers.
type deaf struct{ hung }

func (deaf) File(ctx context.Context, _ string) ([]byte, error) { <-ctx.Done(); return nil, ctx.Err() }

// TestDeafEngine: what was not read for want of time is said once.
func TestDeafEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := Read(t.Context(), "", deaf{})
		want := []string{"packages of Python: it did not answer within 20s", "/etc/os-release: it and those after it were not read within 30s"}
		if diff := cmp.Diff(want, got.Unread); diff != "" || len(got.Parts) != 0 {
			t.Error(diff, got.Parts)
		}
	})
}

// TestHostileImage: what an image says of itself is one line of a bounded length, or nothing.
func TestHostileImage(t *testing.T) {
	long := strings.Repeat("9", 1<<20)
	got := Read(t.Context(), "", told{
		python: `@assay@{"python":"3\u001b[2J","packages":{"torch":{"version":"` + long + `"},"vllm":{"version":"0.11.0"}}}`,
		files: map[string]string{
			"/etc/os-release": "PRETTY_NAME=\"\x1b]0;x\aUbuntu\"\n", "/opt/rocm/.info/version": long,
			"/var/lib/dpkg/status": "Package: rccl\nStatus: install ok installed\nVersion: 2\x00\n",
		}})
	if want := []Part{{Name: "vllm", Version: "0.11.0", Source: "package vllm"}}; !cmp.Equal(want, got.Parts) {
		t.Error(cmp.Diff(want, got.Parts))
	}
	got = Read(t.Context(), "", told{err: errors.New("\x1b[2J" + long)})
	if len(got.Unread) != 1 || len(got.Unread[0]) > 2*lineBytes || strings.Contains(got.Unread[0], "\x1b") {
		t.Errorf("%.400q", got.Unread)
	}
}

func TestInterpreters(t *testing.T) {
	got := interpreters([]string{"/sbin/docker-init -- vllm serve m", "/opt/venv/bin/python3 /opt/venv/bin/vllm serve m", "VLLM::EngineCore", "/opt/venv/bin/python3 -c from multiprocessing", "python3.12 -m sglang.launch_server", "pythonista", ""})
	if diff := cmp.Diff([]string{"/opt/venv/bin/python3", "python3.12"}, got); diff != "" {
		t.Error(diff)
	}
}

// packages lays packages out as pip does.
func packages(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "site-packages")
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestRealPython runs the program with this machine's Python. A package that fails when it is imported shows that none is.
func TestRealPython(t *testing.T) {
	named, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output() // what python3 names may be a script
	if err != nil {
		t.Skipf("there is no Python here: %v", err)
	}
	python := strings.TrimSpace(string(named))
	const bomb = "raise SystemExit('imported')\n"
	dir := packages(t, map[string]string{
		"torch/__init__.py": bomb, "torch/version.py": "__version__ = '2.9.0+rocm7.0'\ngit_version = '1c57644d0f7a1cb4b5c8e7e1a9f0d3a3b1f5c1aa'\ncuda: Optional[str] = None\nhip: Optional[str] = '7.0.51831-7c9236b16'\n",
		"torch-2.9.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: torch\nVersion: 2.9.0\n",
		"vllm/__init__.py":               bomb, "vllm/_version.py": "__version__ = version = '0.11.0'\n__commit_id__ = commit_id = 'g38f225c2a'\n",
		"vllm-0.11.0.dist-info/METADATA":                 "Metadata-Version: 2.1\nName: vllm\nVersion: 0.11.0\n",
		"sglang-0.5.4.dist-info/METADATA":                "Metadata-Version: 2.1\nName: sglang\nVersion: 0.5.4\n",
		"sglang-0.5.4.dist-info/direct_url.json":         `{"url":"https://github.com/sgl-project/sglang","vcs_info":{"vcs":"git","commit_id":"0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"}}`,
		"flash_attn-2.8.3+g4f02b5b8d.dist-info/METADATA": "Metadata-Version: 2.1\nName: flash-attn\nVersion: 2.8.3+g4f02b5b8d\n",
	})
	checkout := packages(t, map[string]string{ // an editable package lies in the checkout it is made from
		"../.git/HEAD": "ref: refs/heads/main\n", "../.git/packed-refs": "# pack-refs with: peeled\n99b1f0e2aa00c0ffee00c0ffee00c0ffee00c0ff refs/heads/main\n",
		"../python/aiter/__init__.py": bomb, "../python/aiter.egg-info/PKG-INFO": "Metadata-Version: 2.1\nName: aiter\nVersion: 0.1.5\n",
	})
	w := Process{Env: append(os.Environ(), "PYTHONPATH="+dir+":"+filepath.Join(checkout, "../python"))}
	server := exec.Command(python, "-c", "input()") // stands for a server that runs
	in, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = in.Close(), server.Wait() }()
	if w.PIDs = []int{os.Getpid()}; w.Pythons(t.Context()) != nil {
		t.Error("this test is no Python")
	}
	w.PIDs = append(w.PIDs, server.Process.Pid)
	if w.Pythons(t.Context()) == nil {
		t.Skip("the interpreter here has another name")
	}
	s := Read(t.Context(), "here", w)
	got := map[string]Part{}
	for _, p := range s.Parts {
		got[p.Name] = p
	}
	for name, want := range map[string][2]string{
		"pytorch": {"2.9.0+rocm7.0", "1c57644d0f7a1cb4b5c8e7e1a9f0d3a3b1f5c1aa"}, "vllm": {"0.11.0", "38f225c2a"}, "flash_attn": {"2.8.3+g4f02b5b8d", "4f02b5b8d"},
		"aiter":  {"0.1.5", "99b1f0e2aa00c0ffee00c0ffee00c0ffee00c0ff"},
		"sglang": {"0.5.4", "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"},
	} {
		if p := got[name]; p.Version != want[0] || p.Commit != want[1] {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if got["python"].Version == "" || !strings.Contains(got["hip"].Version+got["hip"].Other, "7.0.51831") {
		t.Errorf("%+v", s)
	}
}

// TestProcessEnds: a Python that never answers is cut off with what it started.
func TestProcessEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := (Process{Env: os.Environ()}).Run(ctx, "sleep", "600"); err == nil {
		t.Error("it slept")
	}
	if _, _, err := (Process{Env: []string{"PATH=/nowhere"}}).Run(t.Context(), "python3"); err == nil || err.Error() != "python3 is not there" {
		t.Errorf("%v", err)
	}
	out, _, err := (Process{Env: os.Environ()}).Run(t.Context(), "sh", "-c", "echo no >&2; exit 3")
	if err == nil || err.Error() != "sh ended with code 3: no" || out != nil {
		t.Errorf("%v", err)
	}
	if _, err := (Process{}).File(t.Context(), t.TempDir()); err == nil {
		t.Error("a folder is a file")
	}
}

func FuzzTexts(f *testing.F) {
	f.Add([]byte(rocmPython))
	f.Add([]byte("Package: rccl\nStatus: install ok installed\nVersion: 2\n\n"))
	f.Add([]byte("#define NCCL_MAJOR 2\n#define NCCL_MINOR 27\n"))
	f.Add([]byte("HIP_VERSION_MAJOR=7\nHIP_VERSION_MINOR=0\nHIP_VERSION_PATCH=1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		text := string(b)
		if a, err := parseAnswer(b); err == nil {
			for _, p := range parts() {
				for _, got := range append(a.look(p), a.builtFor(p)...) {
					if got.commit != hexOnly(got.commit) {
						t.Errorf("%+v", got)
					}
				}
			}
		}
		for _, parse := range []func(string) (string, string){firstLine, osRelease, hipVersion, defines("NCCL_"), cudaVersion} {
			if version, commit := parse(text); strings.ContainsAny(version, "\n\r") || commit != hexOnly(commit) {
				t.Errorf("%q %q", version, commit)
			}
		}
		parseDpkg(text)
		interpreters([]string{text})
	})
}
