package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/agent/allow"
	"assay/containers"
	"assay/fault"
	"assay/redact"
	"assay/result"
	"assay/store"
)

// TestSecretsOfADeadServer: what a server that failed wrote is swept too, and what looks like a token of somebody else is noted.
func TestSecretsOfADeadServer(t *testing.T) {
	a := newAgent(t)
	const named = "named-by-the-plan-0123"
	unknown := "hf_" + strings.Repeat("a1", 17)
	a.Token = func(name string) string { return map[string]string{"NAMED": named}[name] }
	told := make(chan []result.Event, 1)
	var all []result.Event
	onEvent(t, a, func(e result.Event) bool { all = append(all, e); return e.Kind == result.RunEnded }, func() { told <- all })
	r := execute(t, a, submit(t, a, sweepOf(t, `{engine: vllm, runtime: process, env_from: [NAMED], command: [/bin/sh, -c, "echo other `+unknown+`; echo $(printf %0285d 0)$NAMED; echo key $NAMED; exit 7"]}`)))
	if r.Run.State != result.Failed || !strings.Contains(r.Run.Error.Error(), "key [secret NAMED]") {
		t.Errorf("%+v", r.Run)
	}
	for what, v := range map[string]any{"result": r, "events": <-told} { // a long line is told without its end, where the secret is
		b, err := json.Marshal(v)
		if err != nil || strings.Contains(string(b), named[:redact.MinLength]) || !strings.Contains(string(b), "key [secret NAMED]") {
			t.Errorf("the %s: %s, %v", what, b, err)
		}
	}
	if a.Redactor(r.Run.ID) != nil {
		t.Error("a run that has ended is still read as one that is executed")
	}
	note := "server.log holds what looks like a Hugging Face token: it lies in the run's folder and in its archive"
	if !slices.Contains(r.Identity.Notes, note) {
		t.Errorf("notes %q", r.Identity.Notes)
	}
	b, err := os.ReadFile(filepath.Join(a.Store.RunDir(r.Run.ID), "server.log"))
	if err != nil || strings.Contains(string(b), named) || !strings.Contains(string(b), "other "+unknown+"\n0") || !strings.Contains(string(b), "0[secret NAMED]\nkey [secret NAMED]") {
		t.Errorf("the log is %q, %v", b, err)
	}
}

// TestNoSecretIsStored: a document that happens to hold one goes into the store without it.
func TestNoSecretIsStored(t *testing.T) {
	a := newAgent(t)
	id := submit(t, a, sweepOf(t, atURL("http://127.0.0.1:1")))
	x := &execution{Config: a.Config, run: a.mustRun(t, id), hide: redact.New(redact.Secret{Name: "NAMED", Value: "named-by-the-plan-0123"})}
	if err := x.put(t.Context(), store.Identity, result.Identity{Notes: []string{"it said named-by-the-plan-0123"}}); err != nil {
		t.Fatal(err)
	}
	if b, err := a.Store.Document(t.Context(), id, store.Identity); err != nil || !strings.Contains(string(b), "it said [secret NAMED]") {
		t.Errorf("%s, %v", b, err)
	}
}

// TestSecretInThePlan: a plan that names a secret and holds it as well is refused, and the refusal does not repeat it.
func TestSecretInThePlan(t *testing.T) {
	a := newAgent(t)
	a.Token = func(string) string { return "sk-stands-in-the-plan" }
	p := sweepOf(t, atURL("http://127.0.0.1:1"), "server.token_env=TOKEN", "name=uses sk-stands-in-the-plan")
	_, err := a.Submit(t.Context(), p, "", Origin{Source: FromCLI})
	if e := fault.Of(err, fault.Store); e == nil || e.Code != "preflight.secret_in_plan" || !strings.Contains(e.Text, "TOKEN") || strings.Contains(e.Text, "sk-") {
		t.Errorf("%+v", e)
	}
	if runs, _, err := a.Store.Runs(t.Context(), store.Filter{}); err != nil || len(runs) > 0 {
		t.Errorf("stored: %v, %v", runs, err)
	}
}

// TestGuests: a plan from the network is held against the list when it is queued, and again when its run begins.
func TestGuests(t *testing.T) {
	a := newAgent(t)
	outside := t.TempDir()
	models := t.TempDir()
	link := filepath.Join(models, "m")
	if err := os.Symlink(models, link); err != nil {
		t.Fatal(err)
	}
	list := allow.Default()
	list.Mounts = []string{models}
	a.Allow = &list
	p := sweepOf(t, atURL("http://127.0.0.1:1"), "model.path="+link)
	guest := Origin{Source: FromAPI, Guest: true}
	run, err := a.Submit(t.Context(), p, "", guest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	if r := execute(t, a, run.ID); r.Run.Error == nil || r.Run.Error.Code != "plan.not_allowed" || !strings.Contains(r.Run.Error.Text, outside) {
		t.Errorf("%+v", r.Run.Error)
	}
	if _, err := a.Submit(t.Context(), p, "", guest); fault.Of(err, fault.Store).Code != "plan.not_allowed" {
		t.Errorf("queued: %v", err)
	}
	if _, err := a.Submit(t.Context(), p, "", Origin{Source: FromCLI}); err != nil {
		t.Errorf("the owner's: %v", err)
	}
}

// TestARunWithoutItsOrigin: the program was killed between the row of a run and where it came from. It may have what a guest's may.
func TestARunWithoutItsOrigin(t *testing.T) {
	a := newAgent(t)
	p := sweepOf(t, atURL("http://127.0.0.1:1"), "model.path="+t.TempDir(), "server.ready.timeout=1s")
	run := store.Run{ID: store.NewRunID(a.Now()), Name: p.Name, State: result.Queued, Plan: p.Canonical(), PlanSHA256: p.Hash(), Source: FromAPI, CreatedUS: a.nowUS(), Points: len(p.Points())}
	if err := a.Store.CreateRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if r := execute(t, a, run.ID); r.Run.Error == nil || r.Run.Error.Code != "plan.not_allowed" {
		t.Errorf("%+v", r.Run.Error)
	}
}

// TestNobodysPlaces: the data directory, the engine's socket and what else is closed are never a guest's, whatever the list says.
func TestNobodysPlaces(t *testing.T) {
	a := newAgent(t)
	dir := t.TempDir()
	list := allow.Default()
	list.Mounts = []string{dir, filepath.Dir(a.Store.Dir())}
	a.Allow, a.Closed, a.Docker = &list, []allow.Place{{Path: filepath.Join(dir, "own.sock"), Is: "the owner's socket"}}, containers.FindDocker("unix://"+dir+"/engine.sock", func(string) string { return "" })
	for name, says := range map[string]string{"engine.sock": "it is the container engine's socket", "own.sock": "it is the owner's socket (" + dir, ".": "never", "models": ""} {
		expectNever(t, a, filepath.Join(dir, name), says)
	}
	expectNever(t, a, filepath.Join(a.Store.Dir(), "runs"), "it lies in the data directory, with all results")
}

func expectNever(t *testing.T, a *Agent, path, says string) {
	t.Helper()
	p := sweepOf(t, atURL("http://127.0.0.1:1"))
	p.Model.Path = path
	if err := a.Permit(p, true); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
		t.Errorf("%s: %v", path, err)
	}
}

// TestAGuestsSchedule: what a guest scheduled is held against the list at each time it fires; the owner's is not.
func TestAGuestsSchedule(t *testing.T) {
	a := newAgent(t)
	p := sweepOf(t, atURL("http://127.0.0.1:1"), "model.path="+t.TempDir())
	for id, guest := range map[string]bool{"guests": true, "owners": false} {
		if err := a.Store.CreateSchedule(t.Context(), store.Schedule{ID: id, Name: id, Cron: "@yearly", Plan: p.Canonical(), Enabled: true, CreatedUS: a.nowUS(), Guest: guest}); err != nil {
			t.Fatal(err)
		}
		a.fire(t.Context(), id)
		if s, err := a.Store.Schedule(t.Context(), id); err != nil || (s.LastRun == "") != guest {
			t.Errorf("%s: last run %q, %v", id, s.LastRun, err)
		}
	}
}
