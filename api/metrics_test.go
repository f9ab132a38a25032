package api

import (
	"bytes"
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"assay/probes"
	"assay/result"
	"assay/store"
)

func TestMetrics(t *testing.T) {
	f := newFixture(t)
	f.endedRun()
	f.move(f.queueRun().ID, result.Canceled)
	f.queueRun()
	f.queueRun()
	a := f.do("GET", "/metrics", "")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(a.body)))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`assay_runs{state="queued"} 2`, `assay_runs{state="done"} 1`, `assay_runs{state="canceled"} 1`, `assay_runs{state="running"} 0`,
		`assay_queue_depth 2`, `assay_run_system_tps{name="sample"} 180.5`, `assay_build_info{commit="abc1234",go="go1.26",version="0.1.0"} 1`,
		`assay_run_last_end_timestamp_seconds{name="sample"}`, `assay_run_valid{name="sample"} 0`,
	} {
		if !strings.Contains(string(a.body), "\n"+want) {
			t.Errorf("missing %s", want)
		}
	}
	for _, name := range []string{"go_goroutines", "process_resident_memory_bytes", "assay_run_duration_seconds"} {
		if families[name] == nil {
			t.Errorf("missing %s", name)
		}
	}
	if strings.Contains(string(a.body), "id=") {
		t.Error("an id is a label")
	}
}

// TestMetricsOfRuns: figures of a plan are of its last valid run, and one that is not valid shows as such; an import is no run of a plan.
func TestMetricsOfRuns(t *testing.T) {
	f := newFixture(t)
	ended := func(name, source, verdict string, tps float64) {
		t.Helper()
		run := f.queueRun()
		run.ID, run.Key, run.Name, run.Source, run.State = run.ID+"-"+verdict+source, "", name, source, ""
		if err := f.Store.CreateRun(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		f.move(run.ID, result.Running)
		f.putPoint(run.ID, 0, 1, tps)
		if err := f.Store.MoveRun(t.Context(), run.ID, result.Done, store.RunChange{AtUS: f.ctl.now().UnixMicro(), Verdict: verdict}); err != nil {
			t.Fatal(err)
		}
	}
	ended("a", "cli", result.Valid, 100)
	ended("a", "api", result.NotValid, 900)
	ended("b\x1b[31m", "cli", result.Valid, 7)
	ended("x", "import", result.Valid, 8)
	text := string(f.do("GET", "/metrics", "").body)
	for _, want := range []string{`assay_run_valid{name="a"} 0`, `assay_run_system_tps{name="a"} 100`, `assay_run_valid{name="b\\x1b[31m"} 1`} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("missing %s", want)
		}
	}
	if strings.Contains(text, `name="x"`) || strings.Contains(text, "\x1b") {
		t.Errorf("%s", text)
	}
}

func TestMetricsSayWhenTheStoreIsAway(t *testing.T) {
	f := newFixture(t)
	f.Store.Close()
	if a := f.do("GET", "/metrics", ""); a.status != 500 {
		t.Errorf("status %d, want 500", a.status)
	}
}

// TestMetricsOfTheMachine: a scrape never waits for a probe; it tells what the last one told, asks for another every few minutes, and for
// none while a run is under way.
func TestMetricsOfTheMachine(t *testing.T) {
	var live atomic.Pointer[[]probes.Sample]
	probing, answer := make(chan struct{}), make(chan struct{})
	var later atomic.Int64
	f := newFixture(t, func(d *Deps) {
		now := d.Now
		d.Now = func() time.Time { return now().Add(time.Duration(later.Load())) }
		d.Live = func() ([]probes.Sample, bool) {
			if s := live.Load(); s != nil {
				return *s, true
			}
			return nil, false
		}
		d.Controller = slowProbe{d.Controller, probing, answer}
	})
	scrape := func() string {
		t.Helper()
		a := f.do("GET", "/metrics", "")
		parser := expfmt.NewTextParser(model.UTF8Validation)
		if _, err := parser.TextToMetricFamilies(bytes.NewReader(a.body)); a.status != 200 || err != nil {
			t.Fatalf("%d %v", a.status, err)
		}
		return string(a.body)
	}
	told := func() bool { return strings.Contains(scrape(), `assay_check{check="idle",state="ok"} 1`) }
	if told() {
		t.Error("a check before the first probe")
	}
	<-probing
	if told() {
		t.Error("a check while the first probe hangs")
	}
	answer <- struct{}{}
	f.machine.mu.Lock() // free when the probe is told
	f.machine.mu.Unlock()
	if !told() {
		t.Error("no check after the probe")
	}
	later.Store(int64(time.Hour))
	live.Store(&[]probes.Sample{}) // the engine is being started
	told()
	live.Store(&[]probes.Sample{{AtUS: f.Now().UnixMicro(), Series: "gpu0.power_w", Value: 640}})
	if text := scrape(); !strings.Contains(text, "\nassay_gpu_power_watts{gpu=\"0\"} 640\n") || !told() {
		t.Error("what a run samples is not told")
	}
	select {
	case <-probing:
		t.Error("a probe during a run")
	default:
	}
	live.Store(nil)
	if text := scrape(); strings.Contains(text, "assay_gpu_power") {
		t.Error("samples of a run that ended")
	}
	<-probing
	answer <- struct{}{}
}

// slowProbe is a controller whose probes begin and end when a test says so.
type slowProbe struct {
	Controller
	begun, end chan struct{}
}

func (c slowProbe) Probe(ctx context.Context) (probes.SUT, []probes.Check, error) {
	c.begun <- struct{}{}
	<-c.end
	return c.Controller.Probe(ctx)
}

// A probe that nobody waits for starts programs: when the server closes it ends, and is gone.
func TestCloseEndsTheProbeBeside(t *testing.T) {
	p := endlessProbe{begun: make(chan struct{})}
	f := newFixture(t, func(d *Deps) { p.Controller = d.Controller; p.ended = new(atomic.Bool); d.Controller = p })
	f.do("GET", "/metrics", "")
	<-p.begun
	f.Close()
	if !p.ended.Load() {
		t.Error("the server closed and left a probe under way")
	}
}

// endlessProbe is a controller whose probes end when they are told to.
type endlessProbe struct {
	Controller
	begun chan struct{}
	ended *atomic.Bool
}

func (c endlessProbe) Probe(ctx context.Context) (probes.SUT, []probes.Check, error) {
	close(c.begun)
	<-ctx.Done()
	c.ended.Store(true)
	return probes.SUT{}, nil, ctx.Err()
}
