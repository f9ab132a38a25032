package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/containers"
	"assay/containers/imagetest"
	"assay/result"
)

// llamaFiles gives llama.cpp's server and a model, as `make setup` leaves them.
func llamaFiles(t *testing.T) (server, model string) {
	t.Helper()
	cache, err := filepath.Abs(root + "/.cache")
	if err != nil {
		t.Fatal(err)
	}
	server = filepath.Join(cache, "engines", "llama-server")
	model = filepath.Join(cache, "models", "SmolLM2-135M-Instruct.Q4_1.gguf")
	for _, name := range []string{server, model} {
		if _, err := os.Stat(name); err != nil {
			skipOrFail(t, "a real inference server is missing; `make setup` gets it: %v", err)
		}
	}
	return server, model
}

// TestLlamaProcess runs the example plan on a real inference server, as a user would.
func TestLlamaProcess(t *testing.T) {
	llamaFiles(t)
	p := newProgram(t)
	doc := p.must(exitValid, "run", root+"/examples/llamacpp-process.yaml", "--set", "protocol.sweep.requests=4", "--json").result(t)
	checkLlama(t, p, doc)
}

// TestLlamaDocker runs the same from an image that is pulled by digest from a registry on this machine.
func TestLlamaDocker(t *testing.T) {
	_, model := llamaFiles(t)
	imagetest.NeedDocker(t)
	ref := imagetest.LlamaImage(t)
	p := newProgram(t)
	doc := p.must(exitValid, "run", root+"/examples/llamacpp-docker.yaml", "--set", "server.image="+ref, "--set", "model.path="+model,
		"--set", "protocol.sweep.requests=4", "--json").result(t)
	checkLlama(t, p, doc)
	if !strings.Contains(string(doc.Identity.Server), ref[strings.Index(ref, "sha256:"):]) {
		t.Errorf("the identity does not hold the digest of %s: %s", ref, doc.Identity.Server)
	}
}

// TestLlamaReplicas runs the example of two servers: both answer, their counters together are the client's count, and each has its log.
func TestLlamaReplicas(t *testing.T) {
	llamaFiles(t)
	p := newProgram(t)
	doc := p.must(exitValid, "run", root+"/examples/llamacpp-replicas.yaml", "--set", "protocol.sweep={concurrency: 1, requests: 4}", "--json").result(t)
	checkLlama(t, p, doc)
	var id containers.Identity
	if err := json.Unmarshal(doc.Identity.Server, &id); err != nil || len(id.Servers) != 2 || id.KVTokens != 2*id.Servers[0].KVTokens || id.MaxModelLen != 2048 {
		t.Fatalf("%+v, %v", id, err)
	}
	for i, each := range id.Servers {
		if len(each.Start.Loading) == 0 {
			t.Errorf("%s: nothing was read from its log", each.Role)
		}
		if made := doc.Points[0].Telemetry[fmt.Sprintf("server%d.generation_tokens", i)]; made.Growth == nil || *made.Growth == 0 {
			t.Errorf("%s made no tokens: %+v", each.Role, made)
		}
		if !slices.ContainsFunc(doc.Artifacts, func(f result.Artifact) bool { return f.Path == each.Role+".log" && f.Bytes > 0 }) {
			t.Errorf("%s has no log", each.Role)
		}
	}
}

// TestLlamaInterrupted: Ctrl-C in the middle of long answers ends the run in order, and no server stays behind.
func TestLlamaInterrupted(t *testing.T) {
	llamaFiles(t)
	stopsCleanly(t, os.Interrupt, root+"/examples/llamacpp-process.yaml", "--set", "workload.sampling.max_tokens=1500", "--set", "protocol.sweep.requests=1000")
}

// checkLlama holds the client's counts against the server's own counters, which move only when a request has ended: they are equal, exactly.
func checkLlama(t *testing.T, p testProgram, doc result.Result) {
	t.Helper()
	var client int64
	for _, r := range p.requests(doc.Run.ID) {
		if r.Outcome != "ok" || r.OutputTokens != 24 {
			t.Errorf("request %s: %s with %d tokens, want ok with 24", r.ResponseID, r.Outcome, r.OutputTokens)
		}
		client += r.OutputTokens
	}
	var counted int64
	for _, pt := range doc.Points {
		counted += *pt.Metrics.OutputTokens
		if pt.Engine == nil || pt.Engine.GenerationTokens != pt.Engine.ClientTokens || pt.Engine.ClientTokens < *pt.Metrics.OutputTokens {
			t.Errorf("%s: the server's counter and the client differ: %+v", pt.ID, pt.Engine)
		}
	}
	if counted == 0 || client < counted {
		t.Errorf("requests hold %d tokens, the windows of the points %d", client, counted)
	}
	if doc.Identity.Model.SHA256 == "" {
		t.Error("the model file was not hashed")
	}
}
