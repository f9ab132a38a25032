//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/cmd/assay/ceiling"
)

// TestBenchClient measures small loads as a user does. Times depend on who else uses this machine; counts do not.
func TestBenchClient(t *testing.T) {
	p := newProgram(t)
	out := filepath.Join(t.TempDir(), "ceiling.json")
	r := p.run("bench-client", "--streams", "3,1000,8", "--rate", "60,3000,0", "--duration", "1s", "--json", "--out", out)
	if r.code != exitValid && r.code != exitNotValid {
		t.Fatalf("exit %d: %s", r.code, r.stderr)
	}
	file, err := os.ReadFile(out)
	if err != nil || string(file) != r.stdout {
		t.Errorf("the file is not what stdout has: %v", err)
	}
	var report ceiling.Report
	if err := json.Unmarshal(file, &report); err != nil {
		t.Fatal(err)
	}
	if report.Schema != "assay.ceiling/v1" || report.Sentence == "" || len(report.Points) != 3 {
		t.Fatalf("%+v", report)
	}
	for _, m := range report.Points {
		if m.Lost != 0 || m.Failed != 0 || m.Sent < 1 || m.Cores <= 0 || m.StampSource == "" {
			t.Errorf("%s: %+v", m.Point, m)
		}
	}
	if fast := report.Points[2]; fast.Shared == 0 || fast.Got < 1000 {
		t.Errorf("as fast as they come: %+v", fast)
	}
	for _, part := range []string{"3 of 3: 8 streams, as fast as they come", "KiB/stream", "verdict"} {
		if !strings.Contains(r.stderr, part) {
			t.Errorf("%q is not in: %s", part, r.stderr)
		}
	}
}

func TestBenchClientRefuses(t *testing.T) {
	p := newProgram(t)
	p.must(exitUsage, "bench-client", "--streams", "1,2,3", "--rate", "1,2")
	p.must(exitUsage, "bench-client", "--duration", "1ms")
	for args, want := range map[string]string{
		"--streams 0": "0 streams", "--streams 1 --duration 0s": "--duration is from 1s", "--rate 5": "--rate needs --streams", "--streams x": `--streams "x"`,
	} {
		if r := p.must(exitUsage, append([]string{"bench-client"}, strings.Fields(args)...)...); !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %s", args, r.stderr)
		}
	}
	for _, out := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none", "f.json")} { // before anything is measured
		if r := p.must(exitInfra, "bench-client", "--out", out); !strings.Contains(r.stderr, "client.not_writable") || strings.Contains(r.stderr, "1 of ") {
			t.Error(r.stderr)
		}
	}
	p.must(exitUsage, "bench-client", "paced", "--events", "0")
	if r := p.must(exitInfra, "bench-client", "--streams", "1000000", "--rate", "60"); !strings.Contains(r.stderr, "too_few") || !strings.Contains(r.stderr, "what to do") {
		t.Error(r.stderr)
	}
}
