package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/agent/proof"
	"assay/plan"
	"assay/probes"
	"assay/result"
)

// TestPlanKnowsTheChecks: the checks that a plan may name are those that there are, and what it lets pass as a value a check can compare with.
func TestPlanKnowsTheChecks(t *testing.T) {
	if diff := cmp.Diff(slices.Sorted(slices.Values(append(probes.CheckIDs(), proof.IDs()...))), slices.Sorted(slices.Values(plan.CheckIDs()))); diff != "" {
		t.Errorf("checks that there are and checks that a plan knows: %s", diff)
	}
	passed := 0
	for _, id := range probes.CheckIDs() {
		for _, value := range []any{0.5, 1.0, 8.0, 535.0, -1.0, "8", "default", "CPX/NPS4", "MIG", "tsc", "never", "off", "kvm", "535.183.01", "banana", "", true} {
			p, err := plan.Parse(planWanting(t, id, value))
			if err != nil {
				continue
			}
			passed++
			for _, c := range probes.Evaluate(probes.CheckRequest{SUT: probes.SUT{}, Wanted: p.Checks}) {
				if c.ID == id && (strings.HasPrefix(c.Text, "The plan wants") || strings.HasPrefix(c.Text, "unknown check")) {
					t.Errorf("%s: %v passes the plan and not the check: %s", id, value, c.Text)
				}
			}
		}
	}
	if passed < 50 {
		t.Errorf("%d values passed", passed)
	}
}

func planWanting(t *testing.T, id string, value any) []byte {
	t.Helper()
	b, err := json.Marshal(map[string]any{
		"apiVersion": plan.APIVersion, "name": "n", "model": map[string]any{"name": "m"}, "server": map[string]any{"url": "http://127.0.0.1:1"},
		"protocol": map[string]any{"sweep": map[string]any{"concurrency": 1, "requests": 1}}, "checks": map[string]any{id: value},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestMisspeltCheck: a check that there is none of, and a value that one cannot take, are the plan's faults in every command, before anything is read.
func TestMisspeltCheck(t *testing.T) {
	p := newProgram(t)
	for checks, says := range map[string]string{"{swop: ignore}": `did you mean "swap"`, "{thp: []}": "one word and one value", "{server_versoin: ignore}": `did you mean "server_version"`,
		"{server_version: sim-1}": "this check takes no value"} {
		file := writePlan(t, simPlan("")+"checks: "+checks+"\n")
		for _, command := range [][]string{{"plan", "validate"}, {"check"}, {"run"}} {
			if r := p.must(exitUsage, append(command, file)...); !strings.Contains(r.stderr, says) {
				t.Errorf("%v: %s%s", command, r.stdout, r.stderr)
			}
		}
	}
}

// TestChecksOfTheServer: a plan requires, relaxes and ignores what is held against its server as it does with its machine.
func TestChecksOfTheServer(t *testing.T) {
	p := newProgram(t)
	file := writePlan(t, strings.Replace(simPlan(""), "[1, 4]", "1", 1))
	const otherVersion, tooShort = "server.expect.version=sim-2", `server.args=["--max-model-len", "40"]`
	for _, c := range []struct {
		sets  []string
		exit  int
		id    string
		state probes.CheckState // "": it is not there
		says  string            // in the result
	}{
		{[]string{otherVersion}, exitInfra, "server_version", probes.CheckFail, "server_version: version sim-1, the plan wants sim-2"},
		{[]string{otherVersion, "checks.server_version=relaxed"}, exitValid, "server_version", probes.CheckWarn, "the plan relaxes this check, which fails"},
		{[]string{otherVersion, "checks.server_version=ignore", "checks.swap=ignore"}, exitValid, "server_version", "", "the plan ignores these checks: server_version, swap"},
		{[]string{tooShort, "checks.server_context=required"}, exitInfra, "server_context", probes.CheckFail, "server_context: not all of the load fits"},
	} {
		args := []string{"run", file, "--json"}
		for _, set := range c.sets {
			args = append(args, "--set", set)
		}
		out := p.must(c.exit, args...)
		doc := out.result(t)
		i := slices.IndexFunc(doc.Checks, func(check probes.Check) bool { return check.ID == c.id })
		if i < 0 && c.state != "" || i >= 0 && doc.Checks[i].State != c.state || !strings.Contains(out.stdout, c.says) {
			t.Errorf("%v: %s", c.sets, out.stdout)
		}
		if refused := c.state == probes.CheckFail; refused != (doc.Run.Error != nil && doc.Run.Error.Code == "server.not_as_planned" && doc.Run.Verdict == result.NotValid) {
			t.Errorf("%v: %s, %+v", c.sets, doc.Run.Verdict, doc.Run.Error)
		}
	}
	if r := p.run("check", file, "--set", "checks.server_version=required"); strings.Contains(r.stdout, "server_version") {
		t.Errorf("there is no server to be held against the plan yet: %s", r.stdout)
	}
}

// TestImpossiblePlans: what no machine could do is refused by plan validate as by run, and no run is made of it.
func TestImpossiblePlans(t *testing.T) {
	p := newProgram(t)
	const image = "server.image=v@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for says, sets := range map[string][]string{
		"where a published port cannot reach it": {"server={engine: vllm, runtime: docker}", image, `server.args=["--host", "127.0.0.1"]`},
		"2 CPUs":                                 {"server={engine: sim, runtime: process, replicas: 3}", `server.cpus="0-1"`},
		"client vllm-bench cannot do":            {"client={kind: vllm-bench}", "protocol.sweep={concurrency: 1, duration: 10s}"},
		"keeps a session by":                     {"routers=[{points: all, kind: sglang-router}]", "client.routing_headers=[X-Session-ID]"},
	} {
		file := writePlan(t, simPlan(""))
		for _, command := range [][]string{{"plan", "validate"}, {"run"}} {
			args := append(command, file)
			for _, set := range sets {
				args = append(args, "--set", set)
			}
			if r := p.must(exitUsage, args...); !strings.Contains(r.stderr, says) {
				t.Errorf("%v: %s%s", args, r.stdout, r.stderr)
			}
		}
	}
	if r := p.run("runs", "--json"); strings.Contains(r.stdout, `"id"`) {
		t.Error("a run was made:", r.stdout)
	}
	idle := p.must(exitValid, "plan", "validate", writePlan(t, simPlan("")), "--set", "routers=[{points: '5000', kind: haproxy}]")
	if !strings.Contains(idle.stderr, "is not used") {
		t.Errorf("a router of no point: %s", idle.stderr)
	}
}
