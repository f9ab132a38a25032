package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestFewFiles: what this machine does not let the program open is said before anything is measured.
func TestFewFiles(t *testing.T) {
	p := newProgram(t)
	url := startSim(p)
	for limit, c := range map[string]struct{ args, want string }{
		"20": {"--rate 3 --duration 1s", "this process may have 20 open files"},
		"90": {"--rate 300 --duration 2s", "300 requests in flight need"},
	} {
		cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", `ulimit -n ` + limit + ` && exec "$0" "$@"`, p.bin, "bench", url}, strings.Fields(c.args)...)...)
		cmd.Env = p.command(t.Context()).Env
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); err == nil || code != exitPreflight || !strings.Contains(string(out), c.want) || strings.Contains(string(out), "writable") {
			t.Errorf("%s files: exit %d: %s", limit, code, out)
		}
	}
}

// TestReportReaderGone: a report whose reader has gone ends without a word, and says so by its exit code.
func TestReportReaderGone(t *testing.T) {
	p := newProgram(t)
	p.must(exitValid, "run", writePlan(t, simPlan("")))
	for _, format := range []string{"text", "json", "events", "csv", "html"} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		var said strings.Builder
		cmd := p.command(t.Context(), "report", "last", "--format", format)
		cmd.Stdout, cmd.Stderr = w, &said
		if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != exitInfra || said.Len() > 0 {
			t.Errorf("%s: %v: %s", format, err, said.String())
		}
		w.Close()
	}
}
