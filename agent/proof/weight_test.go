package proof

import (
	"os"
	"slices"
	"strings"
	"testing"

	"assay/agent/fit"
	"assay/containers"
	"assay/containers/engine"
	"assay/containers/launch"
	"assay/fault"
	"assay/plan"
	"assay/probes"
)

// TestWeight: what a plan says of a check of its server is done, as with those of its machine.
func TestWeight(t *testing.T) {
	plain := containers.Identity{Version: "0.32.0", MaxModelLen: 2048, KVTokens: 1000}
	odd := containers.Identity{Version: "0.32.0", MaxModelLen: 512, Launch: &launch.Record{Differs: []string{"CPUs"}}, Settings: settings("/server_info", engine.DevMode, "True")}
	for _, c := range []struct {
		id     string
		asked  string // "" when the plan says nothing of it
		set    string
		server containers.Identity
		want   probes.CheckState // "": no such check
		says   string            // in text or evidence
	}{
		{"server_version", "", "server.expect.version=0.33", plain, probes.CheckFail, ""},
		{"server_version", "required", "server.expect.version=0.33", plain, probes.CheckFail, ""},
		{"server_version", "required", "server.expect.version=0.32", plain, probes.CheckOK, ""},
		{"server_version", "relaxed", "server.expect.version=0.33", plain, probes.CheckWarn, "the plan relaxes this check, which fails"},
		{"server_version", "relaxed", "server.expect.version=0.32", plain, probes.CheckOK, ""},
		{"server_version", "ignore", "server.expect.version=0.33", plain, "", ""},
		{"server_version", "required", "name=t", plain, probes.CheckFail, "server.expect.version is not written"},
		{"server_version", "relaxed", "name=t", plain, probes.CheckUnknown, "server.expect.version is not written"},
		{"server_context", "", "name=t", odd, probes.CheckWarn, "no prompt fits"},
		{"server_context", "required", "name=t", odd, probes.CheckFail, "no prompt fits"},
		{"server_context", "relaxed", "name=t", odd, probes.CheckWarn, "no prompt fits"},
		{"server_context", "ignore", "name=t", odd, "", ""},
		{"server_kv", "required", "name=t", plain, probes.CheckOK, "1000 tokens"},
		{"server_kv", "required", "name=t", odd, probes.CheckFail, "does not say"},
		{"server_kv", "relaxed", "server.expect.kv_tokens=2000", plain, probes.CheckWarn, "2000 or more"},
		{"server_parallel", "required", "name=t", plain, probes.CheckFail, "does not say"},
		{"server_parallel", "ignore", "server.expect={tensor_parallel: 8}", plain, "", ""},
		{"server_model", "required", "name=t", plain, probes.CheckFail, "needs model.path"},
		{"server_model", "relaxed", "server.expect.config_sha256=" + strings.Repeat("0", 64), plain, probes.CheckWarn, "there is none to look at"},
		{"server_dev_mode", "required", "name=t", odd, probes.CheckFail, "is on"},
		{"server_dev_mode", "required", "name=t", plain, probes.CheckOK, "does not answer"},
		{"server_dev_mode", "ignore", "name=t", odd, "", ""},
		{"server_launch", "required", "name=t", odd, probes.CheckFail, "1 points"},
		{"server_launch", "required", "name=t", plain, probes.CheckFail, "not started here"},
		{"server_threads", "required", "server={engine: llamacpp, command: [llama-server]}", plain, probes.CheckFail, "chooses its threads itself"},
		{"server_threads", "ignore", "server={engine: llamacpp, command: [llama-server]}", plain, "", ""},
		{"server_threads", "required", "name=t", plain, probes.CheckFail, "of llama.cpp"},
	} {
		sets := []string{c.set}
		if c.asked != "" {
			sets = append(sets, "checks."+c.id+"="+c.asked)
		}
		all := Checks(Request{Plan: asked(t, sets...), Server: c.server, CPUs: 8})
		only := slices.DeleteFunc(all, func(check probes.Check) bool { return check.ID != c.id })
		if c.want == "" {
			if len(only) > 0 {
				t.Errorf("%s %s: %+v", c.id, c.asked, only)
			}
			continue
		}
		if len(only) != 1 || only[0].State != c.want || !strings.Contains(only[0].Text+strings.Join(only[0].Evidence, "; "), c.says) {
			t.Errorf("%s %s: %+v, want %s", c.id, c.asked, only, c.want)
			continue
		}
		err := fit.RefuseServer(only)
		if c.want != probes.CheckFail && err != nil {
			t.Errorf("%s %s: %v", c.id, c.asked, err)
		}
		if f := fault.Of(err, fault.Server); c.want == probes.CheckFail && (f == nil || f.Code != "server.not_as_planned" || only[0].Hint == "" || !strings.Contains(f.Hint, "checks: {"+c.id+": relaxed}")) {
			t.Errorf("%s %s: %v", c.id, c.asked, err)
		}
	}
}

// TestOneThatDoesNotTell: a check of several servers is not known when one of them does not tell, unless another is worse.
func TestOneThatDoesNotTell(t *testing.T) {
	told, silent := containers.Identity{Role: "server-0", MaxModelLen: 2048}, containers.Identity{Role: "server-1"}
	short := containers.Identity{Role: "server-2", MaxModelLen: 512}
	for _, c := range []struct {
		servers []containers.Identity
		asked   string
		want    probes.CheckState
		text    string
	}{
		{[]containers.Identity{told, told}, "required", probes.CheckOK, "each of 2 servers: the longest sequence is 2048 tokens"},
		{[]containers.Identity{told, silent}, "relaxed", probes.CheckUnknown, "server-1: the server does not say its longest sequence"},
		{[]containers.Identity{told, silent}, "required", probes.CheckFail, "server-1: the server does not say its longest sequence"},
		{[]containers.Identity{told, silent, short}, "relaxed", probes.CheckWarn, "server-2: no prompt fits: the shortest has 1000 tokens, the longest sequence is 512"},
		{[]containers.Identity{silent, silent}, "required", probes.CheckFail, "each of 2 servers: the server does not say its longest sequence"},
	} {
		p := asked(t, "checks.server_context="+c.asked)
		all := Checks(Request{Plan: p, Server: containers.Identity{Servers: c.servers}, CPUs: 8})
		i := slices.IndexFunc(all, func(check probes.Check) bool { return check.ID == "server_context" })
		if i < 0 || all[i].State != c.want || all[i].Text != c.text {
			t.Errorf("%+v, want %s: %s", all, c.want, c.text)
		}
	}
	if all := Checks(Request{Plan: asked(t), Server: containers.Identity{Servers: []containers.Identity{silent, silent}}, CPUs: 8}); len(all) > 0 {
		t.Errorf("servers that tell nothing: %+v", all)
	}
}

// TestEveryCheckOfAServer can be named in a plan, stands in the documentation, says what to do, and is none of the machine's.
func TestEveryCheckOfAServer(t *testing.T) {
	known := plan.CheckIDs()
	page, err := os.ReadFile("../../docs/engines.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules() {
		if !slices.Contains(known, r.ID) || slices.Contains(probes.CheckIDs(), r.ID) || r.Hint == "" || !strings.Contains(string(page), "\n| `"+r.ID+"` |") {
			t.Errorf("%s, to do: %q", r.ID, r.Hint)
		}
	}
	if n := strings.Count(string(page), "\n| `server_"); n != len(IDs()) {
		t.Errorf("docs/engines.md has %d checks, there are %d", n, len(IDs()))
	}
	others := Others(map[string]any{"idle": "ignore", "server_kv": "required", "gpu_count": 8})
	if len(others) != 2 || others["idle"] != "ignore" || others["gpu_count"] != 8 {
		t.Errorf("%v", others)
	}
}
