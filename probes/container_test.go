package probes

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assay/probes/sut"
)

// inContainer is a host of testdata as it looks from inside a container.
func inContainer(t *testing.T) Host {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/hosts/bare-metal-mi300x")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".dockerenv"), "")
	return openCapture(t, dir)
}

// TestField_mlperfnotes: a container's system, disks, programs and limits are marked as its own; the hardware is the host's.
func TestField_mlperfnotes(t *testing.T) {
	s := Read(t.Context(), inContainer(t), Program{})
	const mark = "(of the docker container, not of the host)"
	for name, source := range map[string]string{"distro": s.OS.Distro.Source, "rocm": s.Software.ROCm.Source, "cgroup_cpus": s.OS.Tuning.CgroupCPUs.Source, "files_limit": s.OS.Tuning.FilesLimit.Source} {
		if !strings.HasSuffix(source, mark) {
			t.Errorf("%s is of %s", name, source)
		}
	}
	if len(s.Storage.Filesystems.Items) == 0 {
		t.Error("no file system")
	}
	for _, f := range s.Storage.Filesystems.Items {
		if !strings.HasSuffix(f.Mount.Source, mark) {
			t.Errorf("%s is of %s", f.Mount.Value, f.Mount.Source)
		}
	}
	if strings.Contains(s.CPU.Model.Source+s.OS.Kernel.Source+s.System.Product.Source+s.Memory.Bytes.Source, "container") {
		t.Error("the hardware is called the container's")
	}
	if strings.Contains(s.Network.Summary.Source+s.Software.Docker.Source, "container,") {
		t.Error("the host's network and its engine are called the container's")
	}
	settled := SUT{}
	settled.System.Container = Known("podman", "/run/.containerenv")
	settled.Network.Interfaces.Items = []sut.NIC{{Name: Known("eth0", "/sys/class/net/eth0"), PCI: sut.NA[string]("no device of its own")}}
	settled.Network.Listening, settled.Software.Runc = Known([]int{22}, "/proc/net/tcp"), Known("1.2.5", "runc --version")
	settled.Software.Containerd = Known("2.1", "Docker engine")
	settleContainer(&settled)
	if n, w := settled.Network, settled.Software; !strings.HasSuffix(n.Listening.Source+n.Interfaces.Items[0].Name.Source+w.Runc.Source, "(of the podman container, not of the host)") ||
		strings.Count(n.Listening.Source+n.Interfaces.Items[0].Name.Source+w.Runc.Source+w.Containerd.Source, "podman container") != 3 {
		t.Errorf("%+v %+v", n, w)
	}
	outside := Read(t.Context(), openCapture(t, "testdata/hosts/bare-metal-mi300x"), Program{})
	if strings.Contains(outside.OS.Distro.Source, "container") {
		t.Errorf("outside of a container: %s", outside.OS.Distro.Source)
	}
}

// TestField_mlperfautomations1017: no GPU is named by its index.
func TestField_mlperfautomations1017(t *testing.T) {
	s := Read(t.Context(), openCapture(t, "testdata/hosts/bare-metal-mi300x"), Program{})
	for i, a := range s.Accelerators.Items {
		if !a.Name.IsKnown() || regexp.MustCompile(`^\d*$`).MatchString(a.Name.Value) {
			t.Errorf("GPU %d: %+v", i, a.Name)
		}
	}
	if len(s.Accelerators.Items) == 0 || s.CPU.MaxMHz.Value != 3800 || len(s.CPU.Caches.Items) != 4 {
		t.Errorf("%d GPUs, %+v, %+v", len(s.Accelerators.Items), s.CPU.MaxMHz, s.CPU.Caches)
	}
}
