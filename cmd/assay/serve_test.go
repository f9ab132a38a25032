package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/result"
)

// runningDaemon is `assay serve` as a process.
type runningDaemon struct {
	testProgram
	cmd  *exec.Cmd
	base string // http://127.0.0.1:port
	log  *os.File
}

func (p testProgram) serve(args ...string) *runningDaemon {
	p.t.Helper()
	d := &runningDaemon{testProgram: p, cmd: p.command(context.Background(), append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)}
	var err error
	if d.log, err = os.Create(filepath.Join(p.t.TempDir(), "serve.log")); err != nil {
		p.t.Fatal(err)
	}
	d.cmd.Stderr = d.log
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { d.stop(syscall.SIGTERM) })
	line, err := bufio.NewReader(out).ReadString('\n')
	base, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		p.t.Fatalf("serve said %q, %v\n%s", line, err, d.said())
	}
	d.base = base
	return d
}

// stop sends a signal and waits for the end; it gives the exit code.
func (d *runningDaemon) stop(sig os.Signal) int {
	if d.cmd.ProcessState == nil {
		_ = d.cmd.Process.Signal(sig)
		_ = d.cmd.Wait()
	}
	return d.cmd.ProcessState.ExitCode()
}

func (d *runningDaemon) said() string {
	b, _ := os.ReadFile(d.log.Name())
	return string(b)
}

// call makes an API request that has to answer with status, and decodes the answer.
func (d *runningDaemon) call(method, path, body string, status int, into any) []byte {
	d.t.Helper()
	resp, b := d.send(method, path, body)
	if resp.StatusCode != status {
		d.t.Fatalf("%s %s: %s, want %d\n%s", method, path, resp.Status, status, b)
	}
	if into != nil {
		decodeJSON(d.t, string(b), into)
	}
	return b
}

// send makes an API request, and reads the whole answer.
func (d *runningDaemon) send(method, path, body string) (resp *http.Response, answer []byte) {
	d.t.Helper()
	req, err := http.NewRequest(method, d.base+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	if resp, err = http.DefaultClient.Do(req); err != nil {
		d.t.Fatalf("%s %s: %v\n%s", method, path, err, d.said())
	}
	defer resp.Body.Close()
	if answer, err = io.ReadAll(resp.Body); err != nil {
		d.t.Fatal(err)
	}
	return resp, answer
}

func (d *runningDaemon) submit(plan string) string {
	d.t.Helper()
	var run runView
	d.call(http.MethodPost, "/api/v1/runs", plan, http.StatusCreated, &run)
	return run.ID
}

// follow reads a run's event stream until wanted says enough, and gives what came.
func (d *runningDaemon) follow(id string, enough func(result.Event) bool) []result.Event {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.base+"/api/v1/runs/"+id+"/events", nil)
	if err != nil {
		d.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	var events []result.Event
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e result.Event
		decodeJSON(d.t, data, &e)
		if events = append(events, e); enough(e) {
			return events
		}
	}
	d.t.Fatalf("the stream of run %s ended early after %d events: %v\n%s", id, len(events), lines.Err(), d.said())
	return nil
}

func ended(e result.Event) bool { return e.Kind == result.RunEnded }

func TestDaemonExecutesAQueuedPlan(t *testing.T) {
	d := newProgram(t).serve()
	id := d.submit(simPlan(""))
	kinds := map[string]int{}
	for _, e := range d.follow(id, ended) {
		kinds[e.Kind]++
	}
	for _, kind := range []string{result.RunStarted, result.PhaseStarted, result.Progressed, result.PointEnded} {
		if kinds[kind] == 0 {
			t.Errorf("no event %s in %v", kind, kinds)
		}
	}
	raw := d.call(http.MethodGet, "/api/v1/runs/"+id+"/result", "", http.StatusOK, nil)
	stored, err := os.ReadFile(filepath.Join(d.data, "runs", id, result.FileName))
	if err != nil || string(stored) != string(raw) {
		t.Errorf("the API's result differs from the file: %v", err)
	}
	if html := d.call(http.MethodGet, "/api/v1/runs/"+id+"/report?format=html", "", http.StatusOK, nil); !strings.Contains(string(html), "<svg") {
		t.Error("the report has no plot")
	}
	d.call(http.MethodGet, "/healthz", "", http.StatusOK, nil)
	if m := d.call(http.MethodGet, "/metrics", "", http.StatusOK, nil); !strings.Contains(string(m), "assay_") {
		t.Error("no metrics of our own")
	}
	if code := d.stop(syscall.SIGTERM); code != 0 {
		t.Errorf("SIGTERM: exit %d\n%s", code, d.said())
	}
}

func TestRunIsHandedToTheDaemon(t *testing.T) {
	p := newProgram(t)
	d := p.serve()
	r := p.must(exitValid, "run", writePlan(t, simPlan("")), "--json")
	doc := r.result(t)
	var run runView
	d.call(http.MethodGet, "/api/v1/runs/"+doc.Run.ID, "", http.StatusOK, &run)
	if run.State != result.Done || !strings.Contains(r.stderr, "handed to the daemon") {
		t.Errorf("run %+v\n%s", run, r.stderr)
	}
	if out := p.must(exitValid, "status").stdout; !strings.Contains(out, "daemon") {
		t.Errorf("status: %s", out)
	}
	p.must(exitInfra, "serve", "--listen", "127.0.0.1:0")
}

// longPlan measures two points; the second lasts long enough to be interrupted.
func longPlan() string {
	return strings.Replace(simPlan(""), "concurrency: [1, 4], duration: 1s", "concurrency: [1, 4], duration: 5s", 1)
}

// endlessPlan measures for longer than a test takes.
func endlessPlan() string {
	return strings.Replace(simPlan(""), "duration: 1s", "duration: 10m", 1)
}

// interruptInSecondPoint submits a plan and ends the daemon while its second point is measured.
func interruptInSecondPoint(t *testing.T, d *runningDaemon, sig os.Signal) string {
	t.Helper()
	id := d.submit(longPlan())
	d.follow(id, func(e result.Event) bool { return e.Kind == result.Progressed && e.Point == "c4" })
	d.stop(sig)
	return id
}

func TestStoppedDaemonResumesAtTheNextPoint(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			p := newProgram(t)
			id := interruptInSecondPoint(t, p.serve(), sig)
			if left := marked(p.data); sig == syscall.SIGKILL && len(left) == 0 {
				t.Error("the killed daemon left no server behind: this test proves nothing")
			}
			d := p.serve()
			var run runView
			d.call(http.MethodGet, "/api/v1/runs/"+id, "", http.StatusOK, &run)
			if run.State != result.Interrupted {
				t.Fatalf("run is %s after the restart", run.State)
			}
			if left := marked(p.data); len(left) != 1 {
				t.Errorf("want the daemon alone, found %v", left)
			}
			before := readDoc(t, d, id)
			if sig == syscall.SIGKILL {
				p.must(exitValid, "run", "--resume", id) // handed to the daemon, and followed
			} else {
				d.call(http.MethodPost, "/api/v1/runs/"+id+"/resume", "", http.StatusAccepted, nil)
				d.follow(id, ended)
			}
			after := readDoc(t, d, id)
			if after.Run.State != result.Done || len(after.Points) != 2 {
				t.Fatalf("resumed run is %s with %d points: %v", after.Run.State, len(after.Points), after.Run.Error)
			}
			if before.Points[0].Recording.SHA256 != after.Points[0].Recording.SHA256 {
				t.Error("the first point was measured again")
			}
			d.stop(syscall.SIGTERM)
			p.must(exitValid, "verify", filepath.Join(p.data, "runs", id, result.ArchiveName))
		})
	}
}

func readDoc(t testing.TB, d *runningDaemon, id string) result.Result {
	t.Helper()
	doc, err := result.Decode(d.call(http.MethodGet, "/api/v1/runs/"+id+"/result", "", http.StatusOK, nil))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestInterruptedRunResumesWithoutDaemon(t *testing.T) {
	p := newProgram(t)
	id := interruptInSecondPoint(t, p.serve(), syscall.SIGKILL)
	doc := p.must(exitValid, "run", "--resume", id, "--json").result(t)
	if doc.Run.ID != id || len(doc.Points) != 2 {
		t.Errorf("resumed run %s has %d points", doc.Run.ID, len(doc.Points))
	}
}

func TestSignalsStopCleanly(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			stopsCleanly(t, sig, writePlan(t, longPlan()), "--set", "protocol.sweep.duration=60s")
		})
	}
}

// stopsCleanly interrupts a run while it measures: the code of an interrupted run, nothing left running, a run that can be resumed.
func stopsCleanly(t *testing.T, sig os.Signal, plan ...string) {
	t.Helper()
	p := newProgram(t)
	cmd := p.command(t.Context(), append([]string{"run"}, plan...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	var said strings.Builder
	for asked := false; lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if !asked && strings.Contains(lines.Text(), "in flight") {
			asked = cmd.Process.Signal(sig) == nil // once: a second signal ends it at once
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit %d, want %d", code, exitInterrupted)
	}
	if text := said.String(); !strings.Contains(text, "measure stopped: ") || strings.Contains(text, "measure failed") {
		t.Errorf("it says:\n%s", text)
	}
	p.nothingLeft()
	if doc := p.must(exitValid, "show", "last", "--json").result(t); doc.Run.State != result.Interrupted {
		t.Errorf("run is %s", doc.Run.State)
	}
}

// TestClosedPipe: who reads the output may go away; the run goes on to its end.
func TestClosedPipe(t *testing.T) {
	p := newProgram(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := p.command(t.Context(), "run", writePlan(t, simPlan("")))
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if doc := p.must(exitValid, "show", "last", "--json").result(t); doc.Run.State != result.Done {
		t.Errorf("run is %s, exit %d", doc.Run.State, cmd.ProcessState.ExitCode())
	}
}

func TestCancelByAPI(t *testing.T) {
	d := newProgram(t).serve()
	id := d.submit(endlessPlan())
	waiting := d.submit(simPlan(""))
	d.follow(id, func(e result.Event) bool { return e.Kind == result.Progressed && e.Point == "c1" })
	d.call(http.MethodPost, "/api/v1/runs/"+waiting+"/cancel", "", http.StatusAccepted, nil)
	d.call(http.MethodPost, "/api/v1/runs/"+id+"/cancel", "", http.StatusAccepted, nil)
	d.follow(id, ended)
	for _, run := range []string{id, waiting} {
		var v runView
		d.call(http.MethodGet, "/api/v1/runs/"+run, "", http.StatusOK, &v)
		if v.State != result.Canceled {
			t.Errorf("run %s is %s", run, v.State)
		}
		d.call(http.MethodDelete, "/api/v1/runs/"+run, "", http.StatusNoContent, nil)
		if _, err := os.Stat(filepath.Join(d.data, "runs", run)); err == nil {
			t.Errorf("the folder of deleted run %s is still there", run)
		}
	}
}

func TestScheduleQueuesRuns(t *testing.T) {
	p := newProgram(t)
	d := p.serve()
	id := strings.TrimSpace(p.must(exitValid, "schedule", "add", writePlan(t, simPlan("")), "--cron", "@every 1s").stdout)
	p.must(exitUsage, "schedule", "add", writePlan(t, simPlan("")), "--cron", "never")
	deadline := time.Now().Add(limit)
	var page runPage
	for len(page.Items) == 0 && time.Now().Before(deadline) {
		d.call(http.MethodGet, "/api/v1/runs?state=done", "", http.StatusOK, &page)
	}
	if len(page.Items) == 0 {
		t.Fatalf("the schedule made no run\n%s", d.said())
	}
	if out := p.must(exitValid, "schedule", "list").stdout; !strings.Contains(out, id) {
		t.Errorf("schedule list: %s", out)
	}
	p.must(exitValid, "schedule", "rm", id)
	var list struct{ Items []json.RawMessage }
	d.call(http.MethodGet, "/api/v1/schedules", "", http.StatusOK, &list)
	if len(list.Items) != 0 {
		t.Errorf("%d schedules left", len(list.Items))
	}
}

// TestDaemonEndsBeforeTheRun: who follows a run that waits is told that it stays queued. What cannot be done with it is the command line's fault.
func TestDaemonEndsBeforeTheRun(t *testing.T) {
	p := newProgram(t)
	d := p.serve()
	first := d.submit(endlessPlan())
	d.follow(first, func(e result.Event) bool { return e.Kind == result.PhaseStarted && e.Phase == "points" })
	cmd := p.command(t.Context(), "run", writePlan(t, longPlan()))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if !strings.Contains(lines.Text(), "handed to the daemon") {
			continue
		}
		for id, says := range map[string]string{"last": "waits in the queue already", first: "is under way already"} {
			if r := p.must(exitUsage, "run", "--resume", id); !strings.Contains(r.stderr, says) {
				t.Error(r.stderr)
			}
		}
		p.must(exitUsage, "schedule", "rm", "nope")
		p.must(exitUsage, "schedule", "run", "nope")
		if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInfra || !strings.Contains(said.String(), "stays queued") {
		t.Errorf("exit %d:\n%s", code, said.String())
	}
}
