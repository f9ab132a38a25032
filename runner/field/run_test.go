package field

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/plan"
	"assay/runner"
	"assay/runner/metrics"
	"assay/runner/record"
)

// measured is a point that was run, from the recording on disk to the verdict.
type measured struct {
	runner.Measurement
	job     runner.Job
	rec     record.Recording
	all     []record.Request // without the warm-up, in order of issue
	sum     metrics.Summary
	state   string
	reasons []runner.Reason
	err     error
}

// TestMain lets more tests run beside each other than there are processors: most of their time they wait for a server.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("8") // a number is valid
	}
	os.Exit(m.Run())
}

type job = runner.Job

// edit changes a job before it runs.
type edit func(*job)

// sweep runs a closed loop of c slots for n measured requests.
func sweep(t *testing.T, s *server, c, n int, edits ...edit) measured {
	t.Helper()
	return run(t, s, closedPlan(plan.Sweep{Requests: n}), closedPoint(c), edits...)
}

// serve runs an open loop of n requests at a constant rate.
func serve(t *testing.T, s *server, rate float64, n int, edits ...edit) measured {
	t.Helper()
	p := plan.Plan{Protocol: plan.Protocol{Serve: &plan.Serve{Arrival: "constant", Requests: n}}}
	return run(t, s, p, plan.Point{ID: "r1", Phase: plan.PhaseServe, Rate: rate}, edits...)
}

// hang bounds a test whose client does not come back; no test is meant to need it.
const hang = 5 * time.Minute

func run(t *testing.T, s *server, p plan.Plan, point plan.Point, edits ...edit) measured {
	t.Helper()
	m := measure(t, t.Context(), newJob(t, s, p, point, edits...), func(runner.Progress) {})
	if m.err != nil {
		t.Fatal(m.err)
	}
	return m
}

// newJob is a job with short synthetic prompts and answers.
func newJob(t *testing.T, s *server, p plan.Plan, point plan.Point, edits ...edit) job {
	t.Helper()
	j := jobAt(t, s.url)
	j.Plan, j.Point = p, point
	w := &j.Plan.Workload
	w.Kind, w.InputLen, w.Lengths, w.Sampling.MaxTokens = "synthetic", 8, "words", 4
	j.Plan.Server.Engine, j.Plan.Client.Drain = "openai", plan.Duration(hang)
	for _, e := range edits {
		e(&j)
	}
	return j
}

// closedPoint is a closed loop of c slots.
func closedPoint(c int) plan.Point {
	return plan.Point{ID: "c1", Phase: plan.PhaseSweep, Concurrency: c}
}

func closedPlan(s plan.Sweep) plan.Plan { return plan.Plan{Protocol: plan.Protocol{Sweep: &s}} }

func jobAt(t *testing.T, urls ...string) job {
	return job{Run: "run1", BaseURLs: urls, Model: "m", Dir: t.TempDir()}
}

// measure runs a job to its end and reads back what it left.
func measure(t *testing.T, ctx context.Context, j runner.Job, report func(runner.Progress)) measured {
	t.Helper()
	c, err := runner.ClientNamed("native")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeoutCause(ctx, hang, errors.New("the client hung"))
	defer stop()
	m := measured{job: j}
	m.Measurement, m.err = c.Run(ctx, j, report)
	if m.rec, err = record.Read(filepath.Join(j.Dir, m.File.Path)); err != nil {
		t.Fatal(err)
	}
	for _, r := range m.rec.Requests {
		if !r.Warmup {
			m.all = append(m.all, r)
		}
	}
	slices.SortFunc(m.all, func(a, b record.Request) int { return a.Index - b.Index })
	m.sum = metrics.Summarise(m.rec, m.Window, runner.ShapeOf(j.Plan, j.Point))
	m.state, m.reasons = runner.Verdict(j.Point, m.sum, m.Measurement)
	return m
}

// outcomes counts how the measured requests ended, whichever were in the window.
func (m measured) outcomes() map[record.Outcome]int {
	n := map[record.Outcome]int{}
	for _, r := range m.all {
		n[r.Outcome]++
	}
	return n
}

// has says whether the verdict gives a reason.
func (m measured) has(code string) bool {
	for _, r := range m.reasons {
		if r.Code == code {
			return true
		}
	}
	return false
}

// noted says whether a note holds a text.
func (m measured) noted(text string) bool { return strings.Contains(strings.Join(m.Notes, "\n"), text) }

// at puts an instant of the server on the recording's clock.
func (m measured) at(when time.Time) int64 { return when.UnixMicro() - m.rec.Header.EpochUS }

// slack is what the clocks of both sides may differ by: the server reads the system's clock, the recording a monotonic one.
const slack = 1000

// lateUS is what the best tenth of the receive stamps keep on the busiest machine: the kernel stamps inside the server's write.
const lateUS = 2000

// timely names the token events that the recording has before the server wrote them; there can be none. And the stamps are not all late.
// It gives how late they are, in order, µs.
func (m measured) timely(t *testing.T, s *server) []int64 {
	t.Helper()
	var late []int64
	for _, r := range m.all {
		a := s.answered(r)
		if a == nil {
			continue
		}
		for i := range min(len(r.Events), len(a.marks)) {
			before := m.at(a.marks[i].at)
			if late = append(late, r.Events[i].AtUS-before); r.Events[i].AtUS < before-slack {
				t.Errorf("request %d: event %d is recorded at %d µs and was written at %d", r.Index, i, r.Events[i].AtUS, before)
			}
		}
	}
	slices.Sort(late)
	if n := len(late); n > 0 && m.rec.Header.StampSource == "kernel" && late[n/10] > lateUS+slack {
		t.Errorf("of %d token events %d were recorded %d µs or later after the server wrote them", n, n-n/10, late[n/10])
	}
	return late
}

// answered finds what the server did for a request by the id it gave.
func (s *server) answered(r record.Request) *reply {
	for _, a := range s.seen() {
		if a.id() == r.ID {
			return a
		}
	}
	return nil
}

// file writes data of a kind and has the job read it.
func file(t *testing.T, kind, text string) edit {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data."+kind)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(j *job) { j.Plan.Workload.Kind, j.Dataset = kind, path }
}
