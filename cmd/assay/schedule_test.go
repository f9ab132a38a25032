package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/api"
)

// scheduling is the body that makes a schedule of a plan.
func scheduling(plan string) string { return `{"cron": "@yearly", "plan": ` + jsonText(plan) + `}` }

// answered sends a plan, and gives the problem that comes back; one without a code when the plan is taken.
func (d *runningDaemon) answered(method, path, body string) (p api.Problem) {
	d.t.Helper()
	_, b := d.send(method, path, body)
	decodeJSON(d.t, string(b), &p)
	return p
}

// TestScheduleThatCouldNeverRun is refused at once and as its run would be: when it is made, when it is changed, and by the command.
func TestScheduleThatCouldNeverRun(t *testing.T) {
	p := newProgram(t)
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("allow:\n  images: ['a/b']\n  commands: [vllm, sglang-router]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := p.serve("--config", config)
	docker := func(image, more string) string {
		return strings.Replace(simPlan(", image: '"+image+"@sha256:"+strings.Repeat("0", 64)+"'"+more), "engine: sim, runtime: process", "engine: vllm, runtime: docker", 1)
	}
	model := func(path string) string {
		return strings.Replace(simPlan(""), "name: sim-1b", "name: sim-1b, path: "+path, 1)
	}
	good := strings.TrimSpace(p.must(exitValid, "schedule", "add", writePlan(t, simPlan("")), "--cron", "@yearly").stdout)
	for name, c := range map[string]struct {
		plan, code string
		guests     bool // who is on the machine may have it
	}{
		"an image that is not allowed":      {docker("c/d", ""), "plan.not_allowed", true},
		"a model that is not allowed":       {model("/srv/llm"), "plan.not_allowed", true},
		"a path that begins nowhere":        {model("llm"), "plan.relative_path", true},
		"a server that cannot be reached":   {docker("a/b", `, args: ["--host", "127.0.0.1"]`), "plan.server_unreachable", false},
		"a client that cannot do it":        {strings.Replace(simPlan(""), "kind: native", "kind: vllm-bench", 1), "plan.client_cannot", false},
		"more servers than CPUs":            {simPlan(", replicas: 3, cpus: '0-1'"), "plan.replicas_uneven", false},
		"a check that there is none of":     {simPlan("") + "checks: {server_versoin: ignore}\n", "plan.value", false},
		"a router that keeps no session so": {strings.Replace(simPlan(""), "kind: native", "kind: native, routing_headers: [X-Session-ID]", 1) + "routers: [{points: all, kind: sglang-router}]\n", "plan.router_header", false},
	} {
		run := d.answered(http.MethodPost, "/api/v1/runs", c.plan)
		for path, method := range map[string]string{"/api/v1/schedules": http.MethodPost, "/api/v1/schedules/" + good: http.MethodPatch} {
			if diff := cmp.Diff(run, d.answered(method, path, scheduling(c.plan))); diff != "" || run.Code != c.code {
				t.Errorf("%s: %s %s: %+v\n%s", name, method, path, run, diff)
			}
		}
		if r := p.run("schedule", "add", writePlan(t, c.plan), "--cron", "@yearly"); !c.guests && (r.code != exitUsage || !strings.Contains(r.stderr, run.Text)) {
			t.Errorf("%s: exit %d, %s", name, r.code, r.stderr)
		}
	}
}

// TestScheduleThatCannotRunNow is taken, as its run would be: what is missing may be there when its time comes.
func TestScheduleThatCannotRunNow(t *testing.T) {
	p := newProgram(t)
	d := p.serve()
	missing := strings.Replace(simPlan(""), "name: sim-1b", "name: sim-1b, path: "+t.TempDir()+"/llm", 1)
	for name, plan := range map[string]string{
		"a model that is not there":         missing,
		"disks and GPUs that are not there": simPlan("") + "checks: {disk_space: 1000000000, gpu_count: 4096}\n",
		"an image that is not there":        strings.Replace(simPlan(", image: 'a/b@sha256:"+strings.Repeat("0", 64)+"'"), "engine: sim, runtime: process", "engine: vllm, runtime: docker", 1),
	} {
		if r := p.run("schedule", "add", writePlan(t, plan), "--cron", "@yearly"); r.code != exitValid {
			t.Errorf("%s: exit %d, %s", name, r.code, r.stderr)
		}
		if plan != missing { // a guest's plan may name no files here
			d.call(http.MethodPost, "/api/v1/schedules", scheduling(plan), http.StatusCreated, nil)
		}
	}
}
