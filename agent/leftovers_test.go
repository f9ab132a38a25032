package agent

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/agent/journal"
	"assay/containers"
	"assay/containers/imagetest"
	"assay/fault"
	"assay/plan"
	"assay/result"
)

// leave makes a container as a killed program leaves it, with its intent, and gives its name.
func leave(t *testing.T, a *Agent, engine, image, run string) string {
	t.Helper()
	i := containers.Intent{Run: run, Role: "server", Runtime: "docker", Name: "assay-" + run + "-server"}
	if err := a.journal().Intend(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	b, err := exec.Command("docker", "--host", "unix://"+engine, "run", "--detach", "--network", "none", "--name", i.Name,
		"--label", "assay.owner="+a.Owner, "--label", "assay.run="+run, "--label", "assay.role=server", image).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return i.Name
}

func openIntents(t *testing.T, a *Agent) []containers.Intent {
	t.Helper()
	open, err := journal.Open(t.Context(), a.Store)
	if err != nil {
		t.Fatal(err)
	}
	return open
}

// TestEngineIsAwayAtTheStart: the program starts, marks its run, executes what needs no container engine and refuses what does; when the
// engine is back, what was left is removed before anything is started there, and the run has the rest of its log, without its secrets.
func TestEngineIsAwayAtTheStart(t *testing.T) {
	own := imagetest.StartEngine(t, 0)
	image := imagetest.HelloImage(t)
	if b, err := exec.Command("docker", "--host", "unix://"+own.Socket, "pull", "--quiet", image).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	a := newAgent(t)
	a.Docker = containers.FindDocker("unix://"+own.Socket, os.Getenv)
	a.Token = func(string) string { return "stdout: hello" }
	inDocker := sweepOf(t, `{engine: sim, runtime: docker, network: host, env_from: [GREETING], image: "`+image+`"}`)
	id := submit(t, a, inDocker)
	move(t, a, id, result.Running)
	name := leave(t, a, own.Socket, image, id)
	own.End(syscall.SIGKILL)

	if err := a.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := a.mustRun(t, id); r.State != result.Interrupted {
		t.Errorf("the run is %s", r.State)
	}
	if open := openIntents(t, a); len(open) != 1 || open[0].Name != name || !strings.Contains(open[0].Trouble, "does not answer") {
		t.Errorf("%+v", open)
	}
	_, url := startSim(t, quickSim("sim"))
	if r := execute(t, a, submit(t, a, sweepOf(t, atURL(url)))); r.Run.State != result.Done {
		t.Errorf("a run without containers: %s, %v", r.Run.State, r.Run.Error)
	}
	refused := execute(t, a, submit(t, a, inDocker))
	if refused.Run.State != result.Failed || refused.Run.Error == nil || refused.Run.Error.Code != "server.docker_unreachable" || len(refused.Run.Phases) != 0 {
		t.Errorf("a run with containers: %s, %v", refused.Run.State, refused.Run.Error)
	}

	own.Start()
	if err := a.settleDebt(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if open := openIntents(t, a); len(open) != 0 {
		t.Errorf("%+v", open)
	}
	if b, err := exec.Command("docker", "--host", "unix://"+own.Socket, "ps", "--all", "--quiet").CombinedOutput(); err != nil || len(b) > 0 {
		t.Errorf("left: %s, %v", b, err)
	}
	raw, err := a.Store.ResultBytes(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := result.Decode(raw)
	if err != nil || doc.Run.State != result.Interrupted {
		t.Fatalf("%+v, %v", doc.Run, err)
	}
	if !slices.ContainsFunc(doc.Identity.Notes, func(n string) bool { return strings.Contains(n, name) && strings.Contains(n, "server.log") }) {
		t.Errorf("notes %v", doc.Identity.Notes)
	}
	if !slices.ContainsFunc(doc.Artifacts, func(f result.Artifact) bool { return f.Path == "server.log" }) {
		t.Errorf("files %v", doc.Artifacts)
	}
	if b, err := os.ReadFile(filepath.Join(a.Store.RunDir(id), "server.log")); err != nil || !strings.Contains(string(b), "[secret GREETING]") || strings.Contains(string(b), "stdout: hello") {
		t.Errorf("log: %s, %v", b, err)
	}
}

// TestAHangingEngineRefusesARun: where nobody can tell whether something is left, nothing is started; the answer comes soon.
func TestAHangingEngineRefusesARun(t *testing.T) {
	a := newAgent(t)
	own := imagetest.StartEngine(t, 0)
	a.Docker = containers.FindDocker("unix://"+own.Socket, os.Getenv)
	p := sweepOf(t, `{engine: sim, runtime: docker, network: host, image: "`+"x@sha256:"+strings.Repeat("0", 64)+`"}`)
	id := submit(t, a, p)
	if err := a.journal().Intend(t.Context(), containers.Intent{Run: id, Role: "server", Runtime: "docker", Name: "assay-" + id + "-server"}); err != nil {
		t.Fatal(err)
	}
	own.Pause()
	begun := time.Now()
	err := a.clear(t.Context(), p)
	own.Resume()
	if f := fault.Of(err, fault.Client); f == nil || f.Code != "server.docker_unreachable" || time.Since(begun) > 20*time.Second {
		t.Errorf("at an engine that hangs, after %s: %v", time.Since(begun), err)
	}
	if err := a.clear(t.Context(), p); err != nil || len(openIntents(t, a)) != 0 {
		t.Errorf("when it answers: %v, %v", err, openIntents(t, a))
	}
}

// stubbornEngine holds one container, which it does not remove.
func stubbornEngine(name, owner, run, role string) http.Handler {
	answer := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, body)
		}
	}
	const v = "/{version}/containers/"
	mux := http.NewServeMux()
	mux.HandleFunc("/_ping", answer("OK"))
	mux.HandleFunc("GET "+v+"json", answer(fmt.Sprintf(`[{"Id": "c0ffee", "Names": ["/%s"], "State": "running", "Labels": {"assay.owner": "%s", "assay.run": "%s", "assay.role": "%s"}}]`, name, owner, run, role)))
	mux.HandleFunc("DELETE "+v+"{id}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, `{"message": "driver failed to remove root filesystem"}`)
	})
	return mux
}

// TestNothingIsStartedBesideWhatStays: a run is refused by the name of a container of ours that its engine does not remove, whatever the run
// starts there. One that starts nothing there is not.
func TestNothingIsStartedBesideWhatStays(t *testing.T) {
	const inDocker, elsewhere = "docker", "endpoint"
	for name, c := range map[string]struct {
		server, router, client string // their runtimes
		refused                bool
	}{
		"a server":               {inDocker, "", "", true},
		"a client":               {elsewhere, "", inDocker, true},
		"a router":               {elsewhere, inDocker, "", true},
		"nothing in a container": {elsewhere, "process", "process", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t)
			killed := submit(t, a, sweepOf(t, asProcess))
			left := "assay-" + killed + "-client"
			a.Docker = containers.FindDocker(onSocket(t, stubbornEngine(left, a.Owner, killed, "client")), os.Getenv)
			p := plan.Plan{Server: plan.Server{Runtime: c.server}, Client: plan.Client{Runtime: c.client}}
			if c.router != "" {
				p.Routers = []plan.Router{{Runtime: c.router}}
			}
			err := a.clear(t.Context(), p)
			if !c.refused {
				if err != nil {
					t.Error(err)
				}
				return
			}
			f := fault.Of(err, fault.Client)
			if f == nil || f.Code != "server.leftover" || !strings.Contains(f.Text, left) || !strings.Contains(f.Text, "driver failed") || !strings.Contains(f.Hint, "docker rm --force "+left) {
				t.Errorf("%v", err)
			}
			if open := openIntents(t, a); len(open) != 1 || open[0].Name != left {
				t.Errorf("%+v", open) // the next look goes on with it
			}
		})
	}
}
