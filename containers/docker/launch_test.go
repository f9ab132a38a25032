package docker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/containers/enginetest"
	"assay/containers/image"
	"assay/containers/imagetest"
	"assay/containers/instance"
	"assay/containers/instancetest"
	"assay/containers/launch"
	"assay/containers/port"
)

// sleeperSpec is a container that does nothing.
func sleeperSpec(t *testing.T, ref string, change func(*instance.Spec)) instance.Spec {
	t.Helper()
	ports, err := port.Free(1)
	if err != nil {
		t.Fatal(err)
	}
	s := instance.Spec{Owner: instancetest.Owner(t), Run: instancetest.Owner(t), Role: "server", Runtime: "docker", Image: ref, Args: []string{"600"}, Dir: t.TempDir(), Port: 8000, HostPort: ports[0], StopGrace: time.Second}
	if change != nil {
		change(&s)
	}
	return s
}

// launched starts a spec and gives what was recorded of its launch.
func launched(t *testing.T, r Runtime, s instance.Spec) *launch.Record {
	t.Helper()
	s, _ = instancetest.Prepare(t, r, s)
	return instancetest.Start(t, r, s).Identity().Launch
}

// TestLaunch asks a real engine for what a plan may ask for, and reads what it made of it from the engine and from the kernel.
func TestLaunch(t *testing.T) {
	imagetest.NeedDocker(t)
	askForAll(t, imagetest.ProgramImage(t, "sleep"), "private")
}

// TestPodmanLaunch asks podman. The tests' own podman raises no limits, and names a device file by its numbers, which those of the test have of
// others.
func TestPodmanLaunch(t *testing.T) {
	ref := imagetest.ProgramImage(t, "sleep")
	registry, _, _ := strings.Cut(ref, "/")
	t.Setenv("DOCKER_HOST", "unix://"+imagetest.Podman(t, registry))
	askForAll(t, ref, "shareable", "limits", "limits that its kind would like", "devices")
}

// askForAll asks for each thing but for some; usual is what the engine calls an IPC of the container's own.
func askForAll(t *testing.T, ref, usual string, without ...string) {
	t.Helper()
	folder := deviceFolder(t)
	for _, c := range []struct {
		name   string
		change func(*instance.Spec)
		fits   func(launch.Settings) bool
	}{
		{"nothing", nil, func(m launch.Settings) bool { return m.IPC == usual && !m.Privileged && len(m.Devices) == 0 }},
		{"CPUs", func(s *instance.Spec) { s.CPUs = "0" }, func(m launch.Settings) bool { return m.CPUs == "0" }},
		{"a memory node and its CPUs", func(s *instance.Spec) { s.NUMA = "0" }, func(m launch.Settings) bool { return m.MemoryNodes == "0" && m.CPUs != "" }},
		{"limits", func(s *instance.Spec) { s.Rights.Ulimits = map[string]string{"nofile": "512:1024", "core": "0"} },
			func(m launch.Settings) bool { return m.Ulimits["nofile"] == "512:1024" && m.Ulimits["core"] == "0:0" }},
		{"limits that its kind would like", func(s *instance.Spec) { s.Rights.Wishes = instancetest.Preset(t, "vllm").Ulimits }, func(m launch.Settings) bool { return len(m.Ulimits) == 3 }},
		{"a user", func(s *instance.Spec) { s.Rights.User = "1000:1000" }, func(m launch.Settings) bool { return m.User == "1000:1000" }},
		{"memory of the host", func(s *instance.Spec) { s.Rights.IPC, s.ShmBytes = "host", 1<<30 }, func(m launch.Settings) bool { return m.IPC == "host" }},
		{"shared memory", func(s *instance.Spec) { s.ShmBytes = 96 << 20 }, func(m launch.Settings) bool { return m.ShmBytes == 96<<20 }},
		{"capabilities", func(s *instance.Spec) { s.Rights.Capabilities = []string{"CAP_IPC_LOCK", "SYS_PTRACE"} },
			func(m launch.Settings) bool { return strings.Join(m.Capabilities, " ") == "IPC_LOCK SYS_PTRACE" }},
		{"security options", func(s *instance.Spec) { s.Rights.SecurityOpt = []string{"seccomp=unconfined", "label=disable"} },
			func(m launch.Settings) bool {
				return strings.Join(m.SecurityOpt, " ") == "label=disable seccomp=unconfined"
			}},
		{"devices", func(s *instance.Spec) { s.Rights.Devices = []string{"/dev/full", folder} },
			func(m launch.Settings) bool {
				return strings.Join(m.Devices, " ") == "/dev/full "+folder+"/b/null2 "+folder+"/null1"
			}},
		{"mounts", func(s *instance.Spec) {
			s.Mounts = []instance.Mount{{Source: folder, Target: "/a"}, {Source: s.Dir, Target: "/b", Writable: true}}
		},
			func(m launch.Settings) bool {
				read := launch.BindMount{Source: folder, Target: "/a", ReadOnly: true}
				return len(m.BindMounts) == 2 && slices.Contains(m.BindMounts, read) && len(m.Mounts) == 2 && slices.Contains(m.Mounts, read.String())
			}},
		{"ports", func(*instance.Spec) {}, func(m launch.Settings) bool {
			return len(m.PortBindings) == 1 && len(m.Ports) == 1 && m.Ports[0] == m.PortBindings[0].String() && m.PortBindings[0].HostIP == "127.0.0.1" && m.PortBindings[0].HostPort > 0 && m.PortBindings[0].Protocol == "tcp"
		}},
		{"network of the host", func(s *instance.Spec) { s.HostNet = true }, func(m launch.Settings) bool { return m.Network == "host" && len(m.PortBindings)+len(m.Ports) == 0 }},
	} {
		if slices.Contains(without, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			s := sleeperSpec(t, ref, c.change)
			r := launched(t, Here(), s)
			if !c.fits(r.Made) || len(r.Differs) > 0 {
				t.Errorf("made %+v\ndiffers %q", r.Made, r.Differs)
			}
		})
	}
}

// deviceFolder has two character devices, one in a folder of its own, beside what is no device.
func deviceFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "assay-dev") // engines know the host's paths
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	const null = 1<<8 | 3
	err = errors.Join(os.Mkdir(filepath.Join(dir, "b"), 0o755), os.WriteFile(filepath.Join(dir, "text"), nil, 0o644),
		syscall.Mknod(filepath.Join(dir, "null1"), syscall.S_IFCHR|0o666, null), syscall.Mknod(filepath.Join(dir, "b", "null2"), syscall.S_IFCHR|0o666, null))
	if err != nil {
		imagetest.Missing(t, "the right to make device files: %v", err)
	}
	return dir
}

// TestLaunchRefused: what the engine cannot give is named before the image is looked for, and nothing is created.
func TestLaunchRefused(t *testing.T) {
	imagetest.NeedDocker(t)
	const nowhere = "127.0.0.1:1/none@" + digest
	for _, c := range []struct {
		name, code, words string
		change            func(*instance.Spec)
	}{
		{"a limit", "preflight.ulimit_unavailable", "server.ulimits.nofile asks for 9000000000000000000", func(s *instance.Spec) { s.Rights.Ulimits = map[string]string{"nofile": "9000000000000000000"} }},
		{"a CPU", "preflight.cpus_unavailable", "CPU 5000", func(s *instance.Spec) { s.CPUs = "0,5000" }},
		{"a memory node", "preflight.numa_unavailable", "memory node 900", func(s *instance.Spec) { s.NUMA = "900" }},
		{"a device", "preflight.device_missing", "/dev/none", func(s *instance.Spec) { s.Rights.Devices = []string{"/dev/none"} }},
		{"no device", "preflight.device_missing", "it is no device file", func(s *instance.Spec) { s.Rights.Devices = []string{"/etc/passwd"} }},
		{"a profile", "preflight.profile_missing", "/none.json", func(s *instance.Spec) { s.Rights.SecurityOpt = []string{"seccomp=/none.json"} }},
		{"two at once", "preflight.not_available", "/dev/none", func(s *instance.Spec) {
			s.Rights.Devices, s.Rights.Ulimits = []string{"/dev/none"}, map[string]string{"nofile": "9000000000000000000"}
		}},
	} {
		s := sleeperSpec(t, nowhere, c.change)
		_, err := Here().Prepare(t.Context(), s, func(image.Progress) {})
		enginetest.WantFault(t, err, c.code, c.words)
		_, err = Here().Start(t.Context(), s)
		enginetest.WantFault(t, err, c.code, c.words)
		if left := imagetest.ContainersOf(t, s.Owner); left != "" {
			t.Errorf("%s: left behind: %s", c.name, left)
		}
	}
}

// TestPrivileged: an engine that may not everything itself is known before it fails at the start; another one gives it.
func TestPrivileged(t *testing.T) {
	imagetest.NeedDocker(t)
	ref := imagetest.ProgramImage(t, "sleep")
	s := sleeperSpec(t, ref, func(s *instance.Spec) { s.Rights.Privileged = true })
	prepared, err := Here().Prepare(t.Context(), s, func(image.Progress) {})
	if err != nil {
		enginetest.WantFault(t, err, "preflight.privileged_unavailable", "SYS_")
		return
	}
	if r := instancetest.Start(t, Here(), prepared).Identity().Launch; !r.Made.Privileged || len(r.Differs) > 0 {
		t.Errorf("%+v", r)
	}
}

// TestWishes: what only the preset would like is given as far as the engine can, and said.
func TestWishes(t *testing.T) {
	imagetest.NeedDocker(t)
	ref := imagetest.ProgramImage(t, "sleep")
	s, err := Here().Prepare(t.Context(), sleeperSpec(t, ref, func(s *instance.Spec) { s.Rights.Wishes = map[string]string{"nofile": "9000000000000000000"} }), func(image.Progress) {})
	if err != nil || len(s.Remarks) != 1 || !strings.Contains(s.Remarks[0], "nofile") {
		t.Fatalf("%q, %v", s.Remarks, err)
	}
	if r := instancetest.Start(t, Here(), s).Identity().Launch; len(r.Differs) > 0 || r.Made.Ulimits["nofile"] == "" {
		t.Errorf("%+v", r)
	}
}

// TestInspectIsKept: all that the engine says stands in the run's folder, without what nobody may read.
func TestInspectIsKept(t *testing.T) {
	imagetest.NeedDocker(t)
	s := sleeperSpec(t, imagetest.ProgramImage(t, "sleep"), func(s *instance.Spec) {
		s.Env, s.Secrets = map[string]string{"LICENCE": "open sesame", "MODE": "fast"}, []string{"LICENCE"}
	})
	r := launched(t, Here(), s)
	b, err := os.ReadFile(filepath.Join(s.Dir, r.File))
	if err != nil || r.File != "server.inspect.json" {
		t.Fatalf("%s: %v", r.File, err)
	}
	for _, text := range []string{string(b), fmt.Sprintf("%+v", r)} {
		if strings.Contains(text, "sesame") || !strings.Contains(text, "LICENCE") || !strings.Contains(text, "fast") {
			t.Errorf("%s", text)
		}
	}
	if len(r.Differs) > 0 {
		t.Error(r.Differs)
	}
}
