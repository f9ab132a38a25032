package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assay/fault"
	"assay/plan"
)

// foreignJob is a point for a client that is another program, which start stands for.
func foreignJob(t *testing.T, kind string, start func(context.Context, Command) error, lines ...string) Job {
	t.Helper()
	p, err := plan.ParseSet([]byte(`apiVersion: assay/v1
name: x
model: {name: demo}
server: {engine: vllm, runtime: endpoint, url: "http://127.0.0.1:1"}
client: {kind: `+kind+`}
workload: {kind: synthetic, input_len: 8, lengths: words, sampling: {max_tokens: 4}}
protocol: {sweep: {concurrency: [2, 4], requests: 6}}
`), lines)
	if err != nil {
		t.Fatal(err)
	}
	return Job{Run: "run-1", Plan: p, Point: p.Points()[0], BaseURLs: []string{"http://127.0.0.1:1"}, Model: "demo", Dir: t.TempDir(), Start: start}
}

func measureForeign(t *testing.T, job Job) (Measurement, error) {
	t.Helper()
	c, err := ClientNamed(job.Plan.Client.Kind)
	if err != nil {
		t.Fatal(err)
	}
	return c.Run(t.Context(), job, func(Progress) {})
}

// TestForeignRun: the program finds its folder, its prompts and its configuration; what it was told is kept, what an earlier try left is not.
func TestForeignRun(t *testing.T) {
	var got Command
	job := foreignJob(t, "mlperf-endpoints", func(_ context.Context, c Command) error {
		got = c
		for _, name := range []string{"config.yaml", "command.json", "prompts.jsonl"} {
			if _, err := os.Stat(filepath.Join(c.Dir, name)); err != nil {
				t.Error(err)
			}
		}
		if _, err := os.Stat(filepath.Join(c.Dir, "left")); err == nil {
			t.Error("what an earlier try left is there")
		}
		return nil
	})
	old := filepath.Join(job.Dir, "client", "c2")
	if err := os.MkdirAll(old, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(old, "left"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	m, err := measureForeign(t, job)
	if err != nil {
		t.Fatal(err)
	}
	f := m.Foreign
	if f == nil || f.Kind != "mlperf-endpoints" || f.Format != "mlperf" || f.Dir != "client/c2" || f.Results != "report" || f.Prompts != 6 || f.Unlisted != 0 || f.EndedUS < f.StartedUS {
		t.Errorf("%+v", f)
	}
	if d := time.Now().UnixMicro() - f.ClockUS; d <= 0 { // the machine has been up for so long
		t.Errorf("the clock is off by %d µs", d)
	}
	if !filepath.IsAbs(got.Dir) || got.Argv[0] != "inference-endpoint" || got.Len != 1 || len(m.Notes) != 1 || !strings.Contains(m.Notes[0], "6 of them") {
		t.Errorf("%+v %q", got, m.Notes)
	}
}

// TestForeignUnlisted: the warm-up that vLLM's client lists nowhere is known.
func TestForeignUnlisted(t *testing.T) {
	ok := func(context.Context, Command) error { return nil }
	for kind, want := range map[string]int{"vllm-bench": 3, "aiperf": 0} {
		m, err := measureForeign(t, foreignJob(t, kind, ok, "protocol.sweep.warmup.requests=3"))
		if err != nil || m.Foreign.Unlisted != want || m.Foreign.Prompts != 9 {
			t.Errorf("%s: %+v %v", kind, m.Foreign, err)
		}
	}
}

// TestForeignSeed: prompts that no cache may know differ between points and runs; others are the plan's.
func TestForeignSeed(t *testing.T) {
	job := foreignJob(t, "aiperf", nil, "workload.seed=7")
	other := job
	other.Point = job.Plan.Points()[1]
	again := job
	again.Run = "run-2"
	if seedOf(job) == seedOf(other) || seedOf(job) == seedOf(again) || seedOf(job) != seedOf(job) {
		t.Error("seeds of salted prompts")
	}
	plain := foreignJob(t, "aiperf", nil, "workload.seed=7", "workload.salt=none")
	if seedOf(plain) != 7 {
		t.Errorf("seed %d", seedOf(plain))
	}
}

// TestForeignStuck: a program that sends nothing for longer than it may is ended; while the engine works, or says nothing, it is let be.
func TestForeignStuck(t *testing.T) {
	for _, c := range []struct {
		name   string
		engine func() (EngineState, bool)
		stuck  bool
	}{
		{"idle", func() (EngineState, bool) { return EngineState{}, true }, true},
		{"at work", func() (EngineState, bool) { return EngineState{Running: 1}, true }, false},
		{"silent", func() (EngineState, bool) { return EngineState{}, false }, false},
		{"unknown", nil, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			job := foreignJob(t, "aiperf", func(ctx context.Context, _ Command) error {
				select {
				case <-ctx.Done():
					return context.Cause(ctx)
				case <-time.After(20 * time.Minute):
					return nil
				}
			})
			job.Engine = c.engine
			from := time.Now()
			_, err := measureForeign(t, job)
			f := fault.Of(err, fault.Plan)
			if (err != nil) != c.stuck || c.stuck && (f.Code != "client.stuck" || time.Since(from) < 5*time.Minute || time.Since(from) > 6*time.Minute) {
				t.Errorf("%s: after %s %v", c.name, time.Since(from), err)
			}
		})
	}
}

// TestForeignEnds: the cause for which a program was ended is told, and its own failure else.
func TestForeignEnds(t *testing.T) {
	bad := errors.New("exited with code 3")
	if _, err := measureForeign(t, foreignJob(t, "aiperf", func(context.Context, Command) error { return bad })); !errors.Is(err, bad) {
		t.Errorf("%v", err)
	}
	cause := errors.New("the server died")
	ctx, cancel := context.WithCancelCause(t.Context())
	job := foreignJob(t, "aiperf", func(ctx context.Context, _ Command) error {
		cancel(cause)
		return ctx.Err()
	})
	c, err := ClientNamed("aiperf")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(ctx, job, func(Progress) {}); !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}

// TestForeignCheck: what a tool cannot do is refused by the check of a plan, also where it lies in the data.
func TestForeignCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "d.jsonl")
	if err := os.WriteFile(file, []byte(`{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, lines := range map[string][]string{
		"the plan": {"protocol.sweep.duration=10s"},
		"the data": {`workload={kind: jsonl, dataset: {path: "` + file + `"}, sampling: {max_tokens: 4}}`},
	} {
		err := CheckDataset(t.Context(), foreignJob(t, "vllm-bench", nil, lines...).Plan)
		if f := fault.Of(err, fault.Client); err == nil || f.Code != "plan.client_cannot" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := CheckDataset(t.Context(), foreignJob(t, "vllm-bench", nil).Plan); err != nil {
		t.Error(err)
	}
}
