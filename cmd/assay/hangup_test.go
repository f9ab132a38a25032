package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/result"
)

// TestHangUp: a closed session ends the program cleanly, and one that was started under nohup goes on.
func TestHangUp(t *testing.T) {
	p := newProgram(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	start := func(script string) (cmd *exec.Cmd, url string) {
		cmd = exec.CommandContext(ctx, "sh", "-c", script, p.bin)
		cmd.Env = p.command(ctx).Env
		out, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Skip("no shell:", err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		at := strings.Index(line, "http://")
		if err != nil || at < 0 {
			t.Fatalf("it says %q: %v", line, err)
		}
		return cmd, strings.TrimSpace(line[at:])
	}
	send := func(cmd *exec.Cmd, s syscall.Signal) {
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	cmd, _ := start(`exec "$0" sim --port 0`)
	send(cmd, syscall.SIGHUP)
	if err := cmd.Wait(); err != nil {
		t.Errorf("a closed session: %v", err)
	}
	cmd, url := start(`trap '' HUP; exec "$0" sim --port 0`)
	send(cmd, syscall.SIGHUP)
	if got := get(t, url+"/v1/models"); !strings.Contains(got, "sim") {
		t.Error("it ended under nohup:", got)
	}
	send(cmd, syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("TERM: %v", err)
	}
}

// TestSecondSignal: a server that no SIGTERM ends is waited for, which is told; the second Ctrl-C kills it, and the run ends in order.
func TestSecondSignal(t *testing.T) {
	p := newProgram(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	stubborn := filepath.Join(t.TempDir(), "stubborn")
	if err := os.WriteFile(stubborn, []byte("#!/bin/sh\ntrap '' TERM\n"+p.bin+" sim \"$@\" &\nwait\nexec sleep 600\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := p.command(ctx, "run", writePlan(t, longPlan()), "--set", "protocol.sweep.duration=60s", "--set", "server.command=["+stubborn+"]", "--set", "server.stop.grace=10m")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	when := []string{"in flight", "waiting up to 10m0s for the server to end; Ctrl-C again kills it"}
	var said strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if len(when) > 0 && strings.Contains(lines.Text(), when[0]) && cmd.Process.Signal(os.Interrupt) == nil {
			when = when[1:]
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || len(when) > 0 {
		t.Fatalf("exit %d:\n%s", code, said.String())
	}
	p.nothingLeft()
	doc := p.must(exitValid, "show", "last", "--json").result(t)
	if len(doc.Stops) != 1 || doc.Stops[0].How != result.StopKilled || doc.Run.State != result.Interrupted {
		t.Errorf("%s: %+v", doc.Run.State, doc.Stops)
	}
}
