package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"assay/agent/allow"
	"assay/fault"
	"assay/plan/strict"
)

// Usual is where the configuration lies where nobody says another place.
const Usual = "/etc/assay/config.yaml"

// Settings are what the file holds; what it does not name has its default.
type Settings struct {
	Path  string     `yaml:"-"` // where it was read; "" when there is no file
	Allow allow.List `yaml:"allow"`
}

// Read reads the file at a path, or the usual one where it is there. Whoever may write it may have everything of this machine, so one that
// everybody may write is refused.
func Read(path string) (Settings, error) {
	s := Settings{Path: path, Allow: allow.Default()}
	if path == "" {
		s.Path = Usual
	}
	info, err := os.Stat(s.Path)
	if path == "" && errors.Is(err, fs.ErrNotExist) {
		s.Path = ""
		return s, nil
	}
	var b []byte
	if err == nil {
		b, err = os.ReadFile(s.Path)
	}
	if err != nil {
		return s, fault.New(fault.Plan, "config_unreadable", "check the name and the file's mode", "cannot read the configuration: %w", err)
	}
	if info.Mode().Perm()&0o002 != 0 {
		return s, fault.New(fault.Plan, "config_writable", "chmod o-w "+s.Path, "everybody may write the configuration %s", s.Path)
	}
	const hint = "docs/security.md lists the keys"
	if err := strict.Decode(b, &s); err != nil {
		return s, fault.New(fault.Plan, "config_invalid", hint, "%s: %w", s.Path, err)
	}
	if problem := s.Allow.Problem(); problem != "" {
		return s, fault.New(fault.Plan, "config_invalid", hint, "%s: %s", s.Path, problem)
	}
	return s, nil
}

// Used are the files by which a daemon is started; "" where there is none.
type Used struct{ Config, Tokens, Socket, Credentials string }

// Closed are the places that no plan from the network may name, of those that are used, and those where the daemon's user has the sockets and
// credentials of container engines, as getenv tells.
func Closed(u Used, getenv func(string) string) []allow.Place {
	const config, login = "the configuration of the daemon", "the credentials of registries"
	closed := []allow.Place{{Path: filepath.Dir(Usual), Is: config}}
	add := func(is, path string, below ...string) {
		if abs, err := filepath.Abs(path); path != "" && err == nil {
			closed = append(closed, allow.Place{Path: filepath.Join(append([]string{abs}, below...)...), Is: is})
		}
	}
	add(config, u.Config)
	add("the file of the API's tokens", u.Tokens)
	add("the socket by which the owner speaks to the daemon", u.Socket)
	add("the credentials of the daemon", u.Credentials)
	add(login, getenv("DOCKER_CONFIG"))
	add(login, getenv("REGISTRY_AUTH_FILE"))
	add(login, getenv("XDG_CONFIG_HOME"), "containers")
	for _, name := range []string{"docker.sock", "docker", "podman", "containerd", "buildkit"} {
		add("a socket of a container engine", getenv("XDG_RUNTIME_DIR"), name)
	}
	add(login, getenv("XDG_RUNTIME_DIR"), "containers")
	home := getenv("HOME")
	add(login, home, ".docker")
	add(login, home, ".config", "containers")
	add("what a container engine keeps", home, ".local", "share", "containers")
	add("what a container engine keeps", home, ".local", "share", "docker")
	return closed
}
