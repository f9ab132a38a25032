package main

import (
	"bufio"
	"context"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
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
