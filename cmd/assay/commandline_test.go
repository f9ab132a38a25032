package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/probes"
	"assay/result"
)

// TestWordsThatAreNoCommand: a slip of the pen is told with what was meant, and where the help is.
func TestWordsThatAreNoCommand(t *testing.T) {
	p := newProgram(t)
	for args, want := range map[string]string{
		"chek":                             "there is no command `assay chek`; did you mean \"check\"? see `assay -h`",
		"plan frobnicate":                  "`assay plan frobnicate`; known are init, pin, schema, show, validate; see `assay plan -h`",
		"node acept":                       `did you mean "accept"?`,
		"queue now":                        "`assay queue` takes no argument, and \"now\" is one; see `assay queue -h`",
		"sim fast":                         "`assay sim` takes no argument",
		"check a.yaml b.yaml":              "takes one argument, a plan file, not 2",
		"bench http://h --concurency 1":    "unknown flag: --concurency; did you mean --concurrency? see `assay bench -h`",
		"probe --frobnicate":               "unknown flag: --frobnicate; see `assay probe -h`",
		"probe -x":                         "in -x; see `assay probe -h`",
		"runs --limit 0":                   "--limit 0: write a whole number of at least 1",
		"run --resume last --set name=x":   "--resume and --set do not go together",
		"run --resume last --no-archive":   "--resume and --no-archive do not go together",
		"schedule add p.yaml":              "say with --cron when the plan is to run",
		"verify " + t.TempDir() + "/a.zst": "archive.tar.zst of a run",
	} {
		if r := p.must(exitUsage, strings.Fields(args)...); !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %s", args, r.stderr)
		}
	}
	if flag, command := p.must(exitValid, "--version").stdout, p.must(exitValid, "version").stdout; flag != command {
		t.Errorf("--version says %q, version %q", flag, command)
	}
}

// TestCheckFindsThePlansFiles: the names in a plan begin at its folder, for a check as for its run.
func TestCheckFindsThePlansFiles(t *testing.T) {
	p := newProgram(t)
	plan := writePlan(t, strings.Replace(simPlan(""), "name: sim-1b", "name: sim-1b, path: model.gguf", 1))
	missing := func() bool {
		t.Helper()
		var checks []probes.Check
		decodeJSON(t, p.run("check", plan, "--json").stdout, &checks)
		for _, c := range checks {
			if c.State == probes.CheckFail && strings.Contains(c.Text, filepath.Join(filepath.Dir(plan), "model.gguf")) {
				return true
			}
		}
		return false
	}
	if !missing() {
		t.Error("a model that is not beside the plan is not missed")
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(plan), "model.gguf"), []byte("weights"), 0o600); err != nil {
		t.Fatal(err)
	}
	if missing() {
		t.Error("the model beside the plan is not found")
	}
}

// TestShellsOfferRuns: a shell that completes a command gets the runs and the values of a flag.
func TestShellsOfferRuns(t *testing.T) {
	p := newProgram(t)
	if r := p.must(exitValid, "__complete", "show", ""); !strings.HasPrefix(r.stdout, ":") {
		t.Errorf("runs are offered where there are none: %s", r.stdout)
	}
	p.run("import", foreign+"vllm.json")
	lines := strings.Split(p.must(exitValid, "__complete", "report", "").stdout, "\n")
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "last\t") || !strings.HasPrefix(lines[1], "20") {
		t.Errorf("offered: %q", lines)
	}
	for words, want := range map[string]string{"report --format ": "html\n", "plan init --protocol ": "sweep\n", "run --resume ": "last\t"} {
		if r := p.must(exitValid, append([]string{"__complete"}, strings.Split(words, " ")...)...); !strings.Contains(r.stdout, want) {
			t.Errorf("%s: %s", words, r.stdout)
		}
	}
}

// TestShowSaysWhereTheReportIs, and how to make one that could not be written.
func TestShowSaysWhereTheReportIs(t *testing.T) {
	p := newProgram(t)
	p.run("import", foreign+"vllm.json")
	reports, err := filepath.Glob(filepath.Join(p.data, "runs", "*", result.ReportName))
	if err != nil || len(reports) != 1 {
		t.Fatalf("%v, %v", reports, err)
	}
	if out := p.must(exitValid, "show", "last").stdout; !strings.Contains(out, "\nreport   "+reports[0]+"\n") {
		t.Errorf("where is the report?\n%s", out)
	}
	if err := os.Remove(reports[0]); err != nil {
		t.Fatal(err)
	}
	again := "`assay report " + filepath.Base(filepath.Dir(reports[0])) + " --format html --out report.html`"
	if out := p.must(exitValid, "show", "last").stdout; !strings.Contains(out, again) || strings.Contains(out, reports[0]) {
		t.Errorf("how is the report made?\n%s", out)
	}
}

// TestListsOfNothing: an empty list is said to be empty, and where nothing can be written that is told.
func TestListsOfNothing(t *testing.T) {
	p := newProgram(t)
	p.serve()
	for args, want := range map[string]string{"queue": "nothing runs and nothing waits", "schedule list": "no schedule yet"} {
		if r := p.must(exitValid, strings.Fields(args)...); r.stdout != "" || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %q, %q", args, r.stdout, r.stderr)
		}
	}
	for _, id := range []string{"none", "a/b", "x?y"} {
		if r := p.must(exitUsage, "schedule", "rm", id); !strings.Contains(r.stderr, "store.no_schedule") {
			t.Errorf("%s: %s", id, r.stderr)
		}
	}
	p.must(exitValid, "schedule", "add", writePlan(t, simPlan("")), "--cron", "0 3 * * *", "--name", "every night")
	out := p.must(exitValid, "schedule", "list").stdout
	if head, line, _ := strings.Cut(out, "\n"); !strings.HasPrefix(head, "ID") || strings.Index(head, "NAME") != strings.Index(line, "every night") {
		t.Errorf("the columns do not stand under their heads:\n%s", out)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full")
	}
	defer full.Close()
	for _, args := range []string{"schedule list", "status"} {
		c := p.command(t.Context(), strings.Fields(args)...)
		c.Stdout = full
		if err := c.Run(); c.ProcessState.ExitCode() != exitInfra {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// TestAddressesThatCannotBe: an address that another program has is told from one that this machine cannot have.
func TestAddressesThatCannotBe(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	p := newProgram(t)
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("read "+strings.Repeat("0", 64)+" test\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for address, code := range map[string]string{
		taken.Addr().String(): "store.address_in_use", "127.0.0.1:99999": "store.no_address", "192.0.2.1:7717": "store.no_address",
	} {
		if r := p.must(exitInfra, "serve", "--listen", address, "--token-file", tokens); !strings.Contains(r.stderr, code) {
			t.Errorf("%s: %s", address, r.stderr)
		}
	}
}

// TestInterruptedLooks: what an interrupted probe or check has not looked at is not told as a fact of the machine.
func TestInterruptedLooks(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, command := range []string{"probe", "check"} {
		var out, said bytes.Buffer
		a := &app{stdout: &out, stderr: &said, getenv: func(string) string { return t.TempDir() }, now: time.Now}
		if code := a.run(stopped, []string{command}); code != exitInterrupted || out.Len() > 0 || !strings.HasSuffix(said.String(), "assay: interrupted\n") {
			t.Errorf("%s: exit %d\n%s%s", command, code, out.String(), said.String())
		}
	}
}
