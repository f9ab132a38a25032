package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/result"
)

// limit bounds every run of the program in a test that has no limit of its own.
const limit = 5 * time.Minute

// built builds the program once for all tests: what users run is what is tested.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "assay-test-")
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "assay")
	cmd := exec.Command("go", "build", "-trimpath", "-o", name, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w: %s", err, out)
	}
	return name, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if name, err := built(); err == nil {
		os.RemoveAll(filepath.Dir(name))
	}
	os.Exit(code)
}

// program is a built assay with a data directory of its own.
type testProgram struct {
	t     testing.TB
	bin   string
	data  string
	limit time.Duration
}

// ran is what one command line gave.
type ran struct {
	stdout, stderr string
	code           int
}

func newProgram(t testing.TB) testProgram {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	p := testProgram{t: t, bin: bin, data: t.TempDir(), limit: limit}
	t.Cleanup(func() { p.nothingLeft() })
	return p
}

func (p testProgram) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.bin, args...)
	cmd.Env = append(os.Environ(), "ASSAY_DATA="+p.data, "TERM=dumb")
	return cmd
}

// run executes a command line to its end.
func (p testProgram) run(args ...string) ran {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), p.limit)
	defer cancel()
	var out, errOut bytes.Buffer
	cmd := p.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatalf("assay %s: %v", strings.Join(args, " "), err)
	}
	return ran{out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
}

// must runs a command line that has to exit with code, and shows what it said when it does not.
func (p testProgram) must(code int, args ...string) ran {
	p.t.Helper()
	r := p.run(args...)
	measures := slices.Contains([]string{"run", "demo", "bench"}, args[0])
	if measures && code == exitValid && r.code == exitNotValid && p.busy() {
		p.t.Logf("assay %s: not valid, for this machine is busy", strings.Join(args, " "))
		r.code = exitValid
	}
	if r.code != code {
		p.t.Fatalf("assay %s: exit %d, want %d\nstdout: %s\nstderr: %s", strings.Join(args, " "), r.code, code, r.stdout, r.stderr)
	}
	return r
}

// busy tells that the last run is not valid only because the client got too little of this machine, which tests share with others. That
// it says so is right; nothing else of the run is excused.
func (p testProgram) busy() bool {
	r := p.run("show", "last", "--json")
	return r.code == exitValid && onlyBusy(r.result(p.t).Run.Reasons)
}

// onlyBusy tells reasons that a busy machine alone gives, or one that is paused, after which its clock is set; what such a point says beside of its
// server, or of a program that was too slow to tell its version again, is no fault.
func onlyBusy(reasons []result.Reason) bool {
	busy := []string{"client_bound", "underfilled", "underfilled_by_restart", "warmup_timeout", "clock_step"}
	beside := []string{"queue_seen", "underfilled_by_server", "router_slow", "router_uneven", "drift.not_seen"}
	return slices.ContainsFunc(reasons, func(r result.Reason) bool { return slices.Contains(busy, r.Code) }) &&
		!slices.ContainsFunc(reasons, func(r result.Reason) bool { return !slices.Contains(busy, r.Code) && !slices.Contains(beside, r.Code) })
}

// result decodes the document a command printed.
func (r ran) result(t testing.TB) result.Result {
	t.Helper()
	doc, err := result.Decode([]byte(r.stdout))
	if err != nil {
		t.Fatalf("result document: %v\n%s\n%s", err, r.stdout, r.stderr)
	}
	return doc
}

// nothingLeft fails the test when a process started for its data directory still runs.
func (p testProgram) nothingLeft() {
	p.t.Helper()
	if left := marked(p.data); len(left) > 0 {
		p.t.Errorf("processes left running: %v", left)
	}
}

// marked finds processes that carry the data directory in their environment, or whose output goes there.
func marked(data string) []string {
	var found []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		env, _ := os.ReadFile(filepath.Join(d, "environ"))
		out, _ := os.Readlink(filepath.Join(d, "fd", "1"))
		if !bytes.Contains(env, []byte("ASSAY_DATA="+data)) && !strings.HasPrefix(out, data+"/") {
			continue
		}
		cmd, _ := os.ReadFile(filepath.Join(d, "cmdline"))
		if len(cmd) == 0 {
			continue // a zombie waits for its parent, not for us
		}
		found = append(found, filepath.Base(d)+" "+strings.ReplaceAll(string(cmd), "\x00", " "))
	}
	return found
}

// writePlan writes a plan into the test's folder and gives its name.
func writePlan(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// simPlan is a short sweep over the simulated engine; more is put into its server.
func simPlan(more string) string {
	return `apiVersion: assay/v1
name: quick
model: {name: sim-1b}
server: {engine: sim, runtime: process, ready: {timeout: 1m}` + more + `}
client: {kind: native}
workload: {kind: synthetic, input_len: 32, seed: 1, sampling: {temperature: 0, max_tokens: 16, ignore_eos: true}}
protocol: {sweep: {concurrency: [1, 4], duration: 1s}}
telemetry: {interval: 200ms}
`
}

// inCI tells that a missing part of the test set-up is a failure.
func inCI() bool { return os.Getenv("CI") == "true" }

// skipOrFail skips a test whose set-up is missing, and fails it in CI.
func skipOrFail(t *testing.T, format string, args ...any) {
	t.Helper()
	if inCI() {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

func decodeJSON(t testing.TB, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}
