package machine

import (
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// innermost names the layer a process here runs in, as systemd-detect-virt does: a container first, then a virtual machine, else "none".
func innermost(container, hypervisor sut.Fact[string]) sut.Fact[string] {
	if container.IsKnown() && container.Value != "none" {
		return container
	}
	return hypervisor
}

// readContainer looks for the marks that container managers leave inside.
func readContainer(h host.Host) sut.Fact[string] {
	for _, look := range []func(host.Host) sut.Fact[string]{namedContainer, fileContainer, cgroupContainer, wsl} {
		if f := look(h); f.IsKnown() {
			return f
		}
	}
	const mark = "/.dockerenv"
	if h.Absent(mark) {
		return sut.Known("none", mark+" does not exist, nor another mark of a container")
	}
	return sut.Unknown[string]("the marks of containers (%s and others) are not in the capture", mark)
}

// namedContainer reads what systemd, as the first process of a container, was told.
func namedContainer(h host.Host) sut.Fact[string] {
	const file = "/run/systemd/container"
	if name, err := h.Text(file); err == nil && name != "" {
		return sut.Known(name, file)
	}
	return sut.Fact[string]{}
}

func fileContainer(h host.Host) sut.Fact[string] {
	for _, c := range []struct{ file, name string }{{"/run/.containerenv", "podman"}, {"/.dockerenv", "docker"}} {
		if _, err := h.Read(c.file); err == nil {
			return sut.Known(c.name, c.file)
		}
	}
	if dir := "/run/secrets/kubernetes.io"; h.IsDir(dir) {
		return sut.Known("container-other", dir)
	}
	return sut.Fact[string]{}
}

// cgroupContainer reads the control group of the first process, which an own namespace hides.
func cgroupContainer(h host.Host) sut.Fact[string] {
	const file = "/proc/1/cgroup"
	groups, _ := h.Text(file)
	return sut.Convert(sut.Known(groups, file), cgroupManager)
}

// cgroupManager names the container manager that made a control group. Only the first process' group counts: managers have groups of their
// own on the host too, but the host's first process lies in none of them.
func cgroupManager(groups string) (string, error) {
	for _, m := range []struct{ mark, name string }{
		{"/docker/", "docker"}, {"/docker-", "docker"}, {"/libpod", "podman"}, {"/kubepods", "container-other"}, {"/lxc/", "lxc"}, {"/lxc.payload", "lxc"},
		{"/machine.slice/machine-", "systemd-nspawn"}, {"cri-containerd", "container-other"},
	} {
		if strings.Contains(groups, m.mark) {
			return m.name, nil
		}
	}
	return "", sut.ErrNoValue
}

// wsl tells Windows' subsystem, which systemd-detect-virt counts as a container.
func wsl(h host.Host) sut.Fact[string] {
	release := host.KernelRelease(h)
	if strings.Contains(release.Value, "WSL") || strings.HasSuffix(release.Value, "-Microsoft") {
		return sut.Known("wsl", release.Source)
	}
	return sut.Fact[string]{}
}
