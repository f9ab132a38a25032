package launch

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/go-connections/nat"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"assay/containers/affinity"
	"assay/containers/enginetest"
	"assay/containers/gpu"
	"assay/containers/limits"
)

func TestDifferences(t *testing.T) {
	asked := Settings{Image: "sha256:1", Argv: []string{"serve", "m"}, Env: map[string]string{"A": "1", "B": "2"}, User: "1:1", Network: "host", IPC: "private", ShmBytes: 5,
		Mounts: []string{"/m at /model, read-only"}, CPUs: "0-3", MemoryNodes: "0", Ulimits: map[string]string{"nofile": "1:2"}, Devices: []string{"/dev/kfd", "/dev/dri/renderD128"},
		GPUs: []string{"GPU-1"}, Groups: []string{"109"}, Capabilities: []string{"IPC_LOCK"}, SecurityOpt: []string{"label=disable"}, Ports: []string{"127.0.0.1:1 to 2"}}
	if d := differences(asked, asked); len(d) > 0 {
		t.Errorf("the same differs: %q", d)
	}
	more := asked
	more.Env = map[string]string{"A": "1", "B": "2", "PATH": "/bin"} // of the image
	more.Groups, more.Capabilities = []string{"109", "0"}, []string{"IPC_LOCK", "KILL"}
	if d := differences(asked, more); len(d) > 0 {
		t.Errorf("what an image or an engine brings differs: %q", d)
	}
	if d := differences(Settings{}, asked); len(d) == 0 || slices.ContainsFunc(d, func(s string) bool { return !strings.Contains(s, "was not asked for") }) {
		t.Errorf("%q", d)
	}
	for want, change := range map[string]func(*Settings){
		`mounts: /m at /model, read-only was asked for and is not there`: func(s *Settings) { s.Mounts = []string{"/m at /model"} },
		`mounts: /m at /model was not asked for`:                         func(s *Settings) { s.Mounts = []string{"/m at /model"} },
		`CPUs: "0-3" was asked for, it is "0-1"`:                         func(s *Settings) { s.CPUs = "0-1" },
		`device files: /dev/dri/renderD128 was asked for and is not`:     func(s *Settings) { s.Devices = s.Devices[:1] },
		`GPUs: GPU-2 was not asked for`:                                  func(s *Settings) { s.GPUs = []string{"GPU-1", "GPU-2"} },
		`limit nofile: "1:2" was asked for, it is "1:1"`:                 func(s *Settings) { s.Ulimits = map[string]string{"nofile": "1:1"} },
		`limit nofile: "1:2" was asked for, it is not set`:               func(s *Settings) { s.Ulimits = nil },
		`variable B: "2" was asked for, it is "3"`:                       func(s *Settings) { s.Env = map[string]string{"A": "1", "B": "3"} },
		`arguments: ["serve" "m"] was asked for, it is ["serve" "n"]`:    func(s *Settings) { s.Argv = []string{"serve", "n"} },
		`shared memory in bytes: "5" was asked for, it is "64"`:          func(s *Settings) { s.ShmBytes = 64 },
		`privileged: "false" was asked for, it is "true"`:                func(s *Settings) { s.Privileged = true },
		`ports: 127.0.0.1:1 to 2 was asked for and is not there`:         func(s *Settings) { s.Ports = nil },
		`groups: 109 was asked for and is not there`:                     func(s *Settings) { s.Groups = nil },
	} {
		made := asked
		change(&made)
		if d := differences(asked, made); !slices.ContainsFunc(d, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("%q is not in %q", want, d)
		}
	}
}

// Ports and mounts stand in the record as fields and in words, in one order whoever tells them.
func TestBound(t *testing.T) {
	host := container.HostConfig{Mounts: []mount.Mount{{Type: mount.TypeBind, Source: "/n at x", Target: "/y", ReadOnly: true}, {Type: mount.TypeBind, Source: "/m", Target: "/z"}},
		PortBindings: nat.PortMap{"8000/tcp": {{HostIP: "127.0.0.1", HostPort: "30000"}}, "53/udp": {{HostIP: "127.0.0.1", HostPort: "20000"}}}}
	asked := AskedOf(container.Config{}, host, "", nil)
	want := Settings{
		Ports:        []string{"127.0.0.1:20000 to 53", "127.0.0.1:30000 to 8000"},
		PortBindings: []PortBinding{{HostIP: "127.0.0.1", HostPort: 20000, ContainerPort: 53, Protocol: "udp"}, {HostIP: "127.0.0.1", HostPort: 30000, ContainerPort: 8000, Protocol: "tcp"}},
		Mounts:       []string{"/m at /z", "/n at x at /y, read-only"},
		BindMounts:   []BindMount{{Source: "/m", Target: "/z"}, {Source: "/n at x", Target: "/y", ReadOnly: true}},
	}
	if d := cmp.Diff(want, asked, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
	made := MadeOf(container.InspectResponse{ContainerJSONBase: &container.ContainerJSONBase{HostConfig: &host}, Mounts: []container.MountPoint{{Type: mount.TypeVolume, Source: "/v", Destination: "/v"},
		{Type: mount.TypeBind, Source: "/m", Destination: "/z", RW: true}, {Type: mount.TypeBind, Source: "/n at x", Destination: "/y"}}}, nil, nil)
	if d := cmp.Diff(want, made, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}

func TestRedact(t *testing.T) {
	env := map[string]string{"LICENCE": "x", "HF_TOKEN": "y", "MODE": "z"}
	want := map[string]string{"LICENCE": secret, "HF_TOKEN": secret, "MODE": "z"}
	if d := cmp.Diff(want, Redact(env, []string{"LICENCE", "NOT_SET"})); d != "" || env["LICENCE"] != "x" {
		t.Error(d)
	}
	in := container.InspectResponse{Config: &container.Config{Env: []string{"LICENCE=x=1", "MODE=z=2"}}}
	labels := map[string]string{"build.token": "verysecret", "source": "https://me:verysecret@git.test/x", "title": "made"}
	in.Config.Labels, in.Config.Env = labels, append(in.Config.Env, "PIP_INDEX_URL=https://ci:verysecret@pypi.test/simple")
	if b, err := json.Marshal(Inspected(in, nil)); err != nil || strings.Contains(string(b), "verysecret") || !strings.Contains(string(b), "https://pypi.test/simple") || !strings.Contains(string(b), "made") {
		t.Errorf("%s, %v", b, err)
	}
	in.Config.Env = in.Config.Env[:2]
	if got := Inspected(in, []string{"LICENCE"}).Config.Env; strings.Join(got, " ") != "LICENCE="+secret+" MODE=z=2" || in.Config.Env[0] != "LICENCE=x=1" {
		t.Errorf("%q", got)
	}
}

// machine has two AMD GPUs, of which the second is divided in two, and tells of processes.
func terms(chosen ...gpu.Device) Terms { return Terms{Choice: gpu.Choice{Devices: chosen}} }

var (
	wholeGPU   = gpu.Device{Vendor: gpu.AMD, PCI: "0000:01:00.0", Files: []string{"/dev/dri/renderD128"}}
	dividedGPU = gpu.Device{Vendor: gpu.AMD, PCI: "0000:02:00.0", Files: []string{"/dev/dri/renderD129", "/dev/dri/renderD130"}}
	firstH100  = gpu.Device{Vendor: gpu.NVIDIA, PCI: "0000:03:00.0", Files: []string{"/dev/nvidia0"}}
	unusedH100 = gpu.Device{Vendor: gpu.NVIDIA, PCI: "0000:04:00.0"}
)

// insideOf makes what a container's first process sees, below a /proc.
func insideOf(t *testing.T, files ...string) string {
	t.Helper()
	proc := t.TempDir()
	for _, file := range append(files, "/dev/null") {
		path := filepath.Join(proc, "42/root", file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return proc
}

// dstack#2996: locks of GPUs were released twice, and containers ran with fewer than they were given. They are counted inside.
func TestField_dstack_2996(t *testing.T) {
	for _, c := range []struct {
		name   string
		terms  Terms
		seen   string
		others string
		fails  bool
	}{
		{"all", terms(wholeGPU, dividedGPU), "/dev/kfd /dev/dri/renderD128 /dev/dri/renderD129 /dev/dri/renderD130 /dev/dri/card0", "", false},
		{"one is missing", terms(wholeGPU, dividedGPU), "/dev/kfd /dev/dri/renderD129 /dev/dri/renderD130", "", true},
		{"a partition is missing", terms(dividedGPU), "/dev/kfd /dev/dri/renderD129", "", true},
		{"none", terms(wholeGPU), "", "", true},
		{"another one", terms(firstH100), "/dev/nvidia1 /dev/nvidiactl", "", true},
		{"one more", terms(wholeGPU), "/dev/dri/renderD128 /dev/dri/renderD131", "/dev/dri/renderD131 can be seen", false},
		{"NVIDIA", terms(firstH100), "/dev/nvidia0 /dev/nvidiactl /dev/nvidia-uvm", "", false},
		{"whose file is not told", terms(unusedH100), "/dev/nvidia5 /dev/nvidiactl", "", false},
		{"whose file is not told, and there is none", terms(unusedH100), "/dev/nvidiactl", "", true},
		{"none asked for", terms(), "/dev/nvidiactl /dev/kfd", "", false},
		{"none asked for, and all are seen", terms(), "/dev/nvidia0 /dev/nvidia1 /dev/nvidiactl", "/dev/nvidia0, /dev/nvidia1 can be seen, and none was asked for", false},
		{"none asked for, and AMD's are seen", terms(), "/dev/kfd /dev/dri/renderD128", "/dev/dri/renderD128 can be seen, and none was asked for", false},
		{"by its file alone", Terms{Given: limits.Given{Devices: []string{"/dev/dri/renderD128"}}}, "/dev/dri/renderD128", "", false},
		{"all that an engine has", Terms{GPUs: gpu.Access{By: "driver"}}, "/dev/nvidia0", "", false},
		{"on another machine", Terms{Engine: limits.Engine{Remote: true}}, "/dev/nvidia0", "", false},
	} {
		run := func(context.Context, ...string) (out, complaint []byte, err error) {
			return nil, nil, errors.New("not to be asked")
		}
		others, err := c.terms.Count(t.Context(), insideOf(t, strings.Fields(c.seen)...), 42, run)
		if c.fails {
			enginetest.WantFault(t, err, "server.gpu_count")
		} else if err != nil || !strings.Contains(others, c.others) || c.others == "" && others != "" {
			t.Errorf("%s: %q, %v", c.name, others, err)
		}
	}
	// where this program may not look, a program of the container is asked
	list := func(context.Context, ...string) (out, complaint []byte, err error) {
		return []byte("/dev\n/dev/dri\n/dev/dri/renderD128\n"), nil, nil
	}
	if others, err := terms(wholeGPU).Count(t.Context(), t.TempDir(), 42, list); err != nil || others != "" {
		t.Errorf("%q, %v", others, err)
	}
	none := func(context.Context, ...string) (out, complaint []byte, err error) {
		return nil, nil, errors.New("find is not there")
	}
	for nvidia, want := range map[bool]string{true: "find is not there", false: ""} { // where none was asked for, it matters where there may be some
		if others, err := (Terms{Engine: limits.Engine{NVIDIA: nvidia}}).Count(t.Context(), t.TempDir(), 42, none); err != nil || !strings.HasSuffix(others, want) || want == "" && others != "" {
			t.Errorf("%q, %v", others, err)
		}
	}
	if others, err := terms(wholeGPU).Count(t.Context(), t.TempDir(), 42, none); err != nil || !strings.Contains(others, "find is not there") {
		t.Errorf("%q, %v", others, err)
	}
}

// Base images of servers set NVIDIA_VISIBLE_DEVICES=all, by which an engine whose default runtime is NVIDIA's gives every GPU to a container that
// asks for none, or for some by CDI.
func TestEnviron(t *testing.T) {
	byDriver := gpu.Access{By: "driver", Requests: []container.DeviceRequest{{Driver: "nvidia", DeviceIDs: []string{"GPU-1"}}}}
	byCDI := gpu.Access{By: "cdi", Requests: []container.DeviceRequest{{Driver: "cdi", DeviceIDs: []string{"nvidia.com/gpu=1"}}}}
	for _, c := range []struct {
		name       string
		nvidia     bool
		gpus       gpu.Access
		plan, want map[string]string
	}{
		{"none", true, gpu.Access{}, map[string]string{"A": "b"}, map[string]string{"A": "b", "NVIDIA_VISIBLE_DEVICES": "void"}},
		{"none, and no variables", true, gpu.Access{}, nil, map[string]string{"NVIDIA_VISIBLE_DEVICES": "void"}},
		{"by CDI", true, byCDI, nil, map[string]string{"NVIDIA_VISIBLE_DEVICES": "void"}},
		{"by the driver, which is told which", true, byDriver, nil, nil},
		{"the plan says it", true, gpu.Access{}, map[string]string{"NVIDIA_VISIBLE_DEVICES": "1"}, map[string]string{"NVIDIA_VISIBLE_DEVICES": "1"}},
		{"an engine without such a runtime", false, gpu.Access{}, nil, nil},
	} {
		asked := maps.Clone(c.plan)
		got := Terms{GPUs: c.gpus, Engine: limits.Engine{NVIDIA: c.nvidia}}.Environ(c.plan)
		if d := cmp.Diff(c.want, got) + cmp.Diff(asked, c.plan); d != "" {
			t.Errorf("%s:\n%s", c.name, d)
		}
	}
}

func TestApply(t *testing.T) {
	c := Terms{
		GPUs:  gpu.Access{Devices: []string{"/dev/kfd"}, Groups: []string{"109"}, Ptrace: true},
		Place: affinity.Place{CPUs: []int{0, 1, 5}, Nodes: []int{1}},
		Given: limits.Given{Devices: []string{"/dev/fuse"}, Capabilities: []string{"IPC_LOCK"}, SecurityOpt: []string{"seccomp={}"}},
	}
	var host container.HostConfig
	c.Apply(&host)
	if len(host.Devices) != 2 || host.CpusetCpus != "0-1,5" || host.CpusetMems != "1" || strings.Join(host.CapAdd, " ") != "IPC_LOCK SYS_PTRACE" || strings.Join(host.SecurityOpt, " ") != "seccomp={}" {
		t.Errorf("%+v", host)
	}
	host = container.HostConfig{Privileged: true}
	c.Given = limits.Given{}
	c.Apply(&host)
	if len(host.CapAdd)+len(host.SecurityOpt) > 0 {
		t.Errorf("a privileged container is given %v %v", host.CapAdd, host.SecurityOpt)
	}
}

func TestForContainer(t *testing.T) {
	_, err := ForContainer("/", Asked{GPUs: "count:1"}, limits.Engine{API: "1.39", Remote: true})
	enginetest.WantFault(t, err, "preflight.engine_too_old", "1.39")
	_, err = ForContainer("/", Asked{}, limits.Engine{API: "1.24"})
	enginetest.WantFault(t, err, "preflight.engine_too_old", "1.24")
	_, err = ForContainer("/", Asked{NUMA: "gpu"}, limits.Engine{API: "1.45", Remote: true})
	enginetest.WantFault(t, err, "preflight.numa_unavailable")
	got, err := ForContainer("/", Asked{CPUs: "500-501", NUMA: "7"}, limits.Engine{API: "1.45", Remote: true, CPUSet: true})
	if err != nil || !slices.Equal(got.Place.CPUs, []int{500, 501}) || !slices.Equal(got.Place.Nodes, []int{7}) {
		t.Errorf("the CPUs of another machine are held against this one's: %+v, %v", got.Place, err)
	}
	_, err = ForContainer("/", Asked{CPUs: "500"}, limits.Engine{API: "1.45", Remote: true})
	enginetest.WantFault(t, err, "preflight.cpuset_unavailable")
}

// twoGPUs is a machine with two AMD GPUs.
func twoGPUs(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	for i, address := range []string{"0000:01:00.0", "0000:02:00.0"} {
		dir := filepath.Join(root, "sys/bus/pci/devices", address)
		node := "renderD" + strconv.Itoa(128+i)
		err := errors.Join(os.MkdirAll(filepath.Join(dir, "drm", node), 0o755), os.MkdirAll(filepath.Join(root, "dev/dri"), 0o755), os.Symlink("../amdgpu", filepath.Join(dir, "driver")))
		for file, text := range map[string]string{filepath.Join(dir, "vendor"): "0x1002", filepath.Join(dir, "class"): "0x120000", filepath.Join(root, "dev/dri", node): "", filepath.Join(root, "dev/kfd"): ""} {
			err = errors.Join(err, os.WriteFile(file, []byte(text), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestPrivilegedSeesAll: such a container has every device, whatever server.gpus says, and the record says so.
func TestPrivilegedSeesAll(t *testing.T) {
	root := twoGPUs(t)
	for gpus, remarks := range map[string]int{"0": 1, "all": 0, "none": 0} {
		got, err := ForContainer(root, Asked{GPUs: gpus, Rights: limits.Wanted{Privileged: true}}, limits.Engine{API: "1.45"})
		if err != nil || len(got.Given.Remarks) != remarks {
			t.Errorf("%s: %q, %v", gpus, got.Given.Remarks, err)
		}
	}
}

// TestMappedRoot: where root inside is another outside, the groups of device files may be lost, and the record says so.
func TestMappedRoot(t *testing.T) {
	got, err := ForContainer(twoGPUs(t), Asked{GPUs: "0"}, limits.Engine{API: "1.45", Mapped: "rootless"})
	if err != nil || len(got.Given.Remarks) != 1 || !strings.Contains(got.Given.Remarks[0], "rootless") {
		t.Errorf("%q, %v", got.Given.Remarks, err)
	}
}

// TestGPUsTwice: a variable of the plan would select among what server.gpus has selected.
func TestGPUsTwice(t *testing.T) {
	root := twoGPUs(t)
	for _, name := range gpu.VisibleVariables() {
		_, err := ForProcess(root, Asked{GPUs: "0", Env: map[string]string{name: "1"}})
		enginetest.WantFault(t, err, "plan.gpus_twice", name)
		if got, err := ForProcess(root, Asked{Env: map[string]string{name: "1"}}); err != nil || got.Visible != nil {
			t.Errorf("%s alone: %v, %v", name, got.Visible, err)
		}
	}
}

// TestInKernel: an engine's word is not taken for what the kernel does.
func TestInKernel(t *testing.T) {
	proc, asked := t.TempDir(), Settings{CPUs: "0-1", Ulimits: map[string]string{"nofile": "10:20", "memlock": "-1:-1"}}
	dir := filepath.Join(proc, "42")
	err := errors.Join(os.Mkdir(dir, 0o755), os.Symlink("/", filepath.Join(dir, "cwd")))
	for name, text := range map[string]string{
		"cmdline": "serve\x00", "environ": "A=1\x00", "status": "Uid:\t0\t7\t0\t0\nCpus_allowed_list:\t0\n",
		"limits": "Max open files            10                   20                   files     \nMax locked memory         65536                65536                bytes     \n",
	} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	in := container.InspectResponse{ContainerJSONBase: &container.ContainerJSONBase{Path: "serve", State: &container.State{Pid: 42}, HostConfig: &container.HostConfig{
		Resources: container.Resources{CpusetCpus: "0-1", Ulimits: []*container.Ulimit{{Name: "nofile", Soft: 10, Hard: 20}, {Name: "memlock", Soft: -1, Hard: -1}}}}}}
	r := Terms{}.OfContainer(asked, in, []string{"serve"}, nil, proc)
	want := []string{`limit memlock: "-1:-1" was asked for, it is "65536:65536"`, `CPUs in the kernel: "0-1" was asked for, it is "0"`}
	if d := cmp.Diff(want, r.Differs); d != "" {
		t.Error(d)
	}
	in.HostConfig.IpcMode = "shareable" // as podman 4.3 says of the host's too
	for theirs, want := range map[string]string{"ipc:[1]": "host", "ipc:[2]": "shareable"} {
		if err := ipcOf(proc, "self", "ipc:[1]"); err != nil {
			t.Fatal(err)
		}
		if err := ipcOf(proc, "42", theirs); err != nil {
			t.Fatal(err)
		}
		if r := (Terms{}).OfContainer(Settings{IPC: "host"}, in, nil, nil, proc); r.Made.IPC != want || (len(r.Differs) > 0) != (want != "host") {
			t.Errorf("%s: %+v", theirs, r)
		}
	}
}

// ipcOf says of what IPC a process is.
func ipcOf(proc, pid, namespace string) error {
	link := filepath.Join(proc, pid, "ns/ipc")
	_ = os.Remove(link)
	return errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(namespace, link))
}

func TestInterpreted(t *testing.T) {
	for _, c := range []struct {
		asked, made string
		want        bool
	}{
		{"./serve.sh --port 1", "/bin/sh ./serve.sh --port 1", true},
		{"vllm serve m", "/usr/bin/python3 /usr/bin/vllm serve m", true},
		{"vllm serve m", "/usr/bin/python3 -E /usr/bin/vllm serve m", true},
		{"vllm serve m", "/usr/bin/python3 /usr/bin/vllm serve n", false},
		{"vllm serve m", "vllm serve m", false},
		{"vllm", "/usr/bin/python3 /usr/bin/other", false},
	} {
		if got := interpreted(strings.Fields(c.asked), strings.Fields(c.made)); got != c.want {
			t.Errorf("%q, %q: %v", c.asked, c.made, got)
		}
	}
}

// TestReadProcess reads this process.
func TestReadProcess(t *testing.T) {
	s, err := readProcess("/proc/self")
	if err != nil || len(s.Argv) == 0 || s.CPUs == "" || s.User != strconv.Itoa(os.Geteuid()) || s.Dir == "" || !strings.Contains(s.Ulimits["nofile"], ":") || len(s.Env) == 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestNoAccelerator: all GPUs that a plan asks for are at least one. What only the kind of server would like is left out, and the record says so.
func TestNoAccelerator(t *testing.T) {
	root := t.TempDir()
	for _, remote := range []bool{false, true} {
		e := limits.Engine{API: "1.45", Remote: remote}
		for _, refused := range []Asked{{GPUs: "all"}, {GPUs: " all "}, {GPUs: "all", Wished: true, GPUAccess: "cdi"}} {
			_, err := ForContainer(root, refused, e)
			enginetest.WantFault(t, err, "preflight.no_gpu", "no accelerator is there")
		}
		got, err := ForContainer(root, Asked{GPUs: "all", Wished: true, GPUAccess: "auto"}, e)
		if err != nil || len(got.Given.Remarks) != 1 || !strings.Contains(got.Given.Remarks[0], "without any") {
			t.Errorf("%q, %v", got.Given.Remarks, err)
		}
		if got, err := ForContainer(root, Asked{GPUs: "none"}, e); err != nil || len(got.Given.Remarks) != 0 {
			t.Errorf("%q, %v", got.Given.Remarks, err)
		}
	}
	if got, err := ForContainer(twoGPUs(t), Asked{GPUs: "all", Wished: true}, limits.Engine{API: "1.45"}); err != nil || len(got.Given.Remarks) != 0 || len(got.Choice.Devices) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	_, err := ForProcess(root, Asked{GPUs: "all"})
	enginetest.WantFault(t, err, "preflight.no_gpu")
}
