package proof

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/agent/fit"
	"assay/containers"
	"assay/containers/engine"
	"assay/fault"
	"assay/plan"
	"assay/probes"
	"assay/result"
)

// asked is a plan of one point, with changes.
func asked(t *testing.T, sets ...string) plan.Plan {
	t.Helper()
	const text = `apiVersion: assay/v1
name: t
model: {name: m}
server: {engine: vllm, runtime: process, command: [vllm, serve]}
workload: {kind: synthetic, input_len: 1000, sampling: {max_tokens: 24}}
protocol: {sweep: {concurrency: 1, requests: 1}}
`
	p, err := plan.ParseSet([]byte(text), sets)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func settings(source string, namesAndValues ...string) (all []engine.Setting) {
	for i := 0; i < len(namesAndValues); i += 2 {
		all = append(all, engine.Setting{Name: namesAndValues[i], Value: namesAndValues[i+1], Source: source})
	}
	return all
}

// TestChecks: each way in which a server can differ from its plan, with its evidence.
func TestChecks(t *testing.T) {
	server := func(change func(*containers.Identity)) containers.Identity {
		id := containers.Identity{Version: "0.32.0", MaxModelLen: 2048, KVTokens: 100000, Settings: settings("log", engine.TensorParallel, "8", engine.DataParallel, "1", engine.ExpertParallel, "8")}
		if change != nil {
			change(&id)
		}
		return id
	}
	const sum = "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356"
	for _, c := range []struct {
		name, id string
		sets     []string
		server   containers.Identity
		model    result.ModelIdentity
		state    probes.CheckState // "": no such check
		words    string            // in text or evidence
	}{
		{"no version is expected", "server_version", nil, server(nil), result.ModelIdentity{}, "", ""},
		{"the version", "server_version", []string{"server.expect.version=0.32.0"}, server(nil), result.ModelIdentity{}, probes.CheckOK, "0.32.0"},
		{"the version, shorter", "server_version", []string{`server.expect.version="0.32"`}, server(nil), result.ModelIdentity{}, probes.CheckOK, ""},
		{"a version that only begins so", "server_version", []string{`server.expect.version="0.3"`}, server(nil), result.ModelIdentity{}, probes.CheckFail, "version 0.32.0, the plan wants 0.3"},
		{"no version is told", "server_version", []string{`server.expect.version="0.32"`}, containers.Identity{}, result.ModelIdentity{}, probes.CheckFail, "does not say"},
		{"the context", "server_context", nil, server(nil), result.ModelIdentity{}, probes.CheckOK, "the load needs up to 1024"},
		{"the context that is expected", "server_context", []string{"server.expect.max_model_len=2k"}, server(nil), result.ModelIdentity{}, probes.CheckOK, ""},
		{"another context", "server_context", []string{"server.expect.max_model_len=4k"}, server(nil), result.ModelIdentity{}, probes.CheckFail, "2048 tokens, the plan wants 4096"},
		{"no prompt fits", "server_context", []string{"workload.input_len=4k"}, server(nil), result.ModelIdentity{}, probes.CheckWarn, "no prompt fits"},
		{"no answer fits", "server_context", []string{"workload.sampling.max_tokens=2000"}, server(nil), result.ModelIdentity{}, probes.CheckWarn, "up to 3000 tokens"},
		{"words are counted", "server_context", []string{"workload.input_len=4k", "workload.lengths=words"}, server(nil), result.ModelIdentity{}, probes.CheckOK, ""},
		{"less context than was asked for", "server_context", nil, server(func(id *containers.Identity) { id.Argv = []string{"vllm", "--max-model-len", "4096"} }), result.ModelIdentity{}, probes.CheckWarn, "the arguments ask for 4096"},
		{"no context is told", "server_context", nil, containers.Identity{}, result.ModelIdentity{}, "", ""},
		{"some cells of a matrix fit", "server_context", []string{"workload.input_len=", "protocol={matrix: {contexts: [1k, 8k], concurrency: 1}}"}, server(nil), result.ModelIdentity{}, probes.CheckWarn, "not all of the load fits"},
		{"the cache", "server_kv", []string{"server.expect.kv_tokens=100000"}, server(nil), result.ModelIdentity{}, probes.CheckOK, "100000"},
		{"a smaller cache", "server_kv", []string{"server.expect.kv_tokens=100001"}, server(nil), result.ModelIdentity{}, probes.CheckFail, "the plan wants 100001 or more"},
		{"sizes as they are", "server_parallel", nil, server(nil), result.ModelIdentity{}, probes.CheckOK, "tensor_parallel 8 (log)"},
		{"sizes that are expected", "server_parallel", []string{"server.expect={tensor_parallel: 8, expert_parallel: 8}"}, server(nil), result.ModelIdentity{}, probes.CheckOK, ""},
		{"another size", "server_parallel", []string{"server.expect={tensor_parallel: 4}"}, server(nil), result.ModelIdentity{}, probes.CheckFail, "tensor_parallel is 8, the plan wants 4"},
		{"a size that is not told", "server_parallel", []string{"server.expect={pipeline_parallel: 2}"}, server(nil), result.ModelIdentity{}, probes.CheckFail, "pipeline_parallel is not told"},
		{"arguments that were not taken", "server_parallel", nil, server(func(id *containers.Identity) { id.Argv = []string{"vllm", "-tp", "2"} }), result.ModelIdentity{}, probes.CheckWarn, "the arguments ask for 2"},
		{"no sizes are told", "server_parallel", nil, containers.Identity{}, result.ModelIdentity{}, "", ""},
		{"the configuration", "server_model", []string{"server.expect.config_sha256=" + sum}, server(nil), result.ModelIdentity{ConfigSHA256: sum}, probes.CheckOK, sum},
		{"another configuration", "server_model", []string{"server.expect.config_sha256=" + strings.Repeat("0", 64)}, server(nil), result.ModelIdentity{ConfigSHA256: sum}, probes.CheckFail, sum},
		{"no configuration to look at", "server_model", []string{"server.expect.config_sha256=" + sum}, server(nil), result.ModelIdentity{}, probes.CheckFail, "model.path"},
		{"another revision", "server_model", []string{"model.revision=" + commit}, server(func(id *containers.Identity) { id.Settings = settings("log", engine.Revision, another) }), result.ModelIdentity{}, probes.CheckFail, another},
		{"development mode", "server_dev_mode", nil, server(func(id *containers.Identity) { id.Settings = settings("/server_info", engine.DevMode, "True") }), result.ModelIdentity{}, probes.CheckWarn, "/server_info answers"},
		{"no development mode", "server_dev_mode", nil, server(nil), result.ModelIdentity{}, "", ""},
	} {
		found := Checks(Request{Plan: asked(t, c.sets...), Server: c.server, Model: c.model, CPUs: 8})
		var got probes.Check
		for _, check := range found {
			if check.ID == c.id {
				got = check
			}
		}
		if got.State != c.state || !strings.Contains(got.Text+strings.Join(got.Evidence, "; "), c.words) {
			t.Errorf("%s: %+v", c.name, got)
		}
		if bad := got.State == probes.CheckWarn || got.State == probes.CheckFail; bad != (got.Hint != "") {
			t.Errorf("%s: hint %q", c.name, got.Hint)
		}
		err := fit.RefuseServer(found)
		if f := fault.Of(err, fault.Server); (c.state == probes.CheckFail) != (f != nil && f.Code == "server.not_as_planned" && strings.Contains(f.Text, c.id) && f.Hint != "") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestChecksOfSeveral: each server is held against the plan, and the one that differs is named; caches and threads count together.
func TestChecksOfSeveral(t *testing.T) {
	servers := func(change func(each []containers.Identity)) containers.Identity {
		each := make([]containers.Identity, 3)
		for i := range each {
			each[i] = containers.Identity{Role: fmt.Sprintf("server-%d", i), Version: "0.32.0", MaxModelLen: 2048, KVTokens: 1000, Settings: settings("log", engine.TensorParallel, "2")}
		}
		if change != nil {
			change(each)
		}
		return containers.Identity{Role: "server", Version: "0.32.0, 0.31.0", MaxModelLen: 2048, KVTokens: 3000, Servers: each}
	}
	for _, c := range []struct {
		name, id string
		sets     []string
		server   containers.Identity
		state    probes.CheckState
		text     string
		evidence []string
	}{
		{"all alike", "server_version", []string{"server.expect.version=0.32.0"}, servers(nil), probes.CheckOK, "each of 3 servers: version 0.32.0", []string{`the server says "0.32.0"`}},
		{"all alike wrong", "server_version", []string{"server.expect.version=0.33.0"}, servers(nil), probes.CheckFail, "each of 3 servers: version 0.32.0, the plan wants 0.33.0", []string{`the server says "0.32.0"`}},
		{"one version", "server_version", []string{"server.expect.version=0.32.0"}, servers(func(each []containers.Identity) { each[1].Version = "0.31.0" }), probes.CheckFail,
			"server-1: version 0.31.0, the plan wants 0.32.0", []string{`server-1: the server says "0.31.0"`}},
		{"two contexts", "server_context", []string{"server.expect.max_model_len=2k"}, servers(func(each []containers.Identity) { each[0].MaxModelLen, each[2].MaxModelLen = 4096, 1024 }), probes.CheckFail,
			"server-0: the longest sequence is 4096 tokens, the plan wants 2048; server-2: the longest sequence is 1024 tokens, the plan wants 2048",
			[]string{"server-0: the server says 4096 tokens", "server-0: the load needs up to 1024", "server-2: the server says 1024 tokens", "server-2: the load needs up to 1024"}},
		{"one size", "server_parallel", []string{"server.expect={tensor_parallel: 2}"}, servers(func(each []containers.Identity) { each[2].Settings = nil }), probes.CheckFail,
			"server-2: tensor_parallel is not told, the plan wants 2", nil},
		{"one in development mode, of an address", "server_dev_mode", nil, servers(func(each []containers.Identity) {
			each[1].Role, each[1].Name, each[1].Settings = "", "http://b", settings("/server_info", engine.DevMode, "True")
		}), probes.CheckWarn, "http://b: the server's development mode is on: whoever reaches it can empty its caches or put it to sleep while it is measured", []string{"http://b: /server_info answers"}},
		{"caches together", "server_kv", []string{"server.expect.kv_tokens=3000"}, servers(nil), probes.CheckOK, "the KV cache holds 3000 tokens", []string{"the server says 3000 tokens"}},
		{"threads together", "server_threads", []string{"server={engine: llamacpp, command: [llama-server]}"}, servers(func(each []containers.Identity) {
			for i := range each {
				each[i].Argv = []string{"llama-server", "-t", "3"}
			}
		}), probes.CheckWarn, "llama.cpp has 9 threads on 8 CPUs, which the client needs too: they may hold each other up", []string{"8 CPUs", "-t 3", "3 servers"}},
		{"nothing told", "server_model", nil, servers(nil), "", "", nil},
	} {
		var got probes.Check
		for _, check := range Checks(Request{Plan: asked(t, c.sets...), Server: c.server, CPUs: 8}) {
			if check.ID == c.id {
				got = check
			}
		}
		if got.State != c.state || got.Text != c.text || !slices.Equal(got.Evidence, c.evidence) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// TestField_realengines_13: llama.cpp with as many threads as the machine has CPUs, beside its client, may be ten times slower.
func TestField_realengines_13(t *testing.T) {
	for _, c := range []struct {
		name  string
		argv  []string
		sets  []string
		cpus  int
		state probes.CheckState
	}{
		{"two threads on two CPUs", []string{"llama-server", "-t", "2"}, nil, 2, probes.CheckWarn},
		{"one thread on two CPUs", []string{"llama-server", "-t", "1"}, nil, 2, probes.CheckOK},
		{"it chooses itself", []string{"llama-server"}, nil, 2, probes.CheckWarn},
		{"one CPU", []string{"llama-server", "--threads=1"}, nil, 1, probes.CheckOK},
		{"on GPUs", []string{"llama-server", "-ngl", "99"}, nil, 2, ""},
		{"another engine", []string{"vllm"}, []string{"server.engine=vllm"}, 2, ""},
	} {
		sets := append([]string{"server.engine=llamacpp", "server.command=[llama-server]"}, c.sets...)
		got, applies := threads(Request{Plan: asked(t, sets...), Server: containers.Identity{Argv: c.argv}, CPUs: c.cpus})
		if applies != (c.state != "") || applies && got.State != c.state {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
