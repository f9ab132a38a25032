package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/report"
	"assay/result"
)

func TestRunMeasuresTheSimulatedEngine(t *testing.T) {
	p := newProgram(t)
	plan := writePlan(t, simPlan(""))
	r := p.must(exitValid, "run", plan, "--json")
	doc := r.result(t)
	if doc.Run.State != result.Done {
		t.Fatalf("run is %s: %v", doc.Run.State, doc.Run.Reasons)
	}
	var ids []string
	for _, pt := range doc.Points {
		ids = append(ids, pt.ID)
		checkPoint(t, pt)
	}
	if diff := cmp.Diff([]string{"c1", "c4"}, ids); diff != "" {
		t.Error(diff)
	}
	stored := filepath.Join(p.data, "runs", doc.Run.ID, result.FileName)
	b, err := os.ReadFile(stored)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != r.stdout {
		t.Errorf("%s differs from what was printed", stored)
	}
	if again := p.must(exitValid, "report", "last", "--format", "json").stdout; again != r.stdout {
		t.Error("report --format json differs from the document of the run")
	}
}

// checkPoint holds a point against what must be true of every measured point of the simulated engine: 16 tokens a reply, always.
func checkPoint(t *testing.T, p result.Point) {
	t.Helper()
	m := p.Metrics
	if m == nil || m.SystemTPS == nil || m.TTFTMS == nil || m.TPOTMS == nil {
		t.Fatalf("%s is %s with %+v: %v", p.ID, p.State, m, p.Reasons)
	}
	if *m.OutputTokens != 16*int64(m.RequestsCompleted) {
		t.Errorf("%s: %d output tokens of %d requests, want 16 each", p.ID, *m.OutputTokens, m.RequestsCompleted)
	}
	if m.RequestsFailed != 0 || m.RequestsCompleted == 0 {
		t.Errorf("%s: %d completed, %d failed", p.ID, m.RequestsCompleted, m.RequestsFailed)
	}
	if p.Client.TokenSource != "usage" {
		t.Errorf("%s: tokens by %s", p.ID, p.Client.TokenSource)
	}
	if _, ok := p.Telemetry["host.cpu_pct"]; !ok {
		t.Errorf("%s: no host telemetry in %v", p.ID, p.Telemetry)
	}
}

// The command line of a run's server is one that a shell can run: with --help added, the server's program answers.
func TestShowCommand(t *testing.T) {
	p := newProgram(t)
	p.must(exitValid, "run", writePlan(t, simPlan(", args: [--max-running, \"4\"]")))
	text := p.must(exitValid, "show", "last", "--command").stdout
	name, command, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if name != "# Server" || !strings.Contains(command, "--max-running 4") {
		t.Fatalf("commands:\n%s", text)
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", command+" --help").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--max-running") {
		t.Errorf("%s: %v\n%s", command, err, out)
	}
	p.must(exitUsage, "show", "last", "--command", "--json")
}

func TestRunLeavesWhatPeopleTakeAway(t *testing.T) {
	p := newProgram(t)
	p.must(exitValid, "run", writePlan(t, simPlan("")))
	id := p.must(exitValid, "show", "last", "--json").result(t).Run.ID
	for _, name := range []string{result.FileName, result.ReportName, result.ArchiveName, "plan.yaml", "telemetry.jsonl", "events.jsonl", "recordings/c1.rec"} {
		if st, err := os.Stat(filepath.Join(p.data, "runs", id, name)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, format := range report.Formats() {
		if format.Matrix {
			p.must(exitUsage, "report", "last", "--format", format.Name)
			continue
		}
		if out := p.must(exitValid, "report", "last", "--format", format.Name).stdout; out == "" {
			t.Errorf("report as %s is empty", format.Name)
		}
	}
	p.must(exitValid, "verify", filepath.Join(p.data, "runs", id, result.ArchiveName))
	if out := p.must(exitValid, "runs").stdout; !strings.Contains(out, id) {
		t.Errorf("runs does not list %s:\n%s", id, out)
	}
}

func TestVerifyFindsAChangedArchive(t *testing.T) {
	p := newProgram(t)
	p.must(exitValid, "run", writePlan(t, simPlan("")))
	archive := filepath.Join(t.TempDir(), "run.tar.zst")
	p.must(exitValid, "archive", "last", "--out", archive)
	b, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(archive, b, 0o600); err != nil {
		t.Fatal(err)
	}
	p.must(exitNotValid, "verify", archive)
	good := filepath.Join(p.data, "runs", p.must(exitValid, "show", "last", "--json").result(t).Run.ID, result.ArchiveName)
	p.must(exitValid, "verify", good, good)
	for _, order := range [][]string{{archive, good}, {good, archive}} {
		if out := p.must(exitNotValid, append([]string{"verify"}, order...)...).stdout; !strings.Contains(out, archive+"\n") || !strings.Contains(out, good+"\n") {
			t.Errorf("several archives:\n%s", out)
		}
	}
	p.must(exitUsage, "verify")
}

func TestSamePlanGivesTheSameHash(t *testing.T) {
	p := newProgram(t)
	name := writePlan(t, simPlan(""))
	shown := p.must(exitValid, "plan", "show", name).stdout
	doc := p.must(exitValid, "run", name, "--json").result(t)
	if !strings.Contains(shown, doc.Run.PlanSHA256) {
		t.Errorf("plan show does not name %s:\n%s", doc.Run.PlanSHA256, shown)
	}
}

// TestDemo is the first thing a new user does.
func TestDemo(t *testing.T) {
	p := newProgram(t)
	r := p.must(exitValid, "demo")
	if !strings.Contains(r.stdout, result.ReportName) || !strings.Contains(r.stdout, "verdict  ") {
		t.Errorf("demo said:\n%s", r.stdout)
	}
	doc := p.must(exitValid, "show", "last", "--json").result(t)
	if len(doc.Points) != 7 {
		t.Errorf("%d points, want 7", len(doc.Points))
	}
	first, last := doc.Points[0].Metrics, doc.Points[len(doc.Points)-1].Metrics
	if *last.SystemTPS < 4**first.SystemTPS {
		t.Errorf("no curve: %.0f tok/s at C=1, %.0f at C=64", *first.SystemTPS, *last.SystemTPS)
	}
}
