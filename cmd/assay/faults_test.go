package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestBadPlans: each is refused before anything is started, with the place, the reason and the exit code of the contract.
func TestBadPlans(t *testing.T) {
	dockerPlan := strings.Replace(simPlan(""), "engine: sim, runtime: process", "engine: vllm, runtime: docker, image: 'vllm/vllm-openai:latest'", 1)
	cases := []struct {
		name, plan string
		want       []string
	}{
		{"unknown key", strings.Replace(simPlan(""), "concurrency", "concurency", 1), []string{"concurency", "concurrency", "line 7"}},
		{"wrong type", strings.Replace(simPlan(""), "max_tokens: 16", "max_tokens: many", 1), []string{"max_tokens", "line 6"}},
		{"missing digest", dockerPlan, []string{"digest", "plan pin"}},
		{"not UTF-8", "name: \xff\xfe\n", []string{"UTF-8"}},
		{"too large", simPlan("") + "# " + strings.Repeat("x", 1<<20), []string{"1 MiB"}},
		{"empty", "", []string{"empty"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := newProgram(t)
			r := p.must(exitUsage, "run", writePlan(t, c.plan))
			for _, want := range c.want {
				if !strings.Contains(r.stderr, want) {
					t.Errorf("stderr does not say %q:\n%s", want, r.stderr)
				}
			}
			if r.stdout != "" {
				t.Errorf("stdout: %s", r.stdout)
			}
		})
	}
}

// TestServerFaults: a server that cannot be measured ends the run with the layer's exit code, a clear error, and nothing left.
func TestServerFaults(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	port := busy.Addr().(*net.TCPAddr).Port
	cases := []struct {
		name, more string
		sets       []string
		want       []string
	}{
		{"exits at start", `, args: ["--exit-after", "50ms", "--exit-code", "7", "--ready-after", "1h"]`, nil, []string{"server.exited", "7"}},
		{"never ready", `, args: ["--ready-after", "1h"]`, []string{"server.ready.timeout=6s"}, []string{"server.not_ready", "503"}},
		{"bad flag", `, args: ["--no-such-flag"]`, nil, []string{"server.bad_argument", "--no-such-flag"}},
		{"port in use", fmt.Sprintf(", port: %d", port), []string{"checks.ports=ignore"}, []string{"server.port_in_use", fmt.Sprint(port)}},
		{"no such program", `, command: ["/no/such/program"]`, nil, []string{"/no/such/program"}},
	}
	t.Run("port in use, seen before", func(t *testing.T) {
		p := newProgram(t)
		if r := p.must(exitPreflight, "check", writePlan(t, simPlan(fmt.Sprintf(", port: %d", port)))); !strings.Contains(r.stdout, fmt.Sprintf("Something listens on port %d already: %s", port, filepath.Base(os.Args[0])+" (pid "+strconv.Itoa(os.Getpid())+").")) {
			t.Errorf("%s", r.stdout)
		}
	})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := newProgram(t)
			args := []string{"run", writePlan(t, simPlan(c.more))}
			for _, s := range c.sets {
				args = append(args, "--set", s)
			}
			r := p.must(exitInfra, args...)
			for _, want := range c.want {
				if !strings.Contains(r.stdout+r.stderr, want) {
					t.Errorf("it does not say %q:\n%s\n%s", want, r.stdout, r.stderr)
				}
			}
		})
	}
}

func TestServerThatAnswers404(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	p := newProgram(t)
	r := p.must(exitInfra, "bench", srv.URL, "--concurrency", "1", "--duration", "1s")
	if out := r.stdout + r.stderr; !strings.Contains(out, "404") {
		t.Errorf("it does not say 404:\n%s", out)
	}
}

func TestServerThatDiesWhileMeasured(t *testing.T) {
	p := newProgram(t)
	cmd := p.command(t.Context(), "run", writePlan(t, simPlan("")), "--set", "protocol.sweep.duration=2m", "--json")
	var out bytes.Buffer
	cmd.Stdout = &out
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines, asked := bufio.NewScanner(stderr), false; lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if !asked && strings.Contains(lines.Text(), "in flight") {
			p.endServer() // with code 0
			asked = true
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInfra {
		t.Fatalf("exit %d:\n%s", code, said.String())
	}
	doc := ran{stdout: out.String(), stderr: said.String()}.result(t)
	if doc.Run.Error == nil || doc.Run.Error.Code != "server.exited" {
		t.Fatalf("error: %v", doc.Run.Error)
	}
	if len(doc.Points) != 2 || doc.Points[0].State != "failed" || doc.Points[1].State != "skipped" {
		t.Errorf("points: %+v", doc.Points)
	}
}

// endServer asks the simulated engine of a run to end.
func (p testProgram) endServer() {
	p.t.Helper()
	for _, process := range marked(p.data) {
		id, command, _ := strings.Cut(process, " ")
		pid, err := strconv.Atoi(id)
		if err == nil && strings.HasPrefix(command, p.bin+" sim ") {
			err = syscall.Kill(pid, syscall.SIGTERM)
		}
		if err != nil {
			p.t.Errorf("end %s: %v", process, err)
		}
	}
}

func TestPreflightRefuses(t *testing.T) {
	p := newProgram(t)
	r := p.must(exitPreflight, "run", writePlan(t, simPlan("")+"checks: {gpu_count: 64}\n"))
	if !strings.Contains(r.stdout+r.stderr, "gpu_count") {
		t.Errorf("it does not name the check:\n%s", r.stdout+r.stderr)
	}
	p.must(exitPreflight, "check", writePlan(t, simPlan("")+"checks: {gpu_count: 64}\n"))
}

func TestReadOnlyData(t *testing.T) {
	p := newProgram(t)
	p.data = readOnly(t)
	r := p.must(exitInfra, "run", writePlan(t, simPlan("")))
	if !strings.Contains(r.stderr, "--data") {
		t.Errorf("it does not say what to do:\n%s", r.stderr)
	}
}

// readOnly gives a folder that cannot be written: by its mode, or for root by a read-only mount.
func readOnly(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if os.Geteuid() != 0 {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_RDONLY, "size=64k"); err != nil {
		t.Skipf("a read-only mount cannot be made here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// TestDiskFull: the disk fills while a run writes; the run ends with a clear error and the machine is clean.
func TestDiskFull(t *testing.T) {
	for _, size := range []string{"64k", "250k", "400k"} {
		t.Run(size, func(t *testing.T) {
			p := newProgram(t)
			p.data = t.TempDir()
			if err := syscall.Mount("tmpfs", p.data, "tmpfs", 0, "size="+size); err != nil {
				t.Skipf("a small file system cannot be mounted here: %v", err)
			}
			t.Cleanup(func() { syscall.Unmount(p.data, syscall.MNT_DETACH) })
			r := p.run("run", writePlan(t, simPlan("")), "--set", "protocol.sweep.concurrency=64")
			if r.code != exitInfra {
				t.Errorf("exit %d, want %d\n%s\n%s", r.code, exitInfra, r.stdout, r.stderr)
			}
			if out := r.stdout + r.stderr; !strings.Contains(out, "space") {
				t.Errorf("it does not speak of space:\n%s", out)
			}
			p.nothingLeft()
		})
	}
}

func TestUsage(t *testing.T) {
	p := newProgram(t)
	for _, args := range [][]string{{"run"}, {"nonsense"}, {"run", "no-such-plan.yaml"}, {"bench", "ftp://x"}, {"bench", "http://127.0.0.1:1", "--rate", "5", "--concurrency", "2"},
		{"run", "--no-such-flag"}, {"serve", "--listen", "0.0.0.0:0"}, {"report", "last", "--format", "nonsense"}} {
		r := p.must(exitUsage, args...)
		if !strings.HasPrefix(r.stderr, "assay: ") {
			t.Errorf("assay %v said: %s", args, r.stderr)
		}
	}
}

// TestExitOfPlainErrors: an error that names no layer is about the command line until the command begins, and the machine's then.
func TestExitOfPlainErrors(t *testing.T) {
	plain := errors.New("unplugged")
	if code := (&app{}).exitOf(plain); code != exitUsage {
		t.Errorf("before the command began: exit %d, want %d", code, exitUsage)
	}
	if code := (&app{began: true}).exitOf(plain); code != exitInfra {
		t.Errorf("in the command: exit %d, want %d", code, exitInfra)
	}
}

// TestSocketSparesFiles: a slip in --socket removes nothing.
func TestSocketSparesFiles(t *testing.T) {
	p := newProgram(t)
	file := writePlan(t, simPlan(""))
	p.must(exitInfra, "serve", "--listen", "127.0.0.1:0", "--socket", file)
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

// TestHelpHasExamples: every command explains itself with an example.
func TestHelpHasExamples(t *testing.T) {
	a := app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, getenv: func(string) string { return "" }}
	seen := map[string]bool{}
	for _, c := range a.commands() {
		if c.Example == "" || c.Short == "" {
			t.Errorf("%s has no example", c.Name())
		}
		if seen[c.Name()] {
			t.Errorf("%s is listed twice", c.Name())
		}
		seen[c.Name()] = true
		for _, sub := range c.Commands() {
			if sub.Example == "" || sub.Short == "" {
				t.Errorf("%s %s has no example", c.Name(), sub.Name())
			}
		}
	}
}

// TestExamplesAreValid: the plans that ship are read as they stand.
func TestExamplesAreValid(t *testing.T) {
	names, err := filepath.Glob(root + "/examples/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, name := range names {
		if _, _, err := readPlan(name, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
