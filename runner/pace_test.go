package runner

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/plan"
	"assay/runner/load"
	"assay/runner/record"
)

func span(d time.Duration) plan.Duration { return plan.Duration(d) }

// TestPlansBecomeLoads: each key of a protocol arrives at the load.
func TestPlansBecomeLoads(t *testing.T) {
	base := load.Config{Targets: make([]load.Target, 2), Salt: load.Salt{Kind: "session"}, Drain: time.Minute}
	with := func(change func(*load.Config)) load.Config {
		c := base
		change(&c)
		return c
	}
	matrix := plan.Matrix{Duration: span(30 * time.Second), PrefillDuration: span(10 * time.Second), MaxTokens: 4096, Stable: span(3 * time.Second)}
	few, timed := matrix, matrix
	few.PrefillRepeats, timed.WarmupTimeout = 1, span(7*time.Second)
	cell := func(timeout time.Duration) load.Config {
		return with(func(c *load.Config) {
			c.Request.MaxTokens, c.Request.IgnoreEOS, c.Drain, c.Salt.Kind = 4096, true, 0, "run"
			c.Closed = &load.Closed{Concurrency: 16, Duration: 30 * time.Second, Cell: &load.Cell{Scouts: 2, Stable: 3 * time.Second, Timeout: timeout}}
		})
	}
	prefill := func(most, least int) load.Config {
		return with(func(c *load.Config) {
			c.Request.MaxTokens = 1
			c.Closed = &load.Closed{Concurrency: 1, Requests: most, MinRequests: least, Duration: 10 * time.Second, WarmupRequests: 1, ToEnd: true}
		})
	}
	decode := func(context int) plan.Point {
		return plan.Point{Phase: plan.PhaseDecode, Concurrency: 16, Context: context}
	}
	cases := []struct {
		name     string
		protocol plan.Protocol
		point    plan.Point
		want     load.Config
	}{
		{"sweep", plan.Protocol{Sweep: &plan.Sweep{Requests: 1, Trajectories: 613, Duration: span(2 * time.Second), MinDuration: span(time.Second), Warmup: plan.Warmup{Requests: 3, Duration: span(4 * time.Second)}}},
			plan.Point{Phase: plan.PhaseSweep, Concurrency: 8}, with(func(c *load.Config) {
				c.Closed = &load.Closed{Concurrency: 8, Requests: 1, Trajectories: 613, Duration: 2 * time.Second, MinDuration: time.Second, WarmupRequests: 3, WarmupDuration: 4 * time.Second}
			})},
		{"sweep, least alone", plan.Protocol{Sweep: &plan.Sweep{MinDuration: span(time.Second)}}, plan.Point{Phase: plan.PhaseSweep, Concurrency: 8},
			with(func(c *load.Config) {
				c.Closed = &load.Closed{Concurrency: 8, Duration: time.Second, MinDuration: time.Second}
			})},
		{"serve", plan.Protocol{Serve: &plan.Serve{Arrival: "gamma", Burstiness: 0.5, MaxConcurrency: 9, Requests: 10, Duration: span(time.Second), Window: plan.Cut{Warmup: span(2), Cooldown: span(3)},
			Ramp: &plan.Ramp{From: 2, Over: span(time.Minute), Shape: "exponential"}}},
			plan.Point{Phase: plan.PhaseServe, Rate: 140}, with(func(c *load.Config) {
				c.Open = &load.Open{Rate: 140, Arrival: "gamma", Burstiness: 0.5, Seed: 5, MaxConcurrency: 9, Requests: 10, Duration: time.Second, Warmup: 2, Cooldown: 3,
					Ramp: &load.Ramp{From: 2, Over: time.Minute, Exponential: true}}
			})},
		{"trace", plan.Protocol{Serve: &plan.Serve{Arrival: "trace"}}, plan.Point{Phase: plan.PhaseServe, Speed: 2},
			with(func(c *load.Config) { c.Open = &load.Open{Arrival: "trace", Speed: 2, Seed: 5} })},
		{"prefill", plan.Protocol{Matrix: &matrix}, plan.Point{Phase: plan.PhasePrefill, Context: 8192}, prefill(0, 2)},
		{"one prefill", plan.Protocol{Matrix: &few}, plan.Point{Phase: plan.PhasePrefill, Context: 8192}, prefill(1, 1)},
		{"decode, 32k", plan.Protocol{Matrix: &matrix}, decode(32 << 10), cell(time.Minute)},
		{"decode, 64k", plan.Protocol{Matrix: &matrix}, decode(64 << 10), cell(2 * time.Minute)},
		{"decode, 1019k", plan.Protocol{Matrix: &matrix}, decode(1019 << 10), cell(3 * time.Minute)},
		{"decode, told", plan.Protocol{Matrix: &timed}, decode(1019 << 10), cell(7 * time.Second)},
	}
	for _, c := range cases {
		got := base
		if err := pace(&got, Job{Plan: plan.Plan{Protocol: c.protocol, Workload: plan.Workload{Seed: 5}}, Point: c.point}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got, cmp.Comparer(func(a, b load.Target) bool { return true })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if err := pace(&base, Job{Point: plan.Point{ID: "x", Phase: plan.PhaseDecode}}); err == nil {
		t.Error("a point of no protocol has no error")
	}
}

// TestFirstRequestsWaitForNoConnection: those were opened before, and the body of the first measured one is kept.
func TestFirstRequestsWaitForNoConnection(t *testing.T) {
	e := &engine{gap: 20 * time.Millisecond}
	s := httptest.NewServer(e)
	defer s.Close()
	for _, c := range []struct {
		protocol plan.Protocol
		point    plan.Point
	}{
		{plan.Protocol{Sweep: &plan.Sweep{Requests: 24}}, plan.Point{ID: "c8", Phase: plan.PhaseSweep, Concurrency: 8}},
		{plan.Protocol{Serve: &plan.Serve{Arrival: "constant", Requests: 16, MaxConcurrency: 12}}, plan.Point{ID: "r1000", Phase: plan.PhaseServe, Rate: 1000}},
	} {
		j := job(t, s.URL, plan.Plan{Protocol: c.protocol}, c.point)
		m, rec := run(t, j)
		for _, r := range rec.Requests {
			if r.Session != load.ProbeSession && (r.ConnectUS != record.Never || r.Outcome != record.OK) {
				t.Errorf("%s: request %d: %s, connected in %d µs", c.point.ID, r.Index, r.Outcome, r.ConnectUS)
			}
		}
		body, err := os.ReadFile(filepath.Join(j.Dir, m.FirstBody))
		if err != nil || m.FirstBody != "recordings/"+c.point.ID+".request.json" || !strings.Contains(string(body), `"messages"`) {
			t.Errorf("%s: %q holds %q, %v", c.point.ID, m.FirstBody, body, err)
		}
		if left, _ := filepath.Glob(filepath.Join(j.Dir, Folder, "*.part")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}
