package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/agent/foreign/foreigntest"
	"assay/fault"
	"assay/plan"
	"assay/result"
)

// foreignPlan has this test binary be the client of a kind, against a simulated engine; more are lines of path=value.
func foreignPlan(t *testing.T, a *Agent, kind, url string, more ...string) plan.Plan {
	t.Helper()
	text := `
apiVersion: assay/v1
name: foreign
model: {name: sim}
server: ` + atURL(url) + `
client: {kind: ` + kind + `, command: ["` + a.Executable + `", client, ` + kind + `], tokenizer: demo, env_from: [` + foreigntest.ModeVariable + `]}
workload: {kind: synthetic, input_len: 24, lengths: words, sampling: {max_tokens: 16}}
protocol: {sweep: {concurrency: 4, requests: 32}}
telemetry: {interval: 20ms}
`
	if kind == "llm-inference-bench" {
		text = strings.Replace(text, "protocol: {sweep: {concurrency: 4, requests: 32}}", "protocol: {matrix: {contexts: 64, concurrency: 2, duration: 1s, max_tokens: 16}}", 1)
		text = strings.Replace(text, "input_len: 24, lengths: words, ", "", 1)
	}
	p, err := plan.ParseSet([]byte(text), more)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// behaving lets the client of the test misbehave in a mode; "well" is none of them.
func behaving(a *Agent, mode string) {
	a.Token = func(name string) string { return map[string]string{foreigntest.ModeVariable: mode}[name] }
}

func codes(p result.Point) []string {
	var out []string
	for _, r := range p.Reasons {
		out = append(out, r.Code)
	}
	return out
}

// onlyLoaded are the reasons that a busy machine can give to a client that behaves.
func onlyLoaded(all []string) bool {
	return !slices.ContainsFunc(all, func(code string) bool {
		return !slices.Contains([]string{"underfilled", "client_underload", "figures_differ"}, code)
	})
}

// TestForeignClients: each client is started, makes its load, and its files become a point like any other.
func TestForeignClients(t *testing.T) {
	for _, kind := range []string{"mlperf-endpoints", "vllm-bench", "aiperf", "guidellm"} {
		t.Run(kind, func(t *testing.T) {
			a := newAgent(t)
			behaving(a, "well")
			engine, url := startSim(t, quickSim("sim"))
			id := submit(t, a, foreignPlan(t, a, kind, url))
			r := execute(t, a, id)
			if r.Run.State != result.Done || len(r.Points) != 1 {
				t.Fatalf("%s %v, %d points", r.Run.State, r.Run.Error, len(r.Points))
			}
			p := r.Points[0]
			if !onlyLoaded(codes(p)) {
				t.Errorf("%s: %+v", p.State, p.Reasons)
			}
			if p.ID != "c4" || p.MLPerf == nil || p.MLPerf.RequestsIssued != 32 || p.MLPerf.RequestsCompleted != 32 || p.Recording.Requests != 32 || p.Window == nil || p.Telemetry["engine.running"].N == 0 {
				t.Errorf("%+v", p)
			}
			if truth := engine.Truth(); len(truth) < 32 {
				t.Errorf("the engine saw %d requests", len(truth))
			}
			if c := r.Identity.Client; c.Kind != kind || !strings.Contains("0.1.0 0.32.0+cpu 0.13.0 0.8.1", c.Version) || c.SHA256 == "" || c.Runtime != "process" || c.Argv[1] != "client" {
				t.Errorf("%+v", c)
			}
			checkKept(t, a, r)
		})
	}
}

// checkKept: the tool's files are among the artifacts, with what it was told.
func checkKept(t *testing.T, a *Agent, r result.Result) {
	t.Helper()
	p := r.Points[0]
	for _, name := range []string{p.Imported.File, "client/c4/command.json", "client/c4/prompts.jsonl", "client/c4/client.log", "recordings/c4.rec"} {
		if !slices.ContainsFunc(r.Artifacts, func(f result.Artifact) bool { return f.Path == name }) {
			t.Errorf("%s is not kept", name)
		}
	}
	if p.Imported.Format == "" || p.Imported.Tool == "" || p.Imported.Told == nil {
		t.Errorf("%+v", p.Imported)
	}
	b, err := os.ReadFile(filepath.Join(a.Store.RunDir(r.Run.ID), "client/c4/command.json"))
	if err != nil || !json.Valid(b) {
		t.Errorf("%v %s", err, b)
	}
}

// TestForeignMatrix: a client that lists no requests gives no result, and its figures stand as told.
func TestForeignMatrix(t *testing.T) {
	a := newAgent(t)
	behaving(a, "well")
	_, url := startSim(t, quickSim("sim"))
	r := execute(t, a, submit(t, a, foreignPlan(t, a, "llm-inference-bench", url)))
	if len(r.Points) != 2 || r.Identity.Client.Version != "0.4.18" {
		t.Fatalf("%v %v %+v", r.Run.Error, r.Points, r.Identity.Client)
	}
	for _, p := range r.Points {
		if p.State != result.PointNotValid || !slices.Equal(codes(p), []string{"requests_missing"}) || len(p.Imported.Figures) == 0 {
			t.Errorf("%s: %s %+v", p.ID, p.State, p.Reasons)
		}
	}
}

// TestForeignOpenLoop: an open loop is so many requests at its rate.
func TestForeignOpenLoop(t *testing.T) {
	for _, kind := range []string{"mlperf-endpoints", "guidellm"} {
		a := newAgent(t)
		behaving(a, "well")
		_, url := startSim(t, quickSim("sim"))
		p := foreignPlan(t, a, kind, url)
		p.Protocol = plan.Protocol{Serve: &plan.Serve{Rate: []float64{20}, Arrival: "poisson", Duration: plan.Duration(time.Second)}}
		r := execute(t, a, submit(t, a, p))
		if len(r.Points) != 1 || r.Points[0].ID != "r20" || r.Points[0].Recording == nil || r.Points[0].Recording.Requests != 20 || !onlyLoaded(codes(r.Points[0])) {
			t.Errorf("%s: %v %+v", kind, r.Run.Error, r.Points)
		}
	}
}

// TestForeignMisbehaves: what a client keeps to itself is told from the engine's own words.
func TestForeignMisbehaves(t *testing.T) {
	for _, c := range []struct{ kind, mode, code string }{
		{"aiperf", foreigntest.Half, "client_underload"},
		{"guidellm", foreigntest.Boast, "failures_hidden"},
		{"vllm-bench", foreigntest.Forget, "failures_hidden"},
	} {
		t.Run(c.kind+" "+c.mode, func(t *testing.T) {
			a := newAgent(t)
			behaving(a, c.mode)
			_, url := startSim(t, quickSim("sim"))
			r := execute(t, a, submit(t, a, foreignPlan(t, a, c.kind, url, "protocol.sweep.requests=48")))
			p := r.Points[0]
			if looks := p.Telemetry["engine.running"].N; c.code == "client_underload" && looks < 5 {
				t.Skipf("the machine is so busy that the engine was looked at %d times, of which nothing is said", looks)
			}
			if p.State != result.PointNotValid || !slices.Contains(codes(p), c.code) {
				t.Errorf("%s %+v, of %+v", p.State, p.Reasons, p.Telemetry["engine.running"])
			}
		})
	}
}

// TestForeignFails: a client that ends badly, or leaves nothing, fails its point and says why.
func TestForeignFails(t *testing.T) {
	for _, c := range []struct{ mode, code, words string }{
		{foreigntest.Exit, "client.exited", "it went wrong"},
		{foreigntest.None, "client.no_result", "left no result of point c4"},
	} {
		a := newAgent(t)
		behaving(a, c.mode)
		_, url := startSim(t, quickSim("sim"))
		r := execute(t, a, submit(t, a, foreignPlan(t, a, "vllm-bench", url)))
		if r.Run.State != result.Failed || r.Run.Error == nil || r.Run.Error.Code != c.code || !strings.Contains(r.Run.Error.Text, c.words) || r.Points[0].State != result.PointFailed {
			t.Errorf("%s: %s %+v", c.mode, r.Run.State, r.Run.Error)
		}
	}
}

// TestForeignCanceled: a client that never ends goes with its run.
func TestForeignCanceled(t *testing.T) {
	a := newAgent(t)
	behaving(a, foreigntest.Hang)
	_, url := startSim(t, quickSim("sim"))
	id := submit(t, a, foreignPlan(t, a, "aiperf", url))
	onEvent(t, a, begins("measure", "c4"), func() {
		if err := a.Cancel(t.Context(), id); err != nil {
			t.Error(err)
		}
	})
	r := execute(t, a, id)
	if r.Run.State != result.Canceled {
		t.Errorf("%s %v", r.Run.State, r.Run.Error)
	}
}

// TestForeignServerDies: the client of a server that has died is ended, and the server is blamed.
func TestForeignServerDies(t *testing.T) {
	a := newAgent(t)
	t.Setenv("ASSAY_TEST_EXIT_AT", "6")
	p := foreignPlan(t, a, "vllm-bench", "http://127.0.0.1:1")
	p.Server = sweepOf(t, asProcess, "server.env_from=[ASSAY_TEST_EXIT_AT]").Server
	a.Token = func(name string) string {
		return map[string]string{foreigntest.ModeVariable: "well", "ASSAY_TEST_EXIT_AT": "6"}[name]
	}
	r := execute(t, a, submit(t, a, p))
	if r.Run.State != result.Failed || r.Run.Error == nil || r.Run.Error.Layer != fault.Server {
		t.Errorf("%s %+v", r.Run.State, r.Run.Error)
	}
}

// TestForeignRefused: what the client cannot do is refused before a run is made.
func TestForeignRefused(t *testing.T) {
	a := newAgent(t)
	behaving(a, "well")
	refuses(t, a, foreignPlan(t, a, "vllm-bench", "http://127.0.0.1:1", "protocol.sweep.duration=10s"), "plan.client_cannot")
}

// TestForeignSecrets: the bearer token reaches the server and nothing that is kept.
func TestForeignSecrets(t *testing.T) {
	const token = "sk-very-secret-0123456789"
	a := newAgent(t)
	cfg := quickSim("sim")
	cfg.Token = token
	_, url := startSim(t, cfg)
	p := foreignPlan(t, a, "mlperf-endpoints", url, "server.token_env=KEY")
	a.Token = func(name string) string {
		return map[string]string{foreigntest.ModeVariable: "well", "KEY": token}[name]
	}
	r := execute(t, a, submit(t, a, p))
	if len(r.Points) != 1 || r.Points[0].MLPerf == nil || r.Points[0].MLPerf.RequestsCompleted != 32 {
		t.Fatalf("%v %+v", r.Run.Error, r.Points)
	}
	for _, f := range r.Artifacts {
		b, err := os.ReadFile(filepath.Join(a.Store.RunDir(r.Run.ID), filepath.FromSlash(f.Path)))
		if err != nil || strings.Contains(string(b), token) {
			t.Errorf("%s: %v, or it holds the token", f.Path, err)
		}
	}
}
