package foreign

import (
	"os"
	"path/filepath"
	"testing"

	"assay/containers"
	"assay/plan"
	"assay/runner"
)

// TestTokenIsForRequests: the server's token is in the environment of a client that makes requests, and not of one that says its version.
func TestTokenIsForRequests(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "tool")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho 0.13.0 token=$"+runner.TokenVariable+".\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := plan.Plan{Client: plan.Client{Kind: "aiperf", Runtime: "process", Command: []string{program}}}
	c, is, err := New(p, "t0p-secret", containers.SpecOptions{Owner: "test-token", Run: "run1", Dir: dir, Getenv: os.Getenv}, containers.DockerPlace{})
	if err != nil || !is {
		t.Fatal(is, err)
	}
	said := func(where string) string {
		b, err := os.ReadFile(filepath.Join(where, "client.log"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if id, err := c.Identify(t.Context()); err != nil || id.Version != "0.13.0" {
		t.Fatalf("%+v, %v", id, err)
	}
	if got := said(filepath.Join(dir, runner.ForeignFolder)); got != "0.13.0 token=.\n" {
		t.Errorf("asked for its version: %q", got)
	}
	point := t.TempDir()
	if err := c.Start(t.Context(), runner.Command{Argv: []string{program}, Len: 1, Dir: point, Token: true}); err != nil {
		t.Fatal(err)
	}
	if got := said(point); got != "0.13.0 token=t0p-secret.\n" {
		t.Errorf("making requests: %q", got)
	}
}
