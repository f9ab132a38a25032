package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/archive"
	"assay/probes"
)

// TestOptionsThatWouldBePassedOver: an option that is empty, as an unset variable makes it, or that another one overrules is refused.
func TestOptionsThatWouldBePassedOver(t *testing.T) {
	p := newProgram(t)
	file := filepath.Join(t.TempDir(), "x")
	for line, want := range map[string][]string{
		"--from is empty":                          {"probe", "--from", ""},
		"--capture is empty":                       {"probe", "--capture="},
		"--out is empty":                           {"probe", "--json", "--out", ""},
		"--from is empty:":                         {"check", "--from", ""},
		"--sut is empty":                           {"import", foreign + "vllm.json", "--sut", ""},
		"--as is empty":                            {"import", foreign + "vllm.json", "--as", ""},
		"--capture and --json do not go together":  {"probe", "--capture", file, "--json"},
		"--capture and --out do not go together":   {"probe", "--capture", file, "--out", file},
		"--capture and --plain do not go together": {"probe", "--capture", file, "--plain"},
		"--plain and --json do not go together":    {"probe", "--plain", "--json"},
	} {
		if r := p.must(exitUsage, want...); !strings.Contains(r.stderr, line) || r.stdout != "" {
			t.Errorf("%v: %s", want, r.stderr)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a file was written")
	}
}

// TestFullOutput: what cannot be written is told, by a check and by a probe.
func TestFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full")
	}
	defer full.Close()
	p := newProgram(t)
	for _, args := range [][]string{{"check"}, {"check", "--json"}, {"probe"}, {"probe", "--json"}} {
		c := p.command(t.Context(), args...)
		var said strings.Builder
		c.Stdout, c.Stderr = full, &said
		if err := c.Run(); c.ProcessState.ExitCode() != exitInfra || !strings.Contains(said.String(), "no space left") {
			t.Errorf("%v: %v, %s", args, err, said.String())
		}
	}
}

// TestProbeSaysWhatHashesAreWorth: without a signing key, and without a data directory, a probe works and says that its hashes are of no use
// to other documents; with a key they are equal in all of them, in a capture's too.
func TestProbeSaysWhatHashesAreWorth(t *testing.T) {
	const note = "hold within this document alone"
	p := newProgram(t)
	p.data = filepath.Join(p.data, "none")
	hash := func(noted bool, args ...string) string {
		t.Helper()
		r := p.must(exitValid, append([]string{"probe", "--json"}, args...)...)
		if strings.Contains(r.stderr, note) != noted {
			t.Errorf("%v says %q", args, r.stderr)
		}
		var s probes.SUT
		decodeJSON(t, r.stdout, &s)
		return s.OS.BootHash.Value
	}
	first := hash(true)
	if first == "" {
		t.Skip("this machine tells no boot id")
	}
	if first == hash(true) {
		t.Error("two documents without a salt of their own can be joined")
	}
	if _, err := os.Stat(p.data); err == nil {
		t.Error("a probe made a data directory")
	}
	if err := os.Mkdir(p.data, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.LoadOrCreateKey(p.data); err != nil {
		t.Fatal(err)
	}
	kept, capture := hash(false), filepath.Join(t.TempDir(), "c.tar.gz")
	p.must(exitValid, "probe", "--capture", capture)
	if again, replayed := hash(false), hash(false, "--from", capture); again != kept || replayed != kept {
		t.Errorf("%s, then %s, and %s in a capture", kept, again, replayed)
	}
}
