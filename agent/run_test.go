package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/agent/events"
	"assay/agent/telemetry"
	"assay/archive"
	"assay/containers"
	"assay/fault"
	"assay/result"
	"assay/store"
)

func (a *Agent) mustRun(t *testing.T, id string) store.Run {
	t.Helper()
	run, err := a.Store.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestARunFromPlanToArchive(t *testing.T) {
	a := newAgent(t)
	engine, url := startSim(t, quickSim("sim"))
	id := submit(t, a, sweepOf(t, atURL(url)))
	r := execute(t, a, id)
	busy := checkStates(t, r, "c1 valid", "c2 valid")
	if r.Run.State != result.Done || r.Run.Error != nil || (r.Run.Verdict == result.Valid) == busy {
		t.Fatalf("%s, %s: %v %v", r.Run.State, r.Run.Verdict, r.Run.Reasons, r.Run.Error)
	}
	want := []string{"preflight", "pull", "start", "ready", "telemetry", "points", "router c1", "measure c1", "router c2", "measure c2", "collect",
		"stop points", "stop telemetry", "stop start"}
	if diff := cmp.Diff(want, phaseNames(r)); diff != "" {
		t.Error(diff)
	}
	for _, p := range r.Run.Phases {
		if p.EndedUS < p.StartedUS || p.Error != nil {
			t.Errorf("phase %+v", p)
		}
	}
	checkMeasured(t, r)
	if row := a.mustRun(t, id); row.State != result.Done || row.PointsDone != 2 || row.EndedUS == 0 {
		t.Errorf("row %+v", row)
	}
	raw, err := a.Store.ResultBytes(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if stored, err := result.Decode(raw); err != nil || stored.Run.ID != id || len(stored.Points) != 2 {
		t.Errorf("stored document: %+v, %v", stored.Run, err)
	}
	if len(engine.Truth()) < 10 { // two warm-ups, eight measured, one to be ready
		t.Errorf("the engine answered %d requests", len(engine.Truth()))
	}
	checkTaken(t, a, id)
}

func checkMeasured(t *testing.T, r result.Result) {
	t.Helper()
	for _, p := range r.Points {
		// of four requests the last may end after the window
		if p.Metrics == nil || p.Metrics.RequestsCompleted < 3 || p.MLPerf == nil || p.Window.DurationS <= 0 {
			t.Fatalf("%s: %+v", p.ID, p)
		}
		if p.Engine == nil || p.Engine.GenerationTokens != p.Engine.ClientTokens || p.Engine.ClientTokens < 5*16 {
			t.Errorf("%s: engine count %+v", p.ID, p.Engine)
		}
		if p.Telemetry["engine.running"].N == 0 {
			t.Errorf("%s: telemetry %v", p.ID, p.Telemetry)
		}
		listed := slices.ContainsFunc(r.Artifacts, func(f result.Artifact) bool {
			return f.Path == p.Recording.Path && f.SHA256 == p.Recording.SHA256
		})
		if !listed {
			t.Errorf("%s: recording %+v is not among %v", p.ID, p.Recording, r.Artifacts)
		}
	}
	var id containers.Identity
	if err := json.Unmarshal(r.Identity.Server, &id); err != nil || id.Version == "" || r.Identity.Model.Served != "sim" {
		t.Errorf("identity %+v: %v", id, err)
	}
}

func checkTaken(t *testing.T, a *Agent, id string) {
	t.Helper()
	for _, name := range []string{result.FileName, result.ReportName, "plan.yaml", result.EventsName, telemetry.FileName} {
		if sizeOf(t, a, id, name) == 0 {
			t.Errorf("%s is missing or empty", name)
		}
	}
	rep, err := archive.Verify(t.Context(), filepath.Join(a.Store.RunDir(id), result.ArchiveName))
	if err != nil || !rep.OK || rep.Run != id {
		t.Errorf("archive: %+v, %v", rep, err)
	}
}

func TestNoArchiveWhenItIsNotWanted(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	_, url := startSim(t, quickSim("sim"))
	run, err := a.Submit(t.Context(), sweepOf(t, atURL(url), "protocol.sweep.concurrency=1"), "", Origin{Source: FromCLI, NoArchive: true})
	if err != nil {
		t.Fatal(err)
	}
	execute(t, a, run.ID)
	if sizeOf(t, a, run.ID, result.ArchiveName) != 0 || sizeOf(t, a, run.ID, result.ReportName) == 0 {
		t.Error("an archive was made, or no report")
	}
	page, err := os.ReadFile(filepath.Join(a.Store.RunDir(run.ID), result.ReportName))
	if err != nil || !strings.Contains(string(page), "not packed") || strings.Contains(string(page), result.ArchiveName) {
		t.Errorf("the report does not say that the run is not packed: %v", err)
	}
}

func TestPreflightRefusesBeforeAnythingStarts(t *testing.T) {
	useless := filepath.Join(t.TempDir(), "useless.jsonl")
	if err := os.WriteFile(useless, []byte("\n{'prompt': 1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct{ name, set, code string }{
		{"model", "model.path=absent.gguf", "preflight.model_missing"},
		{"model, and a check of its disk", "model.path=absent.gguf;checks={disk_space: required}", "preflight.model_missing"},
		{"dataset", `workload={kind: jsonl, dataset: {path: absent.jsonl}}`, "preflight.dataset_missing"},
		{"useless dataset", `workload={kind: jsonl, dataset: {path: ` + useless + `}}`, "preflight.dataset_empty"},
		{"token", "server.token_env=NO_SUCH_TOKEN", "preflight.token_missing"},
		{"checks", `checks={clocks: required, governor: required}`, "preflight.not_fit"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := newAgent(t)
			r := execute(t, a, submit(t, a, sweepOf(t, atURL("http://127.0.0.1:1"), strings.Split(c.set, ";")...)))
			if r.Run.State != result.Failed || r.Run.Error == nil || r.Run.Error.Code != c.code || r.Run.Error.Hint == "" {
				t.Errorf("%s: %+v", r.Run.State, r.Run.Error)
			}
			if diff := cmp.Diff([]string{"preflight"}, phaseNames(r)); diff != "" {
				t.Error(diff)
			}
			if r.SUT.Before == nil || len(r.Checks) == 0 || sizeOf(t, a, r.Run.ID, result.ReportName) == 0 {
				t.Error("the document or the report lacks what was found")
			}
		})
	}
}

// nothingLeft tells what a run left running.
func nothingLeft(t *testing.T, a *Agent) {
	t.Helper()
	if left := containers.Reap(t.Context(), containers.Search{Owner: a.Owner}, a.Docker); len(left.Removed) > 0 || left.Failed != nil {
		t.Errorf("left running: %+v", left)
	}
}

func TestAServerThatDiesBeforeItIsReady(t *testing.T) {
	a := newAgent(t)
	id := submit(t, a, sweepOf(t, `{engine: vllm, runtime: process, command: [/bin/sh, -c, "echo out of luck; exit 7"]}`))
	shown := make(chan bool)
	onEvent(t, a, func(e result.Event) bool { return e.Kind == result.Logged && e.Run == id && e.Text == "out of luck" }, func() { close(shown) })
	r := execute(t, a, id)
	select {
	case <-shown:
	case <-time.After(time.Minute):
		t.Error("what the server says is not shown")
	}
	if kept, err := os.ReadFile(filepath.Join(a.Store.RunDir(id), result.EventsName)); err != nil || bytes.Contains(kept, []byte(`"log"`)) {
		t.Errorf("its log stands in the events too: %v", err)
	}
	if r.Run.State != result.Failed || r.Run.Error.Code != "server.exited" || !strings.Contains(r.Run.Error.Text, "out of luck") {
		t.Errorf("%s: %+v", r.Run.State, r.Run.Error)
	}
	if said := string(r.Identity.Server); !strings.Contains(said, "out of luck") || !strings.Contains(said, `"launch"`) {
		t.Errorf("what was started stands nowhere: %s", said)
	}
	if diff := cmp.Diff([]string{"preflight", "pull", "start", "ready", "stop start"}, phaseNames(r)); diff != "" {
		t.Error(diff)
	}
	nothingLeft(t, a)
}

// TestAServerThatDiesUnderLoad: the point fails, later ones are skipped, all that was started is stopped in reverse, and a resume
// measures only what is missing.
func TestAServerThatDiesUnderLoad(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	id := submit(t, a, sweepOf(t, asProcess, "server.env={ASSAY_TEST_EXIT_AT: \"11\"}", "workload.lengths=words", "protocol.sweep.concurrency=[1, 2, 3]"))
	r := execute(t, a, id)
	if r.Run.State != result.Failed || r.Run.Verdict != result.NotValid || r.Run.Error.Code != "server.exited" || !strings.Contains(r.Run.Error.Text, "no more") {
		t.Fatalf("%s: %+v", r.Run.State, r.Run.Error)
	}
	checkStates(t, r, "c1 valid", "c2 failed", "c3 skipped")
	names := phaseNames(r)
	if diff := cmp.Diff([]string{"measure c2", "stop points", "stop telemetry", "stop start"}, names[len(names)-4:]); diff != "" {
		t.Error(diff)
	}
	nothingLeft(t, a)
	checkTaken(t, a, id)
	again := execute(t, a, id) // a new server: it dies at its eleventh request again
	checkStates(t, again, "c1 valid", "c2 valid", "c3 failed")
	if again.Points[0].Recording.SHA256 != r.Points[0].Recording.SHA256 {
		t.Error("c1 was measured again")
	}
}

// TestUndoWithoutAStore: a server is stopped also when nothing can be written down any more, and its log, which was not swept, is still shown
// without secrets.
func TestUndoWithoutAStore(t *testing.T) {
	a := newAgent(t)
	a.Token = func(string) string { return "named-by-the-plan-0123" }
	id := submit(t, a, sweepOf(t, asProcess, "server.env_from=[NAMED]"))
	onEvent(t, a, begins("ready", ""), func() { a.Store.Close() })
	_, err := a.Execute(t.Context(), id)
	if f := fault.Of(err, fault.Client); f == nil || f.Code != "store.not_sealed" {
		t.Errorf("%v", err)
	}
	if shown := a.Redactor(id).Text("named-by-the-plan-0123"); shown != "[secret NAMED]" {
		t.Errorf("its log is shown with %s", shown)
	}
	nothingLeft(t, a)
}

// TestUnwind: what began is taken back in reverse under a context that lives, and one failure hides no other.
func TestUnwind(t *testing.T) {
	a := newAgent(t)
	id := submit(t, a, sweepOf(t, atURL("http://127.0.0.1:1")))
	x := &execution{Config: a.Config, run: a.mustRun(t, id), bus: a.bus, log: &events.Log{}}
	var undone []string
	undo := func(name string, err error) phase {
		return phase{name, nil, func(ctx context.Context) error {
			undone = append(undone, name)
			return errors.Join(err, ctx.Err())
		}}
	}
	one, two := errors.New("one"), errors.New("two")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := x.unwind(ctx, []phase{undo("a", one), {name: "b"}, undo("c", two), undo("d", nil)})
	if diff := cmp.Diff([]string{"d", "c", "a"}, undone); diff != "" {
		t.Error(diff)
	}
	if !errors.Is(err, one) || !errors.Is(err, two) || errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestCancelAndResume(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	_, url := startSim(t, quickSim("sim"))
	id := submit(t, a, sweepOf(t, atURL(url), "protocol.sweep.concurrency=[1, 2, 3]"))
	onEvent(t, a, begins("measure", "c2"), func() {
		if err := a.Cancel(t.Context(), id); err != nil {
			t.Error(err)
		}
	})
	r := execute(t, a, id)
	if r.Run.State != result.Canceled || r.Run.Error.Code != "client.canceled" || r.Run.Verdict != result.NotValid {
		t.Fatalf("%s: %+v", r.Run.State, r.Run.Error)
	}
	checkStates(t, r, "c1 valid", "c2 skipped", "c3 skipped")
	own := slices.DeleteFunc(slices.Clone(r.Run.Reasons), func(w result.Reason) bool { return strings.HasPrefix(w.Text, "point c1") }) // of a busy machine
	if why := r.Points[2].Reasons; len(why) != 1 || why[0].Code != "interrupted" || len(own) != 1 || own[0].Code != "not_finished" {
		t.Errorf("c3: %v, the run: %v", why, r.Run.Reasons)
	}
	checkTaken(t, a, id)
	if err := a.Resume(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	again := execute(t, a, id)
	checkStates(t, again, "c1 valid", "c2 valid", "c3 valid")
	if again.Run.State != result.Done {
		t.Errorf("%s %v", again.Run.State, again.Run.Error)
	}
	if again.Points[0].Recording.SHA256 != r.Points[0].Recording.SHA256 {
		t.Error("c1 was measured again")
	}
	if err := a.Resume(t.Context(), id); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a run that is done was resumed: %v", err)
	}
	checkTaken(t, a, id)
}

func TestAProgramThatIsToldToStopCanGoOn(t *testing.T) {
	a := newAgent(t)
	_, url := startSim(t, quickSim("sim"))
	id := submit(t, a, sweepOf(t, atURL(url)))
	ctx, stop := context.WithCancel(t.Context())
	onEvent(t, a, begins("measure", "c1"), stop)
	r, err := a.Execute(ctx, id)
	if err != nil || r.Run.State != result.Interrupted || r.Run.Error.Hint == "" || len(r.Points) == 0 || r.Points[0].State != result.PointSkipped {
		t.Errorf("%s, %v, points %v: %v", r.Run.State, r.Run.Error, r.Points, err)
	}
	if row := a.mustRun(t, id); row.Points != 2 || row.PointsDone != 0 {
		t.Errorf("%d of %d points are said to be measured", row.PointsDone, row.Points)
	}
}
