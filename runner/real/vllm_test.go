package real

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/containers"
	"assay/runner"
	"assay/runner/record"
)

// vLLM is vLLM on the CPU with a model of two layers, as scripts/setup-heavy leaves them in the folder that ASSAY_VLLM names.
func vLLM(t *testing.T) *engine {
	t.Helper()
	dir := os.Getenv("ASSAY_VLLM")
	if dir == "" {
		t.Skip("ASSAY_VLLM names no folder with vLLM: `make test-heavy` gets it (6 GB) and runs this test")
	}
	sweepShm(t)
	slow := `{"num_hidden_layers": 24}` // with fewer, and both processors, its answers are done before a test can cut them off
	head := fmt.Sprintf(`model: {name: tiny, path: %q}
server: {engine: vllm, runtime: process, command: [%q, serve], args: [--load-format, dummy, --enforce-eager, --dtype, float32, --max-model-len, "2048", --max-num-seqs, "8", --enable-prompt-tokens-details, --hf-overrides, %q], env: {VLLM_CPU_KVCACHE_SPACE: "1", VLLM_CPU_OMP_THREADS_BIND: "0"}, ready: {timeout: 10m}, endpoint: chat}`,
		filepath.Join(dir, "tiny"), filepath.Join(dir, "venv", "bin", "vllm"), slow)
	return start(t, &engine{kind: "vLLM", head: head, block: 128})
}

// sweepShm removes what a core that was killed leaves in shared memory.
func sweepShm(t *testing.T) {
	const pattern = "/dev/shm/psm_*"
	before, _ := filepath.Glob(pattern) // the pattern is valid
	t.Cleanup(func() {
		after, _ := filepath.Glob(pattern)
		for _, name := range after {
			if !slices.Contains(before, name) {
				_ = os.Remove(name)
			}
		}
	})
}

func TestVLLM(t *testing.T) {
	e := vLLM(t)
	common(t, e)
	t.Run("continuous usage", e.usageIsContinuous)
	t.Run("unknown model", e.unknownModelIsRefused)
	t.Run("crash", e.crashIsAnErrorFrame) // the last one: it leaves no server
}

// usageIsContinuous: vLLM takes every optional field, and each event brings the tokens so far.
func (e *engine) usageIsContinuous(t *testing.T) {
	m := e.run(t, short(40), "protocol: {sweep: {concurrency: 4, requests: 8}}")[0]
	if len(m.Refused) != 0 || m.Client.TokenSource != "usage" {
		t.Errorf("refused %v, tokens from %s", m.Refused, m.Client.TokenSource)
	}
	for _, r := range m.all {
		if r.Session == "probe" {
			continue
		}
		for i, ev := range r.Events {
			if ev.Tokens < 1 || i > 0 && ev.AtUS < r.Events[i-1].AtUS {
				t.Errorf("request %d, event %d: %+v", r.Index, i, ev)
			}
		}
		if eventTokens(r) != 40 {
			t.Errorf("request %d: its events bring %d tokens", r.Index, eventTokens(r))
		}
	}
}

func (e *engine) unknownModelIsRefused(t *testing.T) {
	p := e.plan(t, short(2), "protocol: {sweep: {concurrency: 1, requests: 1}}")
	j := e.job(t, p, p.Points()[0])
	j.Model = "nope"
	m := measure(t, t.Context(), j, func(runner.Progress) {})
	for _, r := range m.all {
		if r.Outcome != record.HTTPStatus || r.Status != 404 || !strings.Contains(r.Error, "nope") {
			t.Errorf("%s %d %q", r.Outcome, r.Status, r.Error)
		}
	}
}

// crashIsAnErrorFrame kills the engine's core under its API server, which then goes on to say [DONE] and to exit with code 0.
func (e *engine) crashIsAnErrorFrame(t *testing.T) {
	p := e.plan(t, short(1900), "protocol: {sweep: {concurrency: 2, requests: 2}}")
	killed := false
	m := measure(t, t.Context(), e.job(t, p, p.Points()[0]), func(now runner.Progress) {
		if !killed && now.InFlight == 2 && now.TPS > 0 {
			killed = true
			e.killCore(t)
		}
	})
	frames := 0
	for _, r := range m.all {
		if r.Session == "probe" {
			continue
		}
		if r.Outcome == record.OK || r.Outcome == record.Censored {
			t.Errorf("request %d: %s after the engine's core was killed", r.Index, r.Outcome)
		}
		if r.Outcome == record.ErrorFrame && r.Status == 200 && r.Error != "" {
			frames++
		}
	}
	if !killed || frames == 0 {
		t.Errorf("killed %v; %d requests ended in an error frame", killed, frames)
	}
	select {
	case exit := <-e.inst.Exited():
		f := containers.ExitFault(e.inst, exit)
		t.Logf("%+v: %v", exit, f)
		if f == nil || f.Code != "server.engine_dead" {
			t.Errorf("the end of the server is no fault: %v", f)
		}
	case <-time.After(2 * time.Minute):
		t.Error("the server did not end with its core")
	}
}

// killCore ends the processes of the server's group that call themselves the engine's core.
func (e *engine) killCore(t *testing.T) {
	group := strings.TrimPrefix(e.inst.Identity().Name, "pid ")
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Error(err)
		return
	}
	killed := 0
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		who, rest, _ := strings.Cut(string(b), ") ")
		fields := strings.Fields(rest)
		if !strings.Contains(who, "(VLLM::Engine") || len(fields) < 3 || fields[2] != group {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	if killed != 1 {
		t.Errorf("%d cores were killed", killed)
	}
}
