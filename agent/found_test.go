package agent

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/agent/publish"
	"assay/containers"
	"assay/fault"
	"assay/probes"
	"assay/result"
	"assay/runner/record"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestIdentityHoldsWhatWasFound: files by their hashes, the one model that a server lists, the data that was read, what was refused.
func TestIdentityHoldsWhatWasFound(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	a.Token = func(name string) string { return map[string]string{"SIM_TOKEN": "secret"}[name] }
	cfg := quickSim("its-own-name")
	cfg.Token, cfg.Refuse = "secret", []string{"continuous_usage_stats"}
	_, url := startSim(t, cfg)
	model := write(t, filepath.Join(t.TempDir(), "m.gguf"), "abc")
	data := write(t, filepath.Join(t.TempDir(), "d.jsonl"), `{"prompt": "one two three"}`+"\n")
	sum, err := containers.FileSHA256(data)
	if err != nil {
		t.Fatal(err)
	}
	r := execute(t, a, submit(t, a, sweepOf(t, atURL(url), `model={name: "*", path: `+model+`}`, "server.token_env=SIM_TOKEN",
		`workload={kind: jsonl, dataset: {path: `+data+`, sha256: `+sum+`}, sampling: {max_tokens: 16, ignore_eos: true}}`)))
	if r.Run.State != result.Done {
		t.Fatalf("%s: %v %v", r.Run.State, r.Run.Error, r.Points)
	}
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	want := result.Identity{
		Model:   result.ModelIdentity{Name: "*", Served: "its-own-name", Path: model, SHA256: abc, Listed: []string{"its-own-name"}},
		Dataset: result.DatasetIdentity{Kind: "jsonl", Path: data, SHA256: sum, Seed: "0"},
		Client:  result.ClientIdentity{Kind: "native", Version: "test"},
	}
	got := r.Identity
	got.Server, got.Notes = nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	notes := strings.Join(r.Identity.Notes, "\n")
	if strings.Count(notes, "the optional field stream_options.continuous_usage_stats") != 1 || strings.Contains(notes, "secret") {
		t.Errorf("notes:\n%s", notes)
	}
	if raw, err := a.Store.ResultBytes(t.Context(), r.Run.ID); err != nil || strings.Contains(string(raw), `"secret"`) {
		t.Error("the token stands in the result")
	}
}

func TestADatasetThatDiffersIsRefused(t *testing.T) {
	a := newAgent(t)
	data := write(t, filepath.Join(t.TempDir(), "d.jsonl"), `{"prompt": "one"}`)
	folder := filepath.Dir(write(t, filepath.Join(t.TempDir(), "d.txt"), "one"))
	for kind, path := range map[string]string{"jsonl": data, "text": folder} {
		r := execute(t, a, submit(t, a, sweepOf(t, atURL("http://127.0.0.1:1"), "workload={kind: "+kind+", dataset: {path: "+path+
			", sha256: "+strings.Repeat("0", 64)+"}}")))
		if r.Run.Error == nil || r.Run.Error.Code != "preflight.dataset_differs" {
			t.Errorf("%s: %v", kind, r.Run.Error)
		}
	}
}

// TestAMachineThatChangesUnderLoad: the point during which it changed is not valid, the next ones are.
func TestAMachineThatChangesUnderLoad(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	_, url := startSim(t, quickSim("sim"))
	cmdline := filepath.Join(a.Host.Root, "proc", "cmdline")
	write(t, cmdline, "quiet\n")
	id := submit(t, a, sweepOf(t, atURL(url), "protocol.sweep.concurrency=[1, 2, 3]"))
	onEvent(t, a, begins("measure", "c2"), func() { write(t, cmdline, "quiet mitigations=off\n") })
	r := execute(t, a, id)
	checkStates(t, r, "c1 valid", "c2 not_valid", "c3 valid")
	drifted := slices.ContainsFunc(r.Run.Reasons, func(r result.Reason) bool { return r.Code == "drift.os" })
	if r.Run.State != result.Done || r.Run.Verdict != result.NotValid || !drifted {
		t.Errorf("%s, %s: %v", r.Run.State, r.Run.Verdict, r.Run.Reasons)
	}
	if len(r.SUT.Drift) != 1 || r.SUT.Drift[0].Code != "os" {
		t.Errorf("drift of the run: %v", r.SUT.Drift)
	}
	best := 0.0
	for _, p := range r.Points {
		best = max(best, *p.Metrics.SystemTPS)
	}
	for _, p := range r.Points {
		if p.Metrics.Utilization == nil {
			t.Fatalf("%s has no utilization", p.ID)
		}
		if u := *p.Metrics.Utilization; math.Abs(u-100**p.Metrics.SystemTPS/best) > 1e-9 {
			t.Errorf("%s has a utilization of %v %%, its throughput is %v of at most %v", p.ID, u, *p.Metrics.SystemTPS, best)
		}
	}
}

// ending is a server whose end is noticed late.
type ending struct {
	containers.Instance
	exited chan containers.Exit
}

func (e ending) Exited() <-chan containers.Exit { return e.exited }
func (e ending) Identity() containers.Identity  { return containers.Identity{Role: "server"} }
func (e ending) LogPath() string                { return "" }

func TestSurvived(t *testing.T) {
	gone := make(chan containers.Exit, 1)
	gone <- containers.Exit{Code: 9, Reason: "exited with code 9"}
	cases := []struct {
		name   string
		exited chan containers.Exit
		broken bool
		code   string
	}{
		{"no connection broke", gone, false, ""},
		{"connections broke and the server is gone", gone, true, "server.exited"},
		{"an endpoint's end is not known", nil, true, ""},
	}
	for _, c := range cases {
		x := &execution{server: ending{exited: c.exited}}
		err := x.survived(t.Context(), c.broken)
		if f := fault.Of(err, fault.Client); (f == nil) != (c.code == "") || f != nil && f.Code != c.code {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&execution{server: ending{exited: make(chan containers.Exit)}}).survived(ctx, true); err != nil {
		t.Errorf("a server that lives: %v", err)
	}
}

func TestReportInput(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	_, url := startSim(t, quickSim("sim"))
	r := execute(t, a, submit(t, a, sweepOf(t, atURL(url), "protocol.sweep.concurrency=1")))
	in, err := publish.Input(t.Context(), a.Store, r.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	skip := func(*record.Request) error { return nil }
	if rec, err := in.Recording(r.Points[0].Recording.Path, skip); err != nil || rec.Requests != r.Points[0].Recording.Requests {
		t.Errorf("recording: %d requests, %v", rec.Requests, err)
	}
	for _, name := range []string{"../../lock", "/etc/passwd"} {
		if _, err := in.Recording(name, skip); err == nil {
			t.Errorf("%s was opened", name)
		}
	}
	var seen []string
	in.Telemetry(func(s probes.Sample) bool {
		seen = append(seen, s.Series)
		return true
	})
	page := filepath.Join(a.Store.RunDir(r.Run.ID), result.ReportName)
	if err := errors.Join(os.Remove(page), os.Mkdir(page, 0o700)); err != nil {
		t.Fatal(err)
	}
	if f := fault.Of(a.publish(t.Context(), r.Run.ID), fault.Client); f == nil || f.Code != "store.not_published" || !strings.Contains(f.Hint, "`assay show "+r.Run.ID+"`") {
		t.Errorf("a report that cannot be written: %v", f)
	}
	if !slices.Contains(seen, "engine.generation_tokens") {
		t.Errorf("telemetry has %v", seen)
	}
}
