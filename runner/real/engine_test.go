package real

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/containers"
	"assay/plan"
	"assay/runner"
	"assay/runner/metrics"
	"assay/runner/record"
)

// engine is a real inference server that runs for one test.
type engine struct {
	kind     string
	head     string // what plans say of model and server
	inst     containers.Instance
	preset   containers.Preset
	identity containers.Identity
	url      string
	block    int64 // tokens: the prefix cache keeps whole blocks
}

// start starts the server as a run does: from a plan, through the process runtime, until a token flows.
func start(t *testing.T, e *engine) *engine {
	t.Helper()
	p := e.plan(t, "workload: {kind: synthetic, input_len: 8}", "protocol: {sweep: {concurrency: 1, requests: 1}}")
	dir := t.TempDir()
	specs, preset, err := containers.ServerSpecs(p, containers.SpecOptions{Owner: dir, Run: "real", Dir: dir, Getenv: os.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	rt, err := containers.RuntimeNamed(specs[0].Runtime, containers.DockerPlace{})
	if err != nil {
		t.Fatal(err)
	}
	if e.inst, err = rt.Start(t.Context(), specs[0]); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if exit, err := e.inst.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v, %+v", err, exit)
		}
	})
	e.preset, e.url = preset, e.inst.BaseURLs()[0]
	e.identity, err = containers.Ready(t.Context(), e.inst, preset, containers.ReadyOptions{Timeout: p.Server.Ready.Timeout.Std(), Model: p.Model.Name}, func(string) {})
	if err != nil {
		log, _ := os.ReadFile(e.inst.LogPath())
		t.Fatalf("%v\n%s", err, log[max(0, len(log)-2000):])
	}
	t.Logf("%s %s, %d tokens of context, %d in the cache", e.kind, e.identity.Version, e.identity.MaxModelLen, e.identity.KVTokens)
	return e
}

// cache is the repository's folder for what tests use.
func cache(t *testing.T, path ...string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", ".cache"))
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(append([]string{dir}, path...)...)
}

// plan parses a plan for the engine.
func (e *engine) plan(t *testing.T, sections ...string) plan.Plan {
	t.Helper()
	p, err := plan.Parse([]byte("apiVersion: assay/v1\nname: real\n" + e.head + "\n" + strings.Join(sections, "\n") + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// counters are the engine's own figures by our names, once nothing runs in it any more: some move only when a request has ended.
func (e *engine) counters(t *testing.T) map[string]int64 {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 1500 {
		m, err := containers.Scrape(t.Context(), e.inst.BaseURLs(), e.preset, containers.Access{})
		if err != nil {
			t.Fatal(err)
		}
		if m.Values["running"]+m.Values["waiting"] == 0 {
			values := map[string]int64{}
			for name, v := range m.Values {
				values[name] = int64(v)
			}
			return values
		}
		<-tick.C
	}
	t.Fatalf("requests still run in %s half a minute after the last one ended", e.kind)
	return nil
}

// grown is how far the engine's figures moved while a load ran.
func (e *engine) grown(t *testing.T, load func()) map[string]int64 {
	t.Helper()
	before := e.counters(t)
	load()
	after := e.counters(t)
	for name := range after {
		after[name] -= before[name]
	}
	return after
}

// measured is a point as the client told it and as its recording holds it.
type measured struct {
	runner.Measurement
	point plan.Point
	sum   metrics.Summary
	all   []record.Request // the warm-up's and the probe's too
	err   error
}

// job is the point of a plan, for our client.
func (e *engine) job(t *testing.T, p plan.Plan, point plan.Point) runner.Job {
	return runner.Job{Run: "real", Plan: p, Point: point, BaseURLs: e.inst.BaseURLs(), Model: p.Model.Name, Dir: t.TempDir(),
		Dataset: p.Workload.Dataset.Path, Engine: e.state}
}

// state is what the executor's telemetry tells a decode cell.
func (e *engine) state() (runner.EngineState, bool) {
	m, err := containers.Scrape(context.Background(), e.inst.BaseURLs(), e.preset, containers.Access{})
	return runner.EngineState{Running: m.Values["running"], Waiting: m.Values["waiting"], AtUS: time.Now().UnixMicro()}, err == nil
}

// run measures every point of a plan made of sections.
func (e *engine) run(t *testing.T, sections ...string) []measured {
	t.Helper()
	p := e.plan(t, sections...)
	var points []measured
	for _, point := range p.Points() {
		m := measure(t, t.Context(), e.job(t, p, point), func(runner.Progress) {})
		if m.err != nil {
			t.Fatalf("point %s: %v", point.ID, m.err)
		}
		points = append(points, m)
	}
	return points
}

func measure(t *testing.T, ctx context.Context, j runner.Job, report func(runner.Progress)) measured {
	t.Helper()
	c, err := runner.ClientNamed("native")
	if err != nil {
		t.Fatal(err)
	}
	m := measured{point: j.Point}
	m.Measurement, m.err = c.Run(ctx, j, report)
	rec, err := record.Read(filepath.Join(j.Dir, m.File.Path))
	if err != nil {
		t.Fatalf("%v after %v", err, m.err)
	}
	m.all, m.sum = rec.Requests, metrics.Summarise(rec, m.Window, runner.ShapeOf(j.Plan, j.Point))
	return m
}

// totals are the tokens of all requests of some points, which must have ended well.
func totals(t *testing.T, points []measured) (input, output, cached int64) {
	t.Helper()
	for _, m := range points {
		for _, r := range m.all {
			if r.Outcome != record.OK {
				t.Errorf("point %s, request %d: %s %d %s", m.point.ID, r.Index, r.Outcome, r.Status, r.Error)
			}
			input += r.InputTokens
			output += r.OutputTokens
			cached += max(0, r.CachedTokens)
		}
	}
	return input, output, cached
}

// get reads a page of the server.
func (e *engine) get(t *testing.T, path string, into func(*http.Response) error) {
	t.Helper()
	resp, err := http.Get(e.url + path)
	if err == nil {
		defer resp.Body.Close()
		err = into(resp)
	}
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", path, err))
	}
}
