package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"assay/containers"
	"assay/containers/imagetest"
	"assay/probes"
	"assay/result"
)

// TestLlamaLaunch places a real server in a container and as a process, and finds what was asked for and what was made of it in the result.
func TestLlamaLaunch(t *testing.T) {
	_, model := llamaFiles(t)
	sum, err := exec.Command("sha256sum", model).Output()
	if err != nil {
		t.Skip(err)
	}
	settings := []string{"--set", "protocol.sweep={concurrency: 1, requests: 2}", "--set", "server.cpus=0", "--set", "model.hash=true", "--json"}
	t.Run("process", func(t *testing.T) {
		p := newProgram(t)
		doc := p.must(exitValid, slices.Concat([]string{"run", root + "/examples/llamacpp-process.yaml"}, settings)...).result(t)
		checkPlaced(t, doc, string(sum))
	})
	t.Run("docker", func(t *testing.T) {
		imagetest.NeedDocker(t)
		p := newProgram(t)
		doc := p.must(exitValid, slices.Concat([]string{"run", root + "/examples/llamacpp-docker.yaml", "--set", "server.image=" + imagetest.LlamaImage(t), "--set", "model.path=" + model,
			"--set", "server.ulimits={nofile: 4096}", "--set", "server.numa=0"}, settings)...).result(t)
		id := checkPlaced(t, doc, string(sum))
		if id.Launch.Made.Ulimits["nofile"] != "4096:4096" || id.Launch.Made.MemoryNodes != "0" || id.Launch.File != "server.inspect.json" {
			t.Errorf("%+v", id.Launch)
		}
		if !slices.ContainsFunc(doc.Artifacts, func(f result.Artifact) bool { return f.Path == id.Launch.File && f.Bytes > 0 }) {
			t.Errorf("what the engine says is not among the files: %+v", doc.Artifacts)
		}
	})
}

func checkPlaced(t *testing.T, doc result.Result, sum string) containers.Identity {
	t.Helper()
	var id containers.Identity
	if err := json.Unmarshal(doc.Identity.Server, &id); err != nil || id.Launch == nil {
		t.Fatalf("%s, %v", doc.Identity.Server, err)
	}
	if id.Launch.Made.CPUs != "0" || len(id.Launch.Differs) > 0 {
		t.Errorf("%+v", id.Launch)
	}
	if doc.Identity.Model.SHA256 != strings.Fields(sum)[0] {
		t.Errorf("model %s, sha256sum says %s", doc.Identity.Model.SHA256, sum)
	}
	if !slices.ContainsFunc(doc.Checks, func(c probes.Check) bool { return c.ID == "server_launch" && c.State == probes.CheckOK }) {
		t.Errorf("checks %+v", doc.Checks)
	}
	if !slices.ContainsFunc(doc.Artifacts, func(f result.Artifact) bool { return f.Path == "model.sha256" }) {
		t.Errorf("files %+v", doc.Artifacts)
	}
	return id
}

// TestRefusedBeforeStart: what cannot be given is said by name and nothing is started or pulled.
func TestRefusedBeforeStart(t *testing.T) {
	llamaFiles(t)
	broken := t.TempDir() + "/m.gguf"
	if err := os.WriteFile(broken, []byte("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for set, code := range map[string]string{
		"server.cpus=0,5000": "preflight.cpus_unavailable", "server.numa=900": "preflight.numa_unavailable", "server.gpus=77": "preflight.no_gpu",
		"model.path=" + broken: "preflight.model_incomplete", "model.sha256=" + strings.Repeat("a", 64): "preflight.model_differs",
	} {
		p := newProgram(t)
		out := p.run("run", root+"/examples/llamacpp-process.yaml", "--set", set)
		if out.code != exitPreflight || !strings.Contains(out.stdout+out.stderr, code) {
			t.Errorf("%s: exit %d, want %s\n%s%s", set, out.code, code, out.stdout, out.stderr)
		}
	}
}
