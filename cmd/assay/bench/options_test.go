package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"assay/fault"
	"assay/plan"
)

// benchPlan makes the plan of a command line as `assay bench` does.
func benchPlan(args ...string) (plan.Plan, error) {
	var o Options
	flags := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	o.Bind(flags)
	if err := flags.Parse(args); err != nil {
		return plan.Plan{}, usage("%w", err) // as the command does
	}
	return o.Plan(context.Background(), flags.Args()...)
}

const someServer = "http://127.0.0.1:8000"

// TestBenchRefuses: what is wrong with a flag is said of that flag, never of the plan that bench makes of it.
func TestBenchRefuses(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "prompts.dat")
	if err := os.WriteFile(other, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	rows := filepath.Join(dir, "rows.jsonl")
	if err := os.WriteFile(rows, []byte(`{"prompt": "x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		want string
	}{
		{"--dataset " + rows + " --input-len 300", "--input-len has no meaning for kind jsonl"}, {"--dataset " + other, "agentic or trace"},
		{"--contexts 1k --input-len 300", "--input-len has no meaning in a matrix: --contexts says"}, {"--prefill-duration 5s", "--prefill-duration"},
		{"--balance foo", "several URLs"}, {"--seed -1", "write a whole number of at least 0"}, {"--seed x", `"--seed"`},
		{"--duration -5s", `"--duration"`}, {"--duration 0s", `"--duration"`}, {"--duration soon", `"--duration"`},
		{"--warmup -1s", `"--warmup"`}, {"--drain -1s", `"--drain"`}, {"--timeout 0s", `"--timeout"`}, {"--ready-timeout 0s", `"--ready-timeout"`},
		{"--rate NaN", `"--rate"`}, {"--rate Inf", `"--rate"`}, {"--rate 0", `"--rate"`}, {"--rate -1", `"--rate"`}, {"--rate 5,x", `"--rate"`},
		{"--requests -1", `"--requests"`}, {"--requests 0", `"--requests"`},
		{"--concurrency 0", `"--concurrency"`}, {"--concurrency 1,,2", `"--concurrency"`}, {"--concurrency 9999999", `"--concurrency"`},
		{"--output-len 0", `"--output-len"`}, {"--input-len x", `"--input-len"`}, {"--input-len 0", `"--input-len"`}, {"--contexts 8k,", `"--contexts"`},
		{"--concurrency 2,2", "--concurrency makes the point c2 twice"}, {"--rate 5,5", "--rate makes the point r5 twice"},
		{"--endpoint speech", "--endpoint"}, {"--engine abacus", "--engine"}, {"--token-env a-b", "--token-env"},
		{"--rate 5 --duration 5s --warmup 9s", "--warmup leaves nothing"},
		{"--rate 5 --concurrency 2", "--rate"}, {"--contexts 1k --requests 5", "--requests"}, {"--contexts 1k --warmup 5s", "--warmup"},
		{"--dataset-kind text", "--dataset"}, {"--dataset " + dir, "--dataset-kind text"}, {"--dataset " + dir + " --dataset-kind jsonl", "is a folder"},
		{"--dataset " + other, "--dataset-kind"}, {"--dataset " + other + " --dataset-kind poems", "--dataset-kind"},
		{"--dataset " + other + " --dataset-kind jsonl --contexts 1k", "--dataset-kind"},
	} {
		_, err := benchPlan(append([]string{someServer}, strings.Fields(c.args)...)...)
		if err == nil {
			t.Errorf("%s is taken", c.args)
			continue
		}
		f := fault.Of(err, fault.Client)
		if f.Layer != fault.Plan || !strings.Contains(f.Text, c.want) || strings.Contains(f.Text, "line 1") || strings.Contains(f.Text, "protocol.") {
			t.Errorf("%s: %v, want %q", c.args, err, c.want)
		}
	}
}

func TestBenchMapsFlags(t *testing.T) {
	p, err := benchPlan(someServer, "--ready-timeout", "3s", "--drain", "0s", "--timeout", "40s", "--input-len", "1k", "--warmup", "2s", "--requests", "9")
	if err != nil {
		t.Fatal(err)
	}
	if p.Server.Ready.Timeout.Std() != 3*time.Second || p.Client.Drain != 0 || p.Client.Timeout.Std() != 40*time.Second || p.Workload.InputLen != 1024 {
		t.Errorf("%+v %+v %+v", p.Server.Ready, p.Client, p.Workload)
	}
	if s := p.Protocol.Sweep; s == nil || s.Requests != 9 || s.Duration != 0 || s.Warmup.Duration.Std() != 2*time.Second || len(s.Concurrency) != 4 {
		t.Errorf("%+v", s)
	}
	p, err = benchPlan(someServer, "--rate", "0.5,2")
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Protocol.Serve; s == nil || s.Arrival != "poisson" || len(s.Rate) != 2 || s.Duration.Std() != 30*time.Second {
		t.Errorf("%+v", s)
	}
	if p.Server.Ready.Timeout.Std() != 10*time.Second || p.Client.Drain.Std() != time.Minute || p.Client.Timeout.Std() != time.Hour || p.Workload.InputLen != 256 {
		t.Errorf("defaults: %+v %+v %+v", p.Server.Ready, p.Client, p.Workload)
	}
}

// TestBenchPinsItsData: what a run reads is named by its hash, so that the plan that was made can be repeated.
func TestBenchPinsItsData(t *testing.T) {
	name := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(name, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	p, err := benchPlan(someServer, "--dataset", name)
	if d := p.Workload.Dataset; err != nil || p.Unpinned || d.Path != name || d.SHA256 != abc {
		t.Errorf("%+v, unpinned %t, %v", d, p.Unpinned, err)
	}
	if p, err := benchPlan(someServer, "--dataset", "builtin:agentic-small"); err != nil || p.Unpinned {
		t.Errorf("what is built in: unpinned %t, %v", p.Unpinned, err)
	}
	if p, err := benchPlan(someServer, "--dataset", name, "--allow-unpinned"); err != nil || !p.Unpinned {
		t.Errorf("unpinned %t, %v", p.Unpinned, err)
	}
}

// TestBenchStopsReadingItsData: who is stopped while the data is hashed does not wait for it.
func TestBenchStopsReadingItsData(t *testing.T) {
	name := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(name, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	o := Options{dataset: name, engine: "openai"}
	if _, err := o.Plan(stopped, someServer); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

// TestBenchMatrixTimes: a prefill pass lasts as long as a cell, unless it is told how long.
func TestBenchMatrixTimes(t *testing.T) {
	for args, want := range map[string]time.Duration{"": 30 * time.Second, "--duration 2s": 2 * time.Second, "--duration 2s --prefill-duration 5s": 5 * time.Second} {
		p, err := benchPlan(append(strings.Fields(args), someServer, "--contexts", "1k,2k")...)
		if err != nil {
			t.Fatal(err)
		}
		if m := p.Protocol.Matrix; m.PrefillDuration.Std() != want || args != "" && m.Duration.Std() != 2*time.Second {
			t.Errorf("%q: %+v", args, m)
		}
	}
}

func TestBenchAccess(t *testing.T) {
	p, err := benchPlan(someServer+"/v1", "unix:///run/engine.sock", "--header", "X-Lane: a: b", "--header", "X-Other:1", "--header-env", "X-API-Key: KEY",
		"--token-file", "token", "--insecure", "--balance", "sticky", "--engine", "tgi")
	if err != nil {
		t.Fatal(err)
	}
	if u := p.Server.BaseURLs(); len(u) != 2 || u[0] != someServer || u[1] != "unix:///run/engine.sock" || p.Server.Endpoint != "chat" || p.Server.Engine != "tgi" {
		t.Errorf("%+v", p.Server)
	}
	if c := p.Client; c.Headers["X-Lane"] != "a: b" || c.Headers["X-Other"] != "1" || c.HeadersEnv["X-API-Key"] != "KEY" || !c.InsecureTLS || c.Balance != "sticky" {
		t.Errorf("%+v", c)
	}
	if !filepath.IsAbs(p.Server.TokenFile) || filepath.Base(p.Server.TokenFile) != "token" {
		t.Errorf("token file %s", p.Server.TokenFile)
	}
	if p, err = benchPlan("unix:///run/engine.sock"); err != nil || p.Server.URL != "unix:///run/engine.sock" || p.Name != "bench-engine.sock" {
		t.Errorf("%+v, %v", p.Server, err)
	}
	for _, args := range [][]string{{someServer, "--header", "X-Lane"}, {someServer, "--header", ": b"}, {someServer, "--header", "X-API-Key: sk-secret"}, {someServer, "--header", "Host: x"},
		{someServer, "--header-env", "X-Key: not a name"}, {someServer, "--token-env", "A", "--token-file", "b"}, {someServer, "--balance", "sticky"},
		{someServer, someServer + "/v1"}, {someServer, "http://h/v1/completions"}, {"unix://host/x"}, {"unix:relative"},
		{someServer, "--header", "X-A: 1\r\nE: 2"}, {someServer, "--header", "X-A: 1", "--header", "x-a: 2"}, {someServer, "--header", "X-A: 1", "--header", "X-A: 2"},
		{someServer, "--header", "X-A: 1", "--header-env", "x-a: B"}} {
		_, err := benchPlan(args...)
		if f := fault.Of(err, fault.Client); f == nil || f.Layer != fault.Plan || strings.Contains(f.Text+f.Hint, "sk-secret") || strings.Contains(f.Text, "line 1") ||
			strings.Contains(f.Text, "client.") || strings.Contains(f.Text, "server.") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestBenchHints: what to do is said in the command's words.
func TestBenchHints(t *testing.T) {
	_, err := benchPlan(someServer, "--header", "X-API-Key: sk-secret")
	if f := fault.Of(err, fault.Client); f == nil || f.Hint != "write --header-env 'X-API-Key: VARIABLE'" || !strings.HasPrefix(f.Text, "--header X-API-Key looks") {
		t.Errorf("%+v", f)
	}
}

func TestBenchURLs(t *testing.T) {
	for raw, want := range map[string]string{
		"127.0.0.1:8000": "http://127.0.0.1:8000 chat", "http://h/v1": "http://h chat", "https://h.example/x/v1/chat/completions": "https://h.example/x chat",
		"http://h:65535/v1/completions/": "http://h:65535 completions", "http://[::1]:8000": "http://[::1]:8000 chat", "http://my_host.": "http://my_host. chat",
	} {
		base, endpoint, err := splitEndpoint(raw)
		if got := base + " " + endpoint; err != nil || got != want {
			t.Errorf("%s: %q, %v", raw, got, err)
		}
	}
	for _, raw := range []string{"", "ftp://x", "http://", "http://:8000", "http://h:65536", "http://h:0", "http://h:", "http://h:99999999999999999999", "http://h:x",
		"http://300.1.1.1:80", "8000", "http://1.2.3", "http://[1.2.3.4]", "http://[::1", "::1:8000", "http://a b", "http://a..b", "http://h$t",
		"http://h/?api_key=secret", "http://h/?", "http://h#secret", "http://user:secret@h", "http://user:secret@h:x", "http://secret@h"} {
		_, _, err := splitEndpoint(raw)
		if f := fault.Of(err, fault.Client); f == nil || f.Code != "plan.usage" || strings.Contains(f.Text, "secret") {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
