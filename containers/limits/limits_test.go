package limits

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/system"
	"github.com/google/go-cmp/cmp"

	"assay/containers/enginetest"
)

// Capabilities of root, and of root without SYS_RESOURCE and one more.
const (
	everything = "000001ffffffffff"
	less       = "000001fffeffffff"
)

// proc describes a process below a root folder.
func proc(t *testing.T, root string, pid, parent int, comm, caps, uidMap, locked, files string) {
	t.Helper()
	dir := filepath.Join(root, "proc", strconv.Itoa(pid))
	err := os.MkdirAll(dir, 0o755)
	for name, text := range map[string]string{
		"comm": comm + "\n", "uid_map": uidMap, "status": fmt.Sprintf("Name:\t%s\nPPid:\t%d\nCapBnd:\t%s\n", comm, parent, caps),
		"limits": "Limit                     Soft Limit           Hard Limit           Units     \nMax stack size            8388608              unlimited            bytes     \n" +
			"Max open files            1024                 " + files + "               files     \nMax locked memory         8388608              " + locked + "              bytes     \n",
	} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	sys := filepath.Join(root, "proc/sys")
	err = errors.Join(err, os.MkdirAll(filepath.Join(sys, "fs"), 0o755), os.MkdirAll(filepath.Join(sys, "kernel"), 0o755),
		os.WriteFile(filepath.Join(sys, "fs/nr_open"), []byte("1048576\n"), 0o644), os.WriteFile(filepath.Join(sys, "kernel/cap_last_cap"), []byte("40\n"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
}

const whole = "         0          0 4294967295\n"

// TestFindProcess: the powers of an engine are those of the weakest of its processes.
func TestFindProcess(t *testing.T) {
	for _, c := range []struct {
		name   string
		make   func(root string)
		names  string
		raises bool
		locked uint64
	}{
		{"its own containerd", func(r string) {
			proc(t, r, 10, 1, "dockerd", everything, whole, "unlimited", "1048576")
			proc(t, r, 11, 10, "containerd", everything, whole, "65536", "4096")
			proc(t, r, 12, 1, "containerd", less, whole, "1", "1")
		}, "dockerd (pid 10) containerd (pid 11)", true, 65536},
		{"the system's containerd", func(r string) {
			proc(t, r, 10, 1, "dockerd", everything, whole, "unlimited", "1048576")
			proc(t, r, 12, 1, "containerd", less, whole, "65536", "4096")
		}, "dockerd (pid 10) containerd (pid 12)", false, 65536},
		{"rootless: its powers end at its namespace", func(r string) {
			proc(t, r, 10, 9, "dockerd", everything, "0 1000 1\n1 100000 65536\n", "65536", "524288")
		}, "dockerd (pid 10)", false, 65536},
		{"several engines: which is not told", func(r string) {
			proc(t, r, 10, 1, "dockerd", less, whole, "1", "1")
			proc(t, r, 20, 1, "dockerd", less, whole, "1", "1")
		}, "", false, 0},
		{"none", func(string) {}, "", false, 0},
	} {
		root := t.TempDir()
		c.make(root)
		p := findProcess(root, "/no/such/socket")
		if strings.Join(p.Names, " ") != c.names || p.Raises != c.raises || p.Hard["memlock"] != c.locked {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
}

// TestListener: the process that listens at a socket is known by the kernel.
func TestListener(t *testing.T) {
	dir, err := os.MkdirTemp("", "assay") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if pid := listener(filepath.Join(dir, "s")); pid != os.Getpid() {
		t.Errorf("%d", pid)
	}
}

// engineOf is one whose process is as proc describes it.
func engineOf(t *testing.T, caps, uidMap, locked, files string) Engine {
	root := t.TempDir()
	proc(t, root, 10, 1, "dockerd", caps, uidMap, locked, files)
	return Engine{API: "1.41", CPUSet: true, Process: findProcess(root, "")}
}

func TestGive(t *testing.T) {
	strong, weak, unseen := engineOf(t, everything, whole, "65536", "4096"), engineOf(t, less, whole, "65536", "4096"), Engine{API: "1.41", CPUSet: true}
	rootless := engineOf(t, everything, "0 1000 1\n", "65536", "4096")
	rootless.Mapped, rootless.CPUSet = "rootless", false
	limit := func(name string, soft, hard int64) *container.Ulimit {
		return &container.Ulimit{Name: name, Soft: soft, Hard: hard}
	}
	all := map[string]string{"memlock": "unlimited", "nofile": "1048576", "stack": "67108864"}
	for _, c := range []struct {
		name    string
		engine  Engine
		wanted  Wanted
		want    []*container.Ulimit
		remarks int
		code    string
	}{
		{"all of it", strong, Wanted{Ulimits: all}, []*container.Ulimit{limit("memlock", -1, -1), limit("nofile", 1048576, 1048576), limit("stack", 67108864, 67108864)}, 0, ""},
		{"more files than the kernel lets a process have", strong, Wanted{Ulimits: map[string]string{"nofile": "1048577"}}, nil, 0, "preflight.ulimit_unavailable"},
		{"below the hard limit", weak, Wanted{Ulimits: map[string]string{"nofile": "1024:4096"}}, []*container.Ulimit{limit("nofile", 1024, 4096)}, 0, ""},
		{"above the hard limit", weak, Wanted{Ulimits: map[string]string{"nofile": "4097"}}, nil, 0, "preflight.ulimit_unavailable"},
		{"no limit where there is one", weak, Wanted{Ulimits: map[string]string{"memlock": "-1"}}, nil, 0, "preflight.ulimit_unavailable"},
		{"wishes go as far as they can", weak, Wanted{Wishes: all}, []*container.Ulimit{limit("memlock", 65536, 65536), limit("nofile", 4096, 4096), limit("stack", 67108864, 67108864)}, 2, ""},
		{"an engine that is not seen is asked", unseen, Wanted{Ulimits: all}, []*container.Ulimit{limit("memlock", -1, -1), limit("nofile", 1048576, 1048576), limit("stack", 67108864, 67108864)}, 0, ""},
		{"no limit", strong, Wanted{Ulimits: map[string]string{"nofile": "2:1"}}, nil, 0, "plan.ulimit_invalid"},
		{"privileged", strong, Wanted{Privileged: true}, nil, 0, ""},
		{"privileged by one that is not", weak, Wanted{Privileged: true}, nil, 0, "preflight.privileged_unavailable"},
		{"privileged without root", rootless, Wanted{Privileged: true}, nil, 0, "preflight.privileged_unavailable"},
		{"a capability", strong, Wanted{Capabilities: []string{"SYS_RESOURCE"}}, nil, 0, ""},
		{"a capability that it lacks", weak, Wanted{Capabilities: []string{"CAP_SYS_RESOURCE"}}, nil, 0, "preflight.capability_unavailable"},
		{"CPUs", strong, Wanted{CPUSet: true}, nil, 0, ""},
		{"CPUs without the controller", rootless, Wanted{CPUSet: true}, nil, 0, "preflight.cpuset_unavailable"},
		{"several", rootless, Wanted{CPUSet: true, Privileged: true}, nil, 0, "preflight.not_available"},
	} {
		got, err := c.engine.Give("/", c.wanted)
		if c.code != "" {
			enginetest.WantFault(t, err, c.code)
			continue
		}
		if err != nil || len(got.Remarks) != c.remarks {
			t.Errorf("%s: %q, %v", c.name, got.Remarks, err)
		}
		if d := cmp.Diff(c.want, got.Ulimits); d != "" {
			t.Errorf("%s:\n%s", c.name, d)
		}
	}
	_, err := weak.Give("/", Wanted{Ulimits: map[string]string{"memlock": "unlimited"}})
	enginetest.WantFault(t, err, "preflight.ulimit_unavailable", "server.ulimits.memlock asks for unlimited", "at most 65536", "dockerd (pid 10)")
	_, err = weak.Give("/", Wanted{Privileged: true})
	enginetest.WantFault(t, err, "preflight.privileged_unavailable", "the engine itself (dockerd (pid 10)", "lacks capabilities: ", "SYS_RESOURCE")
}

// TestDevices: a folder means the character devices in it; what is no device is refused by its name.
func TestDevices(t *testing.T) {
	e, root := engineOf(t, everything, whole, "unlimited", "4096"), t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(root, "empty"), 0o755), os.WriteFile(filepath.Join(root, "file"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	for name, word := range map[string]string{"/file": "no device file", "/empty": "no character device", "/none": "no such file"} {
		_, err := e.Give(root, Wanted{Devices: []string{name}})
		enginetest.WantFault(t, err, "preflight.device_missing", name, word)
	}
	one, err := e.Give("/", Wanted{Devices: []string{"/dev/null"}})
	if err != nil || !slices.Equal(one.Devices, []string{"/dev/null"}) {
		t.Errorf("%q, %v", one.Devices, err)
	}
	all, err := e.Give("/", Wanted{Devices: []string{"/dev"}})
	if err != nil || !slices.Contains(all.Devices, "/dev/null") || slices.Contains(all.Devices, "/dev/pts") || slices.Contains(all.Devices, "/dev") {
		t.Errorf("%q, %v", all.Devices, err)
	}
}

// TestProfile: engines take a profile's text, not the name of its file.
func TestProfile(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "p.json"), []byte(`{"defaultAction":"SCMP_ACT_ALLOW"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := Engine{}.Give(root, Wanted{SecurityOpt: []string{"seccomp=/p.json", "seccomp=unconfined", "label=disable"}})
	if want := []string{`seccomp={"defaultAction":"SCMP_ACT_ALLOW"}`, "seccomp=unconfined", "label=disable"}; err != nil || !slices.Equal(got.SecurityOpt, want) {
		t.Errorf("%q, %v", got.SecurityOpt, err)
	}
	_, err = Engine{}.Give(root, Wanted{SecurityOpt: []string{"seccomp=/none.json"}})
	enginetest.WantFault(t, err, "preflight.profile_missing", "none.json")
}

// TestFabric: devices of RDMA bring the right to pin memory, and the limit for it.
func TestFabric(t *testing.T) {
	e := engineOf(t, everything, whole, "unlimited", "4096")
	e.Remote = true // its devices are not looked for here
	got, err := e.Give("/", Wanted{Devices: []string{"/dev/infiniband/uverbs0"}, Capabilities: []string{"sys_nice"}})
	if err != nil || strings.Join(got.Capabilities, " ") != "SYS_NICE IPC_LOCK" || len(got.Ulimits) != 1 || got.Ulimits[0].Name != "memlock" || got.Ulimits[0].Hard != -1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		info system.Info
		want Engine
	}{
		{system.Info{CPUSet: true, SecurityOptions: []string{"name=seccomp,profile=default"}}, Engine{CPUSet: true}},
		{system.Info{SecurityOptions: []string{"name=seccomp,profile=builtin", "name=rootless", "name=cgroupns"}}, Engine{Mapped: "rootless"}},
		{system.Info{SecurityOptions: []string{"name=userns"}, CDISpecDirs: []string{"/etc/cdi"}, DiscoveredDevices: []system.DeviceInfo{{Source: "cdi", ID: "nvidia.com/gpu=0"}, {Source: "other", ID: "x"}}},
			Engine{Mapped: "user namespaces", CDIDirs: []string{"/etc/cdi"}, Found: []string{"nvidia.com/gpu=0"}, NVIDIA: true}},
		{system.Info{Runtimes: map[string]system.RuntimeWithStatus{"nvidia": {}}}, Engine{NVIDIA: true}},
	} {
		var got Engine
		got.read(c.info)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Error(d)
		}
	}
}

func TestCDI(t *testing.T) {
	for _, c := range []struct {
		engine Engine
		ok     bool
		why    string
	}{
		{Engine{API: "1.41"}, false, "API 1.41"},
		{Engine{API: "1.47"}, false, "turned off"},
		{Engine{API: "1.50", CDIDirs: []string{"/etc/cdi"}}, true, ""},
		{Engine{API: "1.41", Podman: true}, true, ""},
	} {
		if ok, why := c.engine.CDI(); ok != c.ok || !strings.Contains(why, c.why) {
			t.Errorf("%+v: %v, %q", c.engine, ok, why)
		}
	}
}

func FuzzRows(f *testing.F) {
	f.Add("Max open files            1024                 524288               files     \n")
	f.Add("Max locked memory \nMax nice priority         0\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range rows(text) {
			if r.name == "" {
				t.Error("a limit without a name")
			}
		}
	})
}
