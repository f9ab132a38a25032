package kernel

import (
	"testing"

	"assay/probes/hosttest"
)

func TestCgroup(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		cpus  float64
		bytes int64
	}{
		{"no limit", map[string]string{"proc/self/cgroup": "0::/a", "sys/fs/cgroup/a/cpu.max": "max 100000", "sys/fs/cgroup/a/memory.max": "max"}, 0, 0},
		{"a parent's limit", map[string]string{"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/cpu.max": "250000 100000", "sys/fs/cgroup/a/b/cpu.max": "400000 100000", "sys/fs/cgroup/a/memory.max": "1024"}, 2.5, 1024},
		{"version 1", map[string]string{"proc/self/cgroup": "4:memory:/d\n3:cpu,cpuacct:/d", "sys/fs/cgroup/cpu,cpuacct/d/cpu.cfs_quota_us": "150000", "sys/fs/cgroup/cpu,cpuacct/d/cpu.cfs_period_us": "100000",
			"sys/fs/cgroup/memory/d/memory.limit_in_bytes": "4096"}, 1.5, 4096},
		{"version 1 without", map[string]string{"proc/self/cgroup": "4:memory:/\n3:cpu:/", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712"}, 0, 0},
		{"nonsense", map[string]string{"proc/self/cgroup": "0::/a\n::\nx", "sys/fs/cgroup/a/cpu.max": "5 0"}, 0, 0},
	} {
		cpus, bytes := readCgroup(hosttest.Tree(t, tt.files))
		if cpus.Value != tt.cpus || bytes.Value != tt.bytes || (tt.cpus == 0) != (cpus.NA != "") {
			t.Errorf("%s: %+v %+v", tt.name, cpus, bytes)
		}
	}
}

// TestCgroupUnread: groups whose files could not be read do not stand for groups without a limit.
func TestCgroupUnread(t *testing.T) {
	cpus, bytes := readCgroup(hosttest.Tree(t, map[string]string{"proc/self/cgroup": "0::/a"})) // a capture without them
	if cpus.Unknown == "" || bytes.Unknown == "" {
		t.Errorf("%+v %+v", cpus, bytes)
	}
	h := hosttest.Tree(t, map[string]string{"proc/self/cgroup": "0::/"}) // the root group has no such files
	h.Live = true
	if cpus, bytes = readCgroup(h); cpus.NA == "" || bytes.NA == "" {
		t.Errorf("%+v %+v", cpus, bytes)
	}
}

func TestCPUSet(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"version 2, of a parent", map[string]string{"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/cpuset.cpus.effective": "0-3"}, "0-3"},
		{"version 1", map[string]string{"proc/self/cgroup": "3:cpuset:/docker/x\n0::/", "sys/fs/cgroup/cpuset/cpuset.effective_cpus": "4-7"}, "4-7"},
		{"cpu is not cpuset", map[string]string{"proc/self/cgroup": "3:cpu,cpuacct:/", "sys/fs/cgroup/cpu,cpuacct/cpuset.effective_cpus": "4-7"}, ""},
	} {
		if f := readCPUSet(hosttest.Tree(t, tt.files)); f.Value != tt.want || (tt.want == "") != (f.Unknown != "") {
			t.Errorf("%s: %+v", tt.name, f)
		}
	}
}

func TestLimits(t *testing.T) {
	h := hosttest.Tree(t, map[string]string{"proc/self/limits": "Limit Soft Limit Hard Limit Units\nMax stack size            8388608              unlimited            bytes\n" +
		"Max processes             96365                96365                processes\nMax locked memory         unlimited            unlimited            bytes\n"})
	tuning := probeOS(t, h).Tuning
	if tuning.StackBytes.Value != 8<<20 || tuning.ProcessesLimit.Value != 96365 || tuning.MemlockBytes.NA != "unlimited" || tuning.FilesLimit.Unknown == "" {
		t.Errorf("%+v", tuning)
	}
}
