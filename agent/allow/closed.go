package allow

import (
	"path/filepath"
	"slices"
	"strings"
)

// Place is a file or folder that no plan from the network may name, nor anything in it, nor what holds it.
type Place struct {
	Path string // a part of it may be "*": /home/*/.docker
	Is   string // "the container engine's socket"
}

// closed says why a path is nobody's, "" when it is not: what it is, lies in or holds. The path is one without links.
func (c *check) closed(real string) string {
	if real == "/" {
		return "is the whole disk"
	}
	for _, p := range slices.Concat(c.machine.Closed, everywhere()) {
		path := p.Path
		if !strings.Contains(path, "*") {
			if at, err := resolve(c.machine.Resolve, filepath.Clean(path)); err == nil && filepath.IsAbs(path) {
				path = at
			}
		}
		if how := relation(path, real); how != "" {
			return how + " " + p.Is + " (" + p.Path + ")"
		}
	}
	for part := range strings.SplitSeq(real, "/") {
		if slices.Contains([]string{".docker", ".ssh", ".gnupg", ".aws", ".kube", ".netrc"}, part) {
			return "lies in " + part + ", where people keep credentials"
		}
	}
	return ""
}

// relation says what a path is to a closed one: "is", "lies in", "holds", or "" when they have nothing in common.
func relation(closed, path string) string {
	a, b := strings.Split(closed, "/"), strings.Split(path, "/")
	for i := range min(len(a), len(b)) {
		if a[i] != "*" && a[i] != b[i] {
			return ""
		}
	}
	switch {
	case len(a) == len(b):
		return "is"
	case len(a) < len(b):
		return "lies in"
	}
	return "holds"
}

// everywhere are the closed places of every machine, whether they are there or not: what is not may come while a container runs.
func everywhere() []Place {
	var all []Place
	add := func(is string, paths ...string) {
		for _, path := range paths {
			all = append(all, Place{path, is})
			if rest, ok := strings.CutPrefix(path, "/run/"); ok {
				all = append(all, Place{"/var/run/" + rest, is})
			}
			if rest, ok := strings.CutPrefix(path, "/home/*/"); ok {
				all = append(all, Place{"/root/" + rest, is})
			}
		}
	}
	add("a socket of a container engine", "/run/docker.sock", "/run/docker", "/run/podman", "/run/containerd", "/run/crio", "/run/cri-dockerd.sock",
		"/run/dockershim.sock", "/run/buildkit", "/run/k3s", "/run/user/*/docker.sock", "/run/user/*/docker", "/run/user/*/podman", "/run/user/*/containerd",
		"/run/user/*/buildkit")
	add("what a container engine keeps", "/var/lib/docker", "/var/lib/containers", "/var/lib/containerd", "/home/*/.local/share/docker", "/home/*/.local/share/containers")
	add("the credentials of registries", "/home/*/.docker", "/home/*/.dockercfg", "/home/*/.config/containers", "/run/containers", "/run/user/*/containers", "/var/lib/kubelet")
	add("the settings and keys of a container engine", "/etc/docker", "/etc/containers", "/etc/crio")
	add("the passwords of this machine's users", "/etc/shadow", "/etc/gshadow")
	add("a socket by which the system is ruled", "/run/systemd", "/run/dbus", "/run/user/*/systemd", "/run/user/*/bus")
	add("the kernel's view of everything that runs", "/proc", "/sys")
	add("the memory of the machine", "/dev/mem", "/dev/kmem", "/dev/port")
	return all
}
