package socket

import (
	"net"
	"net/url"
	"path"
	"slices"
	"strings"

	"assay/fault"
)

// Usual is where the Docker engine listens.
const Usual = "/var/run/docker.sock"

// Place is where an engine listens, or why none is used.
type Place struct {
	Host    string   // unix:///path or tcp://host:port
	Remote  bool     // on another machine
	Refused error    // a fault: nothing may be asked there
	Looked  []string // other sockets at which none was found
}

// Path is the socket's path, "" of a place over TCP.
func (p Place) Path() string {
	path, _ := strings.CutPrefix(p.Host, "unix://")
	if path == p.Host {
		return ""
	}
	return path
}

// At is the place of a socket.
func At(path string) Place { return Place{Host: "unix://" + path} }

// Search is what decides where an engine is looked for.
type Search struct {
	Asked string                   // --docker-host; "" when nobody asked
	Env   func(name string) string // of the environment
	Dial  func(path string) error  // tells whether something listens at a socket that this user may use
}

// Find finds the engine. A place that was asked for is taken, one on another machine only then: the machine that is probed and measured is
// this one. A context of docker's command line is not guessed at. Without them the usual socket, a rootless engine's and podman's are tried, in this order.
func Find(s Search) Place {
	if s.Asked != "" {
		return named(s.Asked, "--docker-host", true)
	}
	if host := s.Env("DOCKER_HOST"); host != "" {
		return named(host, "DOCKER_HOST", false)
	}
	if name := s.Env("DOCKER_CONTEXT"); name != "" && name != "default" {
		return Place{Host: "unix://" + Usual, Refused: fault.New(fault.Server, "docker_context", "name the engine's address with --docker-host (`docker context inspect "+name+"` tells it), or unset DOCKER_CONTEXT",
			"DOCKER_CONTEXT names the context %q of the docker command line, which is not read here: it may mean an engine on another machine", name)}
	}
	all := candidates(s.Env("XDG_RUNTIME_DIR"))
	for _, p := range all {
		if s.Dial(p) == nil {
			return At(p)
		}
	}
	return Place{Host: "unix://" + Usual, Looked: slices.DeleteFunc(all, func(p string) bool { return p == Usual })}
}

// candidates are the sockets at which an engine of this machine may listen: of the system and of the user's own engines.
func candidates(runtimeDir string) []string {
	all := []string{Usual}
	if path.IsAbs(runtimeDir) {
		all = append(all, path.Join(runtimeDir, "docker.sock"), path.Join(runtimeDir, "podman", "podman.sock"))
	}
	return append(all, "/run/podman/podman.sock")
}

// named is the place of an address; by is who named it.
func named(host, by string, asked bool) Place {
	u, err := url.Parse(host)
	if err != nil {
		return Place{Host: host, Refused: fault.New(fault.Server, "docker_host_invalid", "write unix:///path/of/socket", "%s is no address of a container engine", by)}
	}
	shown := u.Redacted()
	switch {
	case u.Scheme == "unix" && path.IsAbs(u.Path):
		return At(u.Path)
	case u.Scheme == "tcp" && isLoopback(u.Hostname()):
		return Place{Host: host}
	case u.Scheme == "ssh":
		return Place{Host: shown, Remote: true, Refused: fault.New(fault.Server, "docker_remote", "run assay on that machine; or forward its engine's socket and the server's port yourself and name the socket",
			"%s names a container engine on another machine over ssh (%s), and what is measured must run on this one", by, shown)}
	case u.Scheme == "tcp" && asked:
		return Place{Host: "tcp://" + u.Host, Remote: true}
	case u.Scheme == "tcp":
		return Place{Host: shown, Remote: true, Refused: fault.New(fault.Server, "docker_remote", "run assay on that machine, unset "+by+", or say --docker-host "+shown,
			"%s names a container engine on another machine (%s), which is used only when asked for", by, shown)}
	}
	return Place{Host: shown, Refused: fault.New(fault.Server, "docker_host_invalid", "write unix:///path/of/socket", "%s %q is no address of a container engine that is known here", by, shown)}
}

func isLoopback(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }

// Listens tells whether something listens at a socket that this user may use.
func Listens(path string) error {
	c, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	return c.Close()
}
