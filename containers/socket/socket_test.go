package socket

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/fault"
)

func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		asked  string
		env    map[string]string
		listen string // the only socket at which something listens
		want   Place
		code   string
	}{
		"the usual one":            {listen: Usual, want: At(Usual)},
		"rootless":                 {env: map[string]string{"XDG_RUNTIME_DIR": "/run/user/7"}, listen: "/run/user/7/docker.sock", want: At("/run/user/7/docker.sock")},
		"podman of the user":       {env: map[string]string{"XDG_RUNTIME_DIR": "/run/user/7"}, listen: "/run/user/7/podman/podman.sock", want: At("/run/user/7/podman/podman.sock")},
		"podman of the system":     {listen: "/run/podman/podman.sock", want: At("/run/podman/podman.sock")},
		"none":                     {env: map[string]string{"XDG_RUNTIME_DIR": "/r"}, want: Place{Host: "unix://" + Usual, Looked: []string{"/r/docker.sock", "/r/podman/podman.sock", "/run/podman/podman.sock"}}},
		"DOCKER_HOST here":         {env: map[string]string{"DOCKER_HOST": "unix:///x/y.sock"}, listen: Usual, want: At("/x/y.sock")},
		"DOCKER_HOST on loopback":  {env: map[string]string{"DOCKER_HOST": "tcp://127.0.0.1:2375"}, want: Place{Host: "tcp://127.0.0.1:2375"}},
		"DOCKER_HOST elsewhere":    {env: map[string]string{"DOCKER_HOST": "tcp://me:secret@10.1.1.1:2376"}, want: Place{Host: "tcp://me:xxxxx@10.1.1.1:2376", Remote: true}, code: "server.docker_remote"},
		"DOCKER_HOST over ssh":     {env: map[string]string{"DOCKER_HOST": "ssh://me@box"}, want: Place{Host: "ssh://me@box", Remote: true}, code: "server.docker_remote"},
		"DOCKER_HOST of Windows":   {env: map[string]string{"DOCKER_HOST": "npipe:////./pipe/docker"}, want: Place{Host: "npipe:////./pipe/docker"}, code: "server.docker_host_invalid"},
		"DOCKER_HOST is relative":  {env: map[string]string{"DOCKER_HOST": "unix://docker.sock"}, want: Place{Host: "unix://docker.sock"}, code: "server.docker_host_invalid"},
		"a context":                {env: map[string]string{"DOCKER_CONTEXT": "gpu-box"}, listen: Usual, want: At(Usual), code: "server.docker_context"},
		"the usual context":        {env: map[string]string{"DOCKER_CONTEXT": "default"}, listen: Usual, want: At(Usual)},
		"a context, and a host":    {env: map[string]string{"DOCKER_CONTEXT": "gpu-box", "DOCKER_HOST": "unix:///x"}, want: At("/x")},
		"asked for elsewhere":      {asked: "tcp://10.1.1.1:2376", env: map[string]string{"DOCKER_HOST": "unix:///x"}, want: Place{Host: "tcp://10.1.1.1:2376", Remote: true}},
		"asked for here":           {asked: "unix:///a.sock", env: map[string]string{"DOCKER_HOST": "ssh://me@box"}, want: At("/a.sock")},
		"asked for over ssh":       {asked: "ssh://me@box", want: Place{Host: "ssh://me@box", Remote: true}, code: "server.docker_remote"},
		"asked for something else": {asked: "://", want: Place{Host: "://"}, code: "server.docker_host_invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Find(Search{Asked: c.asked, Env: func(n string) string { return c.env[n] }, Dial: func(path string) error {
				if path != c.listen {
					return errors.New("nobody")
				}
				return nil
			}})
			code := ""
			if got.Refused != nil {
				f := fault.Of(got.Refused, fault.Server)
				if code = f.Code; f.Hint == "" || strings.Contains(f.Text+f.Hint, "secret") {
					t.Errorf("refused with %+v", f)
				}
			}
			got.Refused = nil
			if d := cmp.Diff(c.want, got); d != "" || code != c.code {
				t.Errorf("code %q, want %q; -want +got:\n%s", code, c.code, d)
			}
		})
	}
}

func TestListens(t *testing.T) {
	dir, err := os.MkdirTemp("", "assay")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s.sock")
	if Listens(path) == nil {
		t.Error("somebody listens at nothing")
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := Listens(path); err != nil {
		t.Error(err)
	}
	if At(path).Path() != path || (Place{Host: "tcp://h"}).Path() != "" {
		t.Error("paths")
	}
}
