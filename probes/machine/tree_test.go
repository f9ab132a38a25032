package machine

import (
	"archive/tar"
	"compress/bzip2"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"assay/probes/host"
	"assay/probes/hosttest"
	"assay/probes/sut"
)

// shared is the folder of public captures that lies beside a checkout of the project.
const shared = "../../../shared/fixtures/system"

// live makes a host of files as a running machine: what is not there is known not to be there.
func live(t *testing.T, files map[string]string) host.Host {
	t.Helper()
	h := hosttest.Tree(t, files)
	h.Live = true
	return h
}

// folder is a public capture that lies as a folder, as a host.
func folder(t *testing.T, name string) host.Host {
	t.Helper()
	dir := filepath.Join(shared, name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no public captures here: %v", err)
	}
	return host.Host{Root: dir}
}

// archive unpacks a public capture, a tar.bz2 with a folder in it, and gives its host.
func archive(t *testing.T, name string) host.Host {
	t.Helper()
	f, err := os.Open(filepath.Join(shared, name))
	if err != nil {
		t.Skipf("no public captures here: %v", err)
	}
	defer f.Close()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	r := tar.NewReader(bzip2.NewReader(f))
	top, made := "", map[string]bool{}
	for {
		hdr, err := r.Next()
		if errors.Is(err, io.EOF) {
			return host.Host{Root: filepath.Join(dir, top)}
		}
		if err != nil {
			t.Fatal(err)
		}
		top, _, _ = strings.Cut(hdr.Name, "/")
		if strings.Contains(hdr.Name, "/node0/memory") || strings.Contains(hdr.Name, "/power/") {
			continue // thousands of links and switches that nothing reads
		}
		if parent := path.Dir(path.Clean(hdr.Name)); !made[parent] {
			if made[parent] = true; root.MkdirAll(parent, 0o755) != nil {
				t.Fatalf("%s cannot be made", parent)
			}
		}
		if err := unpack(root, hdr, r); err != nil {
			t.Fatal(err)
		}
	}
}

func unpack(root *os.Root, hdr *tar.Header, r io.Reader) error {
	switch hdr.Typeflag {
	case tar.TypeSymlink:
		return root.Symlink(hdr.Linkname, path.Clean(hdr.Name))
	case tar.TypeReg:
		b, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		return root.WriteFile(path.Clean(hdr.Name), b, 0o644)
	}
	return nil
}

// expected gives what is known of a public capture.
func expected(t *testing.T, name string) map[string]any {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(shared, "../EXPECTED.json"))
	if err != nil {
		t.Skipf("no public captures here: %v", err)
	}
	var all map[string]map[string]any
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	if all[name] == nil {
		t.Fatalf("EXPECTED.json does not know %s", name)
	}
	return all[name]
}

func probeCPU(t *testing.T, h host.Host) sut.CPU {
	t.Helper()
	var s sut.SUT
	if err := ProbeCPU(t.Context(), h, &s); err != nil {
		t.Fatal(err)
	}
	return s.CPU
}

func probeMemory(t *testing.T, h host.Host) sut.Memory {
	t.Helper()
	var s sut.SUT
	if err := ProbeMemory(t.Context(), h, &s); err != nil {
		t.Fatal(err)
	}
	return s.Memory
}

func probeSystem(t *testing.T, h host.Host) sut.System {
	t.Helper()
	var s sut.SUT
	if err := ProbeSystem(t.Context(), h, &s); err != nil {
		t.Fatal(err)
	}
	return s.System
}

// box is processors as the kernel shows them: the CPUs of a core are numbered as most firmware does, first one of each core, then the others.
type box struct {
	sockets, cores, threads int
	model                   string // of every CPU, in /proc/cpuinfo
	cpuCores                int    // "cpu cores" in /proc/cpuinfo, when not cores
	coreIDs                 bool   // core_id runs on over the sockets; else it begins anew in each
	siblings                bool   // core_siblings holds only the CPUs of the core, as on POWER
	pkg                     string // physical_package_id of every CPU, when not its socket
}

// files writes the files of a box.
func (b box) files() map[string]string {
	files := map[string]string{}
	all := b.sockets * b.cores
	var info strings.Builder
	for n := range all * b.threads {
		core := n % all
		socket := core / b.cores
		dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/", n)
		var list []int
		for k := range b.threads {
			list = append(list, core+k*all)
		}
		files[dir+"core_cpus_list"], files[dir+"thread_siblings_list"] = cpuList(list), cpuList(list)
		files[dir+"core_siblings_list"] = fmt.Sprintf("0-%d", all*b.threads-1)
		if b.siblings {
			files[dir+"core_siblings_list"] = cpuList(list)
		}
		files[dir+"core_id"] = fmt.Sprint(core % b.cores)
		if b.coreIDs {
			files[dir+"core_id"] = fmt.Sprint(core)
		}
		files[dir+"physical_package_id"] = fmt.Sprint(socket)
		if b.pkg != "" {
			files[dir+"physical_package_id"] = b.pkg
		}
		cores := b.cores
		if b.cpuCores > 0 {
			cores = b.cpuCores
		}
		fmt.Fprintf(&info, "processor\t: %d\nvendor_id\t: GenuineIntel\nmodel name\t: %s\nphysical id\t: %d\nsiblings\t: %d\ncpu cores\t: %d\n\n", n, b.model, socket, b.cores*b.threads, cores)
	}
	files["proc/cpuinfo"] = info.String()
	files["sys/devices/system/cpu/online"] = fmt.Sprintf("0-%d", all*b.threads-1)
	return files
}

// counts is what a box must be read as.
type counts struct{ sockets, coresPerSocket, threadsPerCore, cores, threads int }

func countsOf(c sut.CPU) counts {
	return counts{c.Sockets.Value, c.CoresPerSocket.Value, c.ThreadsPerCore.Value, c.Cores.Value, c.Threads.Value}
}

// link makes a symbolic link in a host.
func link(t *testing.T, h host.Host, name, target string) {
	t.Helper()
	full := filepath.Join(h.Root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.Symlink(target, full)); err != nil {
		t.Fatal(err)
	}
}
