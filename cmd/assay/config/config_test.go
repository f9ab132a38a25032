package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/agent/allow"
	"assay/fault"
)

func TestRead(t *testing.T) {
	half := allow.Default()
	half.Mounts, half.HostNetwork, half.Images = []string{"/models"}, true, []string{}
	for _, c := range []struct {
		name, text string
		mode       os.FileMode
		want       allow.List
		code, says string
	}{
		{"empty", "", 0o640, allow.Default(), "", ""},
		{"some keys", "allow:\n  mounts: [/models]\n  images: []\n  host_network: true\n", 0o644, half, "", ""},
		{"a key that is none", "allow:\n  mount: [/models]\n", 0o644, allow.List{}, "plan.config_invalid", "[2:3]"},
		{"a relative path", "allow: {writable_mounts: [cache]}", 0o644, allow.List{}, "plan.config_invalid", "allow.writable_mounts"},
		{"a runtime that is none", "allow: {runtimes: [podman]}", 0o644, allow.List{}, "plan.config_invalid", "allow.runtimes"},
		{"an image that is none", "allow: {images: ['a*b']}", 0o644, allow.List{}, "plan.config_invalid", "allow.images"},
		{"an address", "allow: {endpoints: ['http://x']}", 0o644, allow.List{}, "plan.config_invalid", "host alone"},
		{"writable for all", "", 0o666, allow.List{}, "plan.config_writable", "chmod"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.mode); err != nil {
				t.Fatal(err)
			}
			got, err := Read(path)
			if c.code != "" {
				if f := fault.Of(err, fault.Store); f == nil || f.Code != c.code || !strings.Contains(f.Text+f.Hint, c.says) {
					t.Errorf("%v", err)
				}
				return
			}
			if diff := cmp.Diff(Settings{Path: path, Allow: c.want}, got); err != nil || diff != "" {
				t.Error(err, diff)
			}
		})
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); fault.Of(err, fault.Store).Code != "plan.config_unreadable" {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestExample: the installed file says the default, and what it offers as comments is right too.
func TestExample(t *testing.T) {
	const example = "../../../systemd/config.yaml"
	b, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(example)
	if diff := cmp.Diff(allow.Default(), got.Allow); err != nil || diff != "" {
		t.Error(err, diff)
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, regexp.MustCompile(`(?m)^  #([a-z])`).ReplaceAll(b, []byte("  $1")), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err = Read(path); err != nil || !got.Allow.HostNetwork || len(got.Allow.Commands) == 0 {
		t.Errorf("%+v, %v", got.Allow, err)
	}
}

// TestClosed: the configuration's own folder, each place that is used, and where the daemon's user has sockets and credentials, with what it is.
func TestClosed(t *testing.T) {
	env := map[string]string{"HOME": "/srv/bench", "DOCKER_CONFIG": "/srv/login", "REGISTRY_AUTH_FILE": "/srv/auth.json", "XDG_RUNTIME_DIR": "/srv/run", "XDG_CONFIG_HOME": "/srv/conf"}
	got := map[string]string{}
	for _, p := range Closed(Used{Config: "/etc/x.yaml", Socket: "/run/assay.sock"}, func(name string) string { return env[name] }) {
		got[p.Path] = p.Is
	}
	const config, login, socket, data = "the configuration of the daemon", "the credentials of registries", "a socket of a container engine", "what a container engine keeps"
	want := map[string]string{
		"/etc/assay": config, "/etc/x.yaml": config, "/run/assay.sock": "the socket by which the owner speaks to the daemon",
		"/srv/bench/.docker": login, "/srv/bench/.config/containers": login, "/srv/bench/.local/share/containers": data, "/srv/bench/.local/share/docker": data,
		"/srv/login": login, "/srv/auth.json": login, "/srv/conf/containers": login, "/srv/run/containers": login,
		"/srv/run/docker.sock": socket, "/srv/run/docker": socket, "/srv/run/podman": socket, "/srv/run/containerd": socket, "/srv/run/buildkit": socket,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := Closed(Used{}, func(string) string { return "" }); len(got) != 1 {
		t.Errorf("without anything: %v", got)
	}
}
