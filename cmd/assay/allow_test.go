package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/result"
)

// refused sends what must be refused, and gives the answer.
func (d *runningDaemon) refused(path, body string) string {
	d.t.Helper()
	return string(d.call(http.MethodPost, path, body, http.StatusForbidden, nil))
}

// TestPlansFromTheNetwork: over TCP a plan gets what the configuration allows and nothing else; the daemon's own user gets everything.
func TestPlansFromTheNetwork(t *testing.T) {
	p := newProgram(t)
	command := ", command: ['" + p.bin + "', sim]"
	dangerous := map[string]string{
		"commands":         simPlan(command),
		"never allowed":    strings.Replace(simPlan(", image: 'a/b@sha256:"+strings.Repeat("0", 64)+"', mounts: [{source: /, target: /host, writable: true}]"), "engine: sim, runtime: process", "engine: vllm, runtime: docker", 1),
		"privileged":       strings.Replace(simPlan(", image: 'a/b@sha256:"+strings.Repeat("0", 64)+"', privileged: true"), "engine: sim, runtime: process", "engine: vllm, runtime: docker", 1),
		"variables: [\\\"": simPlan(", env_from: [HOME]"),
	}
	d := p.serve()
	for says, plan := range dangerous {
		schedule := `{"cron": "@yearly", "plan": ` + jsonText(plan) + `}`
		for path, body := range map[string]string{"/api/v1/runs": plan, "/api/v1/schedules": schedule} {
			if said := d.refused(path, body); !strings.Contains(said, "plan.not_allowed") || !strings.Contains(said, says) {
				t.Errorf("%s: %s, want %q", path, said, says)
			}
		}
	}
	d.follow(d.submit(simPlan("")), func(e result.Event) bool { return e.Kind == result.RunEnded })

	// the owner, through the socket
	file := writePlan(t, dangerous["commands"])
	p.must(exitValid, "run", file)
	id := strings.TrimSpace(p.must(exitValid, "schedule", "add", file, "--cron", "@yearly").stdout)
	var run runView
	d.call(http.MethodPost, "/api/v1/schedules/"+id+"/run", "", http.StatusCreated, &run) // his plan, whoever starts it
	d.follow(run.ID, func(e result.Event) bool { return e.Kind == result.RunEnded })
	if said := d.call(http.MethodPatch, "/api/v1/schedules/"+id, `{"plan": `+jsonText(dangerous["privileged"])+`}`, http.StatusForbidden, nil); !strings.Contains(string(said), "plan.not_allowed") {
		t.Errorf("%s", said)
	}
	d.stop(os.Interrupt)

	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("allow:\n  commands: ['"+p.bin+" sim']\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "own.sock") // who reaches it is the owner
	d = p.serve("--config", config, "--socket", socket)
	if said := d.refused("/api/v1/runs", strings.Replace(simPlan(", url: 'unix://"+socket+"'"), "engine: sim, runtime: process", "engine: openai, runtime: endpoint", 1)); !strings.Contains(said, "never allowed") {
		t.Errorf("the daemon's own socket: %s", said)
	}
	d.follow(d.submit(dangerous["commands"]), func(e result.Event) bool { return e.Kind == result.RunEnded })
	d.call(http.MethodPost, "/api/v1/schedules", `{"cron": "@yearly", "plan": `+jsonText(dangerous["commands"])+`}`, http.StatusCreated, nil)
}

// TestConfigurationThatIsWrong ends the daemon before it begins.
func TestConfigurationThatIsWrong(t *testing.T) {
	p := newProgram(t)
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("allow:\n  image: [x]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := p.must(exitUsage, "serve", "--config", config); !strings.Contains(r.stderr, "unknown field") || !strings.Contains(r.stderr, "[2:3]") {
		t.Errorf("%s", r.stderr)
	}
}

// jsonText is a text as JSON.
func jsonText(text string) string {
	b, _ := json.Marshal(text) // every text can be written
	return string(b)
}
