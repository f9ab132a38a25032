package runner

import (
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/plan"
	"assay/runner/dataset"
	"assay/runner/load"
	"assay/runner/metrics"
	"assay/runner/record"
)

// verdictOf judges what a load of this machine came to, from the recording as it stands on disk.
func verdictOf(t *testing.T, j Job, m Measurement) (string, []Reason, metrics.Client) {
	t.Helper()
	told, err := PassOf(j.Plan, j.Point, m.Window, m.Issue).File(j.Dir + "/" + m.File.Path)
	if err != nil {
		t.Fatal(err)
	}
	told.Tell(&m.Client)
	state, reasons := Verdict(j.Point, told.Judged(), m)
	return state, reasons, m.Client
}

// TestSaturatedClientIsBound drives a server that sends as fast as it can with more streams than the client bears: on one processor, which
// the load's reader and the other goroutines then share. The figures such a client prints are its own ceiling; it must not call them valid.
func TestSaturatedClientIsBound(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	server := httptest.NewServer(&engine{})
	defer server.Close()
	p := plan.Plan{Protocol: plan.Protocol{Sweep: &plan.Sweep{Duration: plan.Duration(5 * time.Second)}}}
	p.Workload.Sampling.MaxTokens = 200
	j := job(t, server.URL, p, plan.Point{ID: "c64", Phase: plan.PhaseSweep, Concurrency: 64})
	m, _ := run(t, j)
	state, reasons, c := verdictOf(t, j, m)
	t.Logf("%+v\n%+v", reasons, c)
	bound := slices.ContainsFunc(reasons, func(r Reason) bool { return r.Code == "client_bound" })
	if state != NotValid || !bound {
		t.Errorf("%s: %+v, of a client with %+v", state, reasons, c)
	}
	seen := lookedLate(j.Point, metrics.Summary{DurationS: 5}, m) == nil // else that is why, and there may be no figures
	if seen && (c.Reads == 0 || c.BytesIn == 0 || c.StampDelayUS.Max == 0 || c.SchedLatencyUS.Max == 0) || c.GOMAXPROCS != 2 || c.Sockets.AtOnce < 64 {
		t.Errorf("the client does not tell what it did: %+v", c)
	}
}

// slowly is a source whose conversations take a while each.
type slowly struct {
	dataset.Source
	each time.Duration
}

func (s slowly) Next() (dataset.Conversation, error) {
	<-time.After(s.each)
	return s.Source.Next()
}

// heldUp runs a load whose data and whose disk take a while for each request, and gives what is said of its slots' idle time.
func heldUp(t *testing.T, data, disk time.Duration) (*finding, metrics.Client) {
	t.Helper()
	server := httptest.NewServer(&engine{gap: 10 * time.Millisecond})
	defer server.Close()
	target, err := load.ParseTarget(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	src, err := dataset.Open(t.Context(), dataset.Config{Kind: "synthetic", InputLen: 16, MaxTokens: 4})
	if err != nil {
		t.Fatal(err)
	}
	cfg := load.Config{
		Targets: []load.Target{target}, Request: load.Request{Endpoint: "chat", Model: "m", Dialect: "sim", MaxTokens: 4}, Salt: load.Salt{Kind: "none"},
		Clock: load.NewClock(), Drain: time.Minute, Closed: &load.Closed{Concurrency: 4, Requests: 24},
	}
	var kept []record.Request
	keep := func(r record.Request) error {
		<-time.After(disk)
		kept = append(kept, r)
		return nil
	}
	res, err := load.Run(t.Context(), cfg, slowly{src, data}, keep, func(load.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	measured := 0
	c := clientOf(res.Health)
	refills := metrics.OverRefills(metrics.Window(res.Window), 4)
	for i := range kept {
		refills.Add(&kept[i])
		if !kept[i].Warmup {
			measured++
		}
	}
	if measured < 24 {
		t.Errorf("%d requests were kept", measured)
	}
	refills.Tell(&c)
	return leftIdle(plan.Point{Phase: plan.PhaseSweep, Concurrency: 4}, metrics.Summary{}, Measurement{Client: c}), c
}

// TestSlowDataIsTheClientsFault: a client that cannot make its prompts in time leaves its slots idle, which neither the latency nor the
// ITL of a request shows.
func TestSlowDataIsTheClientsFault(t *testing.T) {
	f, c := heldUp(t, 40*time.Millisecond, 0)
	if f == nil || !f.fatal || !strings.Contains(f.Evidence, "of their time, the limit is 1 %") || c.RefillUS.P50 < 20_000 {
		t.Errorf("%+v, of a client with %+v", f, c)
	}
}

// TestSlowDiskHoldsNothingUp: requests are put away beside the load, each of them, and no slot waits for it.
func TestSlowDiskHoldsNothingUp(t *testing.T) {
	const disk = 200 * time.Millisecond // a slot that waits for it waits as long at least
	if _, c := heldUp(t, 0, disk); c.RefillUS.P50 >= float64(disk.Microseconds()) {
		t.Errorf("slots waited for the disk: %+v", c)
	}
}

// TestOwnStampsHaveADelay: where the kernel stamps nothing, as on a Unix socket, the client still knows how late it reads.
func TestOwnStampsHaveADelay(t *testing.T) {
	path := t.TempDir() + "/s"
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: &engine{gap: 10 * time.Millisecond}}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	j := job(t, "unix://"+path, plan.Plan{Protocol: plan.Protocol{Sweep: &plan.Sweep{Requests: 16}}}, plan.Point{ID: "c2", Phase: plan.PhaseSweep, Concurrency: 2})
	m, _ := run(t, j)
	if c := m.Client; c.StampSource != "user" || c.StampDelayUS.Max <= 0 || c.StampDelayUS.P50 > c.StampDelayUS.P99 || c.Reads == 0 {
		t.Errorf("%+v", c)
	}
}
