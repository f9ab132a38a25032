package router

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// world answers each program with a text, or not at all.
type world struct {
	out, complaint string
	err            error
	hangs          bool
	pythons        []string
	ran            []string
}

func (*world) File(context.Context, string) ([]byte, error) { return nil, errors.New("not to be read") }

func (w *world) Run(ctx context.Context, argv ...string) (out, complaint []byte, err error) {
	w.ran = argv
	if w.hangs {
		<-ctx.Done()
		return nil, nil, ctx.Err()
	}
	return []byte(w.out), []byte(w.complaint), w.err
}

func (w *world) Pythons(context.Context) []string { return w.pythons }

// TestVersion: each kind says its version in its own way, and what does not leaves a reason.
func TestVersion(t *testing.T) {
	python := []string{"/opt/venv/bin/python3"}
	answer := func(packages string) string {
		return `@assay@{"python":"3.12.3","executable":"/opt/venv/bin/python3","packages":{` + packages + `}}`
	}
	for _, c := range []struct {
		kind    string
		argv    string
		world   world
		version string
		unknown string
	}{
		{"nginx", "nginx -p /run", world{complaint: "nginx version: nginx/1.27.5\n"}, "1.27.5", ""},
		{"nginx", "/usr/sbin/nginx", world{complaint: "nginx version: openresty/1.27.1.2\n"}, "openresty/1.27.1.2", ""},
		{"nginx", "nginx", world{complaint: "nginx version: nginx/1.24.0 (Ubuntu)\nbuilt by gcc\n"}, "1.24.0", ""},
		{"nginx", "nginx", world{complaint: "what?\x1b[0m\nnginx version: nginx/1.27.5"}, "", `its program does not tell it: what?`},
		{"nginx", "nginx", world{err: errors.New("nginx is not there")}, "", "nginx is not there"},
		{"nginx", "/opt/start.sh nginx", world{complaint: "nginx version: nginx/1.27.5\n"}, "", "its program is not called nginx: it is not started again to ask"},
		{"nginx", "", world{}, "", "its program is not called nginx"},
		{"haproxy", "haproxy -db", world{out: "HAProxy version 3.0.12-1 2026/09/01 - https://haproxy.org/\nStatus: x\n"}, "3.0.12-1", ""},
		{"haproxy", "haproxy -db", world{out: "HA-Proxy version 1.8.30-1 2019/01/01\n"}, "1.8.30-1", ""},
		{"sglang-router", "sglang-router launch", world{pythons: python, out: answer(`"sglang-router":{"version":"0.3.2"}`)}, "0.3.2", ""},
		{"vllm-router", "vllm-router", world{pythons: python, out: answer(`"vllm-router":{"version":"0.1.17"}`)}, "0.1.17", ""},
		{"vllm-router", "vllm-router", world{pythons: python, out: answer(``)}, "", "its Python (/opt/venv/bin/python3) has no package vllm-router"},
		{"vllm-router", "vllm-router", world{}, "", "it does not run on Python"},
		{"generic", "envoy", world{out: "envoy version 1"}, "", "a router of kind generic is not asked for it"},
	} {
		k, err := Named(c.kind)
		if err != nil {
			t.Fatal(err)
		}
		version, err := k.Version(t.Context(), &c.world, strings.Fields(c.argv))
		if version != c.version || (err == nil) != (c.unknown == "") || err != nil && !strings.Contains(err.Error(), c.unknown) {
			t.Errorf("%s %q: %q, %v", c.kind, c.argv, version, err)
		}
		if slices.Contains(c.world.ran, "/opt/start.sh") {
			t.Error("a script was started")
		}
	}
}

// TestVersionHasAnEnd: a program that hangs costs ten seconds.
func TestVersionHasAnEnd(t *testing.T) {
	for _, kind := range []string{"nginx", "vllm-router"} {
		synctest.Test(t, func(t *testing.T) {
			k, err := Named(kind)
			if err != nil {
				t.Fatal(err)
			}
			version, err := k.Version(t.Context(), &world{hangs: true, pythons: []string{"python3"}}, k.Program)
			if version != "" || err == nil || err.Error() != "it was not told within 10s" {
				t.Errorf("%s: %q, %v", kind, version, err)
			}
		})
	}
}
