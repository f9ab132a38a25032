package main

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/fault"
	"assay/result"
	"assay/store"
)

// holdTheToken lists the files of a folder that hold a token in any form.
func holdTheToken(t *testing.T, dir, token string) (holders []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // a folder
		}
		b = append(b, decoded(t, name, b)...)
		for _, form := range fault.Forms(token) {
			if bytes.Contains(b, []byte(form)) {
				holders = append(holders, filepath.Base(name))
				break
			}
		}
	}
	return holders
}

// onlyRun is the folder of the only run.
func (p testProgram) onlyRun() string {
	p.t.Helper()
	found, err := filepath.Glob(filepath.Join(p.data, "runs", "*"))
	if err != nil || len(found) != 1 {
		p.t.Fatalf("%v, %v", found, err)
	}
	return found[0]
}

// killedWhenReady runs a plan, and kills the program when the server is ready.
func (p testProgram) killedWhenReady(plan string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), limit)
	defer cancel()
	cmd := p.command(ctx, "run", plan)
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	for said.Scan() && !strings.Contains(said.Text(), "ready ok") {
	}
	if err := cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
}

// TestWithheld: a program is killed while a server has written a secret into its log, and the next starts do not have the secret. What it
// wrote is in no answer, no report and no archive, until a start that has the secret takes it out.
func TestWithheld(t *testing.T) {
	const token = "my-token-0123456789"
	p := newProgram(t)
	t.Setenv("MY_TOKEN", token)
	script := `echo "the token is $MY_TOKEN"; exec ` + p.bin + ` sim "$@"`
	plan := writePlan(t, strings.Replace(simPlan(`, env_from: [MY_TOKEN], command: [/bin/sh, -c, `+jsonText(script)+`, sh]`), "duration: 1s", "duration: 60s", 1))
	p.killedWhenReady(plan)
	id := filepath.Base(p.onlyRun())

	if err := os.Unsetenv("MY_TOKEN"); err != nil {
		t.Fatal(err)
	}
	said := p.must(exitPreflight, "run", "--resume", id)
	if note := "withheld: server.log, server.log.owner may hold the value of MY_TOKEN"; !strings.Contains(said.stdout, note) || strings.Contains(said.stdout+said.stderr, token) {
		t.Errorf("it says\n%s%s", said.stdout, said.stderr)
	}
	dir := filepath.Join(p.data, "runs", id)
	if held := holdTheToken(t, dir, token); len(held) != 1 || held[0] != "server.log" {
		t.Errorf("the token stands in %v", held)
	}
	if held := holdTheToken(t, p.data, token); len(held) > 0 {
		t.Errorf("the token stands in %v", held)
	}
	packed := filepath.Join(t.TempDir(), "run.tar.zst")
	p.must(exitValid, "archive", id, "--out", packed)
	p.must(exitValid, "verify", packed)

	logs, run := "/api/v1/runs/"+id+"/logs", "/api/v1/runs/"+id
	d := p.serve()
	for _, path := range []string{logs, logs + "?tail=5", logs + "?name=server.log", run + "/files/server.log"} {
		if said := d.call(http.MethodGet, path, "", http.StatusConflict, nil); !bytes.Contains(said, []byte("plan.withheld")) || !bytes.Contains(said, []byte("MY_TOKEN")) {
			t.Errorf("%s: %s", path, said)
		}
	}
	d.call(http.MethodGet, run+"/files/plan.yaml", "", http.StatusOK, nil)
	for _, path := range []string{run + "/result", run + "/archive", run + "/report", "/runs/" + id} {
		b := d.call(http.MethodGet, path, "", http.StatusOK, nil)
		if bytes.Contains(b, []byte(token)) || bytes.Contains(decoded(t, strings.Replace(path, "/archive", "/archive.zst", 1), b), []byte(token)) {
			t.Errorf("%s tells the token", path)
		}
	}
	d.stop(os.Interrupt)

	t.Setenv("MY_TOKEN", token)
	d = p.serve()
	for _, path := range []string{logs, run + "/files/server.log"} {
		if b := d.call(http.MethodGet, path, "", http.StatusOK, nil); !bytes.Contains(b, []byte("the token is [secret MY_TOKEN]")) {
			t.Errorf("%s: %s", path, b)
		}
	}
	doc := readDoc(t, d, id)
	if listed := func(a result.Artifact) bool { return a.Path == "server.log" }; !slices.ContainsFunc(doc.Artifacts, listed) || strings.Contains(strings.Join(doc.Identity.Notes, "\n"), "withheld") {
		t.Errorf("artifacts %v, notes %q", doc.Artifacts, doc.Identity.Notes)
	}
	d.stop(os.Interrupt)
	if held := append(holdTheToken(t, dir, token), holdTheToken(t, p.data, token)...); len(held) > 0 {
		t.Errorf("the token stands in %v", held)
	}
	p.must(exitValid, "archive", id, "--out", packed+".zst")
	p.must(exitValid, "verify", packed+".zst")
}

// TestAPlanThatHoldsItsSecret is kept nowhere, whoever sends it and whatever for.
func TestAPlanThatHoldsItsSecret(t *testing.T) {
	p := newProgram(t)
	t.Setenv("MY_TOKEN", secretMark+"-0123")
	text := simPlan(", env_from: [MY_TOKEN], env: {ALSO: " + secretMark + "-0123}")
	plan := writePlan(t, text)
	if r := p.must(exitPreflight, "run", plan); !strings.Contains(r.stderr, "the plan holds the value of MY_TOKEN itself") || strings.Contains(r.stdout+r.stderr, secretMark) {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("allow:\n  variables: [MY_TOKEN]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := p.serve("--config", config)
	for path, body := range map[string]string{"/api/v1/runs": text, "/api/v1/schedules": `{"cron": "@yearly", "plan": ` + jsonText(text) + `}`} {
		if said := d.call(http.MethodPost, path, body, http.StatusBadRequest, nil); !bytes.Contains(said, []byte("preflight.secret_in_plan")) || bytes.Contains(said, []byte(secretMark)) {
			t.Errorf("%s: %s", path, said)
		}
	}
	p.must(exitPreflight, "run", plan) // by the daemon
	p.must(exitPreflight, "schedule", "add", plan, "--cron", "@yearly")
	d.stop(os.Interrupt)
	if holders := holdTheToken(t, p.data, secretMark); len(holders) > 0 {
		t.Errorf("it stands in %v", holders)
	}
	st, err := store.Open(t.Context(), p.data)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if runs, _, err := st.Runs(t.Context(), store.Filter{}); err != nil || len(runs) > 0 {
		t.Errorf("%v %v", runs, err)
	}
}
