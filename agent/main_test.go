package agent

import (
	"crypto/ed25519"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/agent/foreign/foreigntest"
	"assay/fault"
	"assay/plan"
	"assay/probes"
	"assay/result"
	"assay/sim"
	"assay/store"
)

// TestMain lets this binary be the server of a plan with runtime process: `<binary> sim …`, and its client: `<binary> client KIND …`.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "client" {
		os.Exit(foreigntest.Main(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "sim" {
		fmt.Fprintln(os.Stderr, serveSim(os.Args[2:]))
		os.Exit(3)
	}
	os.Exit(m.Run())
}

// serveSim is a simulated engine that exits with the completion whose number ASSAY_TEST_EXIT_AT gives.
func serveSim(args []string) error {
	at := func(flag string) string { return args[slices.Index(args, flag)+1] }
	engine := sim.New(quickSim(at("--model"))).Handler()
	last, _ := strconv.ParseInt(os.Getenv("ASSAY_TEST_EXIT_AT"), 10, 64)
	var asked atomic.Int64
	return http.ListenAndServe("127.0.0.1:"+at("--port"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && asked.Add(1) == last {
			fmt.Fprintln(os.Stderr, "no more")
			os.Exit(3)
		}
		engine.ServeHTTP(w, r)
	}))
}

// quickSim takes 12 ms a token: long enough that a loaded machine's delays do not count as the client's.
func quickSim(model string) sim.Config {
	return sim.Config{Model: model, StepBase: 12 * time.Millisecond}
}

// newAgent is an agent over a new store, on a machine of which nothing is known.
func newAgent(t *testing.T) *Agent {
	t.Helper()
	st, err := store.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	owner, err := st.Owner(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return New(Config{Store: st, Host: probes.Host{Root: t.TempDir()}, Program: probes.Program{Version: "test"}, Owner: owner, Executable: self,
		Token: func(string) string { return "" }, Key: key, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: time.Now})
}

// startSim serves a simulated engine until the test ends.
func startSim(t *testing.T, cfg sim.Config) (*sim.Server, string) {
	t.Helper()
	engine := sim.New(cfg)
	srv := httptest.NewServer(engine.Handler())
	t.Cleanup(srv.Close)
	return engine, srv.URL
}

// sweepOf is a short sweep with concurrencies 1 and 2; more are lines of path=value.
func sweepOf(t *testing.T, server string, more ...string) plan.Plan {
	t.Helper()
	p, err := plan.ParseSet([]byte(`
apiVersion: assay/v1
name: short
model: {name: sim}
server: `+server+`
workload: {kind: synthetic, input_len: 64, sampling: {max_tokens: 16, ignore_eos: true}}
protocol: {sweep: {concurrency: [1, 2], requests: 4, warmup: {requests: 1}}}
telemetry: {interval: 50ms}
`), more)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func atURL(url string) string { return fmt.Sprintf(`{engine: sim, runtime: endpoint, url: "%s"}`, url) }

// asProcess starts this test binary as the server.
const asProcess = `{engine: sim, runtime: process, ready: {timeout: 2m}}`

func submit(t *testing.T, a *Agent, p plan.Plan) string {
	t.Helper()
	run, err := a.Submit(t.Context(), p, "", Origin{Source: FromCLI, BaseDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return run.ID
}

// refuses sees that a plan is refused before a run is made of it.
func refuses(t *testing.T, a *Agent, p plan.Plan, code string) *fault.Fault {
	t.Helper()
	run, err := a.Submit(t.Context(), p, "", Origin{Source: FromCLI, BaseDir: t.TempDir()})
	f := fault.Of(err, fault.Client)
	if err == nil || f.Code != code {
		t.Fatalf("%s %v, want %s", run.ID, err, code)
	}
	if runs, _, err := a.Store.Runs(t.Context(), store.Filter{Limit: 10}); err != nil || len(runs) > 0 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
	return f
}

func execute(t *testing.T, a *Agent, id string) result.Result {
	t.Helper()
	r, err := a.Execute(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// onEvent calls do once, at the first event that fits, without holding up the run.
func onEvent(t *testing.T, a *Agent, fits func(result.Event) bool, do func()) {
	t.Helper()
	events, err := a.Events(t.Context(), 0, "")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for e := range events {
			if fits(e) {
				do()
				return
			}
		}
	}()
}

// begins fits the beginning of a phase, at a point.
func begins(phase, point string) func(result.Event) bool {
	return func(e result.Event) bool {
		return e.Kind == result.PhaseStarted && e.Phase == phase && e.Point == point
	}
}

// phaseNames are a run's phases in the order they began.
func phaseNames(r result.Result) []string {
	var names []string
	for _, p := range r.Run.Phases {
		if p.Point != "" {
			p.Name += " " + p.Point
		}
		names = append(names, p.Name)
	}
	return names
}

// checkStates compares the points of a run, "id state" each. A point that a busy machine made not valid, because the client could
// not keep its pace, is what was wanted too: that verdict is the load's own and has tests there.
func checkStates(t *testing.T, r result.Result, want ...string) (busy bool) {
	t.Helper()
	var got []string
	for i, p := range r.Points {
		state := p.ID + " " + string(p.State)
		if p.State == result.PointNotValid && onlyBusy(p) && i < len(want) {
			t.Logf("%s: the machine is too busy: %v", p.ID, p.Reasons)
			state, busy = want[i], true
		}
		got = append(got, state)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s\n%+v", diff, r.Run.Reasons)
	}
	return busy
}

// onlyBusy tells a point that is bad for nothing but a machine that is busy or is paused, after which its clock is set; what else is told of it is no fault.
func onlyBusy(p result.Point) bool {
	busy := []string{"client_bound", "underfilled", "underfilled_by_restart", "warmup_timeout", "clock_step"}
	beside := []string{"queue_seen", "underfilled_by_server", "context_off", "router_slow", "router_uneven", "drift.not_seen"}
	return slices.ContainsFunc(p.Reasons, func(r result.Reason) bool { return slices.Contains(busy, r.Code) }) &&
		!slices.ContainsFunc(p.Reasons, func(r result.Reason) bool { return !slices.Contains(busy, r.Code) && !slices.Contains(beside, r.Code) })
}

func sizeOf(t *testing.T, a *Agent, id, name string) int64 {
	t.Helper()
	st, err := os.Stat(filepath.Join(a.Store.RunDir(id), name))
	if err != nil {
		return 0
	}
	return st.Size()
}
